"""A turn as text that only grows, for a console: messages as they come, other entries as lines.

Printed text cannot change, so a replaced message is printed again, and a tool call has a line at
its start and one at its end. Pure: the caller prints.
"""

from __future__ import annotations

import json
from collections.abc import Iterable

from acp_notebook.render.entries.consent import shown_text
from acp_notebook.render.entries.kinds import LOOKS
from acp_notebook.render.entries.tool_call import tool_title
from acp_notebook.render.header import Ending, has_loss_entry
from acp_notebook.render.markup import clean, label, visible
from acp_notebook.render.parsing.diff import diff_text
from acp_notebook.render.text.record_text import ending_line, plain_entry
from acp_notebook.session.content import START, Content, Place, TextBlock, text_of
from acp_notebook.session.state import EntryKey, Permission, SessionState
from acp_notebook.session.timings import Timings
from acp_notebook.session.updates import (
    CodeSubject,
    CommandSubject,
    ContentItem,
    DiffItem,
    PermissionRequested,
    ToolCallId,
    ToolCallSubject,
)

LABEL_CHARS = 200
_INDENT = "  "
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
        is_at_line_start = self._printed[self._open].endswith("\n")
        self._open = None
        return "\n" if is_at_line_start else "\n\n"

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
        self._printed[key] = text = clean(text)
        self._is_thinking = False
        above = "" if self._open == key else self._closed()
        self._open = key
        return f"{above}\n(replaced)\n{text}" if is_replaced else above + text


def question_text(state: SessionState, permission: Permission, agent_name: str) -> str:
    """Return a permission request in full, with numbered options."""
    request = permission.request
    agent = label(agent_name, 80)
    asks = f"[kernel] {agent} wants to use this kernel:" if _is_own(request) else f"{agent} asks:"
    # Only this client's own lines begin at the margin.
    lines = [f"{asks} {shown_text(request.title, _INDENT)}"]
    if request.description:
        lines.append(f"{_INDENT}{shown_text(request.description, _INDENT)}")
    lines += [f"  {line}" for line in _subject(state, request)]
    lines += [
        f"  {number}  {label(option.name, 120)}" for number, option in enumerate(request.options, 1)
    ]
    return "\n".join(lines)


def _is_own(request: PermissionRequested) -> bool:
    return isinstance(request.subject, CodeSubject)


def _subject(state: SessionState, request: PermissionRequested) -> list[str]:
    match request.subject:
        case CommandSubject(command=command, cwd=cwd):
            return [*f"$ {shown_text(command)}".splitlines(), *f"in {visible(cwd)}".splitlines()]
        case CodeSubject(code=code):
            return shown_text(code).splitlines()
        case ToolCallSubject(tool_call_id=tool_call_id):
            return _call_lines(state, tool_call_id)
        case _:
            return []


def _call_lines(state: SessionState, tool_call_id: ToolCallId) -> list[str]:
    call = state.tool_calls.get(tool_call_id)
    if call is None:
        return []
    title = call.title or ""
    lines = shown_text(title).splitlines() if len(title) > LABEL_CHARS else [tool_title(call)]
    if call.raw_input not in (None, {}, ""):
        shown = json.dumps(call.raw_input, ensure_ascii=False, indent=2, default=repr)
        lines += shown_text(shown).splitlines()
    for item in call.content:
        if isinstance(item, ContentItem) and isinstance(item.block, TextBlock):
            lines += shown_text(item.block.text).splitlines()
        elif isinstance(item, DiffItem):
            lines += [visible(line.text) for line in diff_text(item).lines]
    details = plain_entry(state, EntryKey("tool_call", tool_call_id), {})
    return lines + [line.strip() for line in details.splitlines()[1:]]
