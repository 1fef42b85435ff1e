"""Content blocks: the parts of messages, tool output and prompts. Knows no session.

A block keeps its wire object (`raw`), so that nothing of the agent's is lost. `Content` is what
grows: the blocks of one message.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple, overload

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


class Place(NamedTuple):
    """A place in a content: so many blocks, and so many characters of the next one."""

    block: int
    char: int


START: Final = Place(0, 0)


class Content(Sequence[ContentBlock]):
    """The blocks of a message, to which chunks are appended.

    Chunk borders mean nothing in plain text: adjacent text without annotations is one block,
    however it came. Its pieces are kept apart while it grows, each at least twice as long as the
    next one. So a million characters are at most twenty pieces, and none is copied more than twenty
    times.
    """

    __slots__ = ("_closed", "_pieces")

    def __init__(self, blocks: Iterable[ContentBlock] = ()) -> None:
        self._closed: list[ContentBlock] = []
        self._pieces: list[str] = []
        for block in blocks:
            self.append(block)

    def append(self, block: ContentBlock) -> None:
        """Append a block, or the text of a plain text block to the text at the end."""
        if isinstance(block, TextBlock) and _is_plain(block):
            pieces = self._pieces
            if block.text or not pieces:
                pieces.append(block.text)
            while len(pieces) > 1 and len(pieces[-2]) < 2 * len(pieces[-1]):
                last = pieces.pop()
                pieces[-1] += last
            return
        if self._pieces:
            self._closed.append(self._growing())
            self._pieces.clear()
        self._closed.append(block)

    def _growing(self) -> TextBlock:
        self._pieces[:] = ["".join(self._pieces)]
        return TextBlock(self._pieces[0])

    @property
    def text(self) -> str:
        """The text blocks, joined without separator."""
        return text_of(self)

    def text_until(self, place: Place) -> str:
        """The text before a place."""
        rest = sum(len(b.text) for _, b in self.since(place) if isinstance(b, TextBlock))
        text = self.text
        return text[: len(text) - rest]

    @property
    def end(self) -> Place:
        """The place behind everything so far; later chunks come after it."""
        return Place(len(self._closed), sum(map(len, self._pieces)))

    def since(self, place: Place) -> Iterator[tuple[int, ContentBlock]]:
        """Return what follows a place, with block numbers; the cost is that of the returned part.

        The first block is the rest of a text of which the place has the beginning.
        """
        for number in range(place.block, len(self._closed)):
            block = self._closed[number]
            if number == place.block and place.char and isinstance(block, TextBlock):
                block = TextBlock(block.text[place.char :])
            yield number, block
        char = place.char if place.block == len(self._closed) else 0
        if self.end.char > char:
            yield len(self._closed), TextBlock(self._tail(self.end.char - char))

    def _tail(self, length: int) -> str:
        found: list[str] = []
        for piece in reversed(self._pieces):
            if length <= 0:
                break
            found.append(piece[max(len(piece) - length, 0) :])
            length -= len(piece)
        return "".join(reversed(found))

    def copy(self) -> Content:
        """Return a copy that later chunks do not change."""
        copied = Content()
        copied._closed, copied._pieces = self._closed.copy(), self._pieces.copy()
        return copied

    def __len__(self) -> int:
        return len(self._closed) + bool(self._pieces)

    def __iter__(self) -> Iterator[ContentBlock]:
        yield from self._closed
        if self._pieces:
            yield self._growing()

    @overload
    def __getitem__(self, index: int) -> ContentBlock: ...
    @overload
    def __getitem__(self, index: slice) -> list[ContentBlock]: ...
    def __getitem__(self, index: int | slice) -> ContentBlock | list[ContentBlock]:
        return list(self)[index]

    def __eq__(self, other: object) -> bool:
        return list(self) == list(other) if isinstance(other, (Content, list)) else NotImplemented

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Content({list(self)!r})"


def text_of(blocks: Iterable[ContentBlock]) -> str:
    """Return the text of the text blocks, joined without separator."""
    return "".join(block.text for block in blocks if isinstance(block, TextBlock))


def _is_plain(block: TextBlock) -> bool:
    """Whether a block has nothing but its text: no annotations and no `_meta`."""
    return all(value is None or key in {"type", "text"} for key, value in block.raw.items())
