"""A program that the user types into, in the waiting cell or at a console. Knows no agent.

At the program's end one line replaces the view, because the screen may hold what was typed.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextvars
import sys
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from acp_notebook.kernel.views.cell_view import ModelLoading
from acp_notebook.kernel.waiting.comm_route import keep_front_end_route

if TYPE_CHECKING:
    from acp_notebook.client.process.pseudo_terminal import PseudoTerminal

SHOWN_LINES = 12
# A program that is silent for this long probably waits for a line.
SILENCE_S = 0.5


class TerminalCell:
    """Shows one program in one cell. Made on the thread that runs the cell."""

    def __init__(self, terminal: PseudoTerminal, title: str) -> None:
        from IPython.display import display

        from acp_notebook.client.agent_thread import shared_thread
        from acp_notebook.client.process.pseudo_terminal import COLUMNS, ROWS
        from acp_notebook.widgets.terminal_view import TerminalPresenter

        self._terminal = terminal
        self._title = title
        self._thread = shared_thread()
        self._context = contextvars.copy_context()
        self._read = 0
        presenter: Any = TerminalPresenter(
            title,
            (COLUMNS, ROWS),
            write=terminal.write,
            hides_typing=lambda: terminal.hides_typing,
            post=self._post,
            call_later=self._call_later,
        )
        self._presenter = presenter
        keep_front_end_route(presenter.view.comm)
        self._loading = ModelLoading(self._thread, presenter.view)
        bundle = presenter.view._repr_mimebundle_()
        data = bundle[0] if isinstance(bundle, tuple) else bundle
        data["text/plain"] = title
        self._handle = display(data, raw=True, display_id=True)
        self._thread.call(self._begin)

    def _post(self, work: Callable[[], None]) -> None:
        self._thread.loop.call_soon_threadsafe(work, context=self._context.copy())

    def _call_later(self, delay_s: float, work: Callable[[], None]) -> asyncio.TimerHandle:
        return self._thread.loop.call_later(delay_s, work, context=self._context.copy())

    def _begin(self) -> None:
        self._terminal.on_output = self._more
        self._more()

    def _more(self) -> None:
        data = bytes(self._terminal.output[self._read :])
        self._read += len(data)
        if data:
            self._presenter.fed(data)

    def close(self) -> None:
        """Replace the view by one line; on the thread that runs the cell."""
        self._terminal.on_output = None
        ended = self._terminal.ended
        status = ended.result() if ended.done() else None
        words = "was stopped" if status is None else f"ended with exit code {status}"
        line = f"{self._title}: {words}."
        tail = "" if status == 0 else "\n".join(self._last_words().splitlines()[-SHOWN_LINES:])
        html = Markup('<div style="font-size:12px">{}</div>').format(line)
        if tail:
            html += Markup('<pre style="font-size:12px;white-space:pre-wrap">{}</pre>').format(tail)
        plain = f"{line}\n{tail}".rstrip()
        self._handle.update({"text/html": str(html), "text/plain": plain}, raw=True)
        self._thread.call(self._presenter.detach)
        self._loading.close_soon()

    def _last_words(self) -> str:
        return self._thread.call(lambda: str(self._presenter.last_words))


def attend_at_console(
    terminal: PseudoTerminal, wait: Callable[[concurrent.futures.Future[Any], float], bool]
) -> None:
    """Print a program's output and ask for lines, until the program ends.

    A program does not signal that it waits for input, so a line is asked for after a silence.
    """
    import getpass

    from acp_notebook.client.agent_thread import shared_thread

    read = 0
    while True:
        is_over = wait(terminal.ended, SILENCE_S)
        data = shared_thread().call(partial(_output_from, terminal, read))
        read += len(data)
        sys.stdout.write(data.decode(errors="replace"))
        sys.stdout.flush()
        if is_over:
            return
        if not data:
            ask = getpass.getpass if terminal.hides_typing else input
            try:
                line = f"{ask('')}\r"
            except EOFError:
                line = "\x04"
            terminal.write(line.encode())


def _output_from(terminal: PseudoTerminal, start: int) -> bytes:
    return bytes(terminal.output[start:])
