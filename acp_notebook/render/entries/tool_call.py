"""Tool calls -> cards: a line with kind, title and status, and everything else folded behind.

A terminal's output has its own slot in the live card, because it grows separately. Knows no
document.
"""

from __future__ import annotations

import posixpath
from typing import Any, Final

from markupsafe import Markup

from acp_notebook.render.entries.consent import shown_text, value_to_allow, whole
from acp_notebook.render.entries.content import json_fold, text_part
from acp_notebook.render.entries.diff_view import diff_counts, read_diff, render_diff
from acp_notebook.render.entries.json_view import fields_part, pre_part, rest_remark
from acp_notebook.render.entries.tool_text import render_output
from acp_notebook.render.labels import (
    KINDS,
    by_words,
    count_words,
    kind_of,
    spent_words,
    status_words,
)
from acp_notebook.render.markup import Theme, join, label, visible
from acp_notebook.render.parsing.terminal import TerminalText
from acp_notebook.session.content import ImageBlock, TextBlock
from acp_notebook.session.state import (
    ALLOWED_META,
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
    ToolContent,
    UnknownItem,
)

_LOCATIONS_SHOWN = 20
OWN_MARK: Final = "[kernel]"
"""The mark of this client's own in text; `text.agent_text` keeps it out of what agents write."""
ITEMS_SHOWN: Final = 1_000


def terminal_slots(ident: str, call: ToolCall) -> dict[TerminalId, str]:
    """Return the slot of each terminal's lines in the entry `ident`."""
    slots: dict[TerminalId, str] = {}
    for number, terminal_id in enumerate(call.terminal_ids):
        slots.setdefault(terminal_id, f"{ident}.t{number}")
    return slots


def tool_title(call: ToolCall) -> str:
    """Return the title of a call as a label."""
    return label(whole_title(call))


def whole_title(call: ToolCall) -> str:
    """Return the title, else the name, else the kind of a call."""
    return call.title or call.name or KINDS[kind_of(call.kind)]


def tool_line(call: ToolCall) -> str:
    """Return kind and title of a call, with the mark of ours if it is this client's own."""
    title = tool_title(call)
    return f"{OWN_MARK} {title}" if call.is_own else f"{KINDS[kind_of(call.kind)]}: {title}"


def allowed_words(call: ToolCall) -> str:
    """Return who allowed a call of this client's own; empty if nobody had to."""
    by = call.meta.get(ALLOWED_META) if call.is_own else None
    return f"allowed {by_words(by)}" if by else ""


def render_tool_call(theme: Theme, state: SessionState, call: ToolCall, ident: str) -> Markup:
    """Render the card of a tool call."""
    body = tool_body(theme, state, call, ident)
    line = _line(theme, call)
    kind = f"card tool kind-{kind_of(call.kind)}" + (" own" if call.is_own else "")
    if not body:
        return theme("div", f"{kind} card-plain", theme("div", "tool-line", line))
    shown = theme("div", "card-body", *body)
    is_open = call.status == "failed" or _has_image(call) or OPEN_META in call.meta
    return theme.fold(kind, theme("span", "tool-row", line), shown, key=ident, is_open=is_open)


def _line(theme: Theme, call: ToolCall) -> Markup:
    kind = kind_of(call.kind)
    items = [item for item in call.content if isinstance(item, DiffItem)]
    diffs = [read_diff(theme, item) for item in items] if len(items) <= ITEMS_SHOWN else []
    word = "" if _says(tool_title(call), KINDS[kind]) else KINDS[kind]
    name = label(call.name or "", 60)
    is_news = bool(name and call.title) and not _says(tool_title(call), name)
    extra = theme("span", "mono muted", name) if is_news else Markup("")
    return Markup(" ").join(
        [
            own_mark(theme) if call.is_own else theme.icon(kind, word),
            theme("span", "title tool-title", theme.titled(tool_title(call)), dir="auto"),
            extra,
            diff_counts(theme, diffs),
            theme(
                "span", "end", _spent(theme, call), " ", theme.wording(status_words(call.status))
            ),
        ]
    )


