"""Entries of the live view, each of which keeps what the page has and sends the rest.

A `StreamEntry` is a growing message or thought; a `CardEntry` is redrawn. Know no document.
"""

from __future__ import annotations

from markupsafe import Markup, escape

from acp_notebook.budget import Budget
from acp_notebook.render import operations as op
from acp_notebook.render.entries.content import render_block
from acp_notebook.render.entries.kinds import render_entry
from acp_notebook.render.entries.message import SNIPPET_CHARS, thought_head
from acp_notebook.render.entries.permission import subject_ident
from acp_notebook.render.entries.tool_call import terminal_slots
from acp_notebook.render.markup import Theme
from acp_notebook.render.operations import Operation
from acp_notebook.render.parsing.markdown_stream import SLICE_CHARS, Delta, MarkdownStream
from acp_notebook.render.parsing.terminal import TerminalText
from acp_notebook.session.content import START, Content, Place, TextBlock
from acp_notebook.session.state import EntryKey, Message, SessionState, Terminal
from acp_notebook.session.updates import PermissionId, TerminalId, ToolCallId, ToolCallSubject


class CardEntry:
    """An entry that is redrawn with every change."""

    def __init__(self, key: EntryKey, ident: str, theme: Theme) -> None:
        self.key = key
        self.ident = ident
        self.places: dict[str, TerminalId] = {}
        """The terminals that the card shows, by slot."""
        self.revision = 0
        """How often the entry was drawn; an answer to an earlier drawing does not count."""
        self._theme = theme
        self._html: Markup | None = None

    @property
    def is_placed(self) -> bool:
        """Whether the page has the entry."""
        return self._html is not None

    @property
    def is_behind(self) -> bool:
        """Whether another update has more to show: never, a card is drawn as a whole."""
        return False

    def update(self, state: SessionState, beat: Budget | None = None) -> list[Operation]:
        """Return the operations since the last call."""
        del beat  # the theme's budget bounds a card
        html = render_entry(self._theme, state, self.key, self.ident)
        self.places = self._find_places(state) if html else {}
        before, self._html = self._html, html
        if html == before:
            return []
        self.revision += 1
        return [op.put(self.ident, self.key.kind, html, before, revision=self._sent_revision)]

    def snapshot(self) -> list[Operation]:
        """Return everything for a new page."""
        if self._html is None:
            return []
        return [op.put(self.ident, self.key.kind, self._html, revision=self._sent_revision)]

    def renew(self) -> None:
        """Have the next update send everything again."""
        self._html = Markup("")

    @property
    def _sent_revision(self) -> int | None:
        return self.revision if self.key.kind == "permission" else None

    def finish(self, state: SessionState, beat: Budget | None = None) -> list[Operation]:
        """Return the last operations."""
        return self.update(state, beat)

    def _find_places(self, state: SessionState) -> dict[str, TerminalId]:
        if self.key.kind == "terminal":
            return {f"{self.ident}.t0": TerminalId(self.key.id)}
        ident, call = self.ident, None
        if self.key.kind == "tool_call":
            call = state.tool_calls[ToolCallId(self.key.id)]
        elif self.key.kind == "permission":
            permission = state.permissions[PermissionId(self.key.id)]
            subject = permission.request.subject if permission.is_open else None
            if isinstance(subject, ToolCallSubject):
                ident, call = subject_ident(ident), state.tool_calls.get(subject.tool_call_id)
        if call is None:
            return {}
        return {
            slot: terminal_id
            for terminal_id, slot in terminal_slots(ident, call).items()
            if terminal_id in state.terminals
        }


