"""A turn as a record (HTML, Markdown, text) and as a pandas frame. Knows no notebook."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from acp_notebook.errors import UsageError
from acp_notebook.session.excerpt import excerpt_of
from acp_notebook.session.state import (
    EntryKey,
    Message,
    Permission,
    Plan,
    Prompt,
    SessionState,
    Terminal,
    ToolCall,
)
from acp_notebook.session.updates import Notice

if TYPE_CHECKING:
    from acp_notebook.client.turn import Turn

COLUMNS = ("kind", "id", "title", "status", "text")


def record_of(turn: Turn) -> dict[str, str]:
    """Return the record so far as a MIME bundle: HTML, Markdown and text.

    The caller's thread makes it, from an excerpt of the state: a long turn takes seconds, in which
    the agent thread has other agents to serve.
    """
    return recorder_of(turn)()


def recorder_of(turn: Turn) -> Callable[[], dict[str, str]]:
    """Read the turn as it is now, and return what makes its record, on any thread."""
    from acp_notebook.render.record import record_bundle

    def read(state: SessionState, keys: list[EntryKey]) -> Callable[[], dict[str, str]]:
        prompt = state.prompts.get(turn.prompt_id)
        return partial(
            record_bundle,
            excerpt_of(state, keys),
            keys,
            agent_name=turn.session.agent.label,
            stop_reason=None if prompt is None else prompt.stop_reason,
            failure=None if prompt is None else prompt.failure,
            elapsed_s=turn.elapsed_s,
            is_running=not turn.is_done,
            timings=turn.session.live.timings.excerpt(keys),
            usage=turn.usage,
        )

    return turn.read(read)


def frame_of(turn: Turn) -> Any:
    """Return the timeline as a pandas frame with one row per entry.

    Raises:
        UsageError: pandas is not installed.
    """
    try:
        import pandas as pd
    except ImportError:
        raise UsageError(
            "to_frame() needs pandas: pip install pandas. turn.timeline has the same as a list."
        ) from None
    return pd.DataFrame(turn.read(_rows), columns=list(COLUMNS))


def _rows(state: SessionState, keys: list[EntryKey]) -> list[tuple[str | None, ...]]:
    return [(key.kind, key.id, *_cells(state, key)) for key in keys]


def _cells(state: SessionState, key: EntryKey) -> tuple[str | None, str | None, str | None]:
    """Title, status and text of an entry; for most kinds the text is the line in the record."""
    from acp_notebook.render.entries.kinds import entry_line

    match state.entry(key):
        case Message() as message:
            return None, None, message.text
        case ToolCall() as call:
            return call.title or call.name, call.status, None
        case Terminal() as terminal:
            return terminal.command, None, bytes(terminal.output).decode(errors="replace")
        case Permission() as permission:
            answer = permission.answer
            status = "open" if answer is None else answer.option_id or "cancelled"
            return permission.request.title, status, None
        case Plan(entries=entries) if entries is not None:
            return None, None, "\n".join(f"{each.status}: {each.content}" for each in entries)
        case Prompt() as prompt:
            text = "".join(getattr(block, "text", None) or "" for block in prompt.content[:1])
            return None, prompt.stop_reason or prompt.phase, text
        case Notice() as notice:
            return notice.title, None, notice.description
        case _:
            return None, None, entry_line(state, key) or None
