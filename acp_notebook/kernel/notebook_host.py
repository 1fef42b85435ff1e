"""The notebook as the client's host, from pump, views and tools. Knows no wire."""

from __future__ import annotations

import concurrent.futures
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING, Any

from acp_notebook.client.host import Host
from acp_notebook.client.interrupted import WaitInterrupted
from acp_notebook.client.live.audience import Audience, Nobody
from acp_notebook.errors import printable
from acp_notebook.kernel.front_end import present_front_end, present_kernel
from acp_notebook.kernel.views.console_cell import ConsoleAudience, ConsoleCell
from acp_notebook.kernel.views.question_card import QuestionPlace
from acp_notebook.kernel.views.start_display import StartDisplay
from acp_notebook.kernel.views.terminal_cell import TerminalCell, attend_at_console
from acp_notebook.kernel.views.turn_cell import TurnCell
from acp_notebook.kernel.waiting.kernel_loop import call_on_kernel_loop
from acp_notebook.kernel.waiting.pump import Pump, WaitEvent, bell_of_main_thread, run_on_main
from acp_notebook.kernel.waiting.shell_channel import find_shell_channel

if TYPE_CHECKING:
    from acp_notebook.client.agent import Agent
    from acp_notebook.client.host import McpServer, TurnDisplay
    from acp_notebook.client.live.live_session import LiveSession
    from acp_notebook.client.process.pseudo_terminal import PseudoTerminal
    from acp_notebook.client.turn import Turn
    from acp_notebook.kernel.tools.kernel_tools import KernelTools
    from acp_notebook.session.updates import Violation

# A longer start gets a display with the elapsed time.
QUICK_START_S = 1.0


class NotebookHost(Host):
    """The host in an IPython kernel and, without clicks, in a terminal: waits with live buttons."""

    def __init__(self) -> None:
        self._tools: KernelTools | None = None
        if present_kernel() is not None:
            bell_of_main_thread()  # now: a later wait may find no file left to open

    def wait(self, future: concurrent.futures.Future[Any], timeout_s: float | None) -> bool:
        """See `Host.wait`; the page's buttons work meanwhile."""
        done = WaitEvent()
        future.add_done_callback(lambda _: done.set())
        try:
            with Pump(present_kernel()) as pump:
                return pump.wait(done, timeout_s)
        except KeyboardInterrupt:
            raise WaitInterrupted("Interrupted.") from None

    @contextmanager
    def attended(self) -> Iterator[None]:
        """Handle the page's messages while the cell awaits; such waits may overlap."""
        kernel = present_kernel()
        is_main = threading.current_thread() is threading.main_thread()
        channel = find_shell_channel(kernel)[0] if kernel is not None and is_main else None
        if channel is None:
            yield
            return
        with channel.attended():
            yield

    def wait_for_agent(
        self, agent: Agent, work: concurrent.futures.Future[Any], *, is_start: bool
    ) -> None:
        """See `Host.wait_for_agent`; shows a slow start."""
        known = len(_violations_outside_sessions(agent))
        if not is_start or self.wait(work, QUICK_START_S):
            self.wait(work, None)
        else:
            with closing(StartDisplay(agent, work, waited_s=QUICK_START_S)):
                self.wait(work, None)
        for violation in _violations_outside_sessions(agent)[known:]:
            words = f"{agent.label} broke the protocol: {violation.where}: {violation.reason}"
            print(printable(words))  # noqa: T201 - no session's view shows it

    def audience(self, agent: Agent) -> Audience:
        """Return the present cell, the console, or nobody, by the kind of front end."""
        match present_front_end():
            case "notebook":
                return QuestionPlace(agent)
            case "console" | "terminal":
                return ConsoleAudience(agent)
            case _:
                return Nobody()

    def show_turn(self, turn: Turn) -> TurnDisplay | None:
        """Show a turn in the present cell, live if somebody sees it.

        A console is one place: a turn that it has yet to print to the end is not printed again.
        """
        front_end = present_front_end()
        is_text = front_end in {"console", "terminal"}
        if is_text and turn.is_on_display:
            return None
        cell = ConsoleCell(turn) if is_text else TurnCell(turn)
        if is_text or (front_end == "notebook" and not turn.is_done):
            cell.show_live()
        return cell

    def terminal(self) -> Callable[[PseudoTerminal, str], None] | None:
        """Return a function that shows a program in the present cell or console, or None."""
        match present_front_end():
            case "headless":
                return None
            case "notebook":
                return self._attend_in_cell
            case _:
                return lambda terminal, _: attend_at_console(terminal, self.wait)

    def _attend_in_cell(self, terminal: PseudoTerminal, title: str) -> None:
        cell = TerminalCell(terminal, title)
        try:
            self.wait(terminal.ended, None)
        finally:
            cell.close()

    def run_user_function(
        self, function: Callable[..., Any], *args: Any
    ) -> concurrent.futures.Future[Any]:
        """Run a user's function on the main thread, the place of its variables and output.

        A terminal's main thread is free only during a wait; else the function gets its own thread.
        """
        if present_kernel() is None and Pump.current is None:
            return super().run_user_function(function, *args)
        return run_on_main(lambda: call_on_kernel_loop(function, *args))

    @property
    def tools(self) -> KernelTools | None:
        """The tools of this kernel; None without IPython."""
        from IPython.core.getipython import get_ipython

        from acp_notebook.kernel.tools.kernel_tools import KernelTools

        shell = get_ipython()
        if self._tools is None and shell is not None:
            self._tools = KernelTools(shell)
        return self._tools

    def mcp_servers(self, agent: Agent, live: LiveSession) -> Sequence[McpServer]:
        """Return this kernel's tools as the session's own server."""
        tools = self.tools
        return tools.servers_for(agent, live) if tools is not None else ()


def _violations_outside_sessions(agent: Agent) -> list[Violation]:
    scope = agent.connection.routes.scope
    return agent.thread.call(lambda: list(scope.state.violations)) if scope is not None else []
