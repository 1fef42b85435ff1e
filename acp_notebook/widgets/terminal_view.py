"""`TerminalView`, a terminal in the page that one can type into, and its presenter.

Nothing of it is saved, and what was typed is kept only to be struck out of what is told of a
failure. Knows no process: bytes come in, keys go out.
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
    """One terminal in the page. It has no traits: everything comes as messages."""

    _esm = join_modules("terminal_view.js")
    _css = read_static("turn_view.css") + read_static("terminal_view.css")


class TerminalPresenter:
    """Brings a terminal's screen to the page, and the keys back.

    Make it in the cell's thread. `fed` belongs to the thread that reads the terminal.

    Args:
        title: What runs there.
        size: Columns and rows.
        write: Takes what is typed.
        hides_typing: Whether the program asks for a hidden line just now.
        post: Runs a function soon on the reading thread; may be called anywhere.
        call_later: Runs a function there after some seconds; called only there.
        make_view: Makes the view; a test gives its own.
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
        """The program has written something."""
        self.screen.feed(data)
        if self._timer is None and not self._is_closed:
            self._timer = self._call_later(REFRESH_S, self._on_beat)

    def close(self) -> None:
        """Nothing more goes out, and the view is gone."""
        if self._is_closed:
            return
        self._is_closed = True
        if self._timer is not None:
            self._timer.cancel()
        self._context.run(self.view.close)

    @property
    def last_words(self) -> str:
        """What stands on the screen, without what was typed."""
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
        # Runs on whatever thread the kernel has for it: only pass it on.
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
