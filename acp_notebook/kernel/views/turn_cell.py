"""A turn's place in the notebook: the live view while it runs, the record after its end.

The view stands in the prompting cell, and shows every open question of the session with its
buttons, whichever turn asked. At the end a static record without the widget MIME type replaces the
view, so that the saved notebook needs neither kernel nor widget.

Two threads meet in `conclude`. The record is read on the agent thread, but nbclient takes output
only from the thread that runs the cell. So a thread that waits for the turn makes the record and
concludes; if nobody waits, a thread of its own does. Both may arrive at once, so a lock picks one.
A record without a live view is left to the next wait. Afterwards the record is redrawn while
background work of the turn continues, until the next prompt. Knows no wire.
"""

from __future__ import annotations

import asyncio
import os
import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from acp_notebook.client.interrupted import WaitInterrupted
from acp_notebook.client.turn_record import recorder_of
from acp_notebook.kernel.views.actions import SessionActions
from acp_notebook.kernel.views.cell_view import CellView
from acp_notebook.kernel.views.question_card import QuestionPlace
from acp_notebook.session.changes import EntryChanged, SessionChange
from acp_notebook.session.selection import Selection

if TYPE_CHECKING:
    from acp_notebook.client.live.audience import Attendance
    from acp_notebook.client.live.question import Question
    from acp_notebook.client.turn import Turn
    from acp_notebook.render.document import TurnDocument

# Background work after the end may change in bursts, and a record is redrawn as a whole.
LATE_CHANGE_S = 0.5
# How long a cell waits for its record, which another thread makes.
RECORD_S = 30.0
_LATER = "Interrupted; the record of the turn comes later."


class TurnCell:
    """Shows one turn in one cell, and is an audience while it is live.

    Made and shown on the thread that runs the cell.
    """

    can_ask = True

    def __init__(self, turn: Turn) -> None:
        self._turn = turn
        self._live = turn.session.live
        self._thread = turn.session.agent.thread
        self._view = CellView(self._thread)
        self._selection = Selection.of_turn(self._live.state, turn.prompt_id)
        self._lock = threading.Lock()
        self._is_concluded = False
        self._is_recorded = False
        self._is_put = threading.Event()
        self._place = QuestionPlace(turn.session.agent)
        self._attendance: Attendance | None = None
        self._late_update: asyncio.TimerHandle | None = None
        self._subscription = self._thread.call(lambda: self._live.subscribe(self._note))

    def show_live(self) -> None:
        """Display the live view."""
        label = self._turn.session.agent.label
        document = self._thread.call(lambda: self._document(label))
        self._view.open(document, SessionActions(self._live), f"{label} is working …")
        self._thread.call(self._attend)

    def _document(self, label: str) -> TurnDocument:
        from acp_notebook.render.document import TurnDocument

        return TurnDocument(
            self._live.state,
            agent_name=label,
            timings=self._live.timings,
            began_s=time.monotonic() - self._turn.elapsed_s,
            owns=self._selection.owns,
            folder=notebook_folder(),
        )

    def _attend(self) -> None:
        # Including the changes since the document was made.
        self._view.changed([EntryChanged(key) for key in self._selection.entries()])
        self._attendance = self._live.respondents.attend(self)

    def ask(self, question: Question) -> None:
        """Show a child session's question in a card; the view shows its own session's."""
        if question.session is not self._live:
            self._place.ask(question)

    def _note(self, changes: list[SessionChange]) -> None:
        if self._is_concluded:
            self._note_late(changes)
            return
        self._view.changed(self._selection.select(changes))
        # A change may come before the prompt is registered.
        prompt = self._live.state.prompts.get(self._turn.prompt_id)
        if prompt is not None and prompt.is_ended:
            self._view.finish(prompt.stop_reason, prompt.failure, self._turn.elapsed_s)

    def _note_late(self, changes: list[SessionChange]) -> None:
        if next(reversed(self._live.state.prompts)) != self._turn.prompt_id:
            self._subscription.close()  # the next prompt has come: the record is final
            return
        # The record holds all changes before it was read.
        is_late = self._is_recorded and any(map(self._selection.is_own, changes))
        if is_late and self._view.is_shown and self._late_update is None:
            self._late_update = self._view.call_later(LATE_CHANGE_S, self._redraw)

    def _redraw(self) -> None:
        if not self._is_put.is_set():  # an older record is on its way
            self._late_update = self._view.call_later(LATE_CHANGE_S, self._redraw)
            return
        self._late_update = None
        self._put_soon()

    def _put_soon(self) -> None:
        self._is_put.clear()
        self._view.put_soon(self._record(), self._is_put.set)

    def prepare_wait(self) -> None:
        """Do nothing: the view is live."""

    def conclude(self, *, is_waited: bool) -> bool:
        """Replace the view by the record, once."""
        if not is_waited and not self._view.is_open:
            return False  # left to the next wait
        with self._lock:
            is_first, self._is_concluded = not self._is_concluded, True
        if not is_first:
            # The cell must not end before its record is in it.
            if is_waited and not self._thread.is_current:
                self._wait_for_record()
            return self._is_put.is_set()
        try:
            self._put_soon() if self._thread.is_current else self._put_now()
        finally:
            if self._attendance is not None:
                self._thread.call(self._attendance.close)
        return self._is_put.is_set()

    def _put_now(self) -> None:
        try:
            record = self._thread.call(self._record)()
        except KeyboardInterrupt:
            self._thread.post(self._put_soon)
            raise WaitInterrupted(_LATER) from None
        except BaseException:
            self._is_put.set()
            raise
        try:
            self._view.put(record)
        finally:
            self._is_put.set()

    def _wait_for_record(self) -> None:
        try:
            self._is_put.wait(RECORD_S)
        except KeyboardInterrupt:
            raise WaitInterrupted(_LATER) from None

    def _record(self) -> Callable[[], dict[str, str]]:
        self._is_recorded = self._is_concluded
        return recorder_of(self._turn)


def notebook_folder() -> str:
    """Return the folder of this kernel's notebook from the Jupyter server, or an empty string."""
    name = os.environ.get("JPY_SESSION_NAME", "")
    return os.path.dirname(name) if os.path.isabs(name) else ""  # noqa: PTH117, PTH120
