"""A session whose agent may call the tools: its grants and its running calls.

Methods run on the server's loop; questions are asked on the agent thread, work is done on the main
thread. Knows no tool.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
from functools import partial
from typing import TYPE_CHECKING, Any, Final, TypeVar

from acp_notebook.client.live.policies import Decision
from acp_notebook.client.live.question import WITHDRAWN
from acp_notebook.kernel.tools.card import ToolCard
from acp_notebook.kernel.tools.results import ToolFailure
from acp_notebook.kernel.tools.running.interruption import MainThreadWork, run_bounded
from acp_notebook.session import updates as u

if TYPE_CHECKING:
    from acp_notebook.client.agent import Agent
    from acp_notebook.client.live.live_session import LiveSession
    from acp_notebook.client.live.permission_request import PermissionRequest
    from acp_notebook.session.changes import SessionChange

T = TypeVar("T")

OPTIONS: Final = (
    u.PermissionOption("allow", "Allow", "allow_once"),
    u.PermissionOption("allow_session", "Allow for this session", "allow_always"),
    u.PermissionOption("reject", "Reject", "reject_once"),
)
_ALLOWING: Final = frozenset(option.option_id for option in OPTIONS[:2])
_LASTING: Final = OPTIONS[1].option_id


class Caller:
    """One session of one agent."""

    def __init__(self, agent: Agent, live: LiveSession) -> None:
        self.agent = agent
        self.live = live
        self.granted: set[str] = set()
        """Tools that the user allowed for the session."""
        self._running: set[MainThreadWork[Any]] = set()
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
        self._subscription.close()
        self._call_off("The agent ended.")

    def card(self, name: str, title: str, code: str) -> ToolCard:
        """Add a card to the running turn."""
        return ToolCard(self.live, name, title, code)

    async def ask(self, name: str, question: str, code: str, tool_call_id: u.ToolCallId) -> None:
        """Ask for permission by the session's policy, unless the user has granted the tool.

        Raises:
            ToolFailure: The call is not allowed.
        """
        if name in self.granted:
            return
        decided: concurrent.futures.Future[Decision] = concurrent.futures.Future()
        subject = u.CodeSubject(code, tool_call_id=tool_call_id)
        asked: list[PermissionRequest] = []
        thread = self.live.connection.thread
        thread.post(
            lambda: asked.append(self.live.ask_own(question, OPTIONS, subject, decided.set_result))
        )
        try:
            decision = await asyncio.shield(asyncio.wrap_future(decided))
        except asyncio.CancelledError:
            thread.post(partial(_withdraw, asked))
            raise
        if decision.option_id == _LASTING:
            self.granted.add(name)
        if decision.option_id not in _ALLOWING:
            raise ToolFailure(
                f"Not allowed ({decision.by}). Nothing was run. Do not try the same again; "
                "ask the user what they want instead."
            )

    async def run(self, work: MainThreadWork[T], limit_s: float) -> T:
        """Run work on the main thread as `run_bounded` does; cancelling the turn calls it off."""
        self._running.add(work)
        try:
            return await run_bounded(work, limit_s)
        finally:
            self._running.discard(work)

    def _note(self, _changes: list[SessionChange]) -> None:
        # Runs on the agent thread for every change, so it must be cheap while no call runs.
        if not self._running:
            return
        state = self.live.state
        if state.is_cancelling:
            self._call_off("The user stopped the turn.")
        elif not state.is_connected:
            self._call_off("The agent ended.")

    def _call_off(self, reason: str) -> None:
        for work in list(self._running):
            work.call_off(reason)


def _withdraw(asked: list[PermissionRequest]) -> None:
    for question in asked:
        question.cancel(WITHDRAWN)
