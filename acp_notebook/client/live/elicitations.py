"""The forms and pages that an agent asks for in one session: asked, answered, withdrawn.

Works like permissions: a function of the user's may answer, else a person does, in a view or at a
console; where nobody can be asked the answer is `decline`, at once. What is filled in is checked
off the agent thread, because the first check loads a large library. Knows no view.
"""

from __future__ import annotations

import asyncio
import itertools
import logging
from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Any

from acp_notebook.client.host import current_host
from acp_notebook.jsonrpc import INVALID_PARAMS, IncomingRequest
from acp_notebook.protocol import elicitation as wire
from acp_notebook.protocol.fields import Malformed
from acp_notebook.session import updates as u
from acp_notebook.session.elicitation import (
    Action,
    AnswerRefused,
    Elicitation,
    ElicitationId,
    ElicitationRequested,
    ElicitationSettled,
    UrlCompleted,
)
from acp_notebook.session.form import Form
from acp_notebook.session.form_answer import FormAnswer, read_answer

if TYPE_CHECKING:
    from acp_notebook.client.live.live_session import LiveSession

logger = logging.getLogger(__name__)

# Returns the values by name (for a page an empty dict: it was opened), or None: ask the user.
ElicitFunction = Callable[
    [ElicitationRequested], "Mapping[str, Any] | Awaitable[Mapping[str, Any] | None] | None"
]

CANCELLED = "the turn was cancelled"
NOBODY = "nobody can be asked here"


