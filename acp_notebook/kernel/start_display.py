"""What the cell shows while an agent takes long to start: elapsed time, stderr, a Stop button.

A first start may download packages for minutes; it is never given up by itself. Knows the agent as
something that has a stderr.
"""

from __future__ import annotations

import concurrent.futures
import contextvars
import time
from html import escape
from typing import TYPE_CHECKING, Any

from acp_notebook.kernel.comm_route import keep_front_end_route
from acp_notebook.kernel.front_end import present_front_end

if TYPE_CHECKING:
    from acp_notebook.client.agent import Agent

REFRESH_S = 1.0
SHOWN_LINES = 6


class StartDisplay:
    """Made on the waiting thread; redraws itself from the agent thread until it is closed.

    `waited_s` is how long the start took before it was worth a display.
    """

    def __init__(
        self, agent: Agent, start: concurrent.futures.Future[None], *, waited_s: float
    ) -> None:
        from IPython.display import display

        self._agent = agent
        self._start = start
        self._started = time.monotonic() - waited_s
        self._context = contextvars.copy_context()
        self._is_closed = False
        self._button: Any = None
        self._handle = display(self._bundle(), raw=True, display_id=True)
        if present_front_end() == "notebook":
            self._button = self._stop_button()
            self._button_handle = display(self._button, display_id=True)
        self._schedule()

    def _stop_button(self) -> Any:
        import ipywidgets

        button = ipywidgets.Button(description="Stop", tooltip="Give up this start")
        keep_front_end_route(button.comm)
        # May run on any thread: it only hands over.
        button.on_click(lambda _: self._start.cancel())
        return button

    def _schedule(self) -> None:
        loop = self._agent.thread.loop
        loop.call_soon_threadsafe(
            lambda: loop.call_later(REFRESH_S, self._redraw, context=self._context.copy())
        )

    def _redraw(self) -> None:
        if not self._is_closed:
            self._handle.update(self._bundle(), raw=True)
            self._schedule()

    @property
    def _elapsed_s(self) -> int:
        return round(time.monotonic() - self._started)

    def _bundle(self) -> dict[str, str]:
        from markupsafe import Markup

        tail = "\n".join(self._agent.stderr.strip().splitlines()[-SHOWN_LINES:])
        line = f"Starting {self._agent.label} … {self._elapsed_s} s"
        html = Markup(
            '<div style="font-family:var(--jp-ui-font-family,sans-serif);'
            'font-variant-numeric:tabular-nums">{}</div>'
        ).format(line)
        if tail:
            html += Markup(
                '<pre style="margin:4px 0;opacity:.7;white-space:pre-wrap;font-size:.9em">{}</pre>'
            ).format(tail)
        return {"text/html": str(html), "text/plain": f"{line}\n{tail}".rstrip()}

    def close(self) -> None:
        """Take the display back; on the waiting thread, so that every front end sees it."""
        self._is_closed = True
        line = f"Starting {self._agent.label} took {self._elapsed_s} s."
        html = f'<small style="opacity:.6">{escape(line)}</small>'
        self._handle.update({"text/html": html, "text/plain": line}, raw=True)
        if self._button is not None:
            self._button_handle.update({"text/html": "", "text/plain": ""}, raw=True)
            self._button.close()
