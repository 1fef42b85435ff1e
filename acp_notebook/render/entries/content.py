"""Content blocks -> HTML: text, images, sounds, resources, links, unknown blocks.

Text blocks of messages are joined and streamed elsewhere. Knows no entry.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import islice
from typing import Any, Final

from markupsafe import Markup

from acp_notebook.render.entries.consent import shown_text, value_to_allow
from acp_notebook.render.entries.json_view import json_part, pre_part, rest_remark
from acp_notebook.render.labels import size_words
from acp_notebook.render.markup import Theme, join, label
from acp_notebook.render.parsing.markdown import is_safe_link, render_markdown
from acp_notebook.session.content import (
    AudioBlock,
    ContentBlock,
    ImageBlock,
    ResourceBlock,
    ResourceLinkBlock,
    TextBlock,
    UnknownBlock,
)

BLOCKS_SHOWN: Final = 1_000
_IMAGE_TYPES = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})
_BASE64 = re.compile(r"[A-Za-z0-9+/\s]*={0,2}\s*")


def render_block(theme: Theme, block: ContentBlock, key: str) -> Markup:
    """Render a content block (MSG-5)."""
    match block:
        case TextBlock(text=text):
            return text_part(theme, text)
        case ImageBlock():
            return _image(theme, block)
        case AudioBlock(data=data, mime_type=mime_type):
            return _chip(theme, f"Sound, {mime_type}, {size_words(len(data) * 3 // 4)}")
        case ResourceLinkBlock():
            return _link(theme, block)
        case ResourceBlock():
            return _resource(theme, block, key)
        case UnknownBlock(type=kind, raw=raw):
            return json_fold(theme, f"Content of the unknown type {label(kind, 60)}", raw, key)


def render_blocks(theme: Theme, blocks: Sequence[ContentBlock], key: str) -> list[Markup]:
    """Render content blocks, up to a limit of number and time."""
    parts: list[Markup] = []
    for number, block in enumerate(islice(blocks, BLOCKS_SHOWN)):
        if theme.budget.is_spent:
            break
        parts.append(render_block(theme, block, f"{key}{number}"))
    rest = rest_remark(theme, len(blocks) - len(parts), "parts")
    return [*parts, rest] if rest else parts


def block_words(block: ContentBlock) -> str:
    """Return a content block as a phrase, for plain text and lists of attachments."""
    match block:
        case TextBlock(text=text):
            return label(text)
        case ImageBlock(mime_type=mime_type):
            return f"image ({label(mime_type, 40)})"
        case AudioBlock(mime_type=mime_type):
            return f"sound ({label(mime_type, 40)})"
        case ResourceLinkBlock(name=name, title=title):
            return label(title or name)
        case ResourceBlock(uri=uri):
            return label(uri)
        case UnknownBlock(type=kind):
            return label(kind, 60)


def markdown_part(theme: Theme, text: str, *, is_whole: bool = False) -> Markup:
    """Render Markdown; a record leaves formulas to Jupyter."""
    with theme.time_for(len(text)) as budget:
        html = render_markdown(text, as_tex=theme.is_static, budget=budget)
    return theme.markdown(html, is_whole=is_whole)


def text_part(theme: Theme, text: str) -> Markup:
    """Render text as Markdown, up to the theme's limit."""
    limit = theme.limits.text_chars
    body = theme("div", "md", markdown_part(theme, text[:limit], is_whole=True))
    return body + rest_remark(theme, len(text) - limit, "characters")


def json_fold(theme: Theme, title: str, value: Any, key: str) -> Markup:
    """Render a JSON value folded behind a title."""
    shown = value_to_allow(theme, value) if theme.unfolds else json_part(theme, value, key)
    return theme.fold("part fold", join(title), shown, key=key)


def _chip(theme: Theme, words: str) -> Markup:
    return theme("div", "part", theme("span", "chip", label(words, theme.limits.name_chars)))


def _image(theme: Theme, block: ImageBlock) -> Markup:
    name = label(block.uri or "image")
    kind = block.mime_type.lower()
    size = size_words(len(block.data) * 3 // 4)
    if kind not in _IMAGE_TYPES or not block.data or not _BASE64.fullmatch(block.data):
        return _chip(theme, f"Image that cannot be shown: {kind}, {size}")
    if not theme.accepts_image(len(block.data), "an image"):
        return _chip(theme, f"Image not kept here: {kind}, {size}")
    source = f"data:{kind};base64,{''.join(block.data.split())}"
    return theme("div", "part", theme("img", "image", src=source, alt=name))


def _link(theme: Theme, block: ResourceLinkBlock) -> Markup:
    most = theme.limits.name_chars
    name = label(block.title or block.name, most)
    facts = [label(block.uri, most)] if theme.unfolds and block.uri != name else []
    facts += [label(block.mime_type, 60)] if block.mime_type else []
    facts += [size_words(block.size)] if block.size is not None and block.size >= 0 else []
    facts += [label(block.description, most)] if block.description else []
    shown = link(theme, block.uri, name)
    return theme("div", "part link", shown, " ", theme("span", "muted small", " · ".join(facts)))


def link(theme: Theme, address: str, name: str) -> Markup:
    """Render a link to the web; any other address is named, not linked."""
    if is_safe_link(address):
        return theme("a", "", name, href=address, target="_blank", rel="noopener noreferrer")
    return theme("span", "ref", name, title=label(address, 500))


def _resource(theme: Theme, block: ResourceBlock, key: str) -> Markup:
    name = theme("span", "mono", label(block.uri, theme.limits.name_chars))
    if block.text is None:
        size = size_words(len(block.blob or "") * 3 // 4)
        return _chip(theme, f"{block.uri}, {block.mime_type or 'bytes'}, {size}")
    text = shown_text(block.text) if theme.unfolds else block.text
    return theme.fold("part fold", name, pre_part(theme, text), key=key)
