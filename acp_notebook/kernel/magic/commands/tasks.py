"""The prompts of `%acp fix` and `explain`, and the choice of a code block for `insert`.

Sends nothing and touches no cell.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from acp_notebook.characters import mark_all
from acp_notebook.errors import UsageError
from acp_notebook.kernel.context.sources import Item, cell_item, error_item
from acp_notebook.render.labels import count_words

if TYPE_CHECKING:
    from acp_notebook.client.code_blocks import CodeBlock
    from acp_notebook.kernel.context.cell_log import CellLog

_FIX = (
    "A cell of my notebook failed. Its source and the error are attached. Find the cause, say in "
    "one or two sentences what was wrong, and answer with the whole mended cell as one Python code "
    "block. Do not edit files: I put the code into the notebook myself."
)
_EXPLAIN = (
    "Explain the attached cell of my notebook and what its output means, briefly, for somebody who "
    "reads this notebook. Do not edit files."
)
INSERT_HINT = "Nothing was changed. %acp insert puts the code into a new cell below."
_MARK = re.compile(r"\[(U\+[0-9A-F]{4,6})\]")
_NAMED = 5
_PYTHON = {"", "python", "python3", "py", "ipython"}


@dataclass(frozen=True, slots=True)
class Task:
    """A prepared prompt and its attachment."""

    text: str
    item: Item


def fix_task(log: CellLog, more: str) -> Task:
    """Return the prompt that asks for a fix of the last error.

    Raises:
        UsageError: No cell has failed.
    """
    if log.last_error is None:
        raise UsageError(
            "No cell has failed since the extension was loaded, so there is nothing to fix. "
            "%acp explain explains the previous cell."
        )
    return Task(_with_more(_FIX, more), error_item(log))


def explain_task(log: CellLog, more: str) -> Task:
    """Return the prompt that asks for an explanation of the previous cell.

    Raises:
        UsageError: No cell has run.
    """
    count = log.last_cell
    if count is None:
        raise UsageError("No cell has run before this one, so there is nothing to explain.")
    return Task(_with_more(_EXPLAIN, more), cell_item(log, count))


def choose_block(blocks: Sequence[CodeBlock], number: int | None) -> tuple[int, CodeBlock]:
    """Return the chosen block of a reply, by default the first Python one, and its number from 1.

    Raises:
        UsageError: There is no such block.
    """
    if not blocks:
        raise UsageError("The reply has no code block. Ask the agent for one, then insert it.")
    if number is None:
        own = (n for n, block in enumerate(blocks, 1) if block.language.lower() in _PYTHON)
        number = next(own, 1)
    if not 1 <= number <= len(blocks):
        there = "one code block" if len(blocks) == 1 else f"{len(blocks)} code blocks"
        raise UsageError(f"The reply has {there}, so there is no number {number}.")
    return number, blocks[number - 1]


def inserted_words(number: int, block: CodeBlock, count: int) -> str:
    """Return the report of an insert."""
    language = f" ({block.language})" if block.language else ""
    others = "" if count == 1 else f" of {count}; %acp insert N takes another one"
    words = f"Code block {number}{language}{others}. It is in a new cell below; nothing was run."
    return words + _hidden_words(block.code)


def _hidden_words(code: str) -> str:
    """Return which characters in the code hide or mislead; the code itself stays as it is."""
    found = Counter(_MARK.findall(mark_all(code))) - Counter(_MARK.findall(code))
    if not found:
        return ""
    named = ", ".join(f"{name}: {count:,}" for name, count in found.most_common(_NAMED))
    more = f" and {len(found) - _NAMED:,} other kinds" if len(found) > _NAMED else ""
    count = count_words(found.total(), "character")
    return (
        f" Look before you run it: it holds {count} that can hide or mislead ({named}{more}). "
        "The cell does not show them; the reply does, in brackets."
    )


def _with_more(text: str, more: str) -> str:
    return f"{text}\n\n{more.strip()}" if more.strip() else text
