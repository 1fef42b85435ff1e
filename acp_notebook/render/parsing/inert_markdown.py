"""An agent's Markdown -> Markdown without active HTML, for exports. Knows no session."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from markdown_it.token import Token

from acp_notebook.budget import Budget, TooCostly
from acp_notebook.render.parsing.markdown import parse_blocks

_SECONDS: Final = 1.0
# In a line of text: an escaped character, a code span, backticks that open none, or a possible
# start of an HTML tag. Backticks after an escaped one are a separate run.
_PARTS = re.compile(r"\\[\s\S]|(`+)(?!`)[\s\S]*?(?<!`)\1(?!`)|`+|<(?=[A-Za-z/!?])")
_TAG_START = re.compile(r"<(?=[A-Za-z/!?]|\Z)")


def inert_markdown(text: str, budget: Budget | None = None) -> str:
    """Return the Markdown with every HTML tag outside of code escaped.

    If it is too costly to find the code, every tag and every fence is escaped.
    """
    if "<" not in text and "```" not in text and "~~~" not in text:
        return text
    # If a fence was left open, the sign ends up inside.
    try:
        tokens = parse_blocks(text + "\n\n¶", budget or Budget(_SECONDS))
    except TooCostly:
        unfenced = text.replace("```", "\\`\\`\\`").replace("~~~", "\\~\\~\\~")
        return _TAG_START.sub("&lt;", unfenced)
    lines = text.split("\n")
    done: set[int] = set()
    for token in tokens:
        if token.map is None or token.map[0] >= len(lines):
            continue
        start, end = token.map[0], min(token.map[1], len(lines))
        if token.type == "table_open":
            # Cells end code spans, so no span is trusted in a table.
            lines[start:end] = [_TAG_START.sub("&lt;", line) for line in lines[start:end]]
            done.update(range(start, end))
        if token.type in {"fence", "code_block"}:
            done.update(range(start, end))
        elif token.type == "inline" and start not in done:
            inert = _PARTS.sub(_inert_part, "\n".join(lines[start:end]))
            lines[start:end] = inert.split("\n")
            done.update(range(start, end))
    inert = "\n".join(
        line if number in done else _PARTS.sub(_inert_part, line)
        for number, line in enumerate(lines)
    )
    return inert + _closing_fence(tokens)


def _closing_fence(tokens: Sequence[Token]) -> str:
    # An open fence, at any depth, would swallow the text after the message.
    last = next((token for token in reversed(tokens) if token.level == 0), None)
    return "" if last is None or last.type == "paragraph_close" else f"\n{last.markup}"


def _inert_part(match: re.Match[str]) -> str:
    part = match[0]
    # A line of a code span may begin with a tag, and blocks are found before spans.
    return _TAG_START.sub("&lt;", part) if part == "<" or "\n" in part else part
