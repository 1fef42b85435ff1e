"""Text of bounded size: cuts, short representations, tables. Knows no library and no agent."""

from __future__ import annotations

import datetime as dt
import decimal
import numbers
import reprlib
from collections.abc import Iterable, Sequence
from typing import Any

MAX_CELL_CHARS = 60

_REPR = reprlib.Repr()
_REPR.maxlevel = 4
_REPR.maxdict = _REPR.maxlist = _REPR.maxtuple = _REPR.maxset = _REPR.maxfrozenset = 30
_REPR.maxarray = _REPR.maxdeque = 30
_REPR.maxstring = _REPR.maxother = 400

_PLAIN = (str, numbers.Number, bool, type(None), dt.date, dt.timedelta, decimal.Decimal)


def bounded(text: str, budget: int) -> str:
    """Return the text; a longer one is cut in the middle and says how much was left out."""
    if len(text) <= budget:
        return text
    head, tail = budget * 3 // 4, budget // 8
    left_out = len(text) - head - tail
    return f"{text[:head]}\n… {left_out:,} characters left out …\n{text[-tail:]}"


def bounded_repr(value: Any) -> str:
    """Return a `repr` of limited width and depth; an element whose `repr` fails is named."""
    return _REPR.repr(value)


def type_name(value: Any) -> str:
    """Return the name of the value's type, with its module unless that is `builtins`."""
    kind = type(value)
    module = "" if kind.__module__ == "builtins" else f"{kind.__module__}."
    return module + kind.__qualname__


def table_cell(value: Any) -> str:
    """Return a value as one short line that cannot break a table."""
    if isinstance(value, float):
        return f"{value:.6g}"
    try:
        if isinstance(value, str):
            text = value[: MAX_CELL_CHARS + 1]
        elif isinstance(value, _PLAIN) or not hasattr(value, "__len__"):
            text = str(value)
        else:
            text = bounded_repr(value)
    except Exception as error:  # noqa: BLE001 - a user's object may fail in its repr
        text = f"({type(error).__name__} in its repr)"
    text = " ".join(text[: 4 * MAX_CELL_CHARS].replace("|", "\\|").split())
    return text if len(text) <= MAX_CELL_CHARS else f"{text[: MAX_CELL_CHARS - 1]}…"


def markdown_table(head: Iterable[Any], rows: Iterable[Sequence[Any]]) -> str:
    """Return a Markdown table with cells of bounded length."""
    names = [table_cell(name) for name in head]
    lines = ["| " + " | ".join(names) + " |", "|" + "---|" * len(names)]
    lines += ["| " + " | ".join(table_cell(value) for value in row) + " |" for row in rows]
    return "\n".join(lines)


def fenced(text: str, language: str = "") -> str:
    """Return the text in a code fence longer than any fence inside it."""
    fence = "```"
    while fence in text:
        fence += "`"
    return f"{fence}{language}\n{text}\n{fence}"
