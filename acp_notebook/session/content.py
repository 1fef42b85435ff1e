"""Content blocks: what messages, tool output and prompts are made of.

A block keeps the wire object it came from (`raw`), so that nothing an agent said is lost; a view
reduces it. Pure values: knows no session and no wire name.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

Json = Mapping[str, Any]


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
