"""The effects of an update: just enough for a view to redraw only those. Knows no view."""

from __future__ import annotations

from dataclasses import dataclass

from acp_notebook.session.content import ContentBlock
from acp_notebook.session.state import EntryKey
from acp_notebook.session.updates import PromptId, TerminalId, Violation


@dataclass(frozen=True, slots=True)
class EntryChanged:
    """An entry is new or changed; with `appended`, only by this block at its end."""

    key: EntryKey
    appended: ContentBlock | None = None


@dataclass(frozen=True, slots=True)
class EntryRemoved:
    """An entry left the timeline."""

    key: EntryKey


@dataclass(frozen=True, slots=True)
class TerminalChanged:
    """A terminal changed; with `appended`, only by these bytes at its end."""

    terminal_id: TerminalId
    appended: bytes | None = None


@dataclass(frozen=True, slots=True)
class HeaderChanged:
    """Foreground state, usage, title, commands or options changed."""


@dataclass(frozen=True, slots=True)
class PromptChanged:
    """A prompt of ours changed its phase."""

    prompt_id: PromptId


@dataclass(frozen=True, slots=True)
class ViolationSeen:
    """The agent broke the protocol; only the one message is lost."""

    violation: Violation


SessionChange = (
    EntryChanged | EntryRemoved | TerminalChanged | HeaderChanged | PromptChanged | ViolationSeen
)
