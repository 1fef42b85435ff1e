"""The static record of a turn, as it stays in the notebook: HTML, Markdown and plain text.

The HTML is made by the live view's own functions, on paper with inline styles: no script, no style
sheet, `<details>` for what is folded. It is bounded; what was left out is said at its end.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from markupsafe import Markup

from acp_notebook.render.content import render_block, rest_remark
from acp_notebook.render.entries import render_entry
from acp_notebook.render.header import Ending, render_ending, render_foot
from acp_notebook.render.markdown import render_markdown
from acp_notebook.render.markup import Paper, label, record_paper
from acp_notebook.render.record_text import record_markdown, record_plain
from acp_notebook.render.tool_call import tool_title
from acp_notebook.render.words import count_words, status_words
from acp_notebook.session.content import ContentBlock, TextBlock
from acp_notebook.session.state import EntryKey, SessionState
from acp_notebook.session.updates import Failure, ToolCallId

MESSAGE_LIMIT_CHARS: Final = 400_000
# Beyond this much HTML tool calls shrink to one line, and beyond twice as much to a count.
DETAIL_LIMIT_CHARS: Final = 3_000_000
_SNIPPET_CHARS: Final = 110


def record_bundle(
    state: SessionState,
    keys: Sequence[EntryKey],
    *,
    agent_name: str,
    stop_reason: str | None,
    failure: Failure | None = None,
    elapsed_s: float | None = None,
) -> dict[str, str]:
    """The MIME bundle of a finished turn.

    Args:
        state: The session; read only.
        keys: The entries of the turn, in order; those that are gone are skipped.
        agent_name: Who was talking, for the reader.
        stop_reason: Why the turn ended, as the agent said it.
        failure: The error that ended it, if one did.
        elapsed_s: How long the turn took.
    """
    ending = Ending(stop_reason, failure, elapsed_s)
    shown = [key for key in keys if _exists(state, key)]
    return {
        "text/html": str(_record_html(state, shown, agent_name, ending)),
        "text/markdown": record_markdown(state, shown, agent_name, ending),
        "text/plain": record_plain(state, shown, agent_name, ending),
    }


def _exists(state: SessionState, key: EntryKey) -> bool:
    homes: dict[str, object] = {
        "prompt": state.prompts,
        "tool_call": state.tool_calls,
        "terminal": state.terminals,
        "plan": state.plans,
        "permission": state.permissions,
        "elicitation": state.elicitations,
        "compaction": state.compactions,
    }
    if key.kind in {"user", "agent", "thought"}:
        return key in state.messages
    home = homes.get(key.kind)
    return key.id in home if isinstance(home, dict) else key in state.asides


def _record_html(
    state: SessionState, keys: Sequence[EntryKey], agent_name: str, ending: Ending
) -> Markup:
    paper = record_paper()
    paper.agent_name = agent_name
    parts: list[Markup] = []
    size = skipped = 0
    for number, key in enumerate(keys):
        if size > 2 * DETAIL_LIMIT_CHARS and key.kind == "tool_call":
            skipped += 1
            continue
        html = _entry(paper, state, key, f"e{number}", is_brief=size > DETAIL_LIMIT_CHARS)
        if html:
            size += len(html)
            parts.append(paper("div", "entry", html))
    if skipped:
        paper.left_out.append(count_words(skipped, "tool call"))
    is_empty = all(key.kind in {"prompt", "user", "violation"} for key in keys)
    closing = render_foot(paper, state, ending, is_empty=is_empty)
    if closing:
        parts.append(paper("div", "entry", closing))
    parts.append(paper("div", "foot", render_ending(paper, state, agent_name, ending)))
    parts.append(_left_out(paper))
    return paper("div", "", *parts)


def _left_out(paper: Paper) -> Markup:
    if not paper.left_out:
        return Markup("")
    listed = "; ".join(paper.left_out[:5])
    more = f"; and {len(paper.left_out) - 5:,} more" if len(paper.left_out) > 5 else ""  # noqa: PLR2004
    words = f"Left out to keep the notebook small: {listed}{more}. The turn object has everything."
    return paper("div", "left-out", words)


def _entry(
    paper: Paper, state: SessionState, key: EntryKey, ident: str, *, is_brief: bool
) -> Markup:
    match key.kind:
        case "agent":
            return _message(paper, state.messages[key].content, ident)
        case "thought":
            return _thought(paper, state.messages[key].content, ident)
        case "tool_call" if is_brief:
            call = state.tool_calls[ToolCallId(key.id)]
            words = paper.wording(status_words(call.status))
            return paper("div", "card-line", paper("span", "title", tool_title(call)), " ", words)
        case _:
            return render_entry(paper, state, key, ident)


def _message(paper: Paper, content: Sequence[ContentBlock], ident: str) -> Markup:
    parts: list[Markup] = []
    run: list[str] = []
    for number, block in enumerate(content):
        if isinstance(block, TextBlock):
            run.append(block.text)
            continue
        parts += _text_run(paper, run)
        parts.append(render_block(paper, block, f"{ident}.m{number}"))
    parts += _text_run(paper, run)
    return Markup("").join(parts)


def _text_run(paper: Paper, run: list[str]) -> list[Markup]:
    text = "".join(run)
    run.clear()
    if not text:
        return []
    rest = len(text) - MESSAGE_LIMIT_CHARS
    html = render_markdown(text[:MESSAGE_LIMIT_CHARS])
    return [paper.markdown(html) + rest_remark(paper, rest, "characters of a message")]


def _thought(paper: Paper, content: Sequence[ContentBlock], ident: str) -> Markup:
    body = _message(paper, content, ident)
    if not body:
        return body
    first = "".join(b.text[:_SNIPPET_CHARS] for b in content[:4] if isinstance(b, TextBlock))
    snippet = label(first.replace("**", ""), _SNIPPET_CHARS)
    head = paper("span", "", "Thought") + " " + paper("span", "muted", snippet, dir="auto")
    return paper.fold("thought", head, paper("div", "thought-body", body), key=ident)
