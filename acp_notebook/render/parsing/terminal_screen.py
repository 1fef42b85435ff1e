"""The screen of a program that one types into -> HTML. `pyte` does the emulation.

A tool call's output is read by `terminal`, which keeps more and costs less. Knows no page.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

import pyte
from markupsafe import Markup

from acp_notebook.characters import mark_output
from acp_notebook.render.colours import colour_look
from acp_notebook.render.markup import Theme, clean, join

logger = logging.getLogger(__name__)

HISTORY_LINES: Final = 200
_COLOURS: Final = ("black", "red", "green", "brown", "blue", "magenta", "cyan", "white")
_BRIGHT: Final = tuple(f"bright{name}" for name in _COLOURS)


class _Screen(pyte.HistoryScreen):
    """Answers a program's queries to the terminal, such as the cursor's position."""

    answer: Callable[[str], object] = staticmethod(lambda _: None)

    def write_process_input(self, data: str) -> None:
        self.answer(data)


class TerminalScreen:
    """The visible part of a terminal: some history, and the screen with its cursor.

    `answer` is called with the terminal's own answers to the program.
    """

    def __init__(self, columns: int, rows: int, answer: Callable[[str], object]) -> None:
        self._screen = _Screen(columns, rows, history=HISTORY_LINES)
        self._screen.answer = answer
        self._stream = pyte.ByteStream(self._screen)

    def feed(self, data: bytes) -> None:
        """Read the next bytes; unreadable sequences are dropped."""
        try:
            self._stream.feed(data)
        except Exception:
            # Odd sequences must not end the view.
            logger.debug("The emulator could not read some output.", exc_info=True)

    def html(self, theme: Theme) -> Markup:
        """Return the lines, with the cursor."""
        cursor = None if self._screen.cursor.hidden else self._screen.cursor.x
        lines = self._lines()
        at = len(self._screen.history.top) + self._screen.cursor.y
        shown = [
            screen_line(theme, line, cursor if number == at else None)
            for number, line in enumerate(lines)
        ]
        return Markup("\n").join(shown)

    @property
    def text(self) -> str:
        """The lines as text, without spaces at their ends."""
        lines = ("".join(char.data for char in line).rstrip() for line in self._lines())
        return clean("\n".join(lines).strip("\n"))

    def _lines(self) -> list[list[Any]]:
        screen = self._screen
        lines = [screen_cells(line, screen.columns) for line in screen.history.top]
        lines += [screen_cells(screen.buffer[row], screen.columns) for row in range(screen.lines)]
        last = len(screen.history.top) + screen.cursor.y
        while len(lines) > last + 1 and all(char.data == " " for char in lines[-1]):
            lines.pop()
        return lines


def screen_cells(line: Mapping[int, Any], columns: int) -> list[Any]:
    """Return the cells of one line of an emulator's screen."""
    return [line[column] for column in range(columns)]


def screen_line(theme: Theme, cells: Iterable[Any], cursor: int | None = None) -> Markup:
    """Return the HTML of one line, without spaces at the end."""
    runs: list[tuple[str, str]] = []
    for column, char in enumerate(cells):
        look = "cursor" if column == cursor else _look(char)
        if runs and runs[-1][1] == look:
            runs[-1] = (runs[-1][0] + char.data, look)
        else:
            runs.append((char.data, look))
    if runs and not runs[-1][1]:
        runs[-1] = (runs[-1][0].rstrip(), "")
    shown = ((mark_output(text), look) for text, look in runs)
    return join(*(theme("span", look, text) if look else text for text, look in shown))


def _look(char: Any) -> str:
    names = []
    if char.reverse:
        names.append("reverse")
    elif char.fg in _COLOURS:
        names.append(f"fg-{_COLOURS.index(char.fg)}")
    elif char.fg in _BRIGHT:
        names.append(f"fg-{_BRIGHT.index(char.fg)}")
    elif (colour := colour_look(char.fg)) is not None:  # of 256, or any
        names.append(colour)
    marks = {"bold": char.bold, "italic": char.italics, "underline": char.underscore}
    return " ".join([*names, *(name for name, is_on in marks.items() if is_on)])
