"""A turn as text that only grows, for a console: messages as they come, other entries as lines.

Printed text cannot change, so a replaced message is printed again, and a tool call has a line at
its start and one at its end. Pure: the caller prints.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final

from acp_notebook.render.entries.consent import (
    MOST_CHARS,
    WHOLE_LIMITS,
    shown_text,
    written_json,
)
from acp_notebook.render.entries.content import block_words
from acp_notebook.render.entries.diff_view import FILES_SHOWN
from acp_notebook.render.entries.kinds import LOOKS
from acp_notebook.render.entries.permission import option_name
from acp_notebook.render.entries.tool_call import OWN_MARK, exit_words, whole_title
from acp_notebook.render.header import Ending, has_loss_entry
from acp_notebook.render.labels import LASTING, is_lasting, option_effect
from acp_notebook.render.markup import label, visible, whole_label
from acp_notebook.render.parsing.diff import PATCH_LIMIT_LINES, change_words, diff_text
from acp_notebook.render.text.agent_text import AgentText, beside_ours
from acp_notebook.render.text.record_text import ending_line, plain_entry
from acp_notebook.session.content import (
    START,
    Content,
    Place,
    ResourceBlock,
    ResourceLinkBlock,
    TextBlock,
    UnknownBlock,
    text_of,
)
from acp_notebook.session.state import EntryKey, Permission, SessionState, Terminal, ToolCall
from acp_notebook.session.timings import Timings
from acp_notebook.session.updates import (
    CodeSubject,
    CommandSubject,
    ContentItem,
    DiffItem,
    PermissionOption,
    PermissionRequested,
    TerminalItem,
    ToolCallSubject,
    ToolContent,
    UnknownItem,
    UnknownSubject,
)

NOT_WHOLE: Final = (
    "This is too long to be shown whole, so it can only be rejected here. "
    "In Python: session.questions[0].request, .answer(option_id)"
)
_INDENT: Final = "  "
_DIGITS: Final = 9
# The user's input stands above already, and thoughts would be folded elsewhere.
_UNPRINTED = frozenset({"user", "prompt", "thought", "violation"})


class ConsoleText:
    """The text of one turn that a console has not printed yet. On the state's own thread."""

    def __init__(self, state: SessionState, timings: Timings) -> None:
        self._state = state
        self._timings = timings
        self._printed: dict[EntryKey, str] = {}
        """The words of each printed entry; of a message the last ones."""
        self._read: dict[EntryKey, tuple[Content, Place]] = {}
        self._written: dict[EntryKey, AgentText] = {}
        self._open: EntryKey | None = None
        self._is_thinking = False

    def more(self, keys: Iterable[EntryKey]) -> str:
        """Return the text to print after changes of these entries."""
        return "".join(self._entry(key) for key in dict.fromkeys(keys))

    def end(self, agent_name: str, ending: Ending) -> str:
        """Return the last lines."""
        failure = ending.failure
        is_new = failure is not None and not has_loss_entry(self._state, self._printed, ending)
        words = f"Error: {label(failure.message, 500)}\n" if failure and is_new else ""
        return f"{self._closed()}{words}[{ending_line(agent_name, ending)}]\n"

    def _closed(self) -> str:
        if self._open is None:
            return ""
        rest = self._written[self._open].close()
        is_at_line_start = (rest or self._printed[self._open]).endswith("\n")
        self._open = None
        return f"{rest}\n" if is_at_line_start else f"{rest}\n\n"

    def _entry(self, key: EntryKey) -> str:
        if key.kind == "agent":
            return self._message(key)
        if key.kind == "thought" and not self._is_thinking:
            self._is_thinking = True
            return f"{self._closed()}… thinking\n"
        if key.kind in _UNPRINTED or not self._has_news(key):
            return ""
        self._is_thinking = False
        words = plain_entry(self._state, key, self._timings.spans)
        printed = self._printed.get(key)
        if not words or words == printed:
            return ""
        self._printed[key] = words
        if printed is not None and key.kind == "plan":
            # Only the changed steps of a plan that stands above already.
            before = set(printed.splitlines())
            words = "\n".join(line for line in words.splitlines() if line not in before)
        return f"{self._closed()}{words}\n" if words else ""

    def _has_news(self, key: EntryKey) -> bool:
        """Whether to print a line: not for each step of a tool call, nor for an open question."""
        is_first_of_call = key.kind == "tool_call" and key not in self._printed
        return is_first_of_call or LOOKS[key.kind].is_settled(self._state.entry(key))

    def _message(self, key: EntryKey) -> str:
        content = self._state.messages[key].content
        before, place = self._read.get(key, (content, START))
        self._read[key] = content, content.end
        is_replaced = False
        if content is before:
            text = text_of(block for _, block in content.since(place))
        else:
            text, printed = content.text, before.text_until(place)
            is_replaced = bool(printed) and not text.startswith(printed)
            text = text if is_replaced else text[len(printed) :]
        if not text and not is_replaced:
            return ""
        self._is_thinking = False
        above = "" if self._open == key else self._closed()
        self._open = key
        if is_replaced or key not in self._written:
            self._written[key] = AgentText(is_beside_ours=True)
        text = self._written[key].feed(text)
        self._printed[key] = text or self._printed.get(key, "")
        return f"{above}\n(replaced)\n{text}" if is_replaced else above + text


