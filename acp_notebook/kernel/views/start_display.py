"""The display of a slow start of an agent: elapsed time, stderr, a Stop button.

A first start may download packages for minutes, so there is no timeout. A notebook shows the head
of a turn's view, with button and clock; other front ends show a line that is updated. Of the agent
only label and stderr are known.
"""

from __future__ import annotations

import concurrent.futures
import contextvars
import time
from typing import TYPE_CHECKING, Any

from acp_notebook.errors import printable
from acp_notebook.kernel.front_end import present_front_end
from acp_notebook.kernel.views.cell_view import ModelLoading
from acp_notebook.kernel.waiting.comm_route import keep_front_end_route

if TYPE_CHECKING:
    from acp_notebook.client.agent import Agent
    from acp_notebook.render.operations import Operation

REFRESH_S = 1.0
SHOWN_LINES = 6


class StartDisplay:
    """Made on the waiting thread; redraws itself on the agent thread until closed.

    `waited_s` is the duration of the start before the display.
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
        self._number = 0
        self._shown = ""
        self._view: Any = self._make_view() if present_front_end() == "notebook" else None
        self._handle = display(self._bundle(), raw=True, display_id=True)
        self._schedule()

    def _make_view(self) -> Any:
        from acp_notebook.widgets.turn_view import TurnView

        view = TurnView()
        keep_front_end_route(view.comm)
        view.on_msg(self._on_message)
        self._loading = ModelLoading(self._agent.thread, view)
        return view

    def _on_message(self, _view: Any, content: Any, _buffers: Any) -> None:
        # On any thread, so the work is handed over.
        kind = content.get("t") if isinstance(content, dict) else None
        if kind == "sync":
            self._agent.thread.post(self._send_all)
        elif kind == "act" and content.get("act") == "stop":
            self._start.cancel()

    def _schedule(self) -> None:
        loop = self._agent.thread.loop
        loop.call_soon_threadsafe(
            lambda: loop.call_later(REFRESH_S, self._redraw, context=self._context.copy())
        )

    def _redraw(self) -> None:
        if self._is_closed:
            return
        if self._view is None:
            self._handle.update(self._bundle(), raw=True)
        elif self._tail != self._shown:
            self._number += 1
            self._send(self._stderr())
        self._schedule()

    def _send_all(self) -> None:
        from acp_notebook.render import operations as op
        from acp_notebook.render.markup import label, live_theme

        theme = live_theme()
        clock = theme("span", "num", "", data_since=f"{self._started:.1f}")
        words = f"Starting {label(self._agent.label, 80)} … "
        who = theme("span", "agent-name", words, clock)
        stop = theme("button", "button stop", "Stop", type="button", data_act="stop")
        head = [op.clear(), op.fill("head", who), op.fill("now", stop)]
        self._send([*head, *self._stderr()], whole=True)

    def _stderr(self) -> list[Operation]:
        from acp_notebook.render import operations as op
        from acp_notebook.render.markup import live_theme, visible

        self._shown = self._tail
        theme = live_theme()
        said = theme("pre", "pre", visible(self._shown), role="log", aria_label="What it prints")
        return [op.put("stderr", "stderr", said)] if self._shown else []

    def _send(self, operations: list[Operation], **more: Any) -> None:
        if self._is_closed:
            return
        # The page's clocks need the present time of this clock.
        now = {"now": round(time.monotonic(), 2)}
        message = {"n": self._number, "ops": operations, **now, **more}
        self._context.copy().run(self._view.send, message)

    @property
    def _elapsed_s(self) -> int:
        return round(time.monotonic() - self._started)

    @property
    def _tail(self) -> str:
        return "\n".join(self._agent.stderr.strip().splitlines()[-SHOWN_LINES:])

    def _bundle(self) -> dict[str, Any]:
        plain = f"Starting {self._agent.label} … {self._elapsed_s} s\n{self._tail}".rstrip()
        if self._view is None:
            return {"text/plain": printable(plain)}
        bundle = self._view._repr_mimebundle_()  # IPython's own protocol
        data = dict(bundle[0] if isinstance(bundle, tuple) else bundle)
        return {**data, "text/plain": printable(plain)}

    def close(self) -> None:
        """Replace the display by one line, on the waiting thread: every front end sees that."""
        from acp_notebook.render.markup import record_theme

        self._is_closed = True
        line = f"Starting {self._agent.label} took {self._elapsed_s} s."
        html = record_theme()("div", "record muted small", line)
        self._handle.update({"text/html": str(html), "text/plain": line}, raw=True)
        if self._view is not None:
            self._loading.close_soon()
