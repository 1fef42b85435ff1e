"""What an agent does by itself after a turn has ended, shown in the cell that waits for it.

The turn's own cell keeps a record that grows with such work, but a record has no buttons: what the
agent asks can be answered here. Knows no wire.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from acp_notebook.kernel.views.cell_view import CellView
from acp_notebook.kernel.views.history_cell import HistoryCell
from acp_notebook.kernel.views.turn_cell import SessionActions, notebook_folder
from acp_notebook.session.changes import EntryChanged, SessionChange
from acp_notebook.session.timings import Timings

if TYPE_CHECKING:
    from acp_notebook.client.session import Session
    from acp_notebook.render.document import TurnDocument
    from acp_notebook.session.state import EntryKey, SessionState


class SessionCell:
    """Shows the entries since the last turn's end, live. Made on the thread that runs the cell."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._state = session.live.state
        self._thread = session.agent.thread
        self._view = CellView(self._thread.loop)
        self._timings = Timings(time.monotonic())
        self._earlier: set[EntryKey] = set()

    def begin(self, *, is_live: bool) -> None:
        """Follow the session, with a live view if there is somebody to see it."""
        document = self._thread.call(self._follow)
        if is_live:
            label = self._session.agent.label
            self._view.open(document, SessionActions(self._session), f"{label} is working …")

    def _follow(self) -> TurnDocument:
        from acp_notebook.render.document import TurnDocument

        keys = self._state.entries_since_last_end()
        self._earlier = set(self._state.timeline) - set(keys)
        self._session.live.listeners.append(self._note)
        return TurnDocument(
            self._state,
            keys,
            agent_name=self._session.agent.label,
            timings=self._timings,
            folder=notebook_folder(),
        )

    def _note(self, changes: list[SessionChange]) -> None:
        self._timings.note(self._state, changes, time.monotonic())
        self._view.changed(
            change
            for change in changes
            if not (isinstance(change, EntryChanged) and change.key in self._earlier)
        )

    def conclude(self) -> None:
        """Put the record in the place of the view; it grows with what comes later."""
        self._thread.call(self._part)
        try:
            HistoryCell(self._session, self._view, self._shown, self._timings).show()
        finally:
            self._thread.call(self._view.close)

    def _part(self) -> None:
        self._session.live.listeners.remove(self._note)
        self._timings.close(time.monotonic())

    def _shown(self, state: SessionState) -> list[EntryKey]:
        return [key for key in state.timeline if key not in self._earlier]


@contextmanager
def session_shown(session: Session, *, is_live: bool) -> Iterator[None]:
    """Show here what the agent does while something waits for it."""
    cell = SessionCell(session)
    cell.begin(is_live=is_live)
    try:
        yield
    finally:
        cell.conclude()
