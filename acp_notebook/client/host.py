"""The client's host: how to wait, where to show turns, whom to ask. Knows no IPython.

`Host` is a script's: waits block, and nobody can be asked. A notebook installs its own.
"""

from __future__ import annotations

import concurrent.futures
from collections.abc import Callable, Coroutine, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from acp_notebook.client.interrupted import WaitInterrupted
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
        entry: The server's entry in session setup.
        secrets: Strings to redact everywhere but on the wire.
        release: Closes the session's access; run on the agent thread.
    """

    entry: dict[str, Any] = field(repr=False)
    secrets: tuple[str, ...] = field(repr=False)
    release: Callable[[], Coroutine[Any, Any, None]] = field(repr=False)


class TurnDisplay(Protocol):
    """A place that shows one turn."""

    def prepare_wait(self) -> None:
        """Prepare for a wait for the turn on the calling thread."""

    def conclude(self, *, is_waited: bool) -> bool:
        """Show the end of the turn for good. May be called more than once.

        Args:
            is_waited: Whether the caller has waited for the turn; otherwise nobody waits, and the
                caller is the agent thread.

        Returns:
            Whether the end is shown, so that the turn can let go of the display.
        """


class Host:
    """The host of a script: blocking waits, no views, every question refused.

    Called on the thread that uses the client, unless noted.
    """

    def wait(self, future: concurrent.futures.Future[Any], timeout_s: float | None) -> bool:
        """Wait until the future is done; return False on timeout.

        Raises:
            WaitInterrupted: The wait was interrupted.
        """
        try:
            done, _ = concurrent.futures.wait([future], timeout_s)
        except KeyboardInterrupt:
            raise WaitInterrupted("Interrupted.") from None
        return bool(done)

    def attended(self) -> AbstractContextManager[None]:
        """Keep the page's buttons working while async code waits on the caller's event loop."""
        return nullcontext()

    def wait_for_agent(
        self, agent: Agent, work: concurrent.futures.Future[Any], *, is_start: bool
    ) -> None:
        """Wait for an agent's work outside of turns; a start may take minutes."""
        del agent, is_start
        self.wait(work, None)

    def audience(self, agent: Agent) -> Audience:
        """Return the audience for questions while no view of the session is open."""
        del agent
        return Nobody()

    def show_turn(self, turn: Turn) -> TurnDisplay | None:
        """Show a turn in the present cell and return its display; None without a cell."""
        del turn
        return None

    def terminal(self) -> Callable[[PseudoTerminal, str], None] | None:
        """Return a function that runs a titled terminal for the user; None if nobody can type."""
        return None

    def run_user_function(
        self, function: Callable[..., Any], *args: Any
    ) -> concurrent.futures.Future[Any]:
        """Run a user's function, sync or async, without blocking the caller; on any thread."""
        return run_on_own_thread(function, *args)

    def mcp_servers(self, agent: Agent, live: LiveSession) -> Sequence[McpServer]:
        """Return the MCP servers for a session's setup; on the agent thread."""
        del agent, live
        return ()


_host: Host = Host()
_make_host: Callable[[], Host] | None = None


def current_host() -> Host:
    """Return the host of this process."""
    global _make_host
    if _make_host is not None:
        make, _make_host = _make_host, None
        install_host(make())
    return _host


def install_host(host: Host) -> None:
    """Replace the host of this process."""
    global _host, _make_host
    _host, _make_host = host, None


def install_host_later(make: Callable[[], Host]) -> None:
    """Replace the host with one that is made at first use, as importing a notebook's is slow."""
    global _make_host  # noqa: PLW0603 - one host per process
    _make_host = make
