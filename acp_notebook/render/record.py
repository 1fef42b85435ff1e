"""The static record of a turn in the notebook: HTML, Markdown and plain text. Knows no page.

The live view's own functions make the HTML, with inline styles: no script, no style sheet,
`<details>` for folds. Its size is bounded; the last line lists what was left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from markupsafe import Markup

from acp_notebook.budget import Credit
from acp_notebook.render.entries.json_view import pre_part
from acp_notebook.render.entries.kinds import OURS, render_entry
from acp_notebook.render.entries.tool_call import tool_title
from acp_notebook.render.header import Ending, render_foot, render_record_head
from acp_notebook.render.labels import count_words, state_words, status_words
from acp_notebook.render.markup import Theme, record_theme, without_stray_math
from acp_notebook.render.text.record_text import record_markdown, record_plain
from acp_notebook.session.state import EntryKey, SessionState, ToolCall, Usage
from acp_notebook.session.timings import Timings
from acp_notebook.session.updates import Failure, ToolCallId

# Beyond this much HTML, tool calls shrink to lines of a list, which has a limit too.
DETAIL_LIMIT_CHARS: Final = 300_000
BRIEF_LIMIT_CHARS: Final = 300_000
_CONVERSATION = frozenset({"user", "agent", "thought", "prompt"})
WHERE_THE_REST_IS: Final = (
    "While the kernel runs, the turn object has everything (%%acp --out turn; turn.tool_calls, "
    "turn.text)."
)


def record_bundle(
    state: SessionState,
    keys: Sequence[EntryKey],
    *,
    agent_name: str,
    stop_reason: str | None,
    failure: Failure | None = None,
    elapsed_s: float | None = None,
    ending: bool = True,
    is_running: bool = False,
    timings: Timings | None = None,
    usage: Usage | None = None,
    credit: Credit | None = None,
) -> dict[str, str]:
    """Return the MIME bundle of a turn.

    Args:
        state: The session; read only.
        keys: The entries of the turn, in order; removed ones are skipped.
        agent_name: The agent's name for the reader.
        stop_reason: The agent's stop reason.
        failure: The error that ended the turn, if any.
        elapsed_s: The duration of the turn.
        ending: Whether to show the end of a turn; False for a replayed conversation.
        is_running: Whether the turn still runs.
        timings: The durations of thoughts and tools, if known.
        usage: The session's usage at the end of the turn; by default the present one.
        credit: The time for formatting; by default for a thread for which nobody else waits.
    """
    spent = state.usage if usage is None else usage
    background = len(state.background or ())
    present = state_words(state) if is_running else None
    end = Ending(stop_reason, failure, elapsed_s, spent, background, present) if ending else None
    shown = [key for key in keys if state.entry(key) is not None]
    theme = record_theme(credit)
    theme.agent_name = agent_name
    theme.spans = timings.spans if timings else {}
    html = without_stray_math(_record_html(theme, state, shown, end))
    return {
        "text/html": str(html),
        "text/markdown": record_markdown(state, shown, agent_name, end, theme),
        "text/plain": record_plain(state, shown, agent_name, end, theme.spans),
    }


def _record_html(
    theme: Theme, state: SessionState, keys: Sequence[EntryKey], ending: Ending | None
) -> Markup:
    parts = _entries(theme, state, keys)
    if ending is not None:
        head = render_record_head(theme, state, theme.agent_name, ending)
        is_empty = all(key.kind in OURS for key in keys)
        closing = render_foot(theme, state, ending, keys, is_empty=is_empty)
        parts = [head, *parts, *([theme("div", "closing", closing)] if closing else [])]
    parts.append(_left_out(theme))
    return theme("div", "record", *parts)


def _entries(theme: Theme, state: SessionState, keys: Sequence[EntryKey]) -> list[Markup]:
    parts: list[Markup] = []
    brief: list[ToolCall] = []
    size = 0
    for number, key in enumerate(keys):
        if size > DETAIL_LIMIT_CHARS and key.kind == "tool_call" and not state.is_own_call(key):
            brief.append(state.tool_calls[ToolCallId(key.id)])
            continue
        html = render_entry(theme, state, key, f"e{number}")
        if html:
            size += 0 if key.kind in _CONVERSATION else len(html)
            parts += _brief_calls(theme, brief)
            parts.append(theme("div", "entry", html))
    return parts + _brief_calls(theme, brief)


def _brief_calls(theme: Theme, calls: list[ToolCall]) -> list[Markup]:
    """Fold tool calls into one list, with a line for each."""
    if not calls:
        return []
    words = count_words(len(calls), "more tool call")
    lines = [f"{status_words(call.status).glyph} {tool_title(call)}" for call in calls]
    listed = pre_part(theme, "\n".join(lines), BRIEF_LIMIT_CHARS)
    theme.left_out.append(f"details of {count_words(len(calls), 'tool call')}")
    calls.clear()
    fold = theme.fold("card", theme("span", "title", words), listed, key="")
    return [theme("div", "entry", fold)]


def _left_out(theme: Theme) -> Markup:
    if not theme.left_out:
        return Markup("")
    listed = "; ".join(theme.left_out[:5])
    more = f"; and {len(theme.left_out) - 5:,} more" if len(theme.left_out) > 5 else ""  # noqa: PLR2004
    words = f"Left out to keep the notebook small: {listed}{more}. {WHERE_THE_REST_IS}"
    return theme("div", "left-out", words)
