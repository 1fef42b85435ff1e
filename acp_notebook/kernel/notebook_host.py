"""The notebook as the client's surroundings: waits with live buttons, shows turns in cells.

Puts pump, client and widgets together. Knows no wire.
"""

from __future__ import annotations

import concurrent.futures
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from acp_notebook.client.agent_thread import shared_thread
from acp_notebook.client.host import call_sync_or_async, current_host
from acp_notebook.kernel.front_end import present_front_end, present_kernel
from acp_notebook.kernel.pump import Pump, Signal, run_on_main
from acp_notebook.kernel.start_display import StartDisplay
from acp_notebook.kernel.turn_cell import TurnCell
from acp_notebook.session.changes import (
    EntryChanged,
    EntryRemoved,
    PromptChanged,
    SessionChange,
    TerminalChanged,
)
from acp_notebook.session.state import EntryKey, SessionState
from acp_notebook.session.updates import PromptId

if TYPE_CHECKING:
    from acp_notebook.client.agent import Agent
    from acp_notebook.client.session import Session
    from acp_notebook.client.turn import Turn

# A start that takes longer is worth a display with its elapsed time.
QUICK_START_S = 1.0


class NotebookHost:
    """Surrounds the client in an IPython kernel (and, without clicks, in a terminal)."""

    def __init__(self) -> None:
        self.can_ask = present_front_end() == "notebook"
        self.is_quiet = False
        self._cells: dict[PromptId, list[TurnCell]] = {}
        self._watched: set[int] = set()

    def wait(self, future: concurrent.futures.Future[Any], timeout_s: float | None) -> bool:
        """Wait while the page stays alive; an interrupt passes through."""
        signal = Signal()
        future.add_done_callback(lambda _: signal.set())
        with Pump(present_kernel()) as pump:
            return pump.wait(signal, timeout_s)

    def wait_start(self, agent: Agent, start: concurrent.futures.Future[None]) -> None:
        """Wait for a start; one that takes long shows elapsed time, stderr and a Stop button."""
        if self.wait(start, QUICK_START_S):
            return
        display = StartDisplay(agent, start)
        try:
            self.wait(start, None)
        finally:
            display.close()

    def show_turn(self, turn: Turn) -> None:
        """Make a place for a turn in the cell that prompts."""
        front_end = present_front_end()
        self.can_ask = front_end == "notebook"
        self._watch(turn.session)
        if not self.is_quiet:
            self._add_cell(turn, is_live=front_end == "notebook")
        turn.done.add_done_callback(lambda _: self._ended(turn))

    def show_here(self, turn: Turn) -> None:
        """Show a turn (also) in the present cell."""
        self._add_cell(turn, is_live=present_front_end() == "notebook" and not turn.is_done)

    def _add_cell(self, turn: Turn, *, is_live: bool) -> None:
        cell = TurnCell(turn)
        if is_live:
            cell.show_live()
        shared_thread().call(lambda: self._keep(turn, cell))

    def _keep(self, turn: Turn, cell: TurnCell) -> None:
        # Background work may still change the last turn's record; older ones stand as they are.
        for prompt_id, cells in list(self._cells.items()):
            if prompt_id != turn.prompt_id and all(
                old.is_concluded and old.turn.session is turn.session for old in cells
            ):
                del self._cells[prompt_id]
        self._cells.setdefault(turn.prompt_id, []).append(cell)

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

    def run_user_function(
        self, function: Callable[..., Any], *args: Any
    ) -> concurrent.futures.Future[Any]:
        """Run a user's function on the main thread, where its variables and its output belong."""
        return run_on_main(lambda: _call_on_kernel_loop(function, *args))

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


def _call_on_kernel_loop(function: Callable[..., Any], *args: Any) -> Any:
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


def show_here(turn: Turn) -> None:
    """Show a turn (also) in the present cell."""
    host = _present_host()
    if host is not None:
        host.show_here(turn)
