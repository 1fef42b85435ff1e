"""Entries of a session outside its turns, as a record that is redrawn as they grow.

These are a replay of an earlier conversation, or an agent's own work. Some agents replay after
their answer, so more may come. Knows no wire.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from acp_notebook.kernel.views.cell_view import CellView
from acp_notebook.kernel.views.turn_cell import LATE_CHANGE_S
from acp_notebook.session.changes import EntryChanged, SessionChange
from acp_notebook.session.excerpt import excerpt_of

if TYPE_CHECKING:
    from acp_notebook.client.session import Session
    from acp_notebook.session.state import EntryKey, SessionState


def show_history(session: Session) -> None:
    """Show the replay of a resumed session."""
    HistoryCell(session, CellView(session.agent.thread), _unowned).show()


def _unowned(state: SessionState) -> list[EntryKey]:
    return [key for key in state.timeline if state.owners[key] is None]


class HistoryCell:
    """Shows the entries that `choose` returns. Made on the thread that runs the cell."""

    def __init__(
        self, session: Session, view: CellView, choose: Callable[[SessionState], list[EntryKey]]
    ) -> None:
        self._session = session
        self._state = session.live.state
        self._thread = session.agent.thread
        self._view = view
        self._choose = choose
        self._prompts = 0
        self._is_putting = False
        self._late_update: asyncio.TimerHandle | None = None

    def show(self) -> None:
        """Display the record, and keep it current until the next prompt."""
        self._view.put(self._thread.call(self._follow)())

    def _follow(self) -> Callable[[], dict[str, str]]:
        # Subscribe and read in one step: a change between the two would be lost.
        self._prompts = len(self._state.prompts)
        self._subscription = self._session.live.subscribe(self._note)
        return self._recorder()

    def _note(self, changes: list[SessionChange]) -> None:
        if len(self._state.prompts) != self._prompts:
            self._subscription.close()
        elif self._late_update is None and any(
            isinstance(change, EntryChanged) for change in changes
        ):
            self._late_update = self._view.call_later(LATE_CHANGE_S, self._redraw)

    def _redraw(self) -> None:
        # The first record, or a later one, may still be on its way.
        if not self._view.is_shown or self._is_putting:
            self._late_update = self._view.call_later(LATE_CHANGE_S, self._redraw)
            return
        self._late_update = None
        self._is_putting = True
        self._view.put_soon(self._recorder(), self._put)

    def _put(self) -> None:
        self._is_putting = False

    def _recorder(self) -> Callable[[], dict[str, str]]:
        from acp_notebook.render.record import record_bundle

        keys = self._choose(self._state)
        return partial(
            record_bundle,
            excerpt_of(self._state, keys),
            keys,
            agent_name=self._session.agent.label,
            stop_reason=None,  # no turn ended here
            ending=False,
            timings=self._session.live.timings.excerpt(keys),
        )
