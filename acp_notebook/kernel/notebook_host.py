"""The notebook as the client's surroundings: waits with live buttons, shows turns in cells.

Puts pump, client and widgets together. Knows no wire.
"""

from __future__ import annotations

import concurrent.futures
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import TYPE_CHECKING, Any

from acp_notebook.client.agent_thread import shared_thread
from acp_notebook.client.host import call_sync_or_async, current_host
from acp_notebook.kernel.front_end import FrontEnd, present_front_end, present_kernel
from acp_notebook.kernel.views.console_cell import ConsoleCell, choose_at_console
from acp_notebook.kernel.views.console_form import ask_at_console
from acp_notebook.kernel.views.lobby_cell import lobby_shown
from acp_notebook.kernel.views.session_cell import session_shown
from acp_notebook.kernel.views.start_display import StartDisplay
from acp_notebook.kernel.views.terminal_cell import TerminalCell, attend_at_console
from acp_notebook.kernel.views.turn_cell import TurnCell
from acp_notebook.kernel.waiting.pump import PollableEvent, Pump, run_on_main
from acp_notebook.kernel.waiting.shell_channel import find_shell_channel
from acp_notebook.session.changes import (
    EntryChanged,
    EntryRemoved,
    PromptChanged,
    SessionChange,
    TerminalChanged,
)
from acp_notebook.session.state import EntryKey, SessionState
from acp_notebook.session.updates import PermissionId, PromptId

if TYPE_CHECKING:
    from acp_notebook.client.agent import Agent
    from acp_notebook.client.host import ConsoleAnswer, McpServer
    from acp_notebook.client.live.live_session import LiveSession
    from acp_notebook.client.process.pseudo_terminal import PseudoTerminal
    from acp_notebook.client.session import Session
    from acp_notebook.client.turn import Turn
    from acp_notebook.kernel.tools.kernel_tools import KernelTools
    from acp_notebook.session.elicitation import ElicitationRequested

# A start that takes longer is worth a display with its elapsed time.
QUICK_START_S = 1.0
MAX_UNPLACED = 8


