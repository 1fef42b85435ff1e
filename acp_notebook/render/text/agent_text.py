"""What an agent writes, as text beside this client's own lines: in consoles and in records.

Code is marked as in questions; prose is marked only where it is turned around or hides a text. At a
console and in plain text nothing in it looks like a line of this client's own. Takes the text in
pieces, and returns most of it as it comes. Knows no session.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Final

from acp_notebook.characters import mark_hidden, mark_prose
from acp_notebook.render.entries.tool_call import OWN_MARK
from acp_notebook.render.markup import clean, visible

INDENT: Final = "  "
# This client's own lines begin with these, or with a bracket.
_GLYPHS: Final = frozenset("[✓✗○◐‖⊘…")
# Brackets of other scripts, and what leaves the margin empty or nearly so.
_LIKE_BRACKETS: Final = frozenset({"Ps", "Zs", "Mn", "Me"})
# Single characters that nobody sees may stand between the letters.
_OWN: Final = re.compile(
    r"\[(\s{0,3}"
    + "".join(rf"{letter}[^\x00-\x7f]{{0,2}}" for letter in OWN_MARK[1:-1])
    + r"\s{0,3})\]",
    re.IGNORECASE,
)
_BEFORE_FENCE: Final = r"(?P<before>(?:[ \t>]|[-*+][ \t]|\d{1,9}[.)][ \t])*)"
_FENCE: Final = re.compile(_BEFORE_FENCE + r"(?P<fence>`{3,}(?=[^`]*\Z)|~{3,})(?P<info>.*)")
# No code span goes on in another block.
_BEGINS_BLOCK: Final = re.compile(r"\s*(?:\Z|[-*+>#|]|\d{1,9}[.)])")
_BEGINS_ITEM: Final = re.compile(r"\s*(?:[-*+]|\d{1,9}[.)])(?:\s|\Z)")
_TICKS: Final = re.compile("`+")
_TICKS_OR_ESCAPE: Final = re.compile(r"`+|\\[\\`]")
_FLAG: Final = "\U0001f3f4"
# What is longer does not wait for the end of its line.
_HELD_CHARS: Final = 2_000
_HIDDEN_CHARS: Final = 50
_TOP_LEVEL_SPACES: Final = 3
_CODE_SPACES: Final = 4


def beside_ours(line: str) -> str:
    """Return a line that begins with an agent's words, so that it looks like none of ours."""
    return _indent_of(line) + without_own_mark(line)


def without_own_mark(text: str) -> str:
    """Return an agent's text in which the mark of ours is quoted."""
    return _OWN.sub(r"[“\1”]", text)


def _indent_of(line: str) -> str:
    head = line.removeprefix(" ")
    first = head[:1]
    if first.isascii():
        is_footnote = head.startswith("[^")
        return INDENT if first and first in _GLYPHS and not is_footnote else ""
    is_like_ours = first in _GLYPHS or unicodedata.category(first) in _LIKE_BRACKETS
    return INDENT if is_like_ours or mark_hidden(first) != first else ""