def _spent(theme: Theme, call: ToolCall) -> Markup:
    span = theme.spans.get(EntryKey("tool_call", call.tool_call_id))
    if span is None:
        return Markup("")
    if span.seconds is None:
        is_running = call.status == "in_progress" and not theme.is_static
        since = f"{span.began_s:.1f}"
        return theme("span", "num muted", "", data_since=since) if is_running else Markup("")
    words = spent_words(span.seconds)
    return theme("span", "num muted small", words) if words else Markup("")


def own_mark(theme: Theme) -> Markup:
    """Make the mark of what a tool of this kernel shows, which no agent's text can have."""
    meaning = "Shown by this notebook, not by the agent"
    return theme("span", "badge own-mark", "kernel", title=meaning)


def _says(title: str, word: str) -> bool:
    return title.casefold().startswith(word.casefold())


def _has_image(call: ToolCall) -> bool:
    return any(
        isinstance(item, ContentItem) and isinstance(item.block, ImageBlock)
        for item in call.content
    )


def tool_body(
    theme: Theme, state: SessionState, call: ToolCall, ident: str, *, is_asked: bool = False
) -> list[Markup]:
    """Render the folded part: who allowed it, places, input, content, output.

    Of a call that `is_asked` about, everything is shown in full and unfolded.
    """
    parts = []
    if words := allowed_words(call):
        parts.append(theme("div", "part muted small", words.capitalize()))
    if call.locations:
        parts.append(_locations(theme, call.locations))
    if _says_something(call.raw_input):
        parts.append(_input(theme, call.raw_input, f"{ident}.in", is_asked=is_asked))
    parts += _contents(theme, state, call, ident, is_asked=is_asked)
    if _says_something(call.raw_output):
        parts.append(json_fold(theme, "Output", call.raw_output, f"{ident}.out"))
    return [*parts, *_cancel_button(theme, state, call, ident)]


def _contents(
    theme: Theme, state: SessionState, call: ToolCall, ident: str, *, is_asked: bool
) -> list[Markup]:
    parts: list[Markup] = []
    slots = terminal_slots(ident, call)
    left_out = 0
    for number, item in enumerate(call.content):
        if isinstance(item, TerminalItem):
            # Each terminal has one slot, which its output looks for.
            slot = slots.pop(item.terminal_id, None)
            terminal = state.terminals.get(item.terminal_id)
            parts += [] if slot is None else [render_terminal(theme, terminal, slot)]
        elif not call.is_own and (
            number >= ITEMS_SHOWN or (theme.budget.is_spent and not is_asked)
        ):
            left_out += 1
        else:
            parts.append(_content(theme, call, item, f"{ident}.c{number}", is_asked=is_asked))
    return [*parts, *filter(None, [rest_remark(theme, left_out, "parts of a tool call")])]


def _content(
    theme: Theme, call: ToolCall, item: ToolContent, key: str, *, is_asked: bool
) -> Markup:
    match item:
        case ContentItem(block=TextBlock(text=text)) if call.is_own and item is call.content[0]:
            # The code that ran belongs to the record in full, whatever the record's limits.
            return theme("div", "part", text_part(whole(theme), text))
        case ContentItem(block=TextBlock(text=text) as block):
            block = TextBlock(shown_text(text)) if is_asked else block
            return theme("div", "part", render_output(theme, call.kind, block, key))
        case ContentItem(block=other):
            return theme("div", "part", render_output(theme, call.kind, other, key))
        case DiffItem():
            return render_diff(theme, item, read_diff(theme, item), key, is_asked=is_asked)
        case UnknownItem(type=kind, raw=raw):
            return json_fold(theme, f"Unknown content: {label(kind, 60)}", raw, key)
        case TerminalItem():
            return Markup("")


def _input(theme: Theme, value: Any, key: str, *, is_asked: bool) -> Markup:
    if is_asked:
        return theme("div", "part", value_to_allow(theme, value))
    return theme.fold("part fold", join("Input"), fields_part(theme, value, key), key=key)


def _cancel_button(theme: Theme, state: SessionState, call: ToolCall, ident: str) -> list[Markup]:
    if theme.is_static or not can_be_cancelled(state, call):
        return []
    return [theme("button", "button quiet", "Cancel this", data_act="cancel_tool", data_id=ident)]


