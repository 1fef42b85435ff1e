"""Content blocks: what messages, tool output and prompts are made of.

Both protocol versions write them alike, so there is one reader and one writer. A block keeps the
wire object it came from (`raw`), so that nothing an agent said is lost; a view reduces it.
Knows no session.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

Json = Mapping[str, Any]


class MalformedContent(ValueError):
    """A known block type with members of the wrong kind."""


@dataclass(frozen=True, slots=True)
class TextBlock:
    """Text, Markdown by convention."""

    text: str
    raw: Json = field(default_factory=dict, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class ImageBlock:
    """An image; `data` is base64."""

    data: str = field(repr=False)
    mime_type: str
    uri: str | None = None
    raw: Json = field(default_factory=dict, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class AudioBlock:
    """A sound; `data` is base64."""

    data: str = field(repr=False)
    mime_type: str
    raw: Json = field(default_factory=dict, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class ResourceLinkBlock:
    """A reference to something the reader may fetch."""

    uri: str
    name: str
    title: str | None = None
    description: str | None = None
    mime_type: str | None = None
    size: int | None = None
    raw: Json = field(default_factory=dict, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class ResourceBlock:
    """An embedded resource: `text` or base64 `blob`."""

    uri: str
    text: str | None = None
    blob: str | None = field(default=None, repr=False)
    mime_type: str | None = None
    raw: Json = field(default_factory=dict, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class UnknownBlock:
    """A block type this client does not know; kept whole and shown generically."""

    type: str
    raw: Json


ContentBlock = (
    TextBlock | ImageBlock | AudioBlock | ResourceLinkBlock | ResourceBlock | UnknownBlock
)


def read_block(raw: Any) -> ContentBlock:
    """Read one block from its wire object.

    Raises:
        MalformedContent: A known type lacks a member, or the value is no object.
    """
    if not isinstance(raw, Mapping) or not isinstance(raw.get("type"), str):
        raise MalformedContent(f"a content block must be an object with a type, got {_kind(raw)}")
    match raw["type"]:
        case "text":
            return TextBlock(_text(raw, "text"), raw)
        case "image":
            return ImageBlock(
                _text(raw, "data"), _text(raw, "mimeType"), optional_text(raw, "uri"), raw
            )
        case "audio":
            return AudioBlock(_text(raw, "data"), _text(raw, "mimeType"), raw)
        case "resource_link":
            return _read_link(raw)
        case "resource":
            return _read_resource(raw)
        case other:
            return UnknownBlock(other, raw)


def _read_link(raw: Json) -> ResourceLinkBlock:
    uri = _text(raw, "uri")
    size = raw.get("size")
    return ResourceLinkBlock(
        uri,
        optional_text(raw, "name") or uri,
        optional_text(raw, "title"),
        optional_text(raw, "description"),
        optional_text(raw, "mimeType"),
        size if isinstance(size, int) and not isinstance(size, bool) else None,
        raw,
    )


def _read_resource(raw: Json) -> ResourceBlock:
    inner = raw.get("resource")
    if not isinstance(inner, Mapping):
        raise MalformedContent("a resource block must hold a resource object")
    text, blob = optional_text(inner, "text"), optional_text(inner, "blob")
    if text is None and blob is None:
        raise MalformedContent("a resource must hold text or blob")
    return ResourceBlock(_text(inner, "uri"), text, blob, optional_text(inner, "mimeType"), raw)


def write_block(block: ContentBlock) -> dict[str, Any]:
    """The wire object of a block; a block that was read goes out as it came in."""
    if block.raw:
        return dict(block.raw)
    match block:
        case TextBlock(text=text):
            return {"type": "text", "text": text}
        case ImageBlock(data=data, mime_type=mime_type, uri=uri):
            return _without_none(type="image", data=data, mimeType=mime_type, uri=uri)
        case AudioBlock(data=data, mime_type=mime_type):
            return {"type": "audio", "data": data, "mimeType": mime_type}
        case ResourceLinkBlock():
            return _without_none(
                type="resource_link",
                uri=block.uri,
                name=block.name,
                title=block.title,
                description=block.description,
                mimeType=block.mime_type,
                size=block.size,
            )
        case ResourceBlock():
            inner = _without_none(
                uri=block.uri, mimeType=block.mime_type, text=block.text, blob=block.blob
            )
            return {"type": "resource", "resource": inner}
        case UnknownBlock():
            return dict(block.raw)


def optional_text(raw: Json, key: str) -> str | None:
    """A string member, or None for anything else: optional members are read leniently."""
    value = raw.get(key)
    return value if isinstance(value, str) else None


def _text(raw: Json, key: str) -> str:
    value = raw.get(key)
    if not isinstance(value, str):
        raise MalformedContent(
            f"{raw.get('type')} block: {key} must be a string, got {_kind(value)}"
        )
    return value


def _kind(value: Any) -> str:
    return "nothing" if value is None else type(value).__name__


def _without_none(**members: Any) -> dict[str, Any]:
    return {key: value for key, value in members.items() if value is not None}
