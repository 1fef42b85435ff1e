"""The user's view of an agent: start, sessions, stop, quit. Usable from any thread.

The process and its connection live on the agent thread; after their end the next prompt starts a
new process and resumes the session, if the agent can. Knows no notebook.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import logging
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, TypeVar

from acp_notebook.client.agent_facts import AgentFacts
from acp_notebook.client.agent_thread import shared_thread
from acp_notebook.client.agents.launch import Launch
from acp_notebook.client.connection import session_calls
from acp_notebook.client.connection.agent_connection import AgentConnection
from acp_notebook.client.connection.reconnecting import ReconnectingConnection
from acp_notebook.client.connection.session_calls import SessionListing
from acp_notebook.client.ending import end_all, register
from acp_notebook.client.host import McpServer, current_host
from acp_notebook.client.interrupted import WaitInterrupted
from acp_notebook.client.live.audience import Audience, ElicitFunction, Respondents
from acp_notebook.client.live.live_session import LiveSession
from acp_notebook.client.live.policies import Policy, check_policy
from acp_notebook.client.login import Login
from acp_notebook.client.serving.client_methods import ClientMethods
from acp_notebook.client.serving.files_and_terminals import FilesAndTerminals
from acp_notebook.client.session import Session, forget_turns_of
from acp_notebook.client.turn import Turn
from acp_notebook.errors import (
    AgentError,
    AuthRequired,
    UnsupportedByAgent,
    UsageError,
    out_of_files,
)
from acp_notebook.protocol.dialect import SessionSetup

logger = logging.getLogger(__name__)

T = TypeVar("T")


class Agent(AgentFacts):
    """One agent and its sessions, made by `start`, which documents the arguments."""

    def __init__(
        self,
        launch: Launch,
        *,
        label: str,
        permissions: Policy = "ask",
        elicit: ElicitFunction | None = None,
        tools: bool = True,
    ) -> None:
        self.launch = launch
        self.tools = tools
        self.label = label
        self.sessions: list[Session] = []
        self.has_quit = False
        self.respondents = Respondents(check_policy(permissions), elicit, _run_user_function)
        """Who answers questions that belong to no session, such as a login's."""
        self._login = Login(self)
        self._servers: dict[LiveSession, Sequence[McpServer]] = {}
        self._releases: set[asyncio.Task[None]] = set()
        methods = ClientMethods(on_closed=[self._session_ended])
        if launch.address:
            # A login in a terminal runs the agent's own command, which is on the other machine.
            methods.capabilities = replace(methods.capabilities, terminal_login=False)
        self._files_and_terminals = FilesAndTerminals(
            launch.serve, lambda _: (self.setup.cwd, *self.setup.directories)
        )
        self._files_and_terminals.join(methods)
        connecting = ReconnectingConnection(
            launch,
            label=label,
            thread=shared_thread(),
            methods=methods,
            respondents=self.respondents,
            setup_for=self._setup_for,
        )
        super().__init__(connecting, shared_thread())
        register(self)

    def __repr__(self) -> str:
        version = f"ACP v{self.protocol_version}" if self.connection.negotiated else "not connected"
        return f"<Agent {self.label}: {version}, {len(self.sessions)} session(s)>"

    @property
    def session(self) -> Session:
        """The present session: the one that was opened or resumed last.

        Raises:
            AuthRequired: No session is open, because the agent wants a login.
            UsageError: No session is open.
        """
        if not self.sessions:
            if self._login.error is not None:
                raise self._login.error
            raise UsageError(f"The agent {self.label} has no session. Open one: %acp new.")
        return self.sessions[-1]

    def find_session(self, session_id: str) -> Session:
        """Return the open session with an id.

        Raises:
            UsageError: No session with this id is open.
        """
        for session in self.sessions:
            if session.id == session_id:
                return session
        known = ", ".join(session.id for session in self.sessions) or "none"
        raise UsageError(f"No session {session_id!r} is open. Open: {known}.")

    @property
    def permissions(self) -> Policy:
        """The permission policy of all sessions of the agent."""
        return self.respondents.policy

    @permissions.setter
    def permissions(self, policy: Policy) -> None:
        self.respondents.policy = policy
        for session in self.sessions:
            session.permissions = policy
        self.thread.post(partial(self._policy_changed, policy))

    def _policy_changed(self, policy: Policy) -> None:
        being_opened = self._servers.keys() - {session.live for session in self.sessions}
        for live in being_opened:
            live.respondents.policy = policy
        scope = self.connection.routes.scope
        if scope is not None:
            scope.policy_changed()

    @property
    def elicit(self) -> ElicitFunction | None:
        """The function that answers forms and urls instead of the user; see `start`."""
        return self.respondents.elicit

    @elicit.setter
    def elicit(self, function: ElicitFunction | None) -> None:
        self.respondents.elicit = function
        for session in self.sessions:
            session.elicit = function

    @property
    def needs_login(self) -> bool:
        """Whether the agent refused a request until a login; see `login`."""
        return self._login.is_needed

    def login(self, method: str | None = None, *, wait: bool = True) -> Turn | None:
        """Log in, then repeat the request that the agent refused.

        Args:
            method: The id or name of one of `auth_methods`; optional if there is only one.
            wait: Whether to wait for the turn of a repeated prompt.

        Returns:
            The turn of the repeated prompt; None if no prompt was refused.

        Raises:
            UsageError: There is no such method, or it cannot be used here.
            AgentError: The login failed.
        """
        turn = self._login.run(method)
        return turn.wait() if turn is not None and wait else turn

    def logout(self) -> None:
        """Log out.

        Raises:
            UnsupportedByAgent: The agent offers no logout.
        """
        self._login.out()

    def turn_refused(self, turn: Turn, message: str) -> None:
        """Note that a turn failed because a login is needed; on the agent thread."""
        self._login.turn_failed(turn, message)

    def reconnect(self) -> None:
        """Restart the process; each session is resumed by its next prompt."""
        self._wait_for(lambda _: self._connecting.restart())

    def start(self) -> Agent:
        """Start the process, negotiate, open a session. An interrupt ends the attempt.

        An agent that wants a login counts as started: see `needs_login`.

        Raises:
            AgentError: The agent cannot be started, ended at once, or shares no protocol version.
        """
        try:
            self._wait_for(self._start, is_start=True)
        except concurrent.futures.CancelledError:
            self.quit()
            raise AgentError(f"The start of {self.label} was stopped.") from None
        except AuthRequired as error:
            self._login.needed(error, self.new_session)
        except BaseException:
            self.quit()
            raise
        return self

    async def _start(self, audience: Audience) -> None:
        await self._connecting.open()
        await self._open_session(audience)

    def new_session(self) -> Session:
        """Open another session and make it the present one.

        Raises:
            UsageError: The agent was ended by `quit`.
            AgentError: The agent refused, or could not be restarted.
        """
        return self._ask(self._open_another)

    async def _open_another(self, audience: Audience) -> Session:
        await self._connecting.connected()
        return await self._open_session(audience)

    def list_sessions(self, *, everywhere: bool = False) -> SessionListing:
        """List the sessions that the agent keeps, of this folder or of all.

        Raises:
            UnsupportedByAgent: The agent keeps no list.
            AgentError: The agent refused.
        """

        async def work(_: Audience) -> SessionListing:
            connection = await self._connecting.connected()
            return await session_calls.list_sessions(
                connection, None if everywhere else self.launch.cwd
            )

        return self._ask(work)

    def resume(self, session_id: str, *, replay: bool = True) -> Session:
        """Resume an earlier session and make it the present one.

        Args:
            session_id: The id in the agent's list.
            replay: Whether the agent should replay the conversation so far.

        Raises:
            UnsupportedByAgent: The agent cannot resume sessions.
            AgentError: The agent does not know this session.
        """

        async def work(audience: Audience) -> Session:
            connection = await self._connecting.connected()
            live = self._new_live(audience)
            await session_calls.resume(
                connection, live, session_id, self._setup_for(live), replay=replay
            )
            return self._add(Session(self, live))

        known = next((each for each in self.sessions if each.id == session_id), None)
        if known is not None and known.state != "disconnected":
            self.sessions.remove(known)
            self.sessions.append(known)
            return known
        return self._ask(work)

    def delete_session(self, session_id: str) -> None:
        """Delete a session for good.

        Raises:
            UnsupportedByAgent: The agent has no such call.
            RequestFailed: The agent refused.
        """

        async def work(_: Audience) -> None:
            await session_calls.delete(await self._connecting.connected(), session_id)

        self._ask(work)
        self.sessions = [each for each in self.sessions if each.id != session_id]

    def run(self, work: Callable[[AgentConnection], Coroutine[Any, Any, T]]) -> T:
        """Run work with the open connection and wait for its result."""

        async def with_connection(_: Audience) -> T:
            return await work(await self._connecting.connected())

        return self._ask(with_connection)

    def _ask(self, work: Callable[[Audience], Coroutine[Any, Any, T]]) -> T:
        """Run work and wait; if the agent wants a login first, `login` repeats the work."""
        with self._login.guard(lambda: self._ask(work)):
            return self._wait_for(work)

    async def _open_session(self, audience: Audience) -> Session:
        if not self.capabilities.sessions:
            raise UnsupportedByAgent(
                f"The agent {self.info.label} offers no sessions, so it takes no prompts. "
                "It may serve another purpose; see %acp log."
            )
        live = self._new_live(audience)
        session = Session(self, live)
        await self._connecting.set_up(live)
        self._login.error = None
        return self._add(session)

    def _add(self, session: Session) -> Session:
        """Make a session the present one, in place of an earlier one with its id."""
        self.sessions = [*(each for each in self.sessions if each.id != session.id), session]
        return session

    def _new_live(self, audience: Audience) -> LiveSession:
        respondents = Respondents(self.permissions, self.elicit, _run_user_function)
        respondents.standby = audience
        return LiveSession(self.connection, self._facts.dialect, respondents)

    @property
    def setup(self) -> SessionSetup:
        """The folders that the agent's sessions work in."""
        return SessionSetup(self.launch.cwd, directories=self.launch.directories)

    def _setup_for(self, live: LiveSession) -> SessionSetup:
        """Add the session's own MCP servers; raises if the agent takes one folder only (SESS-1)."""
        if self.launch.directories and not self.capabilities.additional_directories:
            raise UnsupportedByAgent(
                f"The agent {self.info.label} works in one folder. Start it without --dir, or in a "
                "folder that holds them all: --cwd."
            )
        servers = current_host().mcp_servers(self, live) if self.tools else ()
        self._servers[live] = servers
        for server in servers:
            self.connection.redact(server.secrets)
        return replace(self.setup, mcp_servers=tuple(server.entry for server in servers))

    def stop(self) -> str:
        """Cancel the work of the present session; see `Session.stop`."""
        return self.session.stop()

    def quit(self) -> None:
        """End the agent and all its processes, within 5 s. May be called more than once.

        Raises:
            WaitInterrupted: The wait was interrupted; what still ran is killed.
        """
        if end_all([self]):
            logger.warning("The agent %s did not end in time and was killed.", self.label)

    def begin_to_end(self) -> concurrent.futures.Future[None]:
        """Begin to end the agent for good; see `quit`, which also waits."""
        self.has_quit = self._connecting.is_over = True
        return self.thread.submit(self._close())

    async def _close(self) -> None:
        await self._connecting.close()
        forget_turns_of(self)
        await self._files_and_terminals.end()
        for live in list(self._servers):
            self._session_ended(live)
        await asyncio.gather(*self._releases)

    def _session_ended(self, live: LiveSession) -> None:
        # Now, because the same session may get new servers before a task runs.
        for server in self._servers.pop(live, ()):
            self.connection.retire(server.secrets)
            self._releases.add(release := self.thread.spawn(server.release()))
            release.add_done_callback(self._releases.discard)

    def kill_now(self) -> None:
        """Kill the agent's process tree at once, for the exit of this process."""
        self._connecting.kill_now()
        self._files_and_terminals.kill_now()

    def _wait_for(
        self, work: Callable[[Audience], Coroutine[Any, Any, T]], *, is_start: bool = False
    ) -> T:
        # The audience attends before the work starts: the agent may ask at once.
        audience = current_host().audience(self)
        attendance = self.thread.call(lambda: self.respondents.attend(audience))
        try:
            future = self.thread.submit(work(audience))
            current_host().wait_for_agent(self, future, is_start=is_start)
            return future.result()
        except KeyboardInterrupt:
            if is_start:  # `start` ends the whole attempt
                raise WaitInterrupted(f"The start of {self.label} was interrupted.") from None
            future.cancel()
            raise WaitInterrupted(f"Interrupted: {self.label} had not answered.") from None
        except OSError as error:
            raise out_of_files(error) or error from None
        finally:
            self.thread.post(attendance.close)

    def reopen_for(self, session: Session, turn: Turn) -> None:
        """Restart the agent for a waiting prompt; on the agent thread."""
        self.thread.spawn(self._connecting.bring_back(session.live, turn.prompt_id))


def _run_user_function(function: Callable[..., Any], *args: Any) -> concurrent.futures.Future[Any]:
    return current_host().run_user_function(function, *args)
