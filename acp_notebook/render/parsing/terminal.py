"""A terminal's bytes -> lines of HTML: UTF-8 cut anywhere, carriage returns, SGR colours.

Most output only moves within its line, and is read here. From the first sequence that moves the
cursor to another line an emulator reads (`ScrolledScreen`), which costs more and keeps less. Only
the last lines are kept; earlier ones are counted. Knows no page.
"""

from __future__ import annotations

import codecs
import re
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from html import unescape
from typing import Final

import pyte.graphics
from markupsafe import Markup, escape

from acp_notebook.budget import Budget
from acp_notebook.characters import mark_output
from acp_notebook.render.colours import MARK
from acp_notebook.render.markup import Theme, clean
from acp_notebook.render.parsing.scrolled_screen import FEED_SECONDS, ScrolledScreen

COLUMNS_LIMIT: Final = 2_000
# Only the end of a larger burst is read: nobody would see the rest.
BURST_LIMIT_BYTES: Final = 400_000
# An emulator reads about a megabyte per second, and begins with the most recent output.
EMULATED_LIMIT_CHARS: Final = 32_000
BURST_LIMIT_LINES: Final = 1_000
_PLAIN_LINE_CHARS: Final = 20_000
_TOO_LONG: Final = "… it took too long to read all output: the rest is plain"