def can_be_cancelled(state: SessionState, call: ToolCall) -> bool:
    """Whether the call, or its running terminal, can be cancelled by itself (TOOL-9)."""
    if call.is_finished:
        return False
    terminals = [state.terminals[key] for key in call.terminal_ids if key in state.terminals]
    return call.can_cancel or any(
        terminal.can_cancel and terminal.exit_status is None for terminal in terminals
    )


def _says_something(value: Any) -> bool:
    return value is not None and value not in ({}, [], "")


def _locations(theme: Theme, locations: tuple[Location, ...]) -> Markup:
    most = None if theme.unfolds else _LOCATIONS_SHOWN
    shown = [_location(theme, place) for place in locations[:most]]
    rest = len(locations) - len(shown)
    if rest > 0:
        shown.append(theme("span", "muted", f"and {count_words(rest, 'more place')}"))
    return theme("div", "part places", Markup(" ").join(shown))


def _location(theme: Theme, place: Location) -> Markup:
    line = str(place.line) if place.line else None
    words = label(place.path, theme.limits.name_chars) + (f":{line}" if line else "")
    path = _path_from(theme.folder, place.path)
    # The page makes a link of the path, if it can open files.
    return theme("span", "place mono", words, data_path=path, data_line=line if path else None)


def _path_from(folder: str, path: str) -> str | None:
    """The path relative to the notebook's folder; None if the folder is unknown."""
    if not folder or not path or "\x00" in path:
        return None
    relative = posixpath.relpath(posixpath.join(folder, path), folder)
    return relative if posixpath.isabs(folder) else None


def exit_words(exit_status: ExitStatus | None) -> str:
    """Return the words for the end of a terminal's command."""
    if exit_status is None:
        return ""
    if exit_status.signal:
        return f"ended by {label(exit_status.signal, 40)}"
    if exit_status.exit_code is None:
        return "ended"
    return f"exit code {exit_status.exit_code}"


def render_terminal(theme: Theme, terminal: Terminal | None, place: str) -> Markup:
    """Render command, folder, output and exit of a terminal; live, the output is an empty slot."""
    if terminal is None:
        return theme("div", "part muted", "A terminal that has not reported yet")
    head = []
    if terminal.command:
        command = terminal.command[: theme.limits.text_chars]
        command = shown_text(command) if theme.unfolds else visible(command)
        head.append(theme("div", "command mono", theme("span", "muted", "$ "), command))
        rest = len(terminal.command) - theme.limits.text_chars
        head.append(rest_remark(theme, rest, "characters of a command"))
    facts = [label(terminal.cwd, theme.limits.name_chars)] if terminal.cwd else []
    facts += [exit_words(terminal.exit_status)] if terminal.exit_status else []
    if facts:
        head.append(theme("div", "muted small", " · ".join(facts)))
    if theme.is_static:
        return theme("div", "part", *head, _static_output(theme, terminal))
    hidden = theme.slot(f"{place}.hidden", "left-out")
    lines = theme.slot(place, "term-lines") + theme.slot(f"{place}.tail", "term-tail")
    return theme("div", "part", *head, hidden, theme("div", "term", lines))


def _static_output(theme: Theme, terminal: Terminal) -> Markup:
    text = TerminalText(theme, terminal.size)
    with theme.time_for(len(terminal.output)) as budget:
        text.feed(terminal.output, budget)
    if text.is_empty:
        return Markup("")
    remark = Markup("")
    if text.hidden:
        words = count_words(text.hidden, "earlier line")
        theme.left_out.append(f"{words} of a terminal")
        remark = theme("div", "left-out", f"… {words} not shown")
    lines = [*text.lines_since(0), *([text.tail] if text.tail else [])]
    return remark + theme("pre", "term", Markup("\n").join(lines), **theme.scrolled(len(lines)))


def render_command(theme: Theme, command: str, cwd: str) -> Markup:
    """Render a command for an approval, in full."""
    folder = theme("div", "muted small", "in ", theme("span", "mono", visible(cwd))) if cwd else ""
    return theme("div", "part", pre_part(whole(theme), shown_text(command)), folder)
