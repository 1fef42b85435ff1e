"""An agent as its user sees it: start, sessions, stop, quit. Usable from any thread.

The process and the connection live on the agent thread (`AgentLink`); when they end, the next
prompt starts a fresh link and takes the session up again, if the agent can. Knows no notebook.
"""

from __future__ import annotations

import asyncio
import atexit
import concurrent.futures
import logging
import os
import weakref
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

from acp_notebook.client.agent_link import AgentLink, Launch
from acp_notebook.client.agent_thread import AgentThread, shared_thread
from acp_notebook.client.host import current_host
from acp_notebook.client.known_agents import find_agent
from acp_notebook.client.live_session import LiveSession
from acp_notebook.client.permissions import Policy, check_policy
from acp_notebook.client.services import Services
from acp_notebook.client.session import Session
from acp_notebook.client.turn import Turn
from acp_notebook.errors import (
    AcpNotebookError,
    AgentError,
    AuthRequired,
    RequestFailed,
    UnsupportedByAgent,
    UsageError,
)
from acp_notebook.protocol.dialect import AuthMethod, Capabilities, Implementation, Place
from acp_notebook.protocol.negotiate import LATEST, OLDEST, Negotiated
from acp_notebook.session import updates as u
from acp_notebook.trace.recording import Recording

logger = logging.getLogger(__name__)

T = TypeVar("T")
_living: weakref.WeakSet[Agent] = weakref.WeakSet()


class Agent:
    """One agent and its sessions.

    Made by `start`. `permissions` is the policy for its sessions: a name or a function.
    """

    def __init__(self, launch: Launch, *, label: str, permissions: Policy = "ask") -> None:
        self.launch = launch
        self.label = label
        self.thread: AgentThread = shared_thread()
        self.sessions: list[Session] = []
        self.has_quit = False
        self.on_stderr: Callable[[], None] | None = None
        self._policy = check_policy(permissions)
        self._services = Services()
        self._link = self._new_link()
        self._links = [self._link]
        self._reconnecting = asyncio.Lock()
        _living.add(self)

    def __repr__(self) -> str:
        version = f"ACP v{self.protocol_version}" if self._link.negotiated else "not connected"
        return f"<Agent {self.label}: {version}, {len(self.sessions)} session(s)>"

    # what it is

    @property
    def _facts(self) -> Negotiated:
        facts = next((link.negotiated for link in reversed(self._links) if link.negotiated), None)
        if facts is None:
            raise UsageError(f"The agent {self.label} is not connected yet.")
        return facts

    @property
    def info(self) -> Implementation:
        """Name, title and version, as it says."""
        return self._facts.info

    @property
    def capabilities(self) -> Capabilities:
        """What it offers."""
        return self._facts.capabilities

    @property
    def auth_methods(self) -> tuple[AuthMethod, ...]:
        """Its ways to log in; having some does not mean that a login is needed."""
        return self._facts.auth_methods

    @property
    def protocol_version(self) -> int:
        """The negotiated version."""
        return self._facts.dialect.version

    @property
    def stderr(self) -> str:
        """The last part of what it wrote to stderr."""
        process = self._link.process
        return process.stderr.text if process is not None else ""

    @property
    def noise(self) -> list[str]:
        """Lines on its stdout that were no messages."""
        return self.thread.call(lambda: list(self._link.noise))

    @property
    def recording(self) -> Recording:
        """The wire traffic of the present connection."""
        return self._link.recording

    @property
    def pid(self) -> int | None:
        """Its process id, or None before it was started."""
        return self._link.process.pid if self._link.process is not None else None

    @property
    def is_running(self) -> bool:
        """Whether its process is connected."""
        return self._link.is_alive

    @property
    def session(self) -> Session:
        """The present session: the one that was opened last."""
        if not self.sessions:
            raise UsageError(f"The agent {self.label} has no session. Open one: %acp new.")
        return self.sessions[-1]

    @property
    def permissions(self) -> Policy:
        """The permission policy of its sessions."""
        return self._policy

    @permissions.setter
    def permissions(self, policy: Policy) -> None:
        self._policy = check_policy(policy)
        for session in self.sessions:
            session.permissions = policy

    # life

    def start(self) -> Agent:
        """Start the process, negotiate, open a session. An interrupt ends the attempt.

        Raises:
            AgentError: It cannot be started, ended at once, or shares no protocol version.
        """
        work = self.thread.submit(self._start())
        try:
            current_host().wait_start(self, work)
            work.result()
        except concurrent.futures.CancelledError:
            self.quit()
            raise AgentError(f"The start of {self.label} was stopped.") from None
        except BaseException:
            self.quit()
            raise
        return self

    def _new_link(self) -> AgentLink:
        link = AgentLink(self.launch, self.thread, self._services)
        link.on_stderr = self._stderr_grew
        return link

    async def _start(self) -> None:
        await self._link.open()
        await self._open_session()

    def _stderr_grew(self) -> None:
        if self.on_stderr is not None:
            self.on_stderr()

    def new_session(self) -> Session:
        """Open another session; it becomes the present one.

        Raises:
            UsageError: The agent was ended by `quit`.
            AgentError: The agent refused, or had to be started again and could not.
        """
        return self._wait_for(self.thread.submit(self._open_another()))

    async def _open_another(self) -> Session:
        async with self._reconnecting:
            await self._connect()
        return await self._open_session()

    async def _open_session(self) -> Session:
        if not self.capabilities.sessions:
            raise UnsupportedByAgent(
                f"The agent {self.info.label} offers no sessions, so it takes no prompts. "
                "It may serve another purpose; see %acp log."
            )
        live = LiveSession(self._link, self._facts.dialect)
        live.policy = self._policy
        session = Session(self, live)
        await self._set_up(live)
        self.sessions.append(session)
        return session

    async def _set_up(self, live: LiveSession) -> None:
        call = self._facts.dialect.new_session(self.place)
        try:
            answer = await self._link.request(call)
        except AuthRequired as error:
            message = f"{error.message.rstrip('.')}. {self._login_hint()}"
            raise AuthRequired(error.method, error.code, message, error.data) from None
        session_id = answer.get("sessionId") if isinstance(answer, dict) else None
        if not isinstance(session_id, str):
            raise AgentError(
                "The agent answered `session/new` without a session id. "
                "See the messages with %acp trace."
            )
        self._link.attach(u.SessionId(session_id), live, answer)

    @property
    def place(self) -> Place:
        """Where its sessions work."""
        return Place(self.launch.cwd)

    def _login_hint(self) -> str:
        ways = ", ".join(method.name for method in self.auth_methods)
        if not ways:
            return "It offers no way to log in here: log in with its own program, then start again."
        return f"It offers: {ways}. Log in with its own program, then start it again."

    def stop(self) -> str:
        """Cancel the work of the present session; see `Session.stop`."""
        return self.session.stop()

    def quit(self) -> None:
        """End the agent and all its processes; may be called more than once."""
        self.has_quit = True
        self._wait_for(self.thread.submit(self._close()))

    async def _close(self) -> None:
        # The link is looked up on the agent thread, where a prompt may be bringing up a new one.
        await self._link.close()

    def end_process(self, reason: str) -> None:
        """End the process at once; the next prompt starts it again. On the agent thread."""
        for session in self.sessions:
            session.live.lost(reason, "")
        self._link.kill_now()
        self.thread.spawn(self._link.close())

    def kill_now(self) -> None:
        """Kill its process tree; for the end of this process."""
        for link in self._links:
            link.kill_now()

    def _wait_for(self, work: concurrent.futures.Future[T]) -> T:
        current_host().wait(work, None)
        return work.result()

    # coming back

    def reopen_for(self, session: Session, turn: Turn) -> None:
        """Start the agent again for a prompt that waits; on the agent thread."""
        self.thread.spawn(self._reopen_for(session.live, turn.prompt_id))

    async def _reopen_for(self, live: LiveSession, prompt_id: u.PromptId) -> None:
        try:
            async with self._reconnecting:
                # An earlier prompt may have done it, or failed for all that waited.
                if not live.state.is_connected and not live.state.prompts[prompt_id].is_ended:
                    await self._reopen(live)
        except Exception as error:
            if not isinstance(error, AcpNotebookError):
                logger.exception("The agent could not be started again.")
            for waiting in list(live.state.pending):
                live.refuse(waiting, str(error))

    async def _connect(self) -> None:
        if self.has_quit:
            raise UsageError(f"The agent {self.label} was ended. Start it again with %acp start.")
        if not self._link.is_alive:
            self._link = self._new_link()
            self._links = [self._links[-1], self._link]
            await self._link.open()

    async def _reopen(self, live: LiveSession) -> None:
        await self._connect()
        facts, old_id = self._facts, live.session_id
        live.reconnect(self._link, facts.dialect)
        call = facts.dialect.resume(str(old_id), self.place, facts.capabilities, replay=False)
        if call is not None and old_id is not None:
            try:
                answer = await self._link.request(call)
            except RequestFailed as error:
                logger.info("The old session could not be taken up: %s", error)
            else:
                self._link.attach(old_id, live, answer)
                return
        await self._set_up(live)
        # After the waiting prompt, whose turn shows it.
        live.apply(
            [
                u.Notice(
                    "warning",
                    "A new session was opened",
                    "The agent was started again and could not take up the old session: "
                    "it has lost its memory of the conversation above.",
                )
            ]
        )


