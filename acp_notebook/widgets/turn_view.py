"""`TurnView`, the widget in the page, and `TurnPresenter`, which sends it a document.

The view stores and places blocks; the presenter decides when to send them: urgent ones at once, the
others coalesced. Deltas are numbered, and a page that is new or missed one requests a snapshot.
Knows no ACP: buttons are reported as names and numbers that the document resolves.
"""

from __future__ import annotations

import contextvars
import time
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, Protocol

import anywidget

from acp_notebook.render.document import TurnDocument
from acp_notebook.render.entries.elicitation import is_whole
from acp_notebook.render.entries.form_entry import ACTIONS, given_values
from acp_notebook.render.operations import Operation
from acp_notebook.session.changes import SessionChange
from acp_notebook.session.elicitation import Action, ElicitationId
from acp_notebook.session.updates import Failure, PermissionId, PromptId, ToolCallId
from acp_notebook.widgets.static_files import join_modules, read_static

# A reloaded page has a new id; the oldest ids are dropped.
MAX_PAGES: Final = 16
# How many urgent changes go out at once within one beat, and how long drawing them may take
# before the rest waits for the beat: a flood of questions is coalesced.
MAX_URGENT: Final = 8
MAX_URGENT_S: Final = 0.05


class TurnView(anywidget.AnyWidget):
    """One turn in the page. Has no traits: its content arrives as numbered messages."""

    _esm = join_modules("turn_view.js")
    _css = read_static("turn_view.css")


class TurnActions(Protocol):
    """What the buttons and forms do. Called on the thread that owns the state."""

    def answer(self, permission_id: PermissionId, option_id: str) -> None:
        """Answer an open permission request."""

    def fill(self, elicitation_id: ElicitationId, given: dict[str, Any]) -> None:
        """Send the values of a form."""

    def reply(self, elicitation_id: ElicitationId, action: Action) -> None:
        """Decline or cancel a form or a URL elicitation; accept a URL that was opened."""

    def stop(self) -> None:
        """Cancel the turn; a second call ends the agent."""

    def withdraw(self, prompt_id: PromptId) -> None:
        """Withdraw a prompt that still waits."""

    def set_option(self, option_id: str, value: str, settled: Callable[[], object]) -> None:
        """Set a config option; `settled` is called on the owning thread after the answer."""

    def cancel_tool_call(self, tool_call_id: ToolCallId) -> None:
        """Cancel one tool call; the turn goes on."""


class Timer(Protocol):
    """A scheduled call."""

    def cancel(self) -> object:
        """Cancel the call."""


class Channel(Protocol):
    """The part of a view that a presenter uses."""

    comm: Any

    def send(self, content: dict[str, Any]) -> object:
        """Send a message to every page that shows the view."""

    def on_msg(
        self, callback: Callable[[Any, dict[str, Any], Any], None], remove: bool = False
    ) -> object:
        """Register a callback for the messages of all pages."""

    def close(self) -> object:
        """Close the view in every page."""


