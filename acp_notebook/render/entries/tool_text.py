"""A tool's text for its reader: without terminal codes and outer fences.

By convention a tool's text is Markdown. The output of commands and searches is not: there `#`
begins a comment and `|` is a pipe, so it stays unchanged. Knows no tool call, only its kind.
"""

from __future__ import annotations

import re
from typing import Final

from markupsafe import Markup

from acp_notebook.characters import mark_output
from acp_notebook.render.entries.content import render_block, text_part
from acp_notebook.render.entries.json_view import pre_part
from acp_notebook.render.markup import Theme
from acp_notebook.session.content import ContentBlock, TextBlock

_PRINTING_KINDS: Final = frozenset({"execute", "search"})
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})([^\n`]*)\n")
_SEQUENCE = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]"  # CSI: colours and the like
    r"|\x1b[\]P^_X][^\x07\x1b]*(?:\x07|\x1b\\)"  # OSC, DCS and other strings
    r"|\x1b[ -/]*[0-Z\\^-~]"  # two-character escapes
)


def tool_text(kind: str, text: str) -> str:
    """Return the text without terminal codes, except a file's, which are part of it."""
    if kind != "read" and "\x1b" in text:
        text = _SEQUENCE.sub("", text)
    return without_outer_fence(text) if kind in _PRINTING_KINDS else text


def render_output(theme: Theme, kind: str, block: ContentBlock, key: str) -> Markup:
    """Render a block from a tool of this kind, for its card."""
    if not isinstance(block, TextBlock):
        return render_block(theme, block, key)
    text = tool_text(kind, block.text)
    return pre_part(theme, text) if kind in _PRINTING_KINDS else text_part(theme, mark_output(text))


def without_outer_fence(text: str) -> str:
    """Remove a fence around the whole text; any other text stays unchanged."""
    stripped = text.strip("\n")
    opening = _FENCE.match(stripped)
    if opening is None:
        return text
    mark = opening[1]
    inner, _, closing = stripped[opening.end() - 1 :].rstrip().rpartition("\n")
    closing_mark = closing.strip()
    is_closed = closing_mark.startswith(mark) and not closing_mark.strip(mark[0])
    # A closing line inside means that the last fence belongs to another block.
    ends_before = re.search(rf"^ {{0,3}}{re.escape(mark)}{mark[0]}*[ \t]*$", inner, re.MULTILINE)
    return inner[1:] if is_closed and not ends_before else text
