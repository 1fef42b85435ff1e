"""Content blocks: the parts of messages, tool output and prompts. Knows no session.

A block keeps its wire object (`raw`), so that nothing of the agent's is lost.
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
    """A reference to a resource that the reader may fetch."""

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
    """A block of an unknown type, kept whole and shown as JSON."""

    type: str
    raw: Json


ContentBlock = (
    TextBlock | ImageBlock | AudioBlock | ResourceLinkBlock | ResourceBlock | UnknownBlock
)