class TurnPresenter:
    """Sends a document to its pages, and the pages' clicks to the actions.

    Create it on the cell's thread: the view opens its comm there, and its messages carry that
    thread's context. Call `changed`, `finish` and `close` on the thread that owns the state.

    Args:
        document: The document to show.
        actions: What the buttons do.
        post: Runs a function soon on the owning thread; may be called on any thread.
        call_later: Runs a function on the owning thread after some seconds; called only there.
        rate_hz: The maximum rate of updates that are not urgent.
        make_view: Makes the view; a test passes its own.
    """

    def __init__(
        self,
        document: TurnDocument,
        actions: TurnActions,
        *,
        post: Callable[[Callable[[], None]], object],
        call_later: Callable[[float, Callable[[], None]], Timer],
        rate_hz: float = 20.0,
        make_view: Callable[[], Channel] = TurnView,
    ) -> None:
        self._document = document
        self._actions = actions
        self._post = post
        self._call_later = call_later
        self._interval_s = 1 / rate_hz
        self._timer: Timer | None = None
        self._sent_at = self._hurried_at = float("-inf")
        self._hurries, self._hurried_s = 0, 0.0
        self._number = 0
        self._is_closed = False
        self._is_over = False
        # whether each page is visible, by the page's own id
        self._pages: dict[str, bool] = {}
        self.view = make_view()
        self.view.on_msg(self._on_message)
        # In this context a message belongs to this cell, whichever thread sends it.
        self._context = contextvars.copy_context()

    def changed(self, changes: Iterable[SessionChange]) -> None:
        """Send changes of the state: a few urgent ones at once, others at the next beat."""
        if self._is_closed:
            return
        if self._document.note(changes) and self._may_hurry():
            began = time.monotonic()
            self._flush()
            self._hurried_at = time.monotonic()
            self._hurried_s += self._hurried_at - began
        else:
            self._await_beat()

    def _await_beat(self) -> None:
        if self._timer is None:
            wait_s = self._sent_at + self._interval_s - time.monotonic()
            self._timer = self._call_later(max(0.0, wait_s), self._on_beat)

    def _may_hurry(self) -> bool:
        now = time.monotonic()
        if now - self._hurried_at >= self._interval_s:
            self._hurries, self._hurried_s = 0, 0.0
        self._hurries += 1
        return self._hurries <= MAX_URGENT and self._hurried_s < MAX_URGENT_S

    def finish(
        self,
        stop_reason: str | None,
        failure: Failure | None = None,
        elapsed_s: float | None = None,
    ) -> None:
        """Send the end of the turn at once."""
        if self._is_closed:
            return
        self._is_over = True
        self._document.finish(stop_reason, failure, elapsed_s)
        self._flush()

    def close(self) -> None:
        """Close the view; nothing more is sent. May be called more than once."""
        if self._is_closed:
            return
        self._is_closed = True
        self._cancel_timer()
        self._context.run(self.view.close)

    def detach(self) -> None:
        """Send nothing more and let go of the document; the view stays open."""
        self._is_closed = True
        self._cancel_timer()
        self.view.on_msg(self._on_message, remove=True)

    def _on_beat(self) -> None:
        self._timer = None
        if not self._is_closed:
            self._flush()

    def _flush(self) -> None:
        self._cancel_timer()
        operations = self._document.ops()
        if operations:
            self._send_operations(operations)
        if self._document.is_behind:
            self._await_beat()

    def _send_operations(self, operations: list[Operation]) -> None:
        self._number += 1
        if not self._is_watched:
            # A page that becomes visible requests a snapshot; until then only announcements count.
            operations = [each for each in operations if each["op"] == "say"]
        if operations:
            self._send({"n": self._number, "ops": operations})

    @property
    def page_count(self) -> int:
        """How many pages have shown the view."""
        return len(self._pages)

    @property
    def _is_watched(self) -> bool:
        """Whether a page may be visible; true until the first page has reported."""
        return not self._pages or any(self._pages.values())

    def _note_page(self, page: object, *, is_visible: bool) -> None:
        self._pages.pop(str(page), None)
        self._pages[str(page)] = is_visible
        if len(self._pages) > MAX_PAGES:
            del self._pages[next(iter(self._pages))]

    def _send(self, message: dict[str, Any]) -> None:
        self._sent_at = time.monotonic()
        message |= {"over": self._is_over, "asks": self._document.is_asking}
        # Start times in the document are moments on this clock; the page needs its present value.
        message["now"] = round(self._sent_at, 2)
        self._context.run(self.view.send, message)

    def _cancel_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _on_message(self, _view: Any, content: Any, _buffers: Any) -> None:
        # The kernel calls this on any thread, so only pass the message on.
        if isinstance(content, Mapping):
            self._post(lambda: self._receive(content))

    def _receive(self, content: Mapping[str, Any]) -> None:
        if self._is_closed:
            return
        if content.get("t") == "hidden":
            self._note_page(content.get("page"), is_visible=False)
        elif content.get("t") == "sync":
            self._flush()
            self._note_page(content.get("page"), is_visible=True)
            self._send({"n": self._number, "ops": self._document.snapshot(), "whole": True})
        elif content.get("t") == "act":
            act, ident = str(content.get("act")), str(content.get("id"))
            if act == "submit" or act in ACTIONS:
                self._act_on_form(act, ident, content.get("values"))
            elif act == "option":
                self._choose(ident, str(content.get("value")))
            elif act == "earlier":
                self._show_earlier()
            else:
                self._act(act, ident, content)

    def _choose(self, option_id: str, value: str) -> None:
        if self._document.has_option(option_id, value):
            self._actions.set_option(option_id, value, self._settled)

    def _settled(self) -> None:
        if not self._is_closed:
            self._document.renew_controls()
            self._flush()

    def _show_earlier(self) -> None:
        self._flush()
        self._document.show_earlier()
        self._number += 1
        self._send({"n": self._number, "ops": self._document.snapshot(), "whole": True})
        if self._document.is_behind:
            self._await_beat()

    def _act_on_form(self, act: str, ident: str, values: object) -> None:
        elicitation = self._document.elicitation(ident)
        if elicitation is None:
            return
        elicitation_id = elicitation.request.elicitation_id
        if act == "submit":
            if elicitation.request.form is None or not is_whole(elicitation.request.form):
                return  # nobody has seen all of it
            self._actions.fill(elicitation_id, given_values(elicitation, values))
        else:
            self._actions.reply(elicitation_id, ACTIONS[act])

    def _act(self, act: str, ident: str, content: Mapping[str, Any]) -> None:
        if act == "stop":
            self._actions.stop()
        elif act == "withdraw":
            prompt_id = self._document.queued_prompt(ident)
            if prompt_id is not None:
                self._actions.withdraw(prompt_id)
        elif act == "cancel_tool":
            tool_call_id = self._document.tool_call(ident)
            if tool_call_id is not None:
                self._actions.cancel_tool_call(tool_call_id)
        elif act == "answer" and isinstance(number := content.get("n"), int):
            self._flush()  # an answer counts for what the page shows, not for what changed since
            answer = self._document.permission_answer(ident, number, content.get("rev"))
            if answer is not None:
                self._actions.answer(*answer)
            else:
                self._flush()  # the page waits for the question's buttons