class NotebookHost:
    """Surrounds the client in an IPython kernel (and, without clicks, in a terminal)."""

    def __init__(self) -> None:
        self.can_ask = False
        self.is_quiet = False
        self._has_console = False
        # records that no page has said to have placed
        self._unplaced: list[TurnCell] = []
        self._cells: dict[PromptId, list[TurnCell | ConsoleCell]] = {}
        self._watched: set[int] = set()
        self._tools: KernelTools | None = None

    def wait(self, future: concurrent.futures.Future[Any], timeout_s: float | None) -> bool:
        """Wait while the page stays alive; an interrupt passes through."""
        signal = PollableEvent()
        future.add_done_callback(lambda _: signal.set())
        self._print_consoles()
        with Pump(present_kernel()) as pump:
            return pump.wait(signal, timeout_s)

    @contextmanager
    def attended(self) -> Iterator[None]:
        """Let the page's messages through while the cell awaits; such waits may overlap."""
        kernel = present_kernel()
        is_main = threading.current_thread() is threading.main_thread()
        channel = find_shell_channel(kernel)[0] if kernel is not None and is_main else None
        if channel is None:
            yield
            return
        with channel.attended():
            yield

    def wait_start(self, agent: Agent, start: concurrent.futures.Future[None]) -> None:
        """Wait for a start; one that takes long shows elapsed time, stderr and a Stop button."""
        if self.wait(start, QUICK_START_S):
            return
        display = StartDisplay(agent, start, waited_s=QUICK_START_S)
        try:
            self.wait(start, None)
        finally:
            display.close()

    def wait_for_agent(self, work: concurrent.futures.Future[Any]) -> None:
        """Wait for what is no turn; an interrupt gives it up."""
        try:
            self.wait(work, None)
        except KeyboardInterrupt:
            work.cancel()
            raise

    def look_around(self) -> FrontEnd:
        """Note who reads the present cell; on the thread that runs it.

        A turn that is not shown has no place for a question.
        """
        front_end = present_front_end()
        self.can_ask = front_end == "notebook" and not self.is_quiet
        self._has_console = front_end in {"console", "terminal"} and not self.is_quiet
        return front_end

    def lobby(self, agent: Agent) -> AbstractContextManager[None]:
        """Show what the agent asks outside of turns, where somebody can click."""
        self.look_around()
        return lobby_shown(agent) if self.can_ask else nullcontext()

    @property
    def can_type(self) -> bool:
        """Whether somebody reads the present cell's output and types."""
        return present_front_end() != "headless"

    def attend(self, terminal: PseudoTerminal, title: str) -> None:
        """Show a program and let the user type into it, until it ends."""
        if present_front_end() in {"console", "terminal"}:
            attend_at_console(terminal, self.wait)
            return
        cell = TerminalCell(terminal, title)
        try:
            self.wait(terminal.ended, None)
        finally:
            cell.close()

    def ask_at_console(
        self, request: ElicitationRequested, agent_name: str
    ) -> concurrent.futures.Future[ConsoleAnswer] | None:
        """Ask for a form or a page by questions, where there is a console."""
        if not self._has_console:
            return None
        return run_on_main(lambda: ask_at_console(request, agent_name))

    def choose_at_console(
        self, live: LiveSession, permission_id: PermissionId
    ) -> concurrent.futures.Future[str | None] | None:
        """Ask for a permission by a question, where there is a console."""
        if not self._has_console:
            return None
        from acp_notebook.render.text.console import question_text

        permission = live.state.permissions[permission_id]
        text = question_text(live.state, permission, live.connection.launch.name)
        options = permission.request.options

        def ask() -> str | None:
            self._print_consoles()
            return choose_at_console(text, options, lambda: live.is_asking(permission_id))

        return run_on_main(ask)

    def show_turn(self, turn: Turn) -> None:
        """Make a place for a turn in the cell that prompts."""
        self.look_around()
        self._watch(turn.session)
        if not self.is_quiet:
            self._add_cell(turn)
        turn.done.add_done_callback(lambda _: self._ended(turn))

    def shows(self, turn: Turn) -> bool:
        """Whether some cell shows this turn."""
        return turn.prompt_id in self._cells

    def show_here(self, turn: Turn) -> None:
        """Show a turn (also) in the present cell."""
        self._add_cell(turn)

    def _add_cell(self, turn: Turn) -> None:
        front_end = present_front_end()
        is_text = front_end in {"console", "terminal"}
        cell = ConsoleCell(turn) if is_text else TurnCell(turn)
        if is_text or (front_end == "notebook" and not turn.is_done):
            cell.show_live()
        shared_thread().call(lambda: self._keep(turn, cell))

    def _keep(self, turn: Turn, cell: TurnCell | ConsoleCell) -> None:
        # Background work may still change the last turn's record; older ones stand as they are.
        for prompt_id, cells in list(self._cells.items()):
            if prompt_id != turn.prompt_id and all(
                old.is_concluded and old.turn.session is turn.session for old in cells
            ):
                del self._cells[prompt_id]
        self._cells.setdefault(turn.prompt_id, []).append(cell)

    def _print_consoles(self) -> None:
        """What came before this thread could print it."""
        for cells in list(self._cells.values()):
            for cell in cells:
                if isinstance(cell, ConsoleCell) and not cell.is_concluded:
                    cell.print()

    def turn_over(self, turn: Turn) -> None:
        """The waiting cell itself puts the record in: nbclient takes output from no other."""
        if turn.is_done:
            self._conclude(turn)

    def _ended(self, turn: Turn) -> None:
        # On the agent thread. With a cell that waits, that cell concludes.
        if turn.waiters == 0 and self.can_ask:
            self._conclude(turn)

    def _conclude(self, turn: Turn) -> None:
        for cell in list(self._cells.get(turn.prompt_id, ())):
            cell.conclude()
            if isinstance(cell, TurnCell) and cell not in self._unplaced:
                self._unplaced.append(cell)
        self._unplaced = [cell for cell in self._unplaced if cell.is_open]
        while len(self._unplaced) > MAX_UNPLACED:
            self._unplaced.pop(0).let_go()

    def run_user_function(
        self, function: Callable[..., Any], *args: Any
    ) -> concurrent.futures.Future[Any]:
        """Run a user's function on the main thread, where its variables and its output belong."""
        return run_on_main(lambda: call_on_kernel_loop(function, *args))

    # what agents may reach

    @property
    def tools(self) -> KernelTools | None:
        """The tools of this kernel; None where there is no IPython."""
        from IPython.core.getipython import get_ipython

        from acp_notebook.kernel.tools.kernel_tools import KernelTools

        shell = get_ipython()
        if self._tools is None and shell is not None:
            self._tools = KernelTools(shell)
        return self._tools

    def mcp_servers(self, agent: Agent, live: LiveSession) -> Sequence[McpServer]:
        """The tools of this kernel, in a server of its own."""
        tools = self.tools
        return tools.servers_for(agent, live) if tools is not None else ()

    async def agent_gone(self, agent: Agent) -> None:
        """Its way into the kernel is closed."""
        if self._tools is not None:
            await self._tools.release(agent)

    # who is told of what

    def _watch(self, session: Session) -> None:
        if id(session) not in self._watched:
            self._watched.add(id(session))
            state = session.live.state
            session.live.listeners.append(lambda changes: self._route(state, changes))

    def _route(self, state: SessionState, changes: list[SessionChange]) -> None:
        shares: dict[PromptId, list[SessionChange]] = {}
        for change in changes:
            for prompt_id in self._concerned(state, change):
                shares.setdefault(prompt_id, []).append(change)
        for prompt_id, share in shares.items():
            for cell in list(self._cells.get(prompt_id, ())):
                cell.note(share)

    def _concerned(self, state: SessionState, change: SessionChange) -> set[PromptId]:
        match change:
            case EntryChanged(key=key) | EntryRemoved(key=key):
                found = {state.owners.get(key)}
            case TerminalChanged(terminal_id=terminal_id):
                owners = state.terminal_owners.get(terminal_id, [])
                keys = [EntryKey("tool_call", owner) for owner in owners]
                keys.append(EntryKey("terminal", terminal_id))
                found = {state.owners.get(key) for key in keys}
            case PromptChanged(prompt_id=prompt_id):
                found = {prompt_id}
            case _:
                found = set(state.pending)
        return {prompt_id for prompt_id in found if prompt_id is not None}


