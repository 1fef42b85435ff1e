"""A live view's place in a cell: displayed, changed, replaced by a static record.

A page reports when it has put the record in the view's place. A closed or reloading page would find
a view without a model, so the model is kept until some page has placed the record; the oldest of
several such models is closed. A model that is closed while a page still loads it is an error in the
page, so a view that no page has shown stays open for a while. The view sends in the cell's own
context, because a thread without one would send on behalf of the request handled last. Knows the
view, neither turns nor agents.
"""

from __future__ import annotations

import asyncio
import contextvars
import threading
from collections import deque
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from acp_notebook.kernel.waiting.comm_route import keep_front_end_route

if TYPE_CHECKING:
    from acp_notebook.client.agent_thread import AgentThread
    from acp_notebook.render.document import TurnDocument
    from acp_notebook.session.changes import SessionChange
    from acp_notebook.session.updates import Failure
    from acp_notebook.widgets.turn_view import TurnActions

MAX_UNPLACED = 8
LOADING_S = 10.0
# Views whose record no page has placed yet, on the agent thread.
_unplaced: deque[CellView] = deque()


class ModelLoading:
    """Whether a page has loaded a view's model, which may be closed only then. Made in the cell."""

    def __init__(self, thread: AgentThread, widget: Any) -> None:
        self._thread = thread
        self._widget = widget
        self._context = contextvars.copy_context()
        self._is_loaded = self._is_due = False
        widget.on_msg(self._on_message)

    def _on_message(self, _view: Any, content: Any, _buffers: Any) -> None:
        if isinstance(content, dict) and content.get("t") in {"loaded", "sync"}:
            self._thread.post(self._loaded)

    def _loaded(self) -> None:
        self._is_loaded = True
        if self._is_due:
            self._close()

    def close_soon(self) -> None:
        """Close the model once a page has loaded it, or none has for a while; on any thread."""
        self._thread.post(self._close_soon)

    def _close_soon(self) -> None:
        self._is_due = True
        if self._is_loaded:
            self._close()
        else:
            self._thread.loop.call_later(LOADING_S, self._close, context=self._context)

    def _close(self) -> None:
        self._context.copy().run(self._widget.close)


class CellView:
    """A view made on the thread that runs the cell; its document belongs to the agent thread."""

    def __init__(self, thread: AgentThread) -> None:
        self._thread = thread
        self._context = contextvars.copy_context()
        self._handle: Any = None
        self._presenter: Any = None
        self._widget: Any = None
        self._loading: ModelLoading | None = None
        self._record: dict[str, str] | None = None

    @property
    def is_open(self) -> bool:
        """Whether the live view can still change."""
        return self._presenter is not None

    @property
    def is_shown(self) -> bool:
        """Whether the cell shows the view or its record."""
        return self._handle is not None

    def open(self, document: TurnDocument, actions: TurnActions, text: str) -> None:
        """Display a document live; `text` is for front ends without widgets."""
        from IPython.display import display

        from acp_notebook.widgets.turn_view import TurnPresenter

        self._presenter = TurnPresenter(
            document, actions, post=self._post, call_later=self.call_later
        )
        view = self._widget = self._presenter.view
        keep_front_end_route(view.comm)
        view.on_msg(self._on_message)
        self._loading = ModelLoading(self._thread, view)
        bundle = view._repr_mimebundle_()
        data = bundle[0] if isinstance(bundle, tuple) else bundle
        data["text/plain"] = text
        self._handle = display(data, raw=True, display_id=True)

    def _on_message(self, _view: Any, content: Any, _buffers: Any) -> None:
        # On any thread, so the work is handed over.
        kind = content.get("t") if isinstance(content, dict) else None
        if kind == "sync":  # a page begins to show the view
            self._thread.post(self._send_record)
        elif kind == "settled":
            self._thread.post(self.close)

    def _post(self, work: Callable[[], object]) -> None:
        self._thread.loop.call_soon_threadsafe(work, context=self._context.copy())

    def call_later(self, delay_s: float, work: Callable[[], object]) -> asyncio.TimerHandle:
        """Call a function later on the agent thread, in the cell's context."""
        return self._thread.loop.call_later(delay_s, work, context=self._context.copy())

    def changed(self, changes: Iterable[SessionChange]) -> None:
        """Show changes; on the agent thread."""
        if self._presenter is not None:
            self._context.copy().run(self._presenter.changed, changes)

    def finish(
        self, stop_reason: str | None, failure: Failure | None, elapsed_s: float | None
    ) -> None:
        """Show the end; on the agent thread."""
        if self._presenter is not None:
            self._context.copy().run(self._presenter.finish, stop_reason, failure, elapsed_s)

    def put(self, record: dict[str, str]) -> None:
        """Replace the live view by a record, or display the record; on failure close the model."""
        from IPython.display import display

        try:
            if self._handle is not None:
                self._handle.update(record, raw=True)
            else:
                self._handle = display(record, raw=True, display_id=True)
        except BaseException:
            self._thread.call(self.close)
            raise
        self._thread.call(lambda: self._recorded(record))

    def put_soon(self, make: Callable[[], dict[str, str]], done: Callable[[], object]) -> None:
        """Make a record on a thread of its own, because that may take long, and put it.

        On the agent thread, which calls `done` afterwards.
        """

        def work() -> None:
            try:
                self.put(make())
            finally:
                self._thread.post(done)

        context = self._context.copy()
        threading.Thread(target=context.run, args=(work,), name="acp-record", daemon=True).start()

    def _recorded(self, record: dict[str, str]) -> None:
        if self._presenter is None:
            return
        is_first, self._record = self._record is None, record
        if not self._presenter.page_count:
            self._presenter.detach()
            self._presenter = None
            assert self._loading is not None
            self._loading.close_soon()
        elif is_first:
            if self._presenter.page_count > 1:
                self._send_record()
            _unplaced.append(self)
            if len(_unplaced) > MAX_UNPLACED:
                _unplaced[0].close()

    def _send_record(self) -> None:
        # By the view's own channel: a reloaded page cannot match an update of the output, but knows
        # the view's model, and shows the view's own end until it has placed the record.
        if self._widget is not None and self._record is not None:
            message = {"model": self._widget.model_id, "record": self._record}
            self._context.copy().run(self._widget.send, message)

    def close(self) -> None:
        """Close the live view's model; on the agent thread."""
        if self in _unplaced:
            _unplaced.remove(self)
        widget, self._widget = self._widget, None
        if self._presenter is not None:
            self._presenter.close()
            self._presenter = None
        elif widget is not None:
            self._context.copy().run(widget.close)
