"""Output that moves the cursor about -> the lines that have left the screen, and the screen.

`pyte` does the emulation. Unlike `terminal_screen`, which shows a program one types into, this
keeps nothing: a line that has left the screen is handed out once. Knows no page.
"""

from __future__ import annotations

import logging
from typing import Any, Final

import pyte
import pyte.modes
from markupsafe import Markup

from acp_notebook.render.markup import Theme
from acp_notebook.render.parsing.terminal_screen import screen_cells, screen_line

logger = logging.getLogger(__name__)

# Agents seldom say how large a terminal is; a wide one breaks no line that was meant as one.
COLUMNS: Final = 120
ROWS: Final = 40
_COLUMNS_LIMIT: Final = 400
_ROWS_LIMIT: Final = 200


class _Screen(pyte.Screen):
    """Keeps the lines that scroll off its top until they are taken."""

    left: list[list[Any]]

    def index(self) -> None:
        """Move down; at the bottom everything moves up."""
        top, bottom = self.margins or (0, self.lines - 1)
        if self.cursor.y == bottom and top == 0:
            self.left.append(screen_cells(self.buffer[0], self.columns))
        super().index()

    def write_process_input(self, data: str) -> None:
        """Nobody asks a display anything."""


class ScrolledScreen:
    """An emulated screen that hands out what scrolls away.

    Args:
        theme: Makes the HTML.
        size: Columns and rows, if they are known.
    """

    def __init__(self, theme: Theme, size: tuple[int, int] | None) -> None:
        columns, rows = size or (COLUMNS, ROWS)
        self._theme = theme
        self._screen = _Screen(min(max(columns, 2), _COLUMNS_LIMIT), min(max(rows, 2), _ROWS_LIMIT))
        self._screen.left = []
        # Output of a pipe ends its lines without a carriage return.
        self._screen.set_mode(pyte.modes.LNM)
        self._stream = pyte.Stream(self._screen)
        self._html: Markup | None = None

    def feed(self, text: str) -> list[Markup]:
        """Read, and hand out the lines that have left. What cannot be read is dropped."""
        self._html = None
        try:
            self._stream.feed(text)
        except Exception:  # odd sequences must not end the view
            logger.debug("The emulator could not read some output.", exc_info=True)
        lines, self._screen.left = self._screen.left, []
        return [screen_line(self._theme, line) for line in lines]

    @property
    def html(self) -> Markup:
        """The lines on the screen, down to the last that is written on."""
        if self._html is None:
            screen = self._screen
            lines = [
                screen_line(self._theme, screen_cells(screen.buffer[row], screen.columns))
                for row in range(screen.lines)
            ]
            while lines and not lines[-1]:
                lines.pop()
            self._html = Markup("\n").join(lines)
        return self._html
