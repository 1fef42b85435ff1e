"""Outputs and values as content for an agent and for the turn's view: bounded text and images.

Knows MIME types; knows no agent and no shell.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable
from typing import Any, Final

from acp_notebook.kernel.context.describe import describe
from acp_notebook.kernel.context.kinds import is_exactly
from acp_notebook.kernel.context.text import bounded, fenced
from acp_notebook.kernel.tools.results import ToolResult
from acp_notebook.kernel.tools.running.captured_output import Output, Printed, Shown
from acp_notebook.kernel.tools.running.outcome import Outcome
from acp_notebook.session.content import ContentBlock, ImageBlock, TextBlock

MAX_TEXT_CHARS: Final = 30_000
MAX_IMAGES: Final = 6
MAX_IMAGE_CHARS: Final = 4_000_000
_IMAGES: Final = ("image/png", "image/jpeg", "image/gif", "image/webp")
# The types that the turn's view can show; outputs with other types are shown below the view.
_PLAIN: Final = frozenset({*_IMAGES, "text/plain", "text/markdown"})


def agent_result(outcome: Outcome, problem: str) -> ToolResult:
    """Return the result for the agent: the outputs, the problem, the changed variables."""
    outputs = [each for each in outcome.outputs if each is not outcome.value or _is_image(each)]
    content = output_content(outputs, outcome.left_out)
    if outcome.returned is not None:
        content.insert(0, TextBlock(outcome.returned))
    words = [text for text in (problem, outcome.changes.words) if text]
    content += [TextBlock(text) for text in words]
    if not content:
        content.append(TextBlock("Done. There was no output."))
    return ToolResult(tuple(content), is_error=bool(problem))


def shown_content(outcome: Outcome, problem: str) -> list[ContentBlock]:
    """Return the result for the turn's view, with the code's text fenced against Markdown."""
    content = output_content(outcome.outputs, outcome.left_out)
    if problem:
        content.append(TextBlock(problem))
    shown: list[ContentBlock] = [
        TextBlock(fenced(block.text, "text")) if isinstance(block, TextBlock) else block
        for block in content
    ]
    if outcome.changes.words:
        shown.append(TextBlock(outcome.changes.words))
    return shown


def output_content(outputs: Iterable[Output], left_out: int = 0) -> list[ContentBlock]:
    """Return printed text and displayed objects; `left_out` counts those dropped before."""
    found: list[ContentBlock] = []
    room, images = MAX_TEXT_CHARS, 0
    for output in outputs:
        if isinstance(output, Shown):
            image = image_of(output)
            if image is not None and images < MAX_IMAGES:
                images += 1
                found.append(image)
                continue
        text = output.text if isinstance(output, Printed) else _words_of(output)
        if not text.strip():
            continue
        if room <= 0:
            left_out += 1
            continue
        text = bounded(text, room)
        room -= len(text)
        found.append(TextBlock(text))
    if left_out:
        found.append(TextBlock(f"… {left_out:,} more outputs left out"))
    return found


def image_of(shown: Shown) -> ImageBlock | None:
    """Return the output as an image, or None if it is none or too large."""
    for mime_type in _IMAGES:
        data = shown.data.get(mime_type)
        if isinstance(data, bytes):
            data = base64.b64encode(data).decode()
        if isinstance(data, str) and 0 < len(data) <= MAX_IMAGE_CHARS:
            return ImageBlock("".join(data.split()), mime_type)
    return None


def _is_image(output: Output) -> bool:
    return isinstance(output, Shown) and image_of(output) is not None


def _words_of(shown: Shown) -> str:
    for mime_type in ("text/markdown", "text/plain", "text/latex"):
        text = shown.data.get(mime_type)
        if isinstance(text, str) and text:
            return text
    kinds = ", ".join(sorted(shown.data))
    return f"(an output of type {kinds}, shown to the user)"


def belongs_below(shown: Shown) -> bool:
    """Whether the notebook can show an output better than the view: tables, widgets, plots."""
    return not _PLAIN.issuperset(shown.data)


def value_words(value: Any) -> str:
    """Return a tool's return value for an agent: as JSON if possible, else as a description."""
    if value is None:
        return "Done. It returned nothing."
    if is_exactly(value, dict, list, tuple, bool, int, float):
        try:
            return bounded(json.dumps(value, indent=2, ensure_ascii=False), MAX_TEXT_CHARS)
        except (TypeError, ValueError, RecursionError):
            pass
    return describe(value, MAX_TEXT_CHARS)
