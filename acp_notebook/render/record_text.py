"""The record as Markdown (for GitHub and exports) and as plain text (for terminals and search).

Messages go out as the agent wrote them, except that raw HTML is made inert; everything else is one
line, with code in fences. Both forms are bounded.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from acp_notebook.render.content import block_words
from acp_notebook.render.diff import change_words, diff_text
from acp_notebook.render.elicitation import elicitation_line
from acp_notebook.render.header import Ending
from acp_notebook.render.markdown import parse
from acp_notebook.render.markup import clean, label
from acp_notebook.render.tool_call import exit_words, tool_title
from acp_notebook.render.words import (
    KINDS,
    answer_words,
    compaction_words,
    count_words,
    elapsed_words,
    kind_of,
    plan_status_words,
    severity_words,
    status_words,
    usage_words,
)
from acp_notebook.session.content import ContentBlock, TextBlock
from acp_notebook.session.elicitation import ElicitationId
from acp_notebook.session.state import EntryKey, Plan, SessionState, ToolCall
from acp_notebook.session.updates import (
    AgentLost,
    DiffItem,
    Notice,
    PermissionId,
    PlanId,
    PromptId,
    TerminalId,
    ToolCallId,
    UnknownUpdate,
    Violation,
)

TEXT_LIMIT_CHARS: Final = 400_000
DIFF_LIMIT_LINES: Final = 200
_PROMPT_MARK: Final = "\N{SINGLE RIGHT-POINTING ANGLE QUOTATION MARK} "

_SPECIAL = re.compile(r"([\\`*_{}\[\]<>#|~])")
# In a line of text: an escaped character, a code span, or what could begin an HTML tag.
_PARTS = re.compile(r"\\[\s\S]|(?<!`)(`+)(?!`)[\s\S]*?(?<!`)\1(?!`)|<(?=[A-Za-z/!?])")
_TAG_START = re.compile(r"<(?=[A-Za-z/!?]|\Z)")


def record_markdown(
    state: SessionState, keys: Sequence[EntryKey], agent_name: str, ending: Ending
) -> str:
    """The turn as Markdown."""
    parts = [part for key in keys if (part := _markdown_entry(state, key))]
    if ending.failure is not None:
        parts.append(f"> **Error:** {_literal(ending.failure.message)}")
    parts.append(f"*{_literal(_ending_line(state, agent_name, ending))}*")
    return "\n\n".join(parts) + "\n"


def record_plain(
    state: SessionState, keys: Sequence[EntryKey], agent_name: str, ending: Ending
) -> str:
    """The turn as plain text."""
    parts = [part for key in keys if (part := _plain_entry(state, key))]
    if ending.failure is not None:
        parts.append(f"Error: {label(ending.failure.message, 500)}")
    parts.append(f"[{_ending_line(state, agent_name, ending)}]")
    return "\n\n".join(parts)


def _ending_line(state: SessionState, agent_name: str, ending: Ending) -> str:
    facts = [label(ending.words.text, 120), label(agent_name, 80)]
    if ending.elapsed_s is not None:
        facts.append(elapsed_words(ending.elapsed_s))
    usage = usage_words(state)
    return " · ".join([*facts, label(usage, 120)] if usage else facts)


def _literal(text: str, limit: int = 300) -> str:
    """One line that Markdown takes literally."""
    return _SPECIAL.sub(r"\\\1", label(text, limit))


def _text(content: Sequence[ContentBlock]) -> str:
    pieces = [
        block.text if isinstance(block, TextBlock) else f"\n\n[{block_words(block)}]\n\n"
        for block in content
    ]
    text = clean("".join(pieces))
    rest = len(text) - TEXT_LIMIT_CHARS
    return text if rest <= 0 else f"{text[:TEXT_LIMIT_CHARS]}\n\n… {rest:,} more characters"


def inert_markdown(text: str) -> str:
    """The same Markdown, in which no reader can find an HTML tag outside of code."""
    lines = text.split("\n")
    done: set[int] = set()
    for token in parse(text, {}):
        if token.map is None:
            continue
        start, end = token.map
        if token.type == "table_open":
            # Cells end code spans, so none is trusted here.
            lines[start:end] = [_TAG_START.sub("&lt;", line) for line in lines[start:end]]
            done.update(range(start, end))
        if token.type in {"fence", "code_block"}:
            done.update(range(start, end))
        elif token.type == "inline" and start not in done:
            inert = _PARTS.sub(_inert_part, "\n".join(lines[start:end]))
            lines[start:end] = inert.split("\n")
            done.update(range(start, end))
    inert = "\n".join(
        line if number in done else _PARTS.sub(_inert_part, line)
        for number, line in enumerate(lines)
    )
    return inert + _closing_fence(text)


def _closing_fence(text: str) -> str:
    # An open fence, at whatever depth, would swallow what follows the message.
    last = next((t for t in reversed(parse(text + "\n\n¶", {})) if t.level == 0), None)
    return "" if last is None or last.type == "paragraph_close" else f"\n{last.markup}"


def _inert_part(match: re.Match[str]) -> str:
    part = match[0]
    # A line of a code span may begin with a tag, and blocks are found before spans.
    return _TAG_START.sub("&lt;", part) if part == "<" or "\n" in part else part


def _fenced(text: str, language: str) -> str:
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{text.rstrip()}\n{fence}"


def _markdown_entry(state: SessionState, key: EntryKey) -> str:
    match key.kind:
        case "agent":
            return inert_markdown(_text(state.messages[key].content)).strip()
        case "thought":
            text = inert_markdown(_text(state.messages[key].content)).strip()
            return _folded("Thought", text) if text else ""
        case "tool_call":
            return _markdown_tool(state.tool_calls[ToolCallId(key.id)])
        case "plan":
            return _markdown_plan(state.plans[PlanId(key.id)])
        case _:
            line = _line_entry(state, key)
            return f"> {_literal(line, 500)}" if line else ""


def _folded(title: str, body: str) -> str:
    return f"<details><summary>{title}</summary>\n\n{body}\n\n</details>"


def _markdown_tool(call: ToolCall) -> str:
    line = f"**{KINDS[kind_of(call.kind)]}** {_literal(tool_title(call))}"
    line += f" — {_literal(status_words(call.status).text, 60)}"
    diffs = [_diff_lines(item) for item in call.content if isinstance(item, DiffItem)]
    body = "\n\n".join(_fenced(text, "diff") for text in diffs if text)
    return f"> {line}" if not body else f"> {line}\n\n{_folded('Changes', body)}"


def _diff_lines(item: DiffItem) -> str:
    lines = [line.text for line in diff_text(item).lines]
    shown = lines[:DIFF_LIMIT_LINES]
    if len(lines) > len(shown):
        shown.append(f"… {count_words(len(lines) - len(shown), 'more line')}")
    return "\n".join(shown)


def _markdown_plan(plan: Plan) -> str:
    if plan.entries is None:
        return ""
    marks = {"completed": "x"}
    return "\n".join(
        f"- [{marks.get(entry.status, ' ')}] {_literal(entry.content, 500)}"
        for entry in plan.entries
    )


def _plain_entry(state: SessionState, key: EntryKey) -> str:
    match key.kind:
        case "agent":
            return _text(state.messages[key].content).strip()
        case "thought":
            return ""
        case "tool_call":
            return _plain_tool(state, state.tool_calls[ToolCallId(key.id)])
        case "plan":
            return _plain_plan(state.plans[PlanId(key.id)])
        case _:
            return label(_line_entry(state, key), 600)


def _plain_tool(state: SessionState, call: ToolCall) -> str:
    words = status_words(call.status)
    lines = [f"{words.glyph} {KINDS[kind_of(call.kind)]}: {tool_title(call)} ({label(words.text)})"]
    for item in call.content:
        if isinstance(item, DiffItem):
            lines += [f"    {change_words(change)}" for change in item.changes]
    for terminal_id in call.terminal_ids:
        terminal = state.terminals.get(terminal_id)
        if terminal is not None and terminal.exit_status is not None:
            lines.append(f"    {exit_words(terminal.exit_status)}")
    return "\n".join(lines)


def _plain_plan(plan: Plan) -> str:
    if plan.entries is None:
        return ""
    return "\n".join(
        f"  {plan_status_words(entry.status).glyph} {label(entry.content, 500)}"
        for entry in plan.entries
    )


def _line_entry(state: SessionState, key: EntryKey) -> str:
    match key.kind:
        case "prompt":
            prompt = state.prompts[PromptId(key.id)]
            return _PROMPT_MARK + _one_line(prompt.content)
        case "user":
            return _PROMPT_MARK + _one_line(state.messages[key].content)
        case "terminal":
            return _line_terminal(state, TerminalId(key.id))
        case "permission":
            permission = state.permissions[PermissionId(key.id)]
            by = f", by {permission.answer.by}" if permission.answer else ""
            return f"{label(permission.request.title)}: {answer_words(permission).text}{label(by)}"
        case "elicitation":
            return elicitation_line(state.elicitations[ElicitationId(key.id)])
        case "compaction":
            return compaction_words(state.compactions[key.id].status).text
        case _:
            return _line_aside(state.asides.get(key))


def _one_line(content: Sequence[ContentBlock]) -> str:
    return label(" ".join(block_words(block) for block in content), 300)


def _line_terminal(state: SessionState, terminal_id: TerminalId) -> str:
    if state.terminal_owners.get(terminal_id):
        return ""
    terminal = state.terminals[terminal_id]
    return f"$ {label(terminal.command or 'terminal')} {exit_words(terminal.exit_status)}".strip()


def _line_aside(value: object) -> str:
    match value:
        case Notice():
            text = f"{severity_words(value.severity).text}: {label(value.title)}"
            return f"{text}. {label(value.description)}" if value.description else text
        case UnknownUpdate(kind=kind):
            return f"Update of the unknown kind {label(kind, 60)}"
        case Violation(where=where, reason=reason):
            return f"The agent broke the protocol in {label(where, 80)}: {label(reason)}"
        case AgentLost(reason=reason):
            return f"The agent ended: {label(reason, 500)}"
        case _:
            return ""
