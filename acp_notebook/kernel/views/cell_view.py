"""A live view's place in a cell: displayed there, told of changes, replaced by a static bundle.

What it sends goes out in the cell's own context, because a thread without one would send in the
name of the request that was handled last. Knows the view; knows neither turns nor agents.
"""

from __future__ import annotations

import asyncio
import contextvars
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from acp_notebook.kernel.waiting.comm_route import keep_front_end_route

if TYPE_CHECKING:
    from acp_notebook.render.document import TurnDocument
    from acp_notebook.session.changes import SessionChange
    from acp_notebook.session.updates import Failure
    from acp_notebook.widgets.turn_view import TurnActions


class CellView:
    """Made on the thread that runs the cell.

    Args:
        loop: The loop of the thread that owns what is shown.
        hear: Gets what pages say of themselves, on any thread.
    """

    def __init__(
        self, loop: asyncio.AbstractEventLoop, hear: Callable[[Any], object] | None = None
    ) -> None:
        self._loop = loop
        self._hear = hear
        self._context = contextvars.copy_context()
        self._handle: Any = None
        self._presenter: Any = None

    @property
    def is_open(self) -> bool:
        """Whether the live view can still change."""
        return self._presenter is not None

    @property
    def is_shown(self) -> bool:
        """Whether the cell has an output of this place."""
        return self._handle is not None

    def open(self, document: TurnDocument, actions: TurnActions, text: str) -> None:
        """Display a document live; `text` is for front ends without widgets."""
        from IPython.display import display

        from acp_notebook.widgets.turn_view import TurnPresenter

        self._presenter = TurnPresenter(
            document, actions, post=self._post, call_later=self.call_later
        )
        view = self._presenter.view
        keep_front_end_route(view.comm)
        if self._hear is not None:
            view.on_msg(self._hear_page)
        bundle = view._repr_mimebundle_()
        data = bundle[0] if isinstance(bundle, tuple) else bundle
        data["text/plain"] = text
        self._handle = display(data, raw=True, display_id=True)

    def _hear_page(self, _view: Any, content: Any, _buffers: Any) -> None:
        if self._hear is not None:
            self._hear(content)

    def _post(self, work: Callable[[], object]) -> None:
        self._loop.call_soon_threadsafe(work, context=self._context.copy())

    def call_later(self, delay_s: float, work: Callable[[], object]) -> asyncio.TimerHandle:
        """Call on the loop's thread, in the cell's context."""
        return self._loop.call_later(delay_s, work, context=self._context.copy())

    def changed(self, changes: Iterable[SessionChange]) -> None:
        """Show what changed; on the loop's thread."""
        if self._presenter is not None:
            self._context.copy().run(self._presenter.changed, changes)

    def finish(
        self, stop_reason: str | None, failure: Failure | None, elapsed_s: float | None
    ) -> None:
        """Show the end; on the loop's thread."""
        if self._presenter is not None:
            self._context.copy().run(self._presenter.finish, stop_reason, failure, elapsed_s)

    def put(self, bundle: dict[str, str]) -> None:
        """Put a static bundle into the place, whether or not something is displayed there yet."""
        from IPython.display import display

        if self._handle is not None:
            self._handle.update(bundle, raw=True)
        else:
            self._handle = display(bundle, raw=True, display_id=True)

    def tell_page(self, bundle: dict[str, str]) -> None:
        """Tell the pages of the bundle by the view's own channel.

        A page that was loaded anew does not know which output an update means. It is told by the
        view, whose model it knows, and shows the view's own end until it has placed the bundle.
        """
        if self._presenter is not None:
            view = self._presenter.view
            self._context.copy().run(view.send, {"model": view.model_id, "record": bundle})

    def close(self) -> None:
        """Let go of the live view; on the loop's thread."""
        if self._presenter is not None:
            self._presenter.close()
            self._presenter = None
