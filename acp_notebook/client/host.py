"""What surrounds the client: who waits, where turns are shown, and who can be asked.

The client works without a notebook: `PlainHost` waits by blocking and has nobody to ask. A notebook
hands in its own host. Knows no IPython.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import inspect
import threading
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from acp_notebook.client.live.audience import Audience, Nobody

if TYPE_CHECKING:
    from acp_notebook.client.agent import Agent
    from acp_notebook.client.live.live_session import LiveSession
    from acp_notebook.client.process.pseudo_terminal import PseudoTerminal
    from acp_notebook.client.turn import Turn


@dataclass(frozen=True, slots=True)
class McpServer:
    """An MCP server of this process for one session.

    Attributes:
        entry: The server as session setup names it.
        secrets: What nobody but the agent may read.
        release: Closes the session's access; awaited on the agent thread.
    """

    entry: dict[str, Any] = field(repr=False)
    secrets: tuple[str, ...] = field(repr=False)
    release: Callable[[], Awaitable[None]] = field(repr=False)


class TurnDisplay(Protocol):
    """A place that shows one turn."""

    def prepare_wait(self) -> None:
        """Somebody begins to wait for the turn, on the calling thread."""

    def conclude(self, *, is_waited: bool) -> None:
        """Show the end of the turn for good; may be called more than once.

        Args:
            is_waited: Whether the caller is the thread that waited for the turn. Otherwise it is
                the agent thread, and nobody waits.
        """


class Host(Protocol):
    """The client's surroundings. Called on the thread that uses the client, but where noted."""

    def wait(self, future: concurrent.futures.Future[Any], timeout_s: float | None) -> bool:
        """Wait until the future is done; False on timeout."""
        ...

    def attended(self) -> AbstractContextManager[None]:
        """Keep the page alive while async code waits on the caller's event loop."""
        ...

    def wait_for_agent(
        self, agent: Agent, work: concurrent.futures.Future[Any], *, is_start: bool
    ) -> None:
        """Wait for what an agent does outside of turns; a start may take minutes."""

    def audience(self, agent: Agent) -> Audience:
        """Who can be asked here when no view of the session is open."""
        ...

    def show_turn(self, turn: Turn) -> TurnDisplay | None:
        """Show a turn in the present cell; None where there is no such place."""
        ...

    def terminal(self) -> Callable[[PseudoTerminal, str], None] | None:
        """Shows a program under a title and lets the user type until the program ends.

        None where nobody can type.
        """
        ...

    def run_user_function(
        self, function: Callable[..., Any], *args: Any
    ) -> concurrent.futures.Future[Any]:
        """Run a user's function, sync or async, where it may take its time. On any thread."""
        ...

    def mcp_servers(self, agent: Agent, live: LiveSession) -> Sequence[McpServer]:
        """The MCP servers that a session's setup names; on the agent thread."""
        ...


class PlainHost:
    """Scripts and tests: blocking waits, no views, every question refused."""

    def wait(self, future: concurrent.futures.Future[Any], timeout_s: float | None) -> bool:
        """Block until the future is done."""
        done, _ = concurrent.futures.wait([future], timeout_s)
        return bool(done)

    def attended(self) -> AbstractContextManager[None]:
        """A context that changes nothing."""
        return nullcontext()

    def wait_for_agent(
        self, agent: Agent, work: concurrent.futures.Future[Any], *, is_start: bool
    ) -> None:
        """Block until the work is done."""
        del agent, is_start
        self.wait(work, None)

    def audience(self, agent: Agent) -> Audience:
        """An audience that cannot be asked."""
        del agent
        return Nobody()

    def show_turn(self, turn: Turn) -> TurnDisplay | None:
        """Return None: a script has no cells."""
        del turn
        return None

    def terminal(self) -> Callable[[PseudoTerminal, str], None] | None:
        """Return None: a script's user cannot type into a program."""
        return None

    def run_user_function(
        self, function: Callable[..., Any], *args: Any
    ) -> concurrent.futures.Future[Any]:
        """Run the function on a thread of its own, with its own loop if it is async.

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

    def mcp_servers(self, agent: Agent, live: LiveSession) -> Sequence[McpServer]:
        """Return nothing: a script has no kernel for an agent to reach into."""
        del agent, live
        return ()


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
