"""Tool calls -> cards: one quiet line with kind, title and status; everything else folded behind.

A terminal's output has its own place in the live card, because it grows apart from the rest.
"""

from __future__ import annotations

import posixpath
from typing import Any

from markupsafe import Markup

from acp_notebook.render.entries.diff_view import diff_counts, render_diff
from acp_notebook.render.entries.json_view import fields_part, json_part, pre_part
from acp_notebook.render.labels import KINDS, count_words, kind_of, spent_words, status_words
from acp_notebook.render.markup import Paper, join, label, visible
from acp_notebook.render.parsing.diff import diff_text
from acp_notebook.render.parsing.terminal import TerminalText
from acp_notebook.render.text.tool_text import render_output
from acp_notebook.session.content import ImageBlock
from acp_notebook.session.state import (
    OPEN_META,
    EntryKey,
    SessionState,
    Terminal,
    ToolCall,
)
from acp_notebook.session.updates import (
    ContentItem,
    DiffItem,
    ExitStatus,
    Location,
    TerminalId,
    TerminalItem,
    UnknownItem,
)

_LOCATIONS_SHOWN = 20


def terminal_slot(ident: str, terminal_id: TerminalId, call: ToolCall | None) -> str:
    """The page's place of a terminal's lines in the entry `ident`."""
    number = call.terminal_ids.index(terminal_id) if call else 0
    return f"{ident}.t{number}"


def tool_title(call: ToolCall) -> str:
    """What the call is called: its title, else its name, else its kind."""
    return label(call.title or call.name or KINDS[kind_of(call.kind)])


def render_tool_call(paper: Paper, state: SessionState, call: ToolCall, ident: str) -> Markup:
    """The card of a tool call."""
    body = tool_body(paper, state, call, ident)
    line = _line(paper, call)
    kind = f"card tool kind-{kind_of(call.kind)}"
    if not body:
        return paper("div", f"{kind} card-plain", paper("div", "tool-line", line))
    shown = paper("div", "card-body", *body)
    is_open = call.status == "failed" or _has_image(call) or OPEN_META in call.meta
    return paper.fold(kind, paper("span", "tool-row", line), shown, key=ident, is_open=is_open)


def _line(paper: Paper, call: ToolCall) -> Markup:
    kind = kind_of(call.kind)
    diffs = [diff_text(item) for item in call.content if isinstance(item, DiffItem)]
    word = "" if _says(tool_title(call), KINDS[kind]) else KINDS[kind]
    name = label(call.name or "", 60)
    is_news = bool(name and call.title) and not _says(tool_title(call), name)
    extra = paper("span", "mono muted", name) if is_news else Markup("")
    return Markup(" ").join(
        [
            paper.icon(kind, word),
            paper("span", "title tool-title", paper.titled(tool_title(call)), dir="auto"),
            extra,
            diff_counts(paper, diffs),
            paper(
                "span", "end", _spent(paper, call), " ", paper.wording(status_words(call.status))
            ),
        ]
    )


def _spent(paper: Paper, call: ToolCall) -> Markup:
    """How long it took, or has taken so far; nothing for what is over at once."""
    span = paper.spans.get(EntryKey("tool_call", call.tool_call_id))
    if span is None:
        return Markup("")
    if span.seconds is None:
        is_running = call.status == "in_progress" and not paper.is_static
        since = f"{span.began_s:.1f}"
        return paper("span", "num muted", "", data_since=since) if is_running else Markup("")
    return (
        paper("span", "num muted small", words)
        if (words := spent_words(span.seconds))
        else Markup("")
    )


def _says(title: str, word: str) -> bool:
    """Whether the title begins with the kind's word anyway."""
    return title.casefold().startswith(word.casefold())


def _has_image(call: ToolCall) -> bool:
    return any(
        isinstance(item, ContentItem) and isinstance(item.block, ImageBlock)
        for item in call.content
    )


def tool_body(
    paper: Paper, state: SessionState, call: ToolCall, ident: str, *, is_open: bool = False
) -> list[Markup]:
    """What is behind the line: places, input, content, output. `is_open` unfolds the input."""
    parts = []
    if call.locations:
        parts.append(_locations(paper, call.locations))
    if _says_something(call.raw_input):
        summary = join("Input")
        fields = fields_part(paper, call.raw_input, f"{ident}.in")
        parts.append(paper.fold("part fold", summary, fields, key=f"{ident}.in", is_open=is_open))
    for number, item in enumerate(call.content):
        key = f"{ident}.c{number}"
        match item:
            case ContentItem(block=block):
                parts.append(paper("div", "part", render_output(paper, call.kind, block, key)))
            case DiffItem():
                parts.append(render_diff(paper, item, diff_text(item), key))
            case TerminalItem() if item in call.content[:number]:
                pass  # one place for each terminal is enough
            case TerminalItem(terminal_id=terminal_id):
                place = terminal_slot(ident, terminal_id, call)
                parts.append(render_terminal(paper, state.terminals.get(terminal_id), place))
            case UnknownItem(type=kind, raw=raw):
                parts.append(_raw(paper, f"Unknown content: {label(kind, 60)}", raw, key))
    if _says_something(call.raw_output):
        parts.append(_raw(paper, "Output", call.raw_output, f"{ident}.out"))
    return [*parts, *_cancel_button(paper, state, call, ident)]


