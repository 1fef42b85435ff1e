"""Content blocks on the wire, the same in both versions. Knows no message."""

from __future__ import annotations

from typing import Any

from acp_notebook.protocol import fields
from acp_notebook.protocol.fields import Json, Malformed, optional_text
from acp_notebook.session.content import (
    AudioBlock,
    ContentBlock,
    ImageBlock,
    ResourceBlock,
    ResourceLinkBlock,
    TextBlock,
    UnknownBlock,
)


def read_block(raw: Any) -> ContentBlock:
    """Read one block from its wire object.

    Raises:
        Malformed: The value is no object, or a known type lacks a member.
    """
    kind = fields.text(fields.as_object(raw, "a content block"), "type")
    try:
        return _read(kind, raw)
    except Malformed as error:
        raise Malformed(f"{kind} block: {error}") from None


def blocks(value: Any) -> tuple[ContentBlock, ...]:
    """Read an array of content blocks, leaving out malformed ones.

    Raises:
        Malformed: The value is no array.
    """
    return fields.valid_items(value, read_block)


def _read(kind: str, raw: Json) -> ContentBlock:
    match kind:
        case "text":
            return TextBlock(fields.text(raw, "text"), raw)
        case "image":
            data, mime_type = fields.text(raw, "data"), fields.text(raw, "mimeType")
            return ImageBlock(data, mime_type, optional_text(raw, "uri"), raw)
        case "audio":
            return AudioBlock(fields.text(raw, "data"), fields.text(raw, "mimeType"), raw)
        case "resource_link":
            return _read_link(raw)
        case "resource":
            return _read_resource(raw)
        case _:
            return UnknownBlock(kind, raw)


def _read_link(raw: Json) -> ResourceLinkBlock:
    uri = fields.text(raw, "uri")
    return ResourceLinkBlock(
        uri,
        optional_text(raw, "name") or uri,
        optional_text(raw, "title"),
        optional_text(raw, "description"),
        optional_text(raw, "mimeType"),
        fields.optional_int(raw, "size"),
        raw,
    )


def _read_resource(raw: Json) -> ResourceBlock:
    inner = fields.as_object(raw.get("resource"), "resource")
    text, blob = optional_text(inner, "text"), optional_text(inner, "blob")
    if text is None and blob is None:
        raise Malformed("a resource must hold text or blob")
    uri, mime_type = fields.text(inner, "uri"), optional_text(inner, "mimeType")
    return ResourceBlock(uri, text, blob, mime_type, raw)


def write_block(block: ContentBlock) -> dict[str, Any]:
    """Return the wire object of a block; unchanged, if the block was read."""
    if block.raw:
        return dict(block.raw)
    match block:
        case TextBlock(text=text):
            return {"type": "text", "text": text}
        case ImageBlock(data=data, mime_type=mime_type, uri=uri):
            return fields.given(type="image", data=data, mimeType=mime_type, uri=uri)
        case AudioBlock(data=data, mime_type=mime_type):
            return {"type": "audio", "data": data, "mimeType": mime_type}
        case ResourceLinkBlock():
            return fields.given(
                type="resource_link",
                uri=block.uri,
                name=block.name,
                title=block.title,
                description=block.description,
                mimeType=block.mime_type,
                size=block.size,
            )
        case ResourceBlock():
            inner = fields.given(
                uri=block.uri, mimeType=block.mime_type, text=block.text, blob=block.blob
            )
            return {"type": "resource", "resource": inner}
        case UnknownBlock():
            return dict(block.raw)
