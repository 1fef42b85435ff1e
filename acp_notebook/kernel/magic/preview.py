"""`--preview`: the blocks that a prompt would send, with sizes. Sends nothing; knows no agent."""

from __future__ import annotations

import base64
import json
from collections.abc import Sequence

from markupsafe import Markup, escape

from acp_notebook.kernel.magic.displays import show_bundle
from acp_notebook.protocol.content import write_block
from acp_notebook.render.labels import count_words, size_words
from acp_notebook.render.markup import clean
from acp_notebook.session.content import (
    ContentBlock,
    ImageBlock,
    ResourceBlock,
    ResourceLinkBlock,
    TextBlock,
)

CHARS_PER_TOKEN = 4
_PRE = (
    "margin:2px 0 10px 0;padding:6px 8px;max-height:360px;overflow:auto;white-space:pre-wrap;"
    "background:rgba(128,128,128,0.08);border-radius:4px;font-size:12px"
)
_NOTE = "margin:4px 0;font-size:12px"


def show_preview(blocks: Sequence[ContentBlock], recipient: str, notes: Sequence[str]) -> None:
    """Show the blocks of a prompt with notes about them; `recipient` is in words."""
    chars = sum(len(_text(block)) for block in blocks)
    pictures = sum(isinstance(block, ImageBlock) for block in blocks)
    total = f"{count_words(len(blocks), 'block')}, {chars:,} characters (about "
    total += f"{-(-chars // CHARS_PER_TOKEN):,} tokens)"
    total += f", {count_words(pictures, 'picture')}" if pictures else ""
    head = f"Would be sent to {recipient}: {total}. Nothing was sent."
    html = Markup("<div><b>{}</b></div>").format(head)
    lines = [head]
    for note in notes:
        html += Markup('<div style="{}">{}</div>').format(_NOTE, f"Note: {note}")
        lines.append(f"Note: {note}")
    for number, block in enumerate(blocks, 1):
        title = f"{number}. {_title(block)}"
        html += Markup("<div>{}</div>").format(title) + _body(block)
        lines += ["", title, _text(block)]
    show_bundle(html, clean("\n".join(lines).rstrip()))


def _title(block: ContentBlock) -> str:
    match block:
        case TextBlock(text=text):
            return f"text, {len(text):,} characters"
        case ImageBlock():
            size = len(base64.b64decode(block.data))
            named = f" of {block.uri}" if block.uri else ""
            return f"image{named}, {block.mime_type}, {size_words(size)}"
        case ResourceBlock(text=str(text)):
            kind = block.mime_type or "text"
            return f"resource {block.uri}, {kind}, {len(text):,} characters"
        case ResourceLinkBlock():
            extent = "" if block.size is None else f", {size_words(block.size)}"
            return f"link to {block.uri}{extent}"
        case _:
            return str(write_block(block).get("type", "block"))


def _text(block: ContentBlock) -> str:
    match block:
        case TextBlock(text=text) | ResourceBlock(text=str(text)):
            return text
        case ImageBlock() | ResourceLinkBlock():
            return ""
        case _:
            return json.dumps(write_block(block), ensure_ascii=False)


def _body(block: ContentBlock) -> Markup:
    if isinstance(block, ImageBlock):
        return Markup(
            '<div style="margin:2px 0 10px 0"><img src="data:{};base64,{}" alt="{}" '
            'style="max-width:320px;max-height:240px"></div>'
        ).format(block.mime_type, block.data, block.uri or "picture")
    text = _text(block)
    return (
        Markup('<pre style="{}">{}</pre>').format(_PRE, escape(clean(text))) if text else Markup()
    )