def _cancel_button(paper: Paper, state: SessionState, call: ToolCall, ident: str) -> list[Markup]:
    if paper.is_static or not can_be_cancelled(state, call):
        return []
    return [paper("button", "button quiet", "Cancel this", data_act="cancel_tool", data_id=ident)]


def can_be_cancelled(state: SessionState, call: ToolCall) -> bool:
    """Whether this call, or its running terminal, lets itself be cancelled alone (TOOL-9)."""
    if call.is_finished:
        return False
    terminals = [state.terminals[key] for key in call.terminal_ids if key in state.terminals]
    return call.can_cancel or any(
        terminal.can_cancel and terminal.exit_status is None for terminal in terminals
    )


def _says_something(value: Any) -> bool:
    return value is not None and value not in ({}, [], "")


def _raw(paper: Paper, title: str, value: Any, key: str) -> Markup:
    summary = join(title)
    return paper.fold("part fold", summary, json_part(paper, value, key), key=key)


def _locations(paper: Paper, locations: tuple[Location, ...]) -> Markup:
    shown = [_location(paper, place) for place in locations[:_LOCATIONS_SHOWN]]
    rest = len(locations) - len(shown)
    if rest > 0:
        shown.append(paper("span", "muted", f"and {count_words(rest, 'more place')}"))
    return paper("div", "part places", Markup(" ").join(shown))


def _location(paper: Paper, place: Location) -> Markup:
    line = str(place.line) if place.line else None
    words = label(place.path) + (f":{line}" if line else "")
    path = _path_from(paper.folder, place.path)
    # The page makes a link of it, if it knows how to open a file.
    return paper("span", "place mono", words, data_path=path, data_line=line if path else None)


def _path_from(folder: str, path: str) -> str | None:
    """The path as seen from the notebook's folder; None where nobody can tell."""
    if not folder or not path or "\x00" in path:
        return None
    relative = posixpath.relpath(posixpath.join(folder, path), folder)
    return relative if posixpath.isabs(folder) else None


def exit_words(exit_status: ExitStatus | None) -> str:
    """How a terminal's command ended."""
    if exit_status is None:
        return ""
    if exit_status.signal:
        return f"ended by {label(exit_status.signal, 40)}"
    if exit_status.exit_code is None:
        return "ended"
    return f"exit code {exit_status.exit_code}"


def render_terminal(paper: Paper, terminal: Terminal | None, place: str) -> Markup:
    """A terminal: command, folder, output, exit. Live, the output is an empty place to fill."""
    if terminal is None:
        return paper("div", "part muted", "A terminal that has not reported yet")
    head = []
    if terminal.command:
        command = visible(terminal.command[:2_000])
        head.append(paper("div", "command mono", paper("span", "muted", "$ "), command))
    facts = [label(terminal.cwd)] if terminal.cwd else []
    facts += [exit_words(terminal.exit_status)] if terminal.exit_status else []
    if facts:
        head.append(paper("div", "muted small", " · ".join(facts)))
    if paper.is_static:
        return paper("div", "part", *head, _static_output(paper, terminal))
    hidden = paper.slot(f"{place}.hidden", "left-out")
    lines = paper.slot(place, "term-lines") + paper.slot(f"{place}.tail", "term-tail")
    return paper("div", "part", *head, hidden, paper("div", "term", lines))


def _static_output(paper: Paper, terminal: Terminal) -> Markup:
    text = TerminalText(paper, terminal.size)
    text.feed(terminal.output)
    if text.is_empty:
        return Markup("")
    remark = Markup("")
    if text.hidden:
        words = count_words(text.hidden, "earlier line")
        paper.left_out.append(f"{words} of a terminal")
        remark = paper("div", "left-out", f"… {words} not shown")
    lines = [*text.lines_since(0), *([text.tail] if text.tail else [])]
    return remark + paper("pre", "term", Markup("\n").join(lines), **paper.scrolled(len(lines)))


def render_command(paper: Paper, command: str, cwd: str) -> Markup:
    """A command that waits for approval, in full."""
    folder = paper("div", "muted small", "in ", paper("span", "mono", visible(cwd))) if cwd else ""
    return paper("div", "part", pre_part(paper, visible(command)), folder)
