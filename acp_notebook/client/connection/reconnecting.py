"""An agent's connection that comes back: the present link, and a fresh one when it is gone.

On the agent thread. One lock serialises the coming back: several prompts may want it at once. Knows
sessions as something to take up again; knows neither their turns nor their user.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable

from acp_notebook.client.agent_thread import AgentThread
from acp_notebook.client.connection.agent_connection import AgentLink
from acp_notebook.client.connection.endpoint import Launch
from acp_notebook.client.live import session_calls
from acp_notebook.client.live.live_session import LiveSession
from acp_notebook.client.serving.client_methods import Services
from acp_notebook.errors import (
    AcpNotebookError,
    AgentError,
    AuthRequired,
    RequestFailed,
    UsageError,
)
from acp_notebook.protocol.dialect import Place
from acp_notebook.protocol.negotiate import Negotiated
from acp_notebook.session import updates as u

logger = logging.getLogger(__name__)

FORGOT = u.Notice(
    "warning",
    "A new session was opened",
    "The agent was started again and could not take up the old session: "
    "it has lost its memory of the conversation above.",
)


# Some agents answer first and tell the conversation again afterwards; nothing marks its end.
TOLD_QUIET_S = 0.3
TOLD_ROUNDS = 100


async def _told(live: LiveSession) -> None:
    for _ in range(TOLD_ROUNDS):
        heard = live.heard
        await asyncio.sleep(TOLD_QUIET_S)
        if live.heard == heard:
            return


class Lifeline:
    """The links of one agent, one after another.

    Args:
        launch: How the agent is started.
        label: What its user calls it.
        thread: The agent thread.
        services: What this client serves to it.
        prepare: Told of each new link before it opens, and again when it is open.
        place_for: Where a session works and what it is told of.
    """

    def __init__(
        self,
        launch: Launch,
        *,
        label: str,
        thread: AgentThread,
        services: Services,
        prepare: Callable[[AgentLink], None],
        place_for: Callable[[LiveSession], Place],
    ) -> None:
        self._launch = launch
        self._label = label
        self._thread = thread
        self._services = services
        self._prepare = prepare
        self._place_for = place_for
        self._lock = asyncio.Lock()
        self.is_over = False
        self.link = self._new_link()
        self._links = [self.link]

    @property
    def facts(self) -> Negotiated:
        """What the agent answered last to `initialize`.

        Raises:
            UsageError: It never did.
        """
        facts = next((link.negotiated for link in reversed(self._links) if link.negotiated), None)
        if facts is None:
            raise UsageError(f"The agent {self._label} is not connected yet.")
        return facts

    def _new_link(self) -> AgentLink:
        link = AgentLink(self._launch, self._thread, self._services)
        self._prepare(link)
        return link

    async def open(self) -> None:
        """Start the agent and negotiate.

        Raises:
            AgentError: It cannot be started, ended, or shares no version.
        """
        await self.link.open()
        self._prepare(self.link)

    async def connected(self) -> AgentLink:
        """The link, brought up again if it is gone.

        Raises:
            UsageError: The agent was ended for good.
            AgentError: It could not be started again.
        """
        async with self._lock:
            await self._connect()
        return self.link

    async def _connect(self) -> None:
        if self.is_over:
            raise UsageError(f"The agent {self._label} was ended. Start it again with %acp start.")
        if not self.link.is_alive:
            self.link = self._new_link()
            self._links = [self._links[-1], self.link]
            await self.open()

    async def restart(self) -> None:
        """End the present link and bring up another."""
        await self.link.close()
        await self.connected()

    async def set_up(self, live: LiveSession) -> None:
        """Open a new session of the agent for this one of ours.

        Raises:
            AuthRequired: The agent wants a login first.
            AgentError: It refused, or its answer has no session id.
        """
        answer = await self.link.request(self.facts.dialect.new_session(self._place_for(live)))
        session_id = answer.get("sessionId") if isinstance(answer, dict) else None
        if not isinstance(session_id, str):
            raise AgentError(
                "The agent answered `session/new` without a session id. "
                "See the messages with %acp trace."
            )
        self.link.attach(u.SessionId(session_id), live, answer, is_new=True)

    async def bring_back(self, live: LiveSession, prompt_id: u.PromptId) -> None:
        """Take a session up again for a prompt that waits; never raises: its prompts are told."""
        try:
            async with self._lock:
                # An earlier prompt may have done it, or failed for all that waited.
                if not live.state.is_connected and not live.state.prompts[prompt_id].is_ended:
                    await self._reopen(live)
        except Exception as error:
            if not isinstance(error, AcpNotebookError):
                logger.exception("The agent could not be started again.")
            for waiting in list(live.state.pending):
                live.refuse(waiting, error)

    async def _reopen(self, live: LiveSession) -> None:
        await self._connect()
        live.reconnect(self.link, self.facts.dialect)
        if not await self._resumed(live):
            await self.set_up(live)
            # After the waiting prompt, whose turn shows it.
            live.apply([FORGOT])

    async def _resumed(self, live: LiveSession) -> bool:
        old_id = live.session_id
        if old_id is None:
            return False
        place = self._place_for(live)
        # Some agents can only tell everything again, and some do so though nobody asked.
        live.is_told_again = True
        self.link.expect(old_id, live)
        taken = None
        try:
            taken = await session_calls.ask_to_resume(self.link, str(old_id), place, replay=False)
            if taken is not None and taken.with_replay:
                await _told(live)
        except AuthRequired:
            raise
        except RequestFailed as error:
            logger.info("The old session could not be taken up: %s", error)
        finally:
            live.is_told_again = False
        if taken is None:
            self.link.forget(old_id)
            return False
        self.link.attach(old_id, live, taken.answer)
        return True

    async def close(self) -> None:
        """End the present link. It is looked up here: a prompt may be bringing up a new one."""
        await self.link.close()

    def end_process(self) -> None:
        """End the process at once; the next prompt starts it again."""
        self.link.kill_now()
        self._thread.spawn(self.link.close())

    def kill_now(self) -> None:
        """Kill the process trees; for the end of this process."""
        for link in self._links:
            link.kill_now()
