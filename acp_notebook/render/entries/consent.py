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

from markupsafe import Markup

from acp_notebook.budget import TooCostly
from acp_notebook.render.entries.json_view import pre_part
from acp_notebook.render.labels import count_words
from acp_notebook.render.markup import Limits, Theme, join, visible
from acp_notebook.render.parsing.code import NOT_HIGHLIGHTED, framed, highlight, remark

# Far beyond what a person reads, and still cheap to send once.
_MOST: Final = 300_000
WHOLE_LIMITS: Final = Limits(
    _MOST, _MOST, 400, 20_000, 12_000_000, 60_000_000, line_chars=_MOST, name_chars=_MOST
)
_BLANK_LINES: Final = 4
_REPEATED_LINES: Final = 6
_SPACES = re.compile(r"[ \t]{60,}")
_SHORT_CHARS: Final = 160
_TITLE_CHARS: Final = 300


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
    return _pieces(theme, text, "")


def code_to_allow(theme: Theme, code: str, language: str = "") -> Markup:
    """Render code or a command in full."""
    try:
        block = framed(_pieces(theme, code, language))
    except TooCostly:
        block = framed(_pieces(theme, code, "")) + remark(NOT_HIGHLIGHTED)
    return theme("div", "code", theme.markdown(block))


def _pieces(theme: Theme, code: str, language: str) -> Markup:
    return Markup("\n").join(
        theme("span", "left-out", piece) if is_remark else highlight(piece, language, theme.budget)
        for piece, is_remark in shown_pieces(code)
    )


def value_to_allow(theme: Theme, value: Any) -> Markup:
    """Render a tool's input in full: an object as named values, anything else as JSON."""
    if not isinstance(value, Mapping):
        return code_to_allow(theme, whole_json(value), "json")
    return join(*(_field(theme, str(name), item) for name, item in value.items()))


def _field(theme: Theme, name: str, value: Any) -> Markup:
    title = theme("span", "muted small field-name", visible(name))
    text = value if isinstance(value, str) else whole_json(value)
    if "\n" not in text and len(text) <= _SHORT_CHARS:
        return theme("div", "field", title, " ", theme("span", "mono", visible(text)))
    return theme("div", "field", title, pre_part(whole(theme), shown_text(text)))


def whole_json(value: Any) -> str:
    """Return a value as JSON, whatever it holds."""
    try:
        return json.dumps(value, indent=2, ensure_ascii=False, default=str)
    except (ValueError, RecursionError):
        return repr(value)
