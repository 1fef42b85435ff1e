"""The conversation of a session that was taken up again, as a record.

Some agents replay after they have answered, so the record is drawn anew while more of it comes.
"""

from __future__ import annotations

import asyncio
import contextvars
from typing import TYPE_CHECKING, Any

from IPython.display import display

from acp_notebook.kernel.turn_cell import LATE_CHANGE_S
from acp_notebook.session.changes import EntryChanged, SessionChange

if TYPE_CHECKING:
    from acp_notebook.client.session import Session


def show_history(session: Session) -> None:
    """Show what the agent told of a session that was taken up."""
    HistoryCell(session).show()


class HistoryCell:
    """Shows the entries that belong to no turn of ours; made on the thread that runs the cell."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._thread = session.agent.thread
        self._context = contextvars.copy_context()
        self._late_update: asyncio.TimerHandle | None = None
        self._handle: Any = None

    def show(self) -> None:
        """Display the record, and keep it current until the first prompt."""
        self._handle = display(self._bundle(), raw=True, display_id=True)
        self._thread.call(lambda: self._session.live.listeners.append(self._note))

    def _note(self, changes: list[SessionChange]) -> None:
        state = self._session.live.state
        if state.prompts:
            self._session.live.listeners.remove(self._note)
        elif self._late_update is None and any(
            isinstance(change, EntryChanged) for change in changes
        ):
            self._late_update = self._thread.loop.call_later(
                LATE_CHANGE_S, self._redraw, context=self._context.copy()
            )

    def _redraw(self) -> None:
        self._late_update = None
        self._handle.update(self._bundle(), raw=True)

    def _bundle(self) -> dict[str, str]:
        from acp_notebook.render.record import record_bundle

        session = self._session

        def read() -> dict[str, str]:
            state = session.live.state
            keys = [key for key in state.timeline if state.owners[key] is None]
            return record_bundle(
                state,
                keys,
                agent_name=session.agent.label,
                stop_reason=state.stop_reason,
                ending=False,
            )

        return self._thread.call(read)