class AgentText:
    """An agent's Markdown as text, in pieces.

    A line is shown when it is complete. Only prose that begins with a letter, as most does, is
    shown as it comes, because it stays as it is whatever follows.
    """

    def __init__(self, *, is_beside_ours: bool) -> None:
        self._is_beside_ours = is_beside_ours
        self._held = ""
        self._is_begun = False
        """Whether the beginning of the present line was returned."""
        self._is_code = False
        self._fence = ""
        self._is_quoted = self._is_nested = False
        """Whether the open fence is in a quotation, with which it ends, or in a list."""
        self._is_after_blank, self._is_indented, self._is_in_list = True, False, False
        self._ticks = 0
        """The length of the backticks that opened a code span."""

    def feed(self, piece: str) -> str:
        """Return the text to show after another piece."""
        text, half = self._held + piece, ""
        # Half a surrogate pair, or half a line ending, waits for its other half.
        if text and ("\ud800" <= text[-1] <= "\udbff" or text[-1] == "\r"):
            text, half = text[:-1], text[-1]
        text = clean(text).replace("\r\n", "\n").replace("\r", "\n")
        *lines, rest = text.split("\n")
        shown = [f"{self._rest_of_line(line)}\n" for line in lines]
        certain = self._certain_chars(rest)
        self._held = rest[certain:] + half
        if certain:
            shown.append(self._prose(rest[:certain]))
        return "".join(shown)

    def close(self) -> str:
        """Return what waited; another piece begins a line."""
        held, self._held = clean(self._held.rstrip("\r")), ""
        return self._rest_of_line(held)

    def _certain_chars(self, part: str) -> int:
        """Return how much of an incomplete line stays as it is, whatever follows."""
        is_prose = self._is_begun or (part[:1].isalpha() and not self._fence)
        if len(part) > _HELD_CHARS:
            return len(part)
        if not is_prose or self._ticks or "`" in part or "\\" in part:
            return 0
        opened = part.rfind("[")
        end = opened if opened >= 0 and "]" not in part[opened:] else len(part)
        least = max(0, end - _HIDDEN_CHARS)
        while end > least and _may_go_on(part[end - 1]):
            end -= 1
        return end

    def _prose(self, part: str) -> str:
        """Return more of a line that stays as it is, or is too long to wait for its end."""
        if self._is_begun:
            return self._marked(part, is_code=self._is_code)
        self._is_begun = True
        return self._line(part)

    def _rest_of_line(self, line: str) -> str:
        if self._is_begun:
            self._is_begun = False
            return self._marked(line, is_code=self._is_code)
        return self._line(line)

    def _line(self, line: str) -> str:
        self._begin_line(line)
        is_code = bool(self._fence) or self._is_indented
        self._see_fence(line)
        self._is_code = is_code or bool(self._fence)
        indent = "" if self._is_code or not self._is_beside_ours else _indent_of(line)
        return indent + self._marked(line, is_code=self._is_code)

    def _begin_line(self, line: str) -> None:
        if self._fence and self._is_quoted and not line.lstrip().startswith(">"):
            self._fence = ""
        if _BEGINS_BLOCK.match(line):
            self._ticks = 0
        self._see_indentation(line)

    def _see_indentation(self, line: str) -> None:
        blank = line[: len(line) - len(line.lstrip())]
        indentation = len(blank.expandtabs(_CODE_SPACES))
        if not line.strip():
            self._is_after_blank = True
            return
        # What is indented in a list belongs to an item.
        least = _CODE_SPACES * (2 if self._is_in_list else 1)
        may_be = self._is_after_blank or self._is_indented
        self._is_indented = not self._fence and may_be and indentation >= least
        if indentation < _CODE_SPACES:
            begins_item = _BEGINS_ITEM.match(line) is not None
            self._is_in_list = begins_item or (self._is_in_list and indentation > 0)
        self._is_after_blank = False

    def _see_fence(self, line: str) -> None:
        match = _FENCE.match(line)
        if match is None:
            return
        before, marks = match["before"], match["fence"]
        if not self._fence:
            self._fence, self._ticks = marks, 0
            self._is_quoted = ">" in before
            self._is_nested = len(before) > _TOP_LEVEL_SPACES or before.strip() != ""
            return
        is_alone = not match["info"].strip() and not before.strip(
            " \t>" if self._is_quoted else " \t"
        )
        is_in_place = self._is_nested or len(before) <= _TOP_LEVEL_SPACES
        if is_alone and is_in_place and marks.startswith(self._fence):
            self._fence = ""

    def _marked(self, part: str, *, is_code: bool) -> str:
        part = without_own_mark(part) if self._is_beside_ours else part
        if is_code:
            return visible(part)
        if part.isascii() and "`" not in part:
            return part
        shown, at = [], 0
        while True:
            match = (_TICKS if self._ticks else _TICKS_OR_ESCAPE).search(part, at)
            piece = part[at : match.start() if match else len(part)]
            shown.append(visible(piece) if self._ticks else mark_prose(piece))
            if match is None:
                return "".join(shown)
            shown.append(match[0])
            at = match.end()
            if match[0][0] == "`":
                self._ticks = 0 if self._ticks == len(match[0]) else self._ticks or len(match[0])


def _may_go_on(character: str) -> bool:
    """Whether a prose's last character may be the beginning of a hidden text, or of a flag."""
    return character == _FLAG or mark_hidden(character) != character