class StreamEntry:
    """A message or a thought: finished blocks are sent once, the open tail repeatedly."""

    def __init__(self, key: EntryKey, ident: str, theme: Theme) -> None:
        self.key = key
        self.ident = ident
        self.places: dict[str, TerminalId] = {}
        self.is_active = False
        """Whether the thought is the agent's present activity."""
        self._theme = theme
        self._frame: Markup | None = None
        self._content = Content()
        self._read = START
        self._done: list[Markup] = []
        self._snippet = ""
        self._has_more = False
        self._stream = self._new_stream()

    @property
    def is_placed(self) -> bool:
        """Whether the page has the entry."""
        return self._frame is not None

    @property
    def is_behind(self) -> bool:
        """Whether another update has more to show, because one takes a slice of the text."""
        return self._has_more or self._stream.waiting_chars > 0

    def update(self, state: SessionState, beat: Budget | None = None) -> list[Operation]:
        """Return the operations since the last call, as many as there is time for."""
        message = state.messages[self.key]
        rewritten = self._forget_if_rewritten(message)
        delta = Delta(is_rewritten=rewritten, tail=Markup("") if rewritten else None)
        self._take(message, delta, beat)
        return self._frame_operations() + self._operations(delta)

    def finish(self, state: SessionState, beat: Budget | None = None) -> list[Operation]:
        """Return the operations since the last call; close the open tail when nothing is left."""
        self.is_active = False
        operations = self.update(state, beat)
        if self.is_behind:
            return operations
        return operations + self._operations(self._finish_stream())

    def snapshot(self) -> list[Operation]:
        """Return everything for a new page."""
        if self._frame is None:
            return []
        found = [op.put(self.ident, self.key.kind, self._frame)]
        done = Markup("").join(self._done) + self._stream.done
        for slot, html in ((f"{self.ident}.done", done), (f"{self.ident}.tail", self._stream.tail)):
            if html:
                found.append(op.fill(slot, html))
        if self._stream.more:
            found.append(op.append(f"{self.ident}.more", escape(self._stream.more)))
        return found

    def _new_stream(self) -> MarkdownStream:
        return MarkdownStream(f"{self.ident}.more")

    def _forget_if_rewritten(self, message: Message) -> bool:
        # A whole-message update replaces everything so far (MSG-2). Mostly it only adds metadata or
        # a little text: then only that text is sent.
        content, before = message.content, self._content
        if content is before:
            return False
        self._content = content
        rest = grown_text(before, self._read, content)
        if rest is not None:
            self._read = content.end
            self._feed(rest)
            return False
        has_drawn = self._read != START
        self._read, self._done, self._snippet = START, [], ""
        self._stream = self._new_stream()
        return has_drawn

    def _take(self, message: Message, delta: Delta, beat: Budget | None) -> None:
        self._has_more = False
        for number, block in message.content.since(self._read):
            if not isinstance(block, TextBlock) and self._stream.waiting_chars > SLICE_CHARS:
                self._has_more = True  # the text before the block comes first
                self._read = Place(number, 0)
                break
            if isinstance(block, TextBlock):
                self._feed(block.text)
                continue
            _extend(delta, self._finish_stream())
            html = render_block(self._theme, block, f"{self.ident}.m{number}")
            self._done.append(html)
            delta.done.append(html)
            if beat is not None and beat.is_spent:
                # Not between a text and its block: a text that was sent in part is sent again.
                self._has_more, self._read = True, Place(number + 1, 0)
                break
        else:
            self._read = message.content.end
        _extend(delta, self._stream.pull())

    def _feed(self, text: str) -> None:
        self._stream.feed(text)
        # The same however the text came, and more than is shown: the line tells that it goes on.
        self._snippet += text[: max(0, 2 * SNIPPET_CHARS - len(self._snippet))]

    def _finish_stream(self) -> Delta:
        delta = self._stream.finish()
        if delta.is_rewritten:
            delta.done = [*self._done, *delta.done]
        self._done.append(self._stream.done)
        delta.tail = Markup("")
        self._stream = self._new_stream()
        return delta

    def _frame_operations(self) -> list[Operation]:
        frame = self._render_frame()
        if frame == self._frame:
            return []
        self._frame = frame
        return [op.put(self.ident, self.key.kind, frame)]

    def _render_frame(self) -> Markup:
        if not self._content:
            return Markup("")
        theme = self._theme
        slots = theme.slot(f"{self.ident}.done", "done") + theme.slot(f"{self.ident}.tail", "tail")
        body = theme("div", "md jp-md", slots, dir="auto")
        if self.key.kind != "thought":
            return body
        head = thought_head(theme, self.key, self._snippet, is_active=self.is_active)
        return theme.fold("thought fold", head, theme("div", "thought-body", body), key=self.ident)

    def _operations(self, delta: Delta) -> list[Operation]:
        if not self._frame:
            return []
        found = []
        done = Markup("").join(delta.done)
        if delta.is_rewritten:
            found.append(op.fill(f"{self.ident}.done", done))
        elif done:
            found.append(op.append(f"{self.ident}.done", done))
        if delta.tail is not None:
            found.append(op.fill(f"{self.ident}.tail", delta.tail))
        if delta.more:
            found.append(op.append(f"{self.ident}.more", escape(delta.more)))
        return found