_ESCAPES: Final = (
    r"\x1b\[([0-?]*)[ -/]*([@-~])"  # CSI
    r"|\x1b[\]P^_X][^\x07\x1b]*(?:\x07|\x1b\\)"  # OSC, DCS and other strings
    r"|\x1b[ -/]*[0-Z\\^-~]"  # two-character escapes
)
_SEQUENCE = re.compile(_ESCAPES + r"|[\x00-\x1a\x1c-\x1f\x7f]")
_NOT_PLAIN = re.compile(_ESCAPES + r"|\r(?=[\r\n]|\Z)|[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
# Sequences that move the cursor to another line, or the text of other lines.
_MOVES = re.compile(r"\x1b\[(?:\d*[ABEFJLMSTd]|\d*(?:;\d*)?[Hfr]|\?(?:47|1047|1049)h)|\x1b[MDE78]")
# An unfinished sequence, which may continue in the next piece.
_OPEN_SEQUENCE = re.compile(r"\x1b(?:\[[0-?]*[ -/]*|[\]P^_X][^\x07\x1b]{0,4096}\x1b?|[ -/]*)?\Z")

_BOLD, _FAINT, _ITALIC, _UNDERLINE = 1, 2, 3, 4
_ON = {_BOLD: "bold", _FAINT: "faint", _ITALIC: "italic", _UNDERLINE: "underline"}
_OFF = {22: ("bold", "faint"), 23: ("italic",), 24: ("underline",)}
_TAB: Final = 8

# Text is escaped, so every tag is one of ours.
_TAG = re.compile(r"<[^>]*>")

Look = str


@dataclass(slots=True)
class _Line:
    """The cursor's line: characters, and their looks in runs."""

    text: str = ""
    runs: list[tuple[int, Look]] = field(default_factory=list)
    """End and look of each run; the last run ends at the end of the line."""
    column: int = 0

    def write(self, text: str, look: Look) -> None:
        if self.column > len(self.text):
            self._extend(" " * (self.column - len(self.text)), "")
        if self.column == len(self.text):
            self._extend(text, look)
        else:
            self._overwrite(text, look)
        self.column += len(text)

    def _extend(self, text: str, look: Look) -> None:
        self.text += text
        if self.runs and self.runs[-1][1] == look:
            self.runs.pop()
        self.runs.append((len(self.text), look))

    def _overwrite(self, text: str, look: Look) -> None:
        start, end = self.column, self.column + len(text)
        cells = self.cells()
        cells[start:end] = [(character, look) for character in text]
        self.text, self.runs = "", []
        for character, its_look in cells:
            self._extend(character, its_look)

    def cells(self) -> list[tuple[str, Look]]:
        found: list[tuple[str, Look]] = []
        for text, look in self.pieces():
            found += [(character, look) for character in text]
        return found

    def pieces(self) -> list[tuple[str, Look]]:
        result, start = [], 0
        for end, look in self.runs:
            result.append((self.text[start:end], look))
            start = end
        return result

    def cut(self, start: int, end: int) -> None:
        """Erase: at the line's end the characters are removed, before it they become blank."""
        if end >= len(self.text):
            cells = self.cells()[:start]
        else:
            cells = self.cells()
            cells[start:end] = [(" ", "")] * (end - start)
        self.text, self.runs = "", []
        for character, look in cells:
            self._extend(character, look)


class TerminalText:
    """The output of one terminal as lines, up to the theme's limit."""

    def __init__(self, theme: Theme, size: tuple[int, int] | None = None) -> None:
        self._theme = theme
        self._limit = theme.limits.terminal_lines
        self.reading = 0
        """Grows whenever all lines change, so that lines sent before are invalid."""
        self.reset(size)

    def reset(self, size: tuple[int, int] | None = None) -> None:
        """Forget everything before a snapshot."""
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._lines: deque[Markup] = deque(maxlen=self._limit)
        self._line = _Line()
        self._look: tuple[str, ...] = ()
        self._pending = ""
        self._size = size
        self._screen: ScrolledScreen | None = None
        self._recent = ""
        self.reading += 1
        self.finished = 0
        """The number of finished lines, including those no longer kept."""

    @property
    def hidden(self) -> int:
        """The number of earlier lines no longer kept."""
        return self.finished - len(self._lines)

    @property
    def is_empty(self) -> bool:
        """Whether there is no output."""
        return not self._lines and not self.tail

    def feed(self, data: bytes | bytearray | memoryview, budget: Budget | None = None) -> None:
        """Read the next bytes, as many as there is time for."""
        spent = Budget(FEED_SECONDS) if budget is None else budget.part(FEED_SECONDS)
        if len(data) > BURST_LIMIT_BYTES:
            self.finished += bytes(data[:-BURST_LIMIT_BYTES]).count(b"\n")
            self._decoder.reset()
            self._pending, self._line = "", _Line()
            data = data[-BURST_LIMIT_BYTES:]
        text = self._pending + self._decoder.decode(bytes(data))
        self._pending = ""
        opened = _OPEN_SEQUENCE.search(text, max(0, len(text) - 5_000))
        if opened:
            text, self._pending = text[: opened.start()], text[opened.start() :]
        if self._screen is None and _MOVES.search(text):
            self._begin_emulation(spent)
        if self._screen is not None:
            self._emulate(self._screen, text, spent)
            return
        self._recent = (self._recent + text)[-EMULATED_LIMIT_CHARS:]
        text = self._without_early_lines(text)
        position = 0
        for number, match in enumerate(_SEQUENCE.finditer(text)):
            if number % 16 == 0 and spent.is_spent:
                self._read_plain(text[position:])
                return
            self._write(text[position : match.start()])
            self._execute(match)
            position = match.end()
        self._write(text[position:])

    def _without_early_lines(self, text: str) -> str:
        """Count the lines at the beginning of a burst that nobody would see."""
        early = text.count("\n") - BURST_LIMIT_LINES
        if early <= 0:
            return text
        self.finished += early
        self._line = _Line()
        return text.split("\n", early)[-1]

    def _read_plain(self, text: str) -> None:
        """Show the end of what takes too long to read without its sequences, and say so."""
        if not text:
            return
        lines = text.split("\n")
        early = max(0, len(lines) - (self._lines.maxlen or 0) + 2)
        self._break()
        self._lines.append(escape(_TOO_LONG))
        self.finished += 1 + early
        self._look = ()
        for number, line in enumerate(lines[early:]):
            if number:
                self._break()
            plain = _NOT_PLAIN.sub("", line[-_PLAIN_LINE_CHARS:])
            self._write(plain.rpartition("\r")[2].expandtabs(_TAB))
        if self._screen is not None:  # the screen stands in place of the last line
            self._break()

    def _begin_emulation(self, budget: Budget) -> None:
        """Switch to an emulator, which starts with the most recent output."""
        recent, self._recent = self._recent, ""
        if len(recent) == EMULATED_LIMIT_CHARS:
            recent = recent[recent.find("\n") + 1 :]
        self._lines.clear()
        self.finished -= min(self.finished, recent.count("\n"))
        self._line = _Line()
        self._screen = ScrolledScreen(self._theme, self._size, self._lines.maxlen or 0)
        self.reading += 1
        self._emulate(self._screen, recent, budget)

    def _emulate(self, screen: ScrolledScreen, text: str, budget: Budget) -> None:
        if len(text) > EMULATED_LIMIT_CHARS:
            skipped, text = text[:-EMULATED_LIMIT_CHARS], text[-EMULATED_LIMIT_CHARS:]
            self.finished += skipped.count("\n")
        lines, gone, rest = screen.feed(text, budget)
        self._lines.extend(lines)
        self.finished += gone
        self._read_plain(rest)

    def lines_since(self, number: int) -> list[Markup]:
        """Return the kept finished lines from a number on."""
        return list(self._lines)[max(0, number - self.hidden) :]

    @property
    def tail(self) -> Markup:
        """The part that may still change: the cursor's line, or an emulator's screen."""
        return self._html(self._line) if self._screen is None else self._screen.html

    @property
    def plain(self) -> str:
        """All kept text, without looks."""
        return unescape(_TAG.sub("", "\n".join([*self._lines, self.tail])))

    def _write(self, text: str) -> None:
        look = " ".join(self._look)
        while text:
            room = COLUMNS_LIMIT - self._line.column
            if room <= 0:
                self._break()
                continue
            self._line.write(text[:room], look)
            text = text[room:]

    def _break(self) -> None:
        self._lines.append(self._html(self._line))
        self._line = _Line()
        self.finished += 1

    def _execute(self, match: re.Match[str]) -> None:
        match match[2] or match[0]:
            case "\n":
                self._break()
            case "\r":
                self._line.column = 0
            case "\b":
                self._line.column = max(0, self._line.column - 1)
            case "\t":
                self._write(" " * (_TAB - self._line.column % _TAB))
            case "m":
                self._set_looks(match[1])
            case "K":
                self._erase(match[1])
            case "G":
                self._line.column = min(COLUMNS_LIMIT, max(0, _number(match[1], 1) - 1))
            case "C":
                self._line.column = min(COLUMNS_LIMIT, self._line.column + _number(match[1], 1))
            case "D":
                self._line.column = max(0, self._line.column - _number(match[1], 1))
            case _:
                pass

    def _erase(self, parameters: str) -> None:
        line = self._line
        match _number(parameters, 0):
            case 0:
                line.cut(line.column, len(line.text))
            case 1:
                line.cut(0, line.column)
            case _:
                line.cut(0, len(line.text))

    def _set_looks(self, parameters: str) -> None:
        codes = iter([_number(code, 0) for code in re.split("[;:]", parameters)])
        for code in codes:
            if code == 0:
                self._look = ()
            elif code in _ON:
                self._wear(_ON[code])
            elif code in _OFF:
                self._look = tuple(look for look in self._look if look not in _OFF[code])
            elif code in (38, 48):
                self._chosen_colour(codes, is_text=code == 38)  # noqa: PLR2004
            elif 30 <= code <= 37 or 90 <= code <= 97:  # noqa: PLR2004  # the eight colours
                self._wear(f"fg-{code % 10}")
            elif code == 39:  # noqa: PLR2004
                self._undress_colour()

    def _chosen_colour(self, codes: Iterator[int], *, is_text: bool) -> None:
        """Read one of 256 colours, or any; colours of the background are ignored."""
        kind = next(codes, 0)
        numbers = [next(codes, 0) for _ in range({5: 1, 2: 3}.get(kind, 0))]
        if is_text and numbers and max(numbers) <= 255:  # noqa: PLR2004
            self._wear(_palette_look(numbers[0]) if len(numbers) == 1 else _rgb_look(numbers))

    def _wear(self, look: str) -> None:
        if look.startswith(("fg-", MARK)):
            self._undress_colour()
        if look not in self._look:
            self._look = (*self._look, look)

    def _undress_colour(self) -> None:
        self._look = tuple(look for look in self._look if not look.startswith(("fg-", MARK)))

    def _html(self, line: _Line) -> Markup:
        return Markup("").join(
            self._theme("span", look, text) if look else Markup("{}").format(clean(text))
            for text, look in ((mark_output(text), look) for text, look in line.pieces())
        )


def _palette_look(number: int) -> str:
    return f"fg-{number % 8}" if number < 16 else f"{MARK}{pyte.graphics.FG_BG_256[number]}"  # noqa: PLR2004


def _rgb_look(numbers: list[int]) -> str:
    red, green, blue = numbers
    return f"{MARK}{red:02x}{green:02x}{blue:02x}"


def _number(text: str, default: int) -> int:
    return int(text) if text.isdecimal() and len(text) < 6 else default  # noqa: PLR2004
