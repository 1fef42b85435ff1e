"""An open permission request, of the agent or of a tool of this kernel. Knows no view."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from acp_notebook.client.live import policies
from acp_notebook.client.live.question import WITHDRAWN, Question
from acp_notebook.errors import UsageError
from acp_notebook.session import updates as u
from acp_notebook.session.state import EntryKey

if TYPE_CHECKING:
    from acp_notebook.client.live.live_session import LiveSession


class PermissionRequest(Question):
    """A permission that the agent asks for, or a tool of this kernel (`is_own`), off the wire.

    `respond` is called with the decision, once; also when the turn is cancelled. If a question
    `needs_person`, no policy allows it.
    """

    function_words = "permission policy"

    def __init__(
        self,
        session: LiveSession,
        permission_id: u.PermissionId,
        respond: Callable[[policies.Decision], object],
        *,
        is_own: bool = False,
        needs_person: bool = False,
    ) -> None:
        super().__init__(session, EntryKey("permission", permission_id))
        self._respond = respond
        self._is_own = is_own
        self._needs_person = needs_person
        self.consent = session.respondents.consent
        """The session's count of consent that an answer relies on."""

    @property
    def request(self) -> u.PermissionRequested:
        """The request as received."""
        return self._session.state.permissions[u.PermissionId(self.key.id)].request

    @property
    def title(self) -> str:
        """The title of the request."""
        return self.request.title

    @property
    def options(self) -> tuple[u.PermissionOption, ...]:
        """The options, in the agent's order."""
        return self.request.options

    def answer(self, option_id: str) -> None:
        """Choose an option; see `Question.answer`."""
        if all(option.option_id != option_id for option in self.options):
            known = ", ".join(repr(option.option_id) for option in self.options)
            raise UsageError(f"{self.title!r} has no option {option_id!r}. There are: {known}.")
        chosen = policies.Decision(option_id, "you")
        self._thread.call(lambda: self._once(lambda: self.settle(chosen)))

    def _consult(self) -> None:
        self.consent = self._session.respondents.consent
        if not self._consult_policy():
            self.ask_person()

    def _consult_policy(self) -> bool:
        """Settle by the policy, now or later; return False if it leaves the answer to a person."""
        policy = self._session.respondents.policy
        if self._needs_person and policy != "reject":
            return False
        question = policies.question_of(self.request, self._session.state)
        if not isinstance(policy, str):
            self._ask_function(policy, question)
            return True
        decision = policies.decide(policy, question)
        if decision is not None:
            self.settle(decision)
        return decision is not None

    def policy_changed(self) -> None:
        """Let a new policy decide, or a person, who may have been asked before."""
        self._consult()

    def _counts(self, function: Callable[..., Any]) -> bool:
        return function is self._session.respondents.policy

    def _read(self, result: Any) -> None:
        decision = policies.chosen_by_function(result, self.options)
        if decision is None:
            self.ask_person()
        else:
            self.settle(decision)

    def _refuse(self, by: str) -> None:
        self.settle(policies.rejection(self.options, by))

    def cancel(self, reason: str) -> None:
        """Answer with the outcome `cancelled`."""
        self.settle(policies.Decision(None, reason))

    def settle(self, decision: policies.Decision) -> None:
        """Respond with a decision, unless the question is closed."""
        if self._close():
            self._respond(decision)
            self._applied(decision)

    def withdrawn(self) -> None:
        """See `Question.withdrawn`."""
        if self._close():
            self._applied(policies.Decision(None, WITHDRAWN))

    def _applied(self, decision: policies.Decision) -> None:
        settled = u.PermissionSettled(u.PermissionId(self.key.id), decision.option_id, decision.by)
        if self._is_own:
            self._session.apply([settled])
        else:
            self._session.apply_read(self._session.reader.permission_settled(settled))

    def drop(self) -> None:
        """See `Question.drop`; a tool of this kernel gets `cancelled`."""
        if self._close() and self._is_own:
            self._respond(policies.Decision(None, "the agent ended"))
