"""Output that moves the cursor -> an emulated screen, and the lines that scrolled off. By `pyte`.

Unlike `terminal_screen`, for programs one types into, this keeps no history: a line that scrolled
off is returned once. Knows no page.
"""

from __future__ import annotations

import logging
from collections import deque
from typing import Any, Final, TypeVar

import pyte
import pyte.modes
from markupsafe import Markup

from acp_notebook.budget import Budget
from acp_notebook.render.markup import Theme
from acp_notebook.render.parsing.terminal_screen import screen_cells, screen_line

logger = logging.getLogger(__name__)

T = TypeVar("T", str, bytes)

# Agents seldom report a terminal's size; a wide one breaks no long line.
COLUMNS: Final = 120
ROWS: Final = 40
FEED_SECONDS: Final = 0.1
_PIECE: Final = 64
_COLUMNS_LIMIT: Final = 400
_ROWS_LIMIT: Final = 200


def feed_within(stream: Any, data: T, budget: Budget) -> T:
    """Feed an emulator and return the rest that is beyond the budget."""
    # Some sequences of three characters touch every cell of the screen.
    for at in range(0, len(data), _PIECE):
        if budget.is_spent:
            return data[at:]
        try:
            stream.feed(data[at : at + _PIECE])
        except Exception:  # odd sequences must not end the view
            logger.debug("The emulator could not read some output.", exc_info=True)
    return data[:0]


class _Screen(pyte.Screen):
    """Keeps the lines that scroll off the top."""

    left: deque[Any]
    gone: int

    def index(self) -> None:
        """Keep the top line before the screen scrolls."""
        top, bottom = self.margins or (0, self.lines - 1)
        if self.cursor.y == bottom and top == 0:
            self.left.append(self.buffer[0])  # which the screen lets go of
            self.gone += 1
        super().index()

    def write_process_input(self, data: str) -> None:
        """Ignore queries: there is no program to answer."""


class ScrolledScreen:
    """An emulated screen of a size in columns and rows, which returns lines that scroll off."""

    def __init__(self, theme: Theme, size: tuple[int, int] | None, keep: int) -> None:
        columns, rows = size or (COLUMNS, ROWS)
        self._theme = theme
        self._screen = _Screen(min(max(columns, 2), _COLUMNS_LIMIT), min(max(rows, 2), _ROWS_LIMIT))
        self._screen.left = deque(maxlen=keep)
        # Lines from a pipe end without a carriage return.
        self._screen.set_mode(pyte.modes.LNM)
        self._stream = pyte.Stream(self._screen)
        self._html: Markup | None = None

    def feed(self, text: str, budget: Budget | None = None) -> tuple[list[Markup], int, str]:
        """Read text; unreadable sequences are dropped.

        Returns:
            The last lines that scrolled off, the number of all, and the text that was not read
            because the sequences before it took too long.
        """
        self._html = None
        self._screen.gone = 0
        rest = feed_within(self._stream, text, budget or Budget(FEED_SECONDS))
        lines = [
            screen_line(self._theme, screen_cells(line, self._screen.columns))
            for line in self._screen.left
        ]
        self._screen.left.clear()
        return lines, self._screen.gone, rest

    @property
    def html(self) -> Markup:
        """The lines on the screen, without empty ones at the end."""
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
