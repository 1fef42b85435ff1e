"""Text of bounded size: cuts, cells, tables, fences. Knows no library and no agent."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from acp_notebook.kernel.context.kinds import derives, is_exactly, is_scalar
from acp_notebook.kernel.context.plain_repr import bounded_repr

MAX_CELL_CHARS = 60


def bounded(text: str, budget: int) -> str:
    """Return the text; a longer one is cut in the middle and says how much was left out."""
    if len(text) <= budget:
        return text
    head, tail = budget * 3 // 4, budget // 8
    left_out = len(text) - head - tail
    return f"{text[:head]}\n… {left_out:,} characters left out …\n{text[-tail:]}"


def table_cell(value: Any) -> str:
    """Return a value as one short line that cannot break a table, without foreign code."""
    if is_exactly(value, float) or (is_scalar(value) and derives(value, float)):
        return f"{value:.6g}"
    if derives(value, str):
        text = str.__getitem__(value, slice(MAX_CELL_CHARS + 1))
    elif is_scalar(value) and not is_exactly(value, int, bytes, bytearray):
        text = str(value)
    else:
        text = bounded_repr(value)
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
