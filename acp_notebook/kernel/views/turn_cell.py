"""A turn's place in the notebook: the live view while it runs, the record when it is over.

The view is displayed in the cell that prompts. What it shows is read on the agent thread. The end
replaces the view by a static record without the widget MIME type, so that the saved notebook needs
neither kernel nor widget.
"""

from __future__ import annotations

import asyncio
import os
import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from acp_notebook.client.live import session_calls
from acp_notebook.errors import AcpNotebookError
from acp_notebook.kernel.views.cell_view import CellView
from acp_notebook.session.changes import SessionChange
from acp_notebook.session.elicitation import Action, ElicitationId
from acp_notebook.session.timings import Timings
from acp_notebook.session.updates import Notice, PermissionId, PromptId, ToolCallId

if TYPE_CHECKING:
    from acp_notebook.client.session import Session
    from acp_notebook.client.turn import Turn
    from acp_notebook.session.state import Usage

# Changes after the end (background work) may come in bursts; a record is redrawn whole.
LATE_CHANGE_S = 0.5


class TurnCell:
    """Shows one turn in one cell. Made and shown on the thread that runs the cell."""

    def __init__(self, turn: Turn) -> None:
        self.turn = turn
        self._thread = turn.session.agent.thread
        self._view = CellView(self._thread.loop, self._hear_page)
        self._lock = threading.Lock()
        self._is_concluded = False
        self._is_recorded = False
        self._pages: set[str] = set()
        self._late_update: asyncio.TimerHandle | None = None
        self._timings = Timings(time.monotonic() - turn.elapsed_s)
        self._usage: Usage | None = None

    @property
    def is_concluded(self) -> bool:
        """Whether the record stands in the cell."""
        return self._is_concluded

    def show_live(self) -> None:
        """Display the live view."""
        from acp_notebook.render.document import TurnDocument

        session, prompt_id = self.turn.session, self.turn.prompt_id
        state = session.live.state
        document = self._thread.call(
            lambda: TurnDocument(
                state,
                state.entries_of(prompt_id),
                agent_name=session.agent.label,
                timings=self._timings,
                folder=notebook_folder(),
            )
        )
        self._view.open(document, SessionActions(session), f"{session.agent.label} is working …")

    def _hear_page(self, content: Any) -> None:
        # May run on any thread.
        kind = content.get("t") if isinstance(content, dict) else None
        if kind == "sync":  # a page begins to show the view
            self._pages.add(str(content.get("page")))
            if self._is_concluded:
                self._thread.post(lambda: self._view.tell_page(self.record()))
        elif kind == "settled":
            self._thread.post(self._view.close)

    def note(self, changes: list[SessionChange]) -> None:
        """Something of this turn changed; on the agent thread."""
        state, now_s = self.turn.session.live.state, time.monotonic()
        self._timings.note(state, changes, now_s)
        # A change may come before the prompt is registered.
        prompt = state.prompts.get(self.turn.prompt_id)
        is_over = prompt is not None and prompt.is_ended
        if is_over:
            self._timings.close(now_s)
            self._usage = self._usage or state.usage
        if not self._is_concluded:
            self._view.changed(changes)
            if prompt is not None and is_over:
                self._view.finish(prompt.stop_reason, prompt.failure, self.turn.elapsed_s)
        # What changed before the record was read is in it.
        elif self._is_recorded and self._view.is_shown and self._late_update is None:
            self._late_update = self._view.call_later(LATE_CHANGE_S, self._redraw)

    def _redraw(self) -> None:
        self._late_update = None
        self._view.put(self.record())

    def conclude(self) -> None:
        """Put the record in the place of the view; once, on whatever thread saw the end.

        A page that shows the view says when the record stands there. One that is away, or being
        loaded anew, would find a view without a model: so the view stays until some page said so.
        """
        with self._lock:
            if self._is_concluded:
                return
            self._is_concluded = True
        try:
            record = self.record()
            self._view.put(record)
            if len(self._pages) > 1:
                self._view.tell_page(record)
        except BaseException:
            # A failure to draw must not leave a model behind.
            self.let_go()
            raise
        if not self._pages:
            self.let_go()

    @property
    def is_open(self) -> bool:
        """Whether the view's model waits for a page."""
        return self._view.is_open

    def let_go(self) -> None:
        """Close the view's model, whether or not a page has placed the record."""
        self._thread.call(self._view.close)

    def record(self) -> dict[str, str]:
        """The static bundle of the turn as it stands."""
        from acp_notebook.render.record import record_bundle

        turn = self.turn

        def read() -> dict[str, str]:
            self._is_recorded = self._is_concluded
            state = turn.session.live.state
            prompt = state.prompts[turn.prompt_id]
            return record_bundle(
                state,
                state.entries_of(turn.prompt_id),
                agent_name=turn.session.agent.label,
                stop_reason=prompt.stop_reason,
                failure=prompt.failure,
                elapsed_s=turn.elapsed_s,
                timings=self._timings,
                usage=self._usage,
            )

        return self._thread.call(read)


def notebook_folder() -> str:
    """Where the notebook of this kernel lies, as the Jupyter server told; empty if it did not."""
    name = os.environ.get("JPY_SESSION_NAME", "")
    return os.path.dirname(name) if os.path.isabs(name) else ""  # noqa: PTH117, PTH120


class SessionActions:
    """What a reader can do in a session's view. Called on any thread, so each is handed over."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._thread = session.agent.thread

    def answer(self, permission_id: PermissionId, option_id: str) -> None:
        """Choose an option of a permission request."""
        self._thread.post(lambda: self._session.live.answer(permission_id, option_id))

    def fill(self, elicitation_id: ElicitationId, given: dict[str, Any]) -> None:
        """Send what was filled into a form."""
        elicitations = self._session.live.elicitations
        self._thread.post(lambda: elicitations.fill(elicitation_id, given))

    def reply(self, elicitation_id: ElicitationId, action: Action) -> None:
        """Decline or cancel a form or a page; accept a page, which was opened."""
        elicitations = self._session.live.elicitations
        self._thread.post(lambda: elicitations.answer(elicitation_id, action))

    def stop(self) -> None:
        """Cancel; a second time, end the process."""
        self._thread.post(self._session.stop)

    def withdraw(self, prompt_id: PromptId) -> None:
        """Take back a queued prompt."""
        self._thread.post(lambda: self._session.live.withdraw(prompt_id))

    def cancel_tool_call(self, tool_call_id: ToolCallId) -> None:
        """Cancel one tool call and nothing else; a refusal is said in the session."""
        live = self._session.live

        async def cancel() -> None:
            try:
                await session_calls.cancel_tool_call(live.connection, live, tool_call_id)
            except AcpNotebookError as error:
                live.apply([Notice("warning", "The tool call was not cancelled", str(error))])

        self._thread.submit(cancel())

    def set_option(self, option_id: str, value: str, settled: Callable[[], object]) -> None:
        """Choose a mode, a model or the like; a refusal is said in the session."""
        live = self._session.live

        async def choose() -> None:
            try:
                for option in live.state.config_options:
                    if option.id == option_id:
                        await session_calls.set_option(live.connection, live, option, value)
            except AcpNotebookError as error:
                live.apply([Notice("warning", "The setting was not changed", str(error))])
            finally:
                settled()

        self._thread.submit(choose())