def grown_text(old: Content, read: Place, new: Content) -> str | None:
    """Return the text that `new` adds to what was read of `old`; None for any other difference."""
    if not all(isinstance(block, TextBlock) for block in (*old, *new)):
        return None
    before, after = old.text_until(read), new.text
    return after[len(before) :] if before and after.startswith(before) else None


def _extend(delta: Delta, more: Delta) -> None:
    if more.is_rewritten:
        delta.done, delta.is_rewritten = more.done, True
    else:
        delta.done += more.done
    if more.tail is not None:
        delta.tail, delta.more = more.tail, ""
    delta.more += more.more


class LiveTerminal:
    """A terminal's lines, and the number that each place on the page has."""

    def __init__(self, theme: Theme) -> None:
        self._text = TerminalText(theme)
        self._keep = theme.limits.terminal_lines
        self._source: bytearray | None = None
        self._read = 0
        self._sent: dict[str, int] = {}

    def update(self, terminal: Terminal, places: list[str]) -> list[Operation]:
        """Return the operations for the places since the last call."""
        if self._source is not terminal.output:
            self._source, self._read = terminal.output, 0
            self._text.reset(terminal.size)
            self._sent.clear()
        fresh = len(terminal.output) > self._read
        if fresh:
            reading = self._text.reading
            self._text.feed(memoryview(terminal.output)[self._read :].tobytes())
            self._read = len(terminal.output)
            if self._text.reading != reading:
                self._sent.clear()
        found = []
        for place in places:
            if fresh or place not in self._sent:
                found += self._operations(place)
        self._sent = dict.fromkeys(places, self._text.finished)
        return found

    def snapshot(self, place: str) -> list[Operation]:
        """Return everything for one place."""
        return self._whole(place) if place in self._sent else []

    def _operations(self, place: str) -> list[Operation]:
        sent = self._sent.get(place)
        if sent is None or self._text.finished - sent >= self._keep:
            return self._whole(place)
        lines = self._text.lines_since(sent)
        found = [op.append(place, _lines(lines), self._keep)] if lines else []
        found.append(op.fill(f"{place}.tail", self._text.tail))
        if lines and self._text.hidden:
            found.append(op.fill(f"{place}.hidden", self._remark()))
        return found

    def _whole(self, place: str) -> list[Operation]:
        return [
            op.fill(place, _lines(self._text.lines_since(0))),
            op.fill(f"{place}.tail", self._text.tail),
            op.fill(f"{place}.hidden", self._remark()),
        ]

    def _remark(self) -> Markup:
        hidden = self._text.hidden
        return escape(f"… {hidden:,} earlier lines not shown") if hidden else Markup("")


def _lines(lines: list[Markup]) -> Markup:
    return Markup("").join(Markup("<div>{}</div>").format(line or Markup("<br>")) for line in lines)
