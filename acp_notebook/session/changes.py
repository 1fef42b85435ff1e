"""What an update altered: just enough for a view to redraw only that.

Values only. Knows no view.
"""

from __future__ import annotations

from dataclasses import dataclass

from acp_notebook.session.content import ContentBlock
from acp_notebook.session.state import EntryKey
from acp_notebook.session.updates import PromptId, TerminalId, Violation


@dataclass(frozen=True, slots=True)
class EntryChanged:
    """An entry is new or looks different. With `appended`, only that block came behind."""

    key: EntryKey
    appended: ContentBlock | None = None


@dataclass(frozen=True, slots=True)
class EntryRemoved:
    """An entry left the timeline: a stand-in gave way to the real thing."""

    key: EntryKey


@dataclass(frozen=True, slots=True)
class TerminalChanged:
    """A terminal looks different. With `appended`, only these bytes came behind."""

    terminal_id: TerminalId
    appended: bytes | None = None


@dataclass(frozen=True, slots=True)
class HeaderChanged:
    """Foreground state, usage, title, commands or options are different."""


@dataclass(frozen=True, slots=True)
class PromptChanged:
    """A prompt of ours moved on."""

    prompt_id: PromptId


@dataclass(frozen=True, slots=True)
class ViolationSeen:
    """The agent broke the protocol; it cost only the one message."""

    violation: Violation


SessionChange = (
    EntryChanged | EntryRemoved | TerminalChanged | HeaderChanged | PromptChanged | ViolationSeen
)