def start(
    name: str | None = None,
    *,
    command: Sequence[str] | None = None,
    label: str | None = None,
    env: Mapping[str, str] | None = None,
    cwd: str | os.PathLike[str] = ".",
    protocol: int = LATEST,
    permissions: Policy = "ask",
) -> Agent:
    """Start an agent, initialize it and open a session.

    Args:
        name: A known agent, such as `demo`.
        command: Program and arguments of any other agent.
        label: What to call it; by default its name.
        env: Additions to the environment that it inherits.
        cwd: The folder it works in.
        protocol: 2 offers version 2 and accepts 1; 1 forces version 1.
        permissions: `ask`, `reads`, `allow`, `reject`, or a function from a
            `PermissionQuestion` to an option id or None (ask).

    Raises:
        UsageError: Neither or both of name and command were given.
        AgentError: The agent cannot be started; the message says why and what to do.
    """
    if (name is None) == (command is None):
        raise UsageError("Give either an agent's name or a command.")
    if protocol not in (OLDEST, LATEST):
        raise UsageError(f"There is no ACP protocol version {protocol}; use {OLDEST} or {LATEST}.")
    known = find_agent(name) if name is not None else None
    words = known.command if known is not None else tuple(command or ())
    if not words:
        raise UsageError("The command is empty. Write it behind --, as in: %acp start -- my-agent")
    shown = name or Path(words[0]).name
    folder = str(Path(cwd).expanduser().resolve())
    environment = {**(known.env if known is not None else {}), **(env or {})}
    launch = Launch(shown, words, folder, environment, protocol)
    return Agent(launch, label=label or shown, permissions=permissions).start()


@atexit.register
def _kill_all() -> None:
    for agent in list(_living):
        agent.kill_now()
