"""An open form or url request of the agent. Knows no view.

A form's answer is checked off the agent thread, because the first check loads a large library.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from acp_notebook.client.live.question import WITHDRAWN, Question
from acp_notebook.errors import UsageError
from acp_notebook.jsonrpc import IncomingRequest
from acp_notebook.protocol import elicitation as wire
from acp_notebook.session.elicitation import (
    Action,
    AnswerRefused,
    ElicitationId,
    ElicitationRequested,
    ElicitationSettled,
)
from acp_notebook.session.form import Form
from acp_notebook.session.form_answer import FormAnswer, read_answer
from acp_notebook.session.state import EntryKey

if TYPE_CHECKING:
    from acp_notebook.client.live.live_session import LiveSession


class ElicitationRequest(Question):
    """A form to fill in or a url to open."""

    function_words = "elicit function"

    def __init__(
        self, session: LiveSession, elicitation_id: ElicitationId, incoming: IncomingRequest
    ) -> None:
        super().__init__(session, EntryKey("elicitation", elicitation_id))
        self._incoming = incoming

    @property
    def request(self) -> ElicitationRequested:
        """The request as received."""
        return self._session.state.elicitations[ElicitationId(self.key.id)].request

    @property
    def title(self) -> str:
        """The agent's message."""
        return self.request.message

    @property
    def form(self) -> Form | None:
        """The form; None for a url."""
        return self.request.form

    def fill(self, values: Mapping[str, Any]) -> None:
        """Send the values of the form; see `Question.fill`."""
        answer = read_answer(self.form, values) if self.form is not None else FormAnswer({}, {})
        if answer.errors:
            wrong = "; ".join(f"{name}: {reason}" for name, reason in answer.errors.items())
            raise UsageError(f"The form {self.title!r} does not take this. {wrong}")
        given = answer.values if self.form is not None else None
        self._thread.call(lambda: self._once(lambda: self._settle("accept", "you", given)))

    def _consult(self) -> None:
        function = self._session.respondents.elicit
        if function is None:
            self.ask_person()
        else:
            self._ask_function(function, self.request)

    def _read(self, result: Any) -> None:
        if result is None:
            self.ask_person()
        elif not isinstance(result, Mapping):
            raise UsageError(
                f"It returned {result!r}: return a dict of values, or None to ask the user."
            )
        elif self.form is None:
            self._settle("accept", "your function")
        else:
            self._check(result, self._function_answer_checked)

    def ask_person(self) -> None:
        """See `Question.ask_person`; also loads the form checker meanwhile."""
        super().ask_person()
        if self.is_open and self.form is not None:
            asyncio.get_running_loop().run_in_executor(None, read_answer, Form(()), {})

    def submit(self, values: Mapping[str, Any]) -> None:
        """Send the values of a view's form, or show which rules they break."""
        if self.is_open and self.form is not None:
            self._check(values, self._submission_checked)

    def reply(self, action: Action) -> None:
        """Decline or cancel from a view; for a url also `accept`, once the user has opened it."""
        if self.is_open and (action != "accept" or self.request.url_request is not None):
            self._settle(action, "you")

    def _check(self, given: Mapping[str, Any], checked: Callable[[FormAnswer], None]) -> None:
        assert self.form is not None
        form = self.form

        async def check() -> None:
            checked(await asyncio.to_thread(read_answer, form, given))

        self._thread.spawn(check())

    def _submission_checked(self, answer: FormAnswer) -> None:
        if answer.errors and self.is_open:
            elicitation_id = self.request.elicitation_id
            self._session.apply([AnswerRefused(elicitation_id, answer.errors)])
        elif not answer.errors:
            self._settle("accept", "you", answer.values)

    def _function_answer_checked(self, answer: FormAnswer) -> None:
        if answer.errors:
            wrong = "; ".join(f"{name}: {reason}" for name, reason in answer.errors.items())
            self._function_failed(f"What it returned does not fit. {wrong}")
        else:
            self._settle("accept", "your function", answer.values)

    def _refuse(self, by: str) -> None:
        self._settle("decline", by)

    def cancel(self, reason: str) -> None:
        """Answer with `cancel`."""
        self._settle("cancel", reason)

    def _settle(self, action: Action, by: str, values: Mapping[str, Any] | None = None) -> None:
        if not self._close():
            return
        shown = None
        if self.form is not None and values is not None:
            self._session.connection.recording.redact(self.form.secrets(values))
            shown = self.form.masked(values)
        self._incoming.respond(wire.answer(action, values))
        self._applied(action, by, shown)

    def withdrawn(self) -> None:
        """See `Question.withdrawn`."""
        if self._close():
            self._applied("cancel", WITHDRAWN)

    def _applied(self, action: Action, by: str, shown: Mapping[str, Any] | None = None) -> None:
        settled = ElicitationSettled(ElicitationId(self.key.id), action, by, shown)
        self._session.apply_read(self._session.reader.elicitation_settled(settled))
