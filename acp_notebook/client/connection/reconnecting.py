"""The present connection of an agent, and a new one after its loss. On the agent thread.

One lock serialises reconnecting: several prompts may need it at once. Knows sessions as something
to resume; knows neither their turns nor their user.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable

from acp_notebook.client.agent_thread import AgentThread
from acp_notebook.client.agents.launch import Launch
from acp_notebook.client.connection import session_calls
from acp_notebook.client.connection.agent_connection import AgentConnection
from acp_notebook.client.live.audience import Respondents
from acp_notebook.client.live.live_session import LiveSession
from acp_notebook.client.serving.client_methods import ClientMethods
from acp_notebook.errors import (
    AcpNotebookError,
    AgentError,
    AuthRequired,
    RequestFailed,
    UsageError,
)
from acp_notebook.protocol.dialect import SessionSetup
from acp_notebook.protocol.negotiate import Negotiated
from acp_notebook.protocol.routing import session_id_in
from acp_notebook.session import updates as u

logger = logging.getLogger(__name__)

FORGOT = u.Notice(
    "warning",
    "A new session was opened",
    "The agent was started again and could not take up the old session: "
    "it has lost its memory of the conversation above.",
)


# Some agents answer first and replay the conversation afterwards, without a mark of its end.
REPLAY_QUIET_S = 0.3
REPLAY_ROUNDS = 100


async def _replay_settled(live: LiveSession) -> None:
    for _ in range(REPLAY_ROUNDS):
        count = live.received_count
        await asyncio.sleep(REPLAY_QUIET_S)
        if live.received_count == count:
            return


class ReconnectingConnection:
    """The connections of one agent, one after another.

    `label` is the user's name for the agent; `respondents` answer questions without a session;
    `setup_for` returns a session's folders and MCP servers.
    """

    def __init__(
        self,
        launch: Launch,
        *,
        label: str,
        thread: AgentThread,
        methods: ClientMethods,
        respondents: Respondents,
        setup_for: Callable[[LiveSession], SessionSetup],
    ) -> None:
        self._launch = launch
        self._label = label
        self._thread = thread
        self._methods = methods
        self._respondents = respondents
        self._setup_for = setup_for
        self._lock = asyncio.Lock()
        self.is_over = False
        self.connection = self._new_connection()
        self._connections = [self.connection]

    @property
    def facts(self) -> Negotiated:
        """The agent's latest answer to `initialize`.

        Raises:
            UsageError: There is none yet.
        """
        for connection in reversed(self._connections):
            if connection.negotiated is not None:
                return connection.negotiated
        raise UsageError(f"The agent {self._label} is not connected yet.")

    def _new_connection(self) -> AgentConnection:
        return AgentConnection(self._launch, self._thread, self._methods, self._respondents)

    async def open(self) -> None:
        """Start the agent and negotiate.

        Raises:
            AgentError: The agent cannot be started, ended, or shares no version.
        """
        await self.connection.open()

    async def connected(self) -> AgentConnection:
        """Return the connection, after a reconnect if it was lost.

        Raises:
            UsageError: The agent was ended for good.
            AgentError: The agent could not be restarted.
        """
        async with self._lock:
            await self._connect()
        return self.connection

    async def _connect(self) -> None:
        if self.is_over:
            raise UsageError(f"The agent {self._label} was ended. Start it again with %acp start.")
        if not self.connection.is_alive:
            self.connection = self._new_connection()
            self._connections = [self._connections[-1], self.connection]
            await self.open()

    async def restart(self) -> None:
        """End the present connection and open another."""
        await self.connection.close()
        await self.connected()

    async def set_up(self, live: LiveSession) -> None:
        """Open a session of the agent for a live session.

        Raises:
            AuthRequired: The agent wants a login first.
            AgentError: The agent refused, or its answer has no session id.
        """
        try:
            await self._set_up(live)
        except BaseException:
            self._methods.session_ended(live)
            raise

    async def _set_up(self, live: LiveSession) -> None:
        routes = self.connection.routes
        with routes.opening():
            answer = await self.connection.request(
                self.facts.dialect.new_session(self._setup_for(live))
            )
            session_id = session_id_in(answer)
            if session_id is None:
                raise AgentError(
                    "The agent answered `session/new` without a session id. "
                    "See the messages with %acp trace."
                )
            routes.attach(u.SessionId(session_id), live, answer, is_new=True)

    async def bring_back(self, live: LiveSession, prompt_id: u.PromptId) -> None:
        """Resume a session for a waiting prompt; an error fails the session's prompts."""
        try:
            async with self._lock:
                # An earlier prompt may have reconnected, or have failed all waiting prompts.
                if not live.state.is_connected and not live.state.prompts[prompt_id].is_ended:
                    await self._reopen(live)
        except Exception as error:
            if not isinstance(error, AcpNotebookError):
                logger.exception("The agent could not be started again.")
            for waiting in list(live.state.pending):
                live.refuse(waiting, error)

    async def _reopen(self, live: LiveSession) -> None:
        await self._connect()
        live.reconnect(self.connection, self.facts.dialect)
        if not await self._resumed(live):
            live.respondents.revoke()  # what was allowed for the session ends with it
            await self.set_up(live)
            live.apply([FORGOT])  # after the waiting prompt, so that its turn shows the notice

    async def _resumed(self, live: LiveSession) -> bool:
        old_id = live.session_id
        if old_id is None:
            return False
        setup = self._setup_for(live)
        # Some agents can only replay everything, and some replay without being asked.
        live.suppress_replay = True
        self.connection.routes.expect(old_id, live)
        taken = None
        try:
            taken = await session_calls.ask_to_resume(
                self.connection, str(old_id), setup, replay=False
            )
            if taken is not None and taken.with_replay:
                await _replay_settled(live)
        except AuthRequired:
            self._methods.session_ended(live)
            raise
        except RequestFailed as error:
            logger.info("The old session could not be taken up: %s", error)
        finally:
            live.suppress_replay = False
        if taken is None:
            self.connection.routes.forget(old_id)
            return False
        self.connection.routes.attach(old_id, live, taken.answer)
        return True

    async def close(self) -> None:
        """End the present connection, even one that a prompt is opening."""
        await self.connection.close()

    def kill_now(self) -> None:
        """Kill the process trees, for the exit of this process."""
        for connection in self._connections:
            connection.kill_now()
