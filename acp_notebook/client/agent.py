"""An agent as its user sees it: start, sessions, stop, quit. Usable from any thread.

The process and the connection live on the agent thread (`AgentLink`); when they end, the next
prompt starts a fresh link and takes the session up again, if the agent can. Knows no notebook.
"""

from __future__ import annotations

import atexit
import concurrent.futures
import os
import weakref
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

from acp_notebook.client.agent_link import AgentLink, Launch
from acp_notebook.client.agent_thread import AgentThread, shared_thread
from acp_notebook.client.host import current_host
from acp_notebook.client.known_agents import command_of
from acp_notebook.client.live_session import LiveSession
from acp_notebook.client.permissions import Policy, check_policy
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
from acp_notebook.protocol.dialect import AuthMethod, Capabilities, Implementation
from acp_notebook.protocol.negotiate import LATEST, OLDEST, Negotiated
from acp_notebook.session import updates as u
from acp_notebook.trace.recording import Recording

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
        self._link = AgentLink(launch, self.thread)
        self._links = [self._link]
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
        return list(self._link.noise)

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

    async def _start(self) -> None:
        self._link.on_stderr = self._stderr_grew
        await self._link.open()
        await self._open_session()

    def _stderr_grew(self) -> None:
        if self.on_stderr is not None:
            self.on_stderr()

    def new_session(self) -> Session:
        """Open another session; it becomes the present one.

        Raises:
            AgentError: The agent refused.
        """
        return self._wait_for(self.thread.submit(self._open_session()))

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
        call = self._facts.dialect.new_session(self.launch.cwd, [], [])
        try:
            answer = await self._link.request(call)
        except AuthRequired as error:
            raise AuthRequired(
                error.method, error.code, f"{error.message} {self._login_hint()}", error.data
            ) from None
        session_id = answer.get("sessionId") if isinstance(answer, dict) else None
        if not isinstance(session_id, str):
            raise AgentError(
                "The agent answered `session/new` without a session id. "
                "See the messages with %acp trace."
            )
        self._link.attach(u.SessionId(session_id), live, answer)

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
        self._wait_for(self.thread.submit(self._link.close()))

    def end_process(self, reason: str) -> None:
        """End the process at once; the next prompt starts it again. On the agent thread."""
        for session in self.sessions:
            session.live.lost(reason, "")
        self._link.kill_now()
        self.thread.loop.create_task(self._link.close())

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

        async def reopen() -> None:
            try:
                await self._reopen(session.live)
            except (AcpNotebookError, OSError) as error:
                session.live.refuse(turn.prompt_id, str(error))

        self.thread.loop.create_task(reopen())

    async def _reopen(self, live: LiveSession) -> None:
        if not self._link.is_alive:
            self._link = AgentLink(self.launch, self.thread)
            self._links = [self._links[-1], self._link]
            await self._link.open()
        facts, old_id = self._facts, live.session_id
        live.reconnect(self._link, facts.dialect)
        call = facts.dialect.reattach(str(old_id), self.launch.cwd, [], [], facts.capabilities)
        if call is not None and old_id is not None:
            try:
                answer = await self._link.request(call)
            except RequestFailed:
                call = None
            else:
                self._link.attach(old_id, live, answer)
        if call is None:
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
            await self._set_up(live)


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
    words = tuple(command) if command is not None else command_of(str(name))
    if not words:
        raise UsageError("The command is empty. Write it behind --, as in: %acp start -- my-agent")
    shown = name or Path(words[0]).name
    folder = str(Path(cwd).expanduser().resolve())
    launch = Launch(shown, words, folder, dict(env or {}), protocol)
    return Agent(launch, label=label or shown, permissions=permissions).start()


@atexit.register
def _kill_all() -> None:
    for agent in list(_living):
        agent.kill_now()
