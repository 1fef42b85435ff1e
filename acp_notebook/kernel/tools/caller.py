"""A session whose agent may call the tools: what is allowed, and its running calls.

Methods run on the server's loop; the session is read and asked on the agent thread, work is done on
the main thread. Knows no tool.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Final, TypeVar

from acp_notebook.client.live.policies import Decision
from acp_notebook.client.live.question import WITHDRAWN
from acp_notebook.kernel.tools.card import ToolCard
from acp_notebook.kernel.tools.results import ToolFailure
from acp_notebook.kernel.tools.running.interruption import MainThreadWork, run_bounded
from acp_notebook.session import updates as u
from acp_notebook.session.admission import (
    Admission,
    NotAdmitted,
    admit,
    reason_to_end,
    was_stopped,
)

if TYPE_CHECKING:
    from acp_notebook.client.agent import Agent
    from acp_notebook.client.live.live_session import LiveSession
    from acp_notebook.client.live.permission_request import PermissionRequest
    from acp_notebook.session.changes import SessionChange

T = TypeVar("T")

_ALLOW: Final = u.PermissionOption("allow", "Allow", "allow_once")
_ALLOW_SESSION: Final = u.PermissionOption(
    "allow_session", "Allow for this session", "allow_always"
)
_REJECT: Final = u.PermissionOption("reject", "Reject", "reject_once")
_ALLOWING: Final = frozenset({_ALLOW.option_id, _ALLOW_SESSION.option_id})
_TAKEN_BACK: Final = "The permission was taken back before it could begin."


@dataclass(frozen=True, slots=True)
class Permit:
    """What a call may rely on when it begins.

    Attributes:
        admission: The work that the call belongs to.
        allowed_by: Who allowed the call, for its card; empty if nobody was asked.
        consent: The session's count of consent when a policy or a grant allowed the call; None if
            a person did, or if nothing had to be allowed.
    """

    admission: Admission
    allowed_by: str = ""
    consent: int | None = None


@dataclass(frozen=True, slots=True)
class ToolQuestion:
    """What has to be allowed: the tool, the question in words, the code, the call's card.

    Attributes:
        kind: `execute`, or `read` for what changes nothing.
    """

    tool: str
    words: str
    code: str
    tool_call_id: u.ToolCallId | None = None
    kind: str = "execute"


class Caller:
    """One session of one agent."""

    def __init__(self, agent: Agent, live: LiveSession) -> None:
        self.agent = agent
        self.live = live
        self._has_left = False
        self._running: dict[MainThreadWork[Any], Permit] = {}
        self._subscription = live.subscribe(self._note)

    @property
    def label(self) -> str:
        """The agent's name in the notebook."""
        return self.agent.label

    @property
    def origin(self) -> str:
        """A description of the agent and session, for the history."""
        return f"the agent {self.label}, session {self.live.session_id}"

    def leave(self) -> None:
        """Cancel all calls at the end of the session; on the agent thread."""
        self._has_left = True
        self._subscription.close()
        for work in list(self._running):
            work.call_off("The agent ended.")

    def card(self, name: str, title: str, code: str) -> ToolCard:
        """Add a card to the running turn."""
        return ToolCard(self.live, name, title, code)

    async def admit(self) -> Admission:
        """Return the work that a new call belongs to.

        Raises:
            ToolFailure: The session has ended, or the turn was stopped or is over.
        """
        return await self._on_agent_thread(self._admit)

    async def ask(self, admission: Admission, question: ToolQuestion) -> Permit:
        """Ask for permission by the session's policy, unless the user has granted the tool.

        A grant holds for the user's turns, not for the agent's work between them.

        Raises:
            ToolFailure: The call is not allowed.
        """
        decided: concurrent.futures.Future[tuple[Decision, int]] = concurrent.futures.Future()
        asked: list[PermissionRequest] = []
        thread = self.live.connection.thread
        thread.post(lambda: self._decide(admission, question, decided, asked))
        try:
            decision, consent = await asyncio.shield(asyncio.wrap_future(decided))
        except asyncio.CancelledError:
            thread.post(partial(_withdraw, asked))
            raise
        if decision.option_id not in _ALLOWING:
            raise ToolFailure(
                f"Not allowed ({decision.by}). Nothing was run. Do not try the same again; "
                "ask the user what they want instead."
            )
        return Permit(admission, decision.by, consent if decision.is_standing else None)

    def _decide(
        self,
        admission: Admission,
        question: ToolQuestion,
        decided: concurrent.futures.Future[tuple[Decision, int]],
        asked: list[PermissionRequest],
    ) -> None:
        respondents = self.live.respondents
        before = respondents.consent

        def respond(decision: Decision) -> None:
            # A click may be on its way while consent is taken back on another thread.
            consent = asked[0].consent if asked else before
            is_lasting = decision.option_id == _ALLOW_SESSION.option_id
            if is_lasting and consent == respondents.consent:
                respondents.grants[question.tool] = None
            decided.set_result((decision, consent))

        if question.tool in respondents.grants and not admission.is_background:
            granted = Decision(_ALLOW.option_id, "you, for this session", is_standing=True)
            decided.set_result((granted, before))
            return
        lasting = () if admission.is_background else (_ALLOW_SESSION,)
        asked.append(
            self.live.ask_own(
                question.words,
                (_ALLOW, *lasting, _REJECT),
                u.CodeSubject(
                    question.code, tool_call_id=question.tool_call_id, kind=question.kind
                ),
                respond,
                needs_person=admission.needs_person,
            )
        )

    async def run(self, permit: Permit, work: MainThreadWork[T], limit_s: float) -> T:
        """Run work on the main thread as `run_bounded` does.

        The end of the turn calls off work that has not begun; a stop, work that runs, too.
        """
        work.may_begin = lambda: self._taken_back(permit)
        self._running[work] = permit
        try:
            # What happened before the work was known here is looked up; later changes are noted.
            await self._on_agent_thread(lambda: self._look(work, permit))
            return await run_bounded(work, limit_s)
        finally:
            self._running.pop(work, None)

    def _admit(self) -> Admission:
        # A call may have come just before its token was revoked.
        if self._has_left:
            raise ToolFailure("The session has ended. Nothing was run.")
        try:
            return admit(self.live.state)
        except NotAdmitted as refusal:
            raise ToolFailure(str(refusal)) from None

    def _note(self, _changes: list[SessionChange]) -> None:
        # Runs on the agent thread for every change, so it must be cheap while no call runs.
        for work, permit in list(self._running.items()):
            self._look(work, permit)

    def _look(self, work: MainThreadWork[Any], permit: Permit) -> None:
        state = self.live.state
        if was_stopped(state, permit.admission):
            work.call_off("The user stopped the turn.")
        elif self._has_left or not state.is_connected:
            work.call_off("The agent ended.")
        elif not work.started.done() and (reason := reason_to_end(state, permit.admission)):
            work.call_off(reason)

    def _taken_back(self, permit: Permit) -> str:
        is_valid = permit.consent in {None, self.live.respondents.consent}
        return "" if is_valid else _TAKEN_BACK

    async def _on_agent_thread(self, read: Callable[[], T]) -> T:
        return await asyncio.wrap_future(self.live.connection.thread.ask(read))


def _withdraw(asked: list[PermissionRequest]) -> None:
    for question in asked:
        question.cancel(WITHDRAWN)
