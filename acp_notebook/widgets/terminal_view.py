"""`TerminalView`, an interactive terminal in the page, and its presenter.

Nothing is saved; typed text is kept only to remove it from error reports. Knows no process: bytes
come in, keys go out.
"""

from __future__ import annotations

import contextvars
from collections.abc import Callable, Mapping
from typing import Any, Final

import anywidget

from acp_notebook.render.markup import live_theme
from acp_notebook.render.parsing.terminal_screen import TerminalScreen
from acp_notebook.session.form import HIDDEN
from acp_notebook.widgets.static_files import join_modules, read_static
from acp_notebook.widgets.turn_view import Channel, Timer

REFRESH_S: Final = 1 / 15
SECRET_CHARS: Final = 3


class TerminalView(anywidget.AnyWidget):
    """One terminal in the page. Has no traits: its content arrives as messages."""

    _esm = join_modules("terminal_view.js")
    _css = read_static("turn_view.css") + read_static("terminal_view.css")


class TerminalPresenter:
    """Sends a terminal's screen to the page, and typed keys to the program.

    Create it on the cell's thread. `fed` belongs to the thread that reads the terminal.

    Args:
        title: The title of the terminal.
        size: Columns and rows.
        write: Receives typed input.
        hides_typing: Returns whether the program currently reads a hidden line.
        post: Runs a function soon on the reading thread; may be called on any thread.
        call_later: Runs a function on the reading thread after some seconds; called only there.
        make_view: Makes the view; a test passes its own.
    """

    def __init__(
        self,
        title: str,
        size: tuple[int, int],
        *,
        write: Callable[[bytes], object],
        hides_typing: Callable[[], bool],
        post: Callable[[Callable[[], None]], object],
        call_later: Callable[[float, Callable[[], None]], Timer],
        make_view: Callable[[], Channel] = TerminalView,
    ) -> None:
        self._title = title
        self._write = write
        self._hides_typing = hides_typing
        self._post = post
        self._call_later = call_later
        self._theme = live_theme()
        self._typed: list[str] = []
        self._timer: Timer | None = None
        self._is_closed = False
        self.screen = TerminalScreen(*size, answer=lambda text: write(text.encode()))
        self.view = make_view()
        self.view.on_msg(self._on_message)
        self._context = contextvars.copy_context()

    def fed(self, data: bytes) -> None:
        """Add output of the program; the page is updated at most every `REFRESH_S` seconds."""
        self.screen.feed(data)
        if self._timer is None and not self._is_closed:
            self._timer = self._call_later(REFRESH_S, self._on_beat)

    def detach(self) -> None:
        """Send nothing more; the view stays open. May be called more than once."""
        self._is_closed = True
        if self._timer is not None:
            self._timer.cancel()

    @property
    def last_words(self) -> str:
        """The text of the screen, without typed text."""
        text = self.screen.text
        for typed in self._typed:
            text = text.replace(typed, HIDDEN)
        return text

    def _on_beat(self) -> None:
        self._timer = None
        if not self._is_closed:
            self._send()

    def _send(self) -> None:
        message = {
            "title": self._title,
            "screen": str(self.screen.html(self._theme)),
            "hidden": self._hides_typing(),
        }
        self._context.run(self.view.send, message)

    def _on_message(self, _view: Any, content: Any, _buffers: Any) -> None:
        # The kernel calls this on any thread, so only pass the message on.
        if isinstance(content, Mapping):
            self._post(lambda: self._receive(content))

    def _receive(self, content: Mapping[str, Any]) -> None:
        if self._is_closed:
            return
        keys = content.get("keys")
        if content.get("t") == "sync":
            self._send()
        elif content.get("t") == "type" and isinstance(keys, str):
            text = keys.strip()
            if len(text) >= SECRET_CHARS:
                self._typed.append(text)
            self._write(keys.encode(errors="replace"))
