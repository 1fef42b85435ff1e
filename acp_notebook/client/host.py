"""What surrounds the client: who waits, who is shown what, whom one can ask.

The client works without a notebook: `PlainHost` waits by blocking and has nobody to ask. A notebook
hands in its own host. Knows no IPython.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import inspect
import threading
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from acp_notebook.client.agent import Agent
    from acp_notebook.client.live.live_session import LiveSession
    from acp_notebook.client.process.pseudo_terminal import PseudoTerminal
    from acp_notebook.client.turn import Turn
    from acp_notebook.session.elicitation import Action, ElicitationRequested
    from acp_notebook.session.updates import PermissionId

    ConsoleAnswer = tuple[Action, dict[str, Any]]


@dataclass(frozen=True, slots=True)
class McpServer:
    """An MCP server of these surroundings: what to tell the agent, and what nobody else may see."""

    entry: dict[str, Any] = field(repr=False)
    secrets: tuple[str, ...] = field(repr=False)


class Host(Protocol):
    """The client's surroundings."""

    @property
    def can_ask(self) -> bool:
        """Whether somebody can answer a permission request."""
        ...

    def wait(self, future: concurrent.futures.Future[Any], timeout_s: float | None) -> bool:
        """Wait on the caller's thread until the future is done; False on timeout."""
        ...

    def attended(self) -> AbstractContextManager[None]:
        """While async code waits on the caller's event loop, the page stays alive."""
        ...

    def show_turn(self, turn: Turn) -> None:
        """A turn is about to be sent; called on the thread that prompts."""

    def turn_over(self, turn: Turn) -> None:
        """A wait for this turn has ended; called on the thread that waited."""

    def wait_start(self, agent: Agent, start: concurrent.futures.Future[None]) -> None:
        """Wait for an agent's start, which may take minutes, on the thread that starts it."""
        ...

    def lobby(self, agent: Agent) -> AbstractContextManager[None]:
        """Show what an agent asks outside of turns; entered before it is told to do anything."""
        ...

    def wait_for_agent(self, work: concurrent.futures.Future[Any]) -> None:
        """Wait for what an agent does outside of turns."""
        ...

    @property
    def can_type(self) -> bool:
        """Whether somebody can type into a program; see `attend`."""
        ...

    def attend(self, terminal: PseudoTerminal, title: str) -> None:
        """Let the user see a program and type into it, until it ends."""
        ...

    def run_user_function(
        self, function: Callable[..., Any], *args: Any
    ) -> concurrent.futures.Future[Any]:
        """Run a user's function, sync or async, where it may take its time."""
        ...

    def ask_at_console(
        self, request: ElicitationRequested, agent_name: str
    ) -> concurrent.futures.Future[ConsoleAnswer] | None:
        """Ask for a form or a page by questions, where there is a console; else None."""
        ...

    def choose_at_console(
        self, live: LiveSession, permission_id: PermissionId
    ) -> concurrent.futures.Future[str | None] | None:
        """Ask for a permission by a question, where there is a console; else None.

        Called on the agent thread. The result is an option's id, or None if nobody answers.
        """
        ...

    def mcp_servers(self, agent: Agent, live: LiveSession) -> Sequence[McpServer]:
        """The MCP servers that a session is told of at its set-up; on the agent thread."""
        ...

    async def agent_gone(self, agent: Agent) -> None:
        """An agent was ended for good; on the agent thread."""


class PlainHost:
    """Scripts and tests: blocking waits, nobody to ask."""

    can_ask = False
    can_type = False

    def wait(self, future: concurrent.futures.Future[Any], timeout_s: float | None) -> bool:
        """Block until the future is done."""
        done, _ = concurrent.futures.wait([future], timeout_s)
        return bool(done)

    def attended(self) -> AbstractContextManager[None]:
        """There is no page."""
        return nullcontext()

    def show_turn(self, turn: Turn) -> None:
        """Nothing to show it on."""

    def turn_over(self, turn: Turn) -> None:
        """Nothing to show it on."""

    def wait_start(self, agent: Agent, start: concurrent.futures.Future[None]) -> None:
        """Block until the start is over."""
        del agent
        self.wait(start, None)

    def lobby(self, agent: Agent) -> AbstractContextManager[None]:
        """There is nobody to show it to."""
        del agent
        return nullcontext()

    def wait_for_agent(self, work: concurrent.futures.Future[Any]) -> None:
        """Block until it is done."""
        self.wait(work, None)

    def attend(self, terminal: PseudoTerminal, title: str) -> None:
        """Nobody would see it."""
        del title
        self.wait(terminal.ended, None)

    def run_user_function(
        self, function: Callable[..., Any], *args: Any
    ) -> concurrent.futures.Future[Any]:
        """Run it on a thread of its own, with its own loop if it is async.

        A daemon thread: one that never returns must hold up neither the next nor the exit.
        """
        result: concurrent.futures.Future[Any] = concurrent.futures.Future()

        def run() -> None:
            try:
                result.set_result(call_sync_or_async(function, *args))
            except BaseException as error:  # noqa: BLE001 - it belongs to the caller
                result.set_exception(error)

        threading.Thread(target=run, name="acp-user-function", daemon=True).start()
        return result

    def ask_at_console(
        self, request: ElicitationRequested, agent_name: str
    ) -> concurrent.futures.Future[ConsoleAnswer] | None:
        """A script has nobody who reads its output and types."""
        del request, agent_name
        return None

    def choose_at_console(
        self, live: LiveSession, permission_id: PermissionId
    ) -> concurrent.futures.Future[str | None] | None:
        """A script has nobody who reads its output and types."""
        del live, permission_id
        return None

    def mcp_servers(self, agent: Agent, live: LiveSession) -> Sequence[McpServer]:
        """A script has no kernel for an agent to reach into."""
        del agent, live
        return ()

    async def agent_gone(self, agent: Agent) -> None:
        """Nothing was offered to it."""


def call_sync_or_async(function: Callable[..., Any], *args: Any) -> Any:
    """Call a function and, if it returns an awaitable, wait for that."""
    result = function(*args)
    if inspect.isawaitable(result):
        return asyncio.run(_await(result))
    return result


async def _await(awaitable: Any) -> Any:
    return await awaitable


_host: Host = PlainHost()
_make_host: Callable[[], Host] | None = None


def current_host() -> Host:
    """The host of this process."""
    global _make_host
    if _make_host is not None:
        make, _make_host = _make_host, None
        install_host(make())
    return _host


def install_host(host: Host) -> None:
    """Let another host surround the client."""
    global _host, _make_host
    _host, _make_host = host, None


def install_host_later(make: Callable[[], Host]) -> None:
    """Let a host surround the client that is made when it is first needed.

    For the notebook, which is told of before it is used, and costs time to import.
    """
    global _make_host  # noqa: PLW0603 - one process has one surrounding
    _make_host = make
