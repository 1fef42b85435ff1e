"""What a question shows of the code, the command or the input that it is about: all of it.

Nothing is cut, folded or pushed out of sight: long runs of blank or repeated lines and of spaces
are counted in place. Knows no question.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import groupby
from typing import Any, Final

from markupsafe import Markup, escape

from acp_notebook.budget import Budget, TooCostly
from acp_notebook.render.entries.json_view import pre_part, rest_remark
from acp_notebook.render.labels import count_words
from acp_notebook.render.markup import Limits, Theme, join, visible
from acp_notebook.render.parsing.code import NOT_HIGHLIGHTED, framed, highlight, remark

# Far beyond what a person reads, and still cheap to send once.
MOST_CHARS: Final = 300_000
WHOLE_LIMITS: Final = Limits(
    MOST_CHARS,
    MOST_CHARS,
    400,
    20_000,
    12_000_000,
    60_000_000,
    line_chars=MOST_CHARS,
    name_chars=MOST_CHARS,
)
_BLANK_LINES: Final = 4
_REPEATED_LINES: Final = 6
_SPACES = re.compile(r"[ \t]{60,}")
_SHORT_CHARS: Final = 160
_TITLE_CHARS: Final = 300
# What a value costs beside its text.
_FIELD_CHARS: Final = 100
# Beyond this many runs that are counted, code is plain.
_MOST_PIECES: Final = 2_000


def whole(theme: Theme) -> Theme:
    """Return the theme without the limits and folds of what is only read.

    What is left out all the same is noted in the new theme.
    """
    if theme.unfolds:
        return theme
    return replace(theme, limits=WHOLE_LIMITS, unfolds=True, left_out=[])


def shown_pieces(text: str) -> Iterator[tuple[str, bool]]:
    """Yield the text with its hidden characters marked, and whether a piece is a remark of ours."""
    # Python reads a lone carriage return as the end of a line, and a page may not show it as one.
    whole_lines = visible(text).replace("\r\n", "\n").replace("\r", "[U+000D]\n")
    lines = _SPACES.sub(lambda run: f"[{len(run[0]):,} spaces]", whole_lines).split("\n")
    kept: list[str] = []
    for line, run in groupby(lines, lambda line: line.strip() and line):
        count = sum(1 for _ in run)
        if count < (_REPEATED_LINES if line else _BLANK_LINES):
            kept += [line] * count
            continue
        kept += [line] if line else []
        if kept:
            yield "\n".join(kept), False
        kept = []
        more = count_words(count - 1, "more time")
        yield (f"⋯ the same line {more}" if line else f"⋯ {count:,} blank lines"), True
    if kept:
        yield "\n".join(kept), False


def shown_text(text: str, indent: str = "") -> str:
    """Return the text as `shown_pieces` does; lines after the first begin with `indent`."""
    return "\n".join(piece for piece, _ in shown_pieces(text)).replace("\n", f"\n{indent}")


def shown_line(text: str) -> str | None:
    """Return a short title as one line with its marks; None if it has to be shown as code is."""
    shown = visible(text.strip())
    is_line = len(shown) <= _TITLE_CHARS and shown == " ".join(shown.split())
    return shown if is_line else None


def text_to_allow(theme: Theme, text: str) -> Markup:
    """Render the words of a question in full, unformatted."""
    text, rest = text[:MOST_CHARS], text[MOST_CHARS:]
    shown = _pieces(theme, text, "", theme.budget)
    return shown + rest_remark(theme, len(rest), "characters")


def code_to_allow(theme: Theme, code: str, language: str = "") -> Markup:
    """Render code or a command in full."""
    code, rest = code[:MOST_CHARS], code[MOST_CHARS:]
    try:
        with theme.time_for(len(code)) as budget:
            block = framed(_pieces(theme, code, language, budget))
    except TooCostly:
        block = framed(_pieces(theme, code, "", theme.budget)) + remark(NOT_HIGHLIGHTED)
    return theme("div", "code", theme.markdown(block)) + rest_remark(theme, len(rest), "characters")


def _pieces(theme: Theme, code: str, language: str, budget: Budget) -> Markup:
    pieces = list(shown_pieces(code))
    if len(pieces) > _MOST_PIECES:
        return escape("\n".join(piece for piece, _ in pieces))
    return Markup("\n").join(
        theme("span", "left-out", piece) if is_remark else highlight(piece, language, budget)
        for piece, is_remark in pieces
    )


def value_to_allow(theme: Theme, value: Any) -> Markup:
    """Render a tool's input in full: an object as named values, anything else as JSON."""
    if not isinstance(value, Mapping):
        text = written_json(value)
        return code_to_allow(theme, text, "json")
    left = MOST_CHARS
    fields: list[Markup] = []
    for name, item in value.items():
        is_cut = not isinstance(item, str) and len(text := written_json(item, left)) > left
        text = item if isinstance(item, str) else text
        left -= len(str(name)) + len(text) + _FIELD_CHARS
        if not fields or left >= 0:
            fields.append(_field(theme, str(name), text))
        if is_cut or (left < 0 and len(fields) < len(value)):
            theme.left_out.append("parts of a value")
            fields.append(theme("div", "left-out", "… the rest is too long to be shown"))
            break
    return join(*fields)


def _field(theme: Theme, name: str, text: str) -> Markup:
    title = theme("span", "muted small field-name", visible(name))
    if "\n" not in text and len(text) <= _SHORT_CHARS:
        return theme("div", "field", title, " ", theme("span", "mono", visible(text)))
    return theme("div", "field", title, pre_part(theme, shown_text(text), MOST_CHARS))


def written_json(value: Any, most: int = MOST_CHARS) -> str:
    """Return a value as indented JSON, which ends unfinished soon beyond so many characters.

    The depth of a value multiplies the length of its lines, so it cannot be written first.
    """
    pieces: list[str] = []
    size = 0
    encoder = json.JSONEncoder(indent=2, ensure_ascii=False, default=str)
    try:
        for piece in encoder.iterencode(value):
            pieces.append(piece)
            size += len(piece)
            if size > most:
                break
    except (ValueError, RecursionError):
        return repr(value)[: most + 1]
    return "".join(pieces)
