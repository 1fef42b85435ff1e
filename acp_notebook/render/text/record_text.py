"""The record as Markdown (for GitHub and exports) and as plain text (for terminals and search).

Messages stay as the agent wrote them, with raw HTML made inert; every other entry is one line, with
code in fences. Both forms are bounded. Knows no page.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Final

from acp_notebook.characters import mark_output
from acp_notebook.render.entries.content import block_words
from acp_notebook.render.entries.diff_view import FILES_SHOWN, read_diff
from acp_notebook.render.entries.kinds import OURS, PLAN_LIMIT, entry_line
from acp_notebook.render.entries.tool_call import (
    ITEMS_SHOWN,
    allowed_words,
    exit_words,
    tool_title,
)
from acp_notebook.render.entries.tool_text import tool_text
from acp_notebook.render.header import Ending, has_loss_entry
from acp_notebook.render.labels import (
    KINDS,
    background_words,
    count_words,
    elapsed_words,
    kind_of,
    plan_status_words,
    spent_words,
    status_words,
    usage_words,
)
from acp_notebook.render.markup import Theme, clean, label, visible
from acp_notebook.render.parsing.diff import change_words
from acp_notebook.render.parsing.inert_markdown import inert_markdown
from acp_notebook.render.parsing.terminal import TerminalText
from acp_notebook.render.text.agent_text import AgentText, beside_ours, without_own_mark
from acp_notebook.session.content import ContentBlock, TextBlock
from acp_notebook.session.state import EntryKey, SessionState, ToolCall
from acp_notebook.session.timings import Span
from acp_notebook.session.updates import (
    ContentItem,
    DiffItem,
    PlanEntry,
    PlanId,
    TerminalId,
    TerminalItem,
    ToolCallId,
)

Spans = Mapping[EntryKey, Span]
_Write = Callable[[SessionState, EntryKey, Spans, bool], str]

TEXT_LIMIT_CHARS: Final = 400_000
# Beyond this size tool calls shrink to one line, beyond twice the size to a count.
DETAIL_LIMIT_CHARS: Final = 300_000
DIFF_LIMIT_LINES: Final = 200
OUTPUT_LIMIT_CHARS: Final = 4_000

_SPECIAL = re.compile(r"([\\`*_{}\[\]<>#|~$])")


def record_markdown(
    state: SessionState,
    keys: Sequence[EntryKey],
    agent_name: str,
    ending: Ending | None,
    theme: Theme,
) -> str:
    """Return the turn as Markdown, within the time that the record has."""
    parts = _bounded(state, keys, theme.spans, partial(_markdown_entry, theme))
    if ending is not None:
        if ending.failure is not None and not has_loss_entry(state, keys, ending):
            parts.append(f"> **Error:** {_literal(ending.failure.message)}")
        parts.append(f"*{_literal(ending_line(agent_name, ending))}*")
    return "\n\n".join(parts) + "\n"


def record_plain(
    state: SessionState,
    keys: Sequence[EntryKey],
    agent_name: str,
    ending: Ending | None,
    spans: Spans,
) -> str:
    """Return the turn as plain text."""
    parts = _bounded(state, keys, spans, plain_entry)
    if ending is not None:
        if ending.failure is not None and not has_loss_entry(state, keys, ending):
            parts.append(f"Error: {label(ending.failure.message, 500)}")
        parts.append(f"[{ending_line(agent_name, ending)}]")
    return "\n\n".join(parts)


def _bounded(
    state: SessionState, keys: Sequence[EntryKey], spans: Spans, write: _Write
) -> list[str]:
    parts: list[str] = []
    size = brief = skipped = 0
    for key in keys:
        # What ran in the kernel is told in full, whatever the agent puts beside it.
        may_shrink = key.kind == "tool_call" and not state.is_own_call(key)
        if may_shrink and size > 2 * DETAIL_LIMIT_CHARS:
            skipped += 1
            continue
        is_brief = may_shrink and size > DETAIL_LIMIT_CHARS
        part = write(state, key, spans, is_brief)
        brief += is_brief
        if part:
            size += len(part) if may_shrink else 0
            parts.append(part)
    if brief:
        parts.append(f"(For the details of {count_words(brief, 'tool call')} see turn.tool_calls.)")
    if skipped:
        parts.append(f"… {count_words(skipped, 'more tool call')}: see turn.tool_calls")
    return parts


def ending_line(agent_name: str, ending: Ending) -> str:
    """Return outcome, agent, duration and usage in one line."""
    facts = [label(ending.words.text, 120), label(agent_name, 80)]
    if ending.elapsed_s is not None:
        facts.append(elapsed_words(ending.elapsed_s))
    usage = usage_words(ending.usage)
    facts += [label(usage, 120)] if usage else []
    facts += [background_words(ending.background)] if ending.background else []
    return " · ".join(facts)


def _literal(text: str, limit: int = 300) -> str:
    return _SPECIAL.sub(r"\\\1", label(text, limit))


def _text(content: Sequence[ContentBlock], *, is_beside_ours: bool = False) -> str:
    written = AgentText(is_beside_ours=is_beside_ours)
    pieces: list[str] = []
    left = TEXT_LIMIT_CHARS
    rest = 0
    for block in content:
        if not isinstance(block, TextBlock):
            words = f"[{block_words(block)}]"
            words = without_own_mark(words) if is_beside_ours else words
            pieces.append(f"{written.close()}\n\n{words}\n\n")
            continue
        text = block.text if any(pieces) else block.text.lstrip()
        pieces.append(written.feed(text[:left]))
        rest += max(0, len(text) - left)
        left = max(0, left - len(text))
    shown = "".join([*pieces, written.close()]).strip("\n").rstrip()
    return shown if rest <= 0 else f"{shown}\n\n… {rest:,} more characters"


def _fenced(text: str, language: str) -> str:
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{text.rstrip()}\n{fence}"


def _inert(theme: Theme, text: str) -> str:
    with theme.time_for(len(text)) as budget:
        return inert_markdown(text, budget).strip()


def _markdown_entry(
    theme: Theme, state: SessionState, key: EntryKey, spans: Spans, is_brief: bool
) -> str:
    match key.kind:
        case "agent":
            return _inert(theme, _text(state.messages[key].content))
        case "thought":
            text = _inert(theme, _text(state.messages[key].content))
            return _folded(f"Thought{_spent(key, spans, ' for ')}", text) if text else ""
        case "tool_call":
            call = state.tool_calls[ToolCallId(key.id)]
            line = _markdown_line(call, _spent(key, spans))
            return line if is_brief else line + _markdown_details(theme, state, call)
        case "plan" if entries := state.plans[PlanId(key.id)].entries:
            return _markdown_plan(entries)
        case _:
            line = entry_line(state, key)
            return f"> {_literal(line, 500)}" if line else ""


def _folded(title: str, body: str) -> str:
    return f"<details><summary>{title}</summary>\n\n{body}\n\n</details>"


def _spent(key: EntryKey, spans: Spans, before: str = " · ") -> str:
    span = spans.get(key)
    words = spent_words(span.seconds if span else None)
    return f"{before}{words}" if words else ""


def _markdown_line(call: ToolCall, spent: str) -> str:
    # No agent can write an element: its HTML is made inert.
    kind = "<kbd>kernel</kbd>" if call.is_own else f"**{KINDS[kind_of(call.kind)]}**"
    line = f"{kind} {_literal(tool_title(call))}"
    allowed = f", {_literal(words)}" if (words := allowed_words(call)) else ""
    return f"> {line} — {_literal(status_words(call.status).text, 60)}{spent}{allowed}"


def _markdown_details(theme: Theme, state: SessionState, call: ToolCall) -> str:
    items = call.content if call.is_own else call.content[:ITEMS_SHOWN]
    changes = [_diff_lines(theme, item) for item in items if isinstance(item, DiffItem)]
    parts = {
        "Changes": [_fenced(text, "diff") for text in changes if text],
        "Code" if call.is_own else "Output": _output(theme, state, call),
    }
    folds = [_folded(title, "\n\n".join(texts)) for title, texts in parts.items() if texts]
    rest = len(call.content) - len(items)
    folds += [f"… {count_words(rest, 'more part')} of the call"] if rest else []
    return "".join(f"\n\n{fold}" for fold in folds)


def _output(theme: Theme, state: SessionState, call: ToolCall) -> list[str]:
    found = []
    for number, item in enumerate(call.content if call.is_own else call.content[:ITEMS_SHOWN]):
        if isinstance(item, ContentItem) and isinstance(item.block, TextBlock):
            text = mark_output(clean(tool_text(call.kind, item.block.text)))
            is_code = call.is_own and not number
            text = text if is_code else _clipped(text)
            found += [_fenced(text, "python" if is_code else "")] if text.strip() else []
        elif isinstance(item, ContentItem):
            found.append(f"\\[{_literal(block_words(item.block))}\\]")
        elif isinstance(item, TerminalItem) and item.terminal_id in state.terminals:
            found.append(_fenced(_terminal_output(theme, state, item.terminal_id), ""))
    return found


def _clipped(text: str) -> str:
    rest = len(text) - OUTPUT_LIMIT_CHARS
    return text if rest <= 0 else f"{text[:OUTPUT_LIMIT_CHARS]}\n… {rest:,} more characters"


def _terminal_output(theme: Theme, state: SessionState, terminal_id: TerminalId) -> str:
    terminal = state.terminals[terminal_id]
    text = TerminalText(theme, terminal.size)
    with theme.time_for(len(terminal.output)) as budget:
        text.feed(terminal.output, budget)
    above = [f"… {count_words(text.hidden, 'earlier line')}"] if text.hidden else []
    below = [f"({exit_words(terminal.exit_status)})"] if terminal.exit_status else []
    command = [f"$ {label(terminal.command)}"] if terminal.command else []
    return "\n".join([*command, *above, text.plain.rstrip("\n"), *below])


def _diff_lines(theme: Theme, item: DiffItem) -> str:
    lines = [visible(line.text) for line in read_diff(theme, item).lines]
    shown = lines[:DIFF_LIMIT_LINES]
    if len(lines) > len(shown):
        shown.append(f"… {count_words(len(lines) - len(shown), 'more line')}")
    return "\n".join(shown)


def _markdown_plan(entries: Sequence[PlanEntry]) -> str:
    marks = {"completed": "x"}
    return "\n".join(
        f"- [{marks.get(entry.status, ' ')}] {_literal(entry.content, 500)}"
        for entry in entries[:PLAN_LIMIT]
    ) + _more_steps(entries)


def _more_steps(entries: Sequence[PlanEntry]) -> str:
    rest = len(entries) - PLAN_LIMIT
    return f"\n… {count_words(rest, 'more step')}" if rest > 0 else ""


def plain_entry(state: SessionState, key: EntryKey, spans: Spans, is_brief: bool = False) -> str:
    """Return an entry as plain text, which may be empty."""
    match key.kind:
        case "agent":
            return _text(state.messages[key].content, is_beside_ours=True)
        case "thought":
            return ""
        case "tool_call":
            return _plain_tool(state, key, spans, is_brief=is_brief)
        case "plan" if entries := state.plans[PlanId(key.id)].entries:
            return _plain_plan(entries)
        case _:
            line = label(entry_line(state, key), 600)
            return line if key.kind in OURS else beside_ours(line)


def _plain_tool(state: SessionState, key: EntryKey, spans: Spans, *, is_brief: bool) -> str:
    call = state.tool_calls[ToolCallId(key.id)]
    words = status_words(call.status)
    spent = _spent(key, spans, ", ")
    allowed = f", {label(given)}" if (given := allowed_words(call)) else ""
    line = entry_line(state, key)
    line = line if call.is_own else without_own_mark(line)
    lines = [f"{words.glyph} {line} ({label(words.text)}{spent}{allowed})"]
    if is_brief:
        return lines[0]
    if call.is_own and call.is_finished:
        lines += [f"    {line}" for text in _own_texts(call) for line in text.splitlines()]
    diffs = [item for item in call.content if isinstance(item, DiffItem)]
    changes = [change for item in diffs for change in item.changes]
    lines += [f"    {change_words(change)}" for change in changes[:FILES_SHOWN]]
    rest = len(changes) - FILES_SHOWN
    lines += [f"    … {count_words(rest, 'more file')}"] if rest > 0 else []
    for terminal_id in call.terminal_ids:
        terminal = state.terminals.get(terminal_id)
        if terminal is not None and terminal.exit_status is not None:
            lines.append(f"    {exit_words(terminal.exit_status)}")
    return "\n".join(lines)


def _own_texts(call: ToolCall) -> list[str]:
    """Return the code of an own call in full, and its result."""
    blocks = [item.block for item in call.content if isinstance(item, ContentItem)]
    texts = [
        mark_output(tool_text(call.kind, clean(block.text)))
        if isinstance(block, TextBlock)
        else f"[{block_words(block)}]"
        for block in blocks
    ]
    return [*texts[:1], *map(_clipped, texts[1:])]


def _plain_plan(entries: Sequence[PlanEntry]) -> str:
    return "\n".join(
        f"  {plan_status_words(entry.status).glyph} {without_own_mark(label(entry.content, 500))}"
        for entry in entries[:PLAN_LIMIT]
    ) + _more_steps(entries)
