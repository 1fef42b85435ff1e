"""What surrounds the client: who waits, where turns are shown, and who can be asked.

The client works without a notebook: `Host` waits by blocking and has nobody to ask. A notebook
hands in its own host. Knows no IPython.
"""

from __future__ import annotations

import concurrent.futures
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from acp_notebook.client.live.audience import Audience, Nobody
from acp_notebook.client.user_functions import run_on_own_thread

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


class Host:
    """The surroundings of a script: blocking waits, no views, every question refused.

    Called on the thread that uses the client, but where noted.
    """

    def wait(self, future: concurrent.futures.Future[Any], timeout_s: float | None) -> bool:
        """Wait until the future is done; False on timeout."""
        done, _ = concurrent.futures.wait([future], timeout_s)
        return bool(done)

    def attended(self) -> AbstractContextManager[None]:
        """Keep a page alive while async code waits on the caller's event loop."""
        return nullcontext()

    def wait_for_agent(
        self, agent: Agent, work: concurrent.futures.Future[Any], *, is_start: bool
    ) -> None:
        """Wait for what an agent does outside of turns; a start may take minutes."""
        del agent, is_start
        self.wait(work, None)

    def audience(self, agent: Agent) -> Audience:
        """Who can be asked here when no view of the session is open: nobody."""
        del agent
        return Nobody()

    def show_turn(self, turn: Turn) -> TurnDisplay | None:
        """Show a turn in the present cell; None where there is no such place."""
        del turn
        return None

    def terminal(self) -> Callable[[PseudoTerminal, str], None] | None:
        """Shows a program under a title while the user types; None where nobody can type."""
        return None

    def run_user_function(
        self, function: Callable[..., Any], *args: Any
    ) -> concurrent.futures.Future[Any]:
        """Run a user's function, sync or async, where it may take its time. On any thread."""
        return run_on_own_thread(function, *args)

    def mcp_servers(self, agent: Agent, live: LiveSession) -> Sequence[McpServer]:
        """The MCP servers that a session's setup names; on the agent thread."""
        del agent, live
        return ()


_host: Host = Host()
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