class Elicitations:
    """The open ones of one session. All methods belong to the agent thread."""

    def __init__(self, session: LiveSession) -> None:
        self.function: ElicitFunction | None = None
        self._session = session
        self._numbers = itertools.count(1)
        self._open: dict[ElicitationId, IncomingRequest] = {}

    def ask(self, incoming: IncomingRequest, params: Any) -> None:
        """A request of the agent; it is answered exactly once."""
        elicitation_id = ElicitationId(f"asked-{next(self._numbers)}")
        session = self._session
        try:
            self._check_mode(params)
            found = session.reader.elicitation_asked(elicitation_id, params)
        except Malformed as error:
            incoming.fail(INVALID_PARAMS, f"{wire.CREATE}: {error}")
            session.apply([u.Violation(wire.CREATE, str(error), params)])
            return
        self._open[elicitation_id] = incoming
        incoming.on_cancel = lambda: self._withdrawn(elicitation_id)
        session.apply(found)
        if session.state.is_cancelling:
            self._settle(elicitation_id, "cancel", CANCELLED)
        elif self.function is not None:
            self._ask_function(self.function, elicitation_id)
        else:
            self._ask_person(elicitation_id)

    def _check_mode(self, params: Mapping[str, Any]) -> None:
        offer = self._session.connection.methods.capabilities
        offered = {"form": offer.forms, "url": offer.urls}
        mode = params.get("mode")
        if isinstance(mode, str) and not offered.get(mode, False):
            raise Malformed(f"this client did not offer the mode {mode!r}")

    def _of(self, elicitation_id: ElicitationId) -> Elicitation:
        return self._session.state.elicitations[elicitation_id]

    # who answers

    def _ask_function(self, function: ElicitFunction, elicitation_id: ElicitationId) -> None:
        request = self._of(elicitation_id).request
        try:
            future = current_host().run_user_function(function, request)
        except RuntimeError as error:  # no thread can be started any more
            self._function_failed(elicitation_id, str(error))
            return
        future.add_done_callback(
            lambda _: self._session.connection.thread.post(
                lambda: self._function_answered(elicitation_id, future)
            )
        )

    def _function_answered(self, elicitation_id: ElicitationId, future: Any) -> None:
        request = self._of(elicitation_id).request
        try:
            given = future.result()
        except BaseException as error:
            # Also what would end a thread (SystemExit, an interrupt): this one serves all agents.
            logger.exception("The elicit function failed.")
            self._function_failed(elicitation_id, f"{type(error).__name__}: {error}")
            return
        if given is None:
            self._ask_person(elicitation_id)
        elif not isinstance(given, Mapping):
            reason = f"It returned {given!r}: return a dict of values, or None to ask the user."
            self._function_failed(elicitation_id, reason)
        elif request.form is None:
            self._settle(elicitation_id, "accept", "your function")
        else:
            self._check(elicitation_id, request.form, given, by="your function")

    def _function_failed(self, elicitation_id: ElicitationId, reason: str) -> None:
        self._session.apply([u.Notice("warning", "Your elicit function failed", reason)])
        self._ask_person(elicitation_id)

    def _ask_person(self, elicitation_id: ElicitationId) -> None:
        if not self._of(elicitation_id).is_open:
            return
        host = current_host()
        # Without a listener no view can show it.
        if host.can_ask and self._session.listeners:
            _warm_up()
            return
        question = host.ask_at_console(
            self._of(elicitation_id).request, self._session.connection.launch.name
        )
        if question is None:
            self._settle(elicitation_id, "decline", NOBODY)
            return
        question.add_done_callback(
            lambda _: self._session.connection.thread.post(
                lambda: self._console_answered(elicitation_id, question)
            )
        )

    def _console_answered(self, elicitation_id: ElicitationId, question: Any) -> None:
        try:
            action, values = question.result()
        except Exception as error:  # noqa: BLE001 - an interrupt, or no thread that could ask
            logger.info("The question at the console was given up: %s", error)
            self._settle(elicitation_id, "cancel", "the question was interrupted")
            return
        form = self._of(elicitation_id).request.form
        if action == "accept" and form is not None:
            self._check(elicitation_id, form, values, by="you")
        else:
            self._settle(elicitation_id, action, "you")

    # what a person does in a view

    def fill(self, elicitation_id: ElicitationId, given: Mapping[str, Any]) -> None:
        """Send a form, if what is filled in obeys its rules; else say what is wrong."""
        elicitation = self._session.state.elicitations.get(elicitation_id)
        if elicitation is not None and elicitation.is_open and elicitation.request.form is not None:
            self._check(elicitation_id, elicitation.request.form, given, by="you")

    def answer(self, elicitation_id: ElicitationId, action: Action) -> None:
        """Decline or cancel; for a page also `accept`: the user has opened it."""
        elicitation = self._session.state.elicitations.get(elicitation_id)
        if elicitation is None or (action == "accept" and elicitation.request.url_request is None):
            return
        self._settle(elicitation_id, action, "you")

    def _check(
        self, elicitation_id: ElicitationId, form: Form, given: Mapping[str, Any], *, by: str
    ) -> None:
        async def check() -> None:
            answer = await asyncio.to_thread(read_answer, form, given)
            self._checked(elicitation_id, answer, by)

        self._session.connection.thread.spawn(check())

    def _checked(self, elicitation_id: ElicitationId, answer: FormAnswer, by: str) -> None:
        if not answer.errors:
            self._settle(elicitation_id, "accept", by, answer.values)
        elif by == "you":
            self._session.apply([AnswerRefused(elicitation_id, answer.errors)])
        else:
            wrong = "; ".join(f"{name}: {reason}" for name, reason in answer.errors.items())
            self._function_failed(elicitation_id, f"What it returned does not fit. {wrong}")

    # the end of a question

    def _settle(
        self,
        elicitation_id: ElicitationId,
        action: Action,
        by: str,
        values: Mapping[str, Any] | None = None,
    ) -> None:
        incoming = self._open.pop(elicitation_id, None)
        if incoming is None:
            return
        form = self._of(elicitation_id).request.form
        shown = None
        if form is not None and values is not None:
            self._session.connection.recording.redact(form.secrets(values))
            shown = form.masked(values)
        incoming.respond(wire.answer(action, values))
        self._applied(ElicitationSettled(elicitation_id, action, by, shown))

    def _withdrawn(self, elicitation_id: ElicitationId) -> None:
        # The connection answers -32800 when this returns.
        if self._open.pop(elicitation_id, None) is not None:
            by = "the agent took the question back"
            self._applied(ElicitationSettled(elicitation_id, "cancel", by))

    def _applied(self, settled: ElicitationSettled) -> None:
        self._session.apply(self._session.reader.elicitation_settled(settled))

    def cancel_all(self, by: str = CANCELLED) -> None:
        """Answer every open one with `cancel` (CANCEL-3)."""
        for elicitation_id in list(self._open):
            self._settle(elicitation_id, "cancel", by)

    def drop(self) -> None:
        """The connection is gone: there is nobody to answer to."""
        self._open.clear()

    def url_completed(self, params: Mapping[str, Any]) -> None:
        """An `elicitation/complete`; ids that are not known here change nothing."""
        url_id = wire.completed_url(params)
        if url_id is not None:
            self._session.apply([UrlCompleted(url_id)])


def _warm_up() -> None:
    """Load what the check needs while the user fills in the form."""
    loop = asyncio.get_running_loop()
    loop.run_in_executor(None, read_answer, Form(()), {})
