"""An agent's own work after a turn, in the cell that waits for it. Knows no wire.

The record in the turn's own cell grows with such work, but a record has no buttons: all open
questions, earlier ones too, can be answered here.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from acp_notebook.kernel.front_end import present_front_end
from acp_notebook.kernel.views.actions import SessionActions
from acp_notebook.kernel.views.cell_view import CellView
from acp_notebook.kernel.views.history_cell import HistoryCell
from acp_notebook.kernel.views.question_card import QuestionPlace
from acp_notebook.kernel.views.turn_cell import notebook_folder
from acp_notebook.session.changes import EntryChanged, SessionChange
from acp_notebook.session.selection import Selection

if TYPE_CHECKING:
    from acp_notebook.client.live.audience import Attendance
    from acp_notebook.client.live.live_session import Subscription
    from acp_notebook.client.live.question import Question
    from acp_notebook.client.session import Session
    from acp_notebook.render.document import TurnDocument
    from acp_notebook.session.state import EntryKey, SessionState


class SessionCell:
    """Shows the entries since the end of the last turn. Made on the thread that runs the cell."""

    can_ask = True

    def __init__(self, session: Session) -> None:
        self._session = session
        self._live = session.live
        self._thread = session.agent.thread
        self._view = CellView(self._thread)
        self._earlier: set[EntryKey] = set()
        self._selection = Selection(self._live.state, lambda key: key not in self._earlier)
        self._place = QuestionPlace(session.agent)
        self._attendance: Attendance | None = None
        self._subscription: Subscription | None = None

    def begin(self, *, is_live: bool) -> None:
        """Follow the session, with a live view if `is_live`."""
        document = self._thread.call(self._document)
        if is_live:
            label = self._session.agent.label
            self._view.open(document, SessionActions(self._live), f"{label} is working …")
            self._thread.call(self._attend)

    def _document(self) -> TurnDocument:
        from acp_notebook.render.document import TurnDocument

        state = self._live.state
        recent = state.entries_since_last_end()
        self._earlier = set(state.timeline) - {*recent, *state.asked}
        return TurnDocument(
            state,
            agent_name=self._session.agent.label,
            timings=self._live.timings,
            began_s=time.monotonic(),
            folder=notebook_folder(),
        )

    def _attend(self) -> None:
        self._view.changed([EntryChanged(key) for key in self._selection.entries()])
        self._subscription = self._live.subscribe(self._note)
        self._attendance = self._live.respondents.attend(self)

    def ask(self, question: Question) -> None:
        """Show a child session's question in a card; the view shows its own session's."""
        if question.session is not self._live:
            self._place.ask(question)

    def _note(self, changes: list[SessionChange]) -> None:
        self._view.changed(self._selection.select(changes))

    def conclude(self) -> None:
        """Replace the view by a record, which grows with later work."""
        HistoryCell(self._session, self._view, self._shown).show()
        self._thread.call(self._leave)

    def _leave(self) -> None:
        if self._subscription is not None and self._attendance is not None:
            self._subscription.close()
            self._attendance.close()

    def _shown(self, state: SessionState) -> list[EntryKey]:
        return [key for key in state.timeline if key not in self._earlier]


@contextmanager
def session_shown(session: Session) -> Iterator[None]:
    """Show the agent's work in the present cell during a wait."""
    cell = SessionCell(session)
    cell.begin(is_live=present_front_end() == "notebook")
    try:
        yield
    finally:
        cell.conclude()