def question_text(state: SessionState, permission: Permission, agent_name: str) -> str:
    """Return a permission request in full, with numbered options."""
    request = permission.request
    agent = beside_ours(label(agent_name, 80))
    asks = f"{OWN_MARK} {agent} wants to use this kernel:" if _is_own(request) else f"{agent} asks:"
    # Only this client's own lines begin at the margin.
    lines = [f"{asks} {shown_text(request.title, _INDENT)}"]
    if request.description:
        lines.append(f"{_INDENT}{shown_text(request.description, _INDENT)}")
    subject = _subject(state, request)
    lines += [f"{_INDENT}{line}" for line in subject if line != NOT_WHOLE]
    text = "\n".join(lines)
    options = [f"{_INDENT}{_option(each, place)}" for place, each in enumerate(request.options)]
    # An option whose name ends with the last line's words only makes the question one to reject.
    is_whole = len(text) <= MOST_CHARS and NOT_WHOLE not in subject[-1:]
    last = [] if is_whole else [NOT_WHOLE]
    return "\n".join([text[:MOST_CHARS], *options, *last])


def _option(option: PermissionOption, place: int) -> str:
    lasting = f" ({LASTING})" if is_lasting(option) else ""
    glyph = option_effect(option)[1]
    return f"{place + 1}  {glyph} {option_name(option, place, None)}{lasting}"


def option_names(options: Sequence[PermissionOption]) -> list[str]:
    """Return the names of options as shown."""
    return [option_name(option, place, None) for place, option in enumerate(options)]


def typed_place(line: str, names: Sequence[str]) -> int | None:
    """Return the place of the choice that a line means: by its number, else by its name as shown.

    An agent chooses the names. One without a letter could be meant for a number, or for nothing.
    """
    if line.isdecimal() and len(line) <= _DIGITS:
        return int(line) - 1 if 1 <= int(line) <= len(names) else None
    word = line.casefold()
    if not any(map(str.isalpha, word)):
        return None
    found = [place for place, name in enumerate(names) if name.casefold() == word]
    return found[0] if len(found) == 1 else None


def _is_own(request: PermissionRequested) -> bool:
    return isinstance(request.subject, CodeSubject)


def _subject(state: SessionState, request: PermissionRequested) -> list[str]:
    match request.subject:
        case CommandSubject(command=command, cwd=cwd):
            return [*f"$ {shown_text(command)}".split("\n"), *f"in {visible(cwd)}".split("\n")]
        case CodeSubject(code=code):
            return shown_text(code).split("\n")
        case ToolCallSubject(tool_call_id=tool_call_id):
            call = state.tool_calls.get(tool_call_id)
            return [f"Tool call {label(tool_call_id, 80)}"] if call is None else _call(state, call)
        case UnknownSubject(type=kind, raw=raw):
            return [f"About something of the unknown type {label(kind, 60)}", *_json_lines(raw)]
        case None:
            return []


def _call(state: SessionState, call: ToolCall) -> list[str]:
    lines = shown_text(whole_title(call)).split("\n")
    for place in call.locations:
        lines.append(whole_label(place.path) + (f":{place.line}" if place.line else ""))
    if call.raw_input not in (None, {}, ""):
        lines += _json_lines(call.raw_input)
    left = MOST_CHARS - sum(map(len, lines))
    for item in call.content:
        if left < 0:
            return [*lines, NOT_WHOLE]
        more = _item(state, item)
        left -= sum(map(len, more))
        lines += more
    if call.raw_output not in (None, {}, ""):
        lines += ["Output", *_json_lines(call.raw_output)]
    changes = sum(len(item.changes) for item in call.content if isinstance(item, DiffItem))
    is_whole = left >= 0 and changes <= FILES_SHOWN and NOT_WHOLE not in lines
    return lines if is_whole else [*lines, NOT_WHOLE]


def _item(state: SessionState, item: ToolContent) -> list[str]:
    match item:
        case ContentItem(block=TextBlock(text=text)):
            return shown_text(text).split("\n")
        case ContentItem(block=ResourceBlock(uri=uri, text=str(text))):
            return [whole_label(uri), *shown_text(text).split("\n")]
        case ContentItem(block=ResourceLinkBlock(uri=uri) as block):
            return [f"[{block_words(block)}]", whole_label(uri)]
        case ContentItem(block=UnknownBlock(raw=raw)):
            return _json_lines(raw)
        case ContentItem(block=block):
            return [f"[{block_words(block)}]"]
        case DiffItem():
            most = WHOLE_LIMITS.name_chars
            return [*(change_words(each, most) for each in item.changes), *_diff_lines(item)]
        case TerminalItem(terminal_id=terminal_id):
            return _terminal(state.terminals.get(terminal_id))
        case UnknownItem(raw=raw):
            return _json_lines(raw)


def _diff_lines(item: DiffItem) -> list[str]:
    if item.patch is not None:
        return shown_text(item.patch).split("\n")
    texts = [text.splitlines() for text in (item.old_text, item.new_text) if text]
    if any(len(lines) > PATCH_LIMIT_LINES for lines in texts):
        signed = zip("-+", (item.old_text or "", item.new_text or ""), strict=True)
        return [f"{sign}{line}" for sign, text in signed for line in shown_text(text).split("\n")]
    return [visible(line.text) for line in diff_text(item).lines]


def _terminal(terminal: Terminal | None) -> list[str]:
    if terminal is None:
        return ["A terminal that has not reported yet"]
    lines = shown_text(f"$ {terminal.command}").split("\n") if terminal.command else []
    lines += [f"in {whole_label(terminal.cwd)}"] if terminal.cwd else []
    return lines + ([exit_words(terminal.exit_status)] if terminal.exit_status else [])


def _json_lines(value: Any) -> list[str]:
    text = value if isinstance(value, str) else written_json(value)
    lines = shown_text(text[:MOST_CHARS]).split("\n")
    return lines if len(text) <= MOST_CHARS else [*lines, NOT_WHOLE]