def call_on_kernel_loop(function: Callable[..., Any], *args: Any) -> Any:
    """Call it; an awaitable is awaited on the kernel's own loop, which is already running.

    That needs nest-asyncio2 (the kept fork, which ipykernel 7 itself depends on). It is applied
    here, at the first async function, and not before: it patches asyncio for the whole process.
    """
    import asyncio
    import inspect

    result = function(*args)
    if not inspect.isawaitable(result):
        return result
    try:
        loop = asyncio.get_running_loop()
    except RuntimeError:
        return call_sync_or_async(lambda: result)
    import nest_asyncio2

    nest_asyncio2.apply(loop)
    return loop.run_until_complete(_await(result))


async def _await(awaitable: Any) -> Any:
    return await awaitable


def _present_host() -> NotebookHost | None:
    host = current_host()
    return host if isinstance(host, NotebookHost) else None


@contextmanager
def quiet(*, is_quiet: bool) -> Iterator[None]:
    """Show nothing of the turns that are prompted inside."""
    host = _present_host()
    if host is None or not is_quiet:
        yield
        return
    host.is_quiet = True
    try:
        yield
    finally:
        host.is_quiet = False


def forget_grants(agent: Agent) -> None:
    """Ask again for the kernel's tools that were allowed for the agent's sessions."""
    host = _present_host()
    if host is not None and host.tools is not None:
        host.tools.forget_grants(agent)


@contextmanager
def session_shown_here(session: Session) -> Iterator[None]:
    """Show in the present cell what the agent does by itself, while something waits for it."""
    host = _present_host()
    if host is None:
        yield
        return
    is_live = host.look_around() == "notebook"
    with session_shown(session, is_live=is_live):
        yield


def show_here(turn: Turn) -> None:
    """Show a turn (also) in the present cell."""
    host = _present_host()
    if host is not None:
        host.show_here(turn)
