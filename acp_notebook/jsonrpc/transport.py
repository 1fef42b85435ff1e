"""Transports of frames: a stream of lines, a pair in memory, and a recorder around either.

A frame is the bytes of one message without its line end. Knows no JSON.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal, Protocol, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable

logger = logging.getLogger(__name__)

DEFAULT_MAX_LINE_BYTES: Final = 64 * 1024 * 1024
READ_BYTES: Final = 64 * 1024
CLOSE_TIMEOUT_S: Final = 1.0
"""How long a closing stream may take to write what is buffered."""

Direction: TypeAlias = Literal["sent", "received"]
_Frames: TypeAlias = "asyncio.Queue[bytes | Oversized | None]"


@dataclass(frozen=True, slots=True)
class Oversized:
    """A line above the size limit. Its bytes were dropped; later lines are read as usual."""

    size: int
    """The length of the line in bytes."""


class Transport(Protocol):
    """Carries frames both ways, in order."""

    async def receive(self) -> bytes | Oversized | None:
        """Wait for the next frame; `None` at the end, and at every later call."""

    def send(self, frame: bytes) -> None:
        """Queue a frame without blocking; after the end the frame is dropped."""

    async def drain(self) -> None:
        """Wait until the transport can take more."""

    async def aclose(self) -> None:
        """End both directions. May be called more than once."""


class LineReader:
    """Splits a stream of bytes into lines, independent of the read boundaries. Does no I/O.

    Blank lines are dropped and CRLF counts as LF. The cost is linear in the bytes fed.
    """

    def __init__(self, max_line_bytes: int = DEFAULT_MAX_LINE_BYTES) -> None:
        self._max_line_bytes = max_line_bytes
        self._kept = bytearray()
        self._size = 0

    def feed(self, data: bytes) -> list[bytes | Oversized]:
        """Add the bytes of one read; return the lines that they complete."""
        lines: list[bytes | Oversized] = []
        *ends, rest = data.split(b"\n")
        for end in ends:
            self._extend(end)
            lines.extend(self.finish())
        self._extend(rest)
        return lines

    def finish(self) -> list[bytes | Oversized]:
        """Return the unfinished line, if any, as at the end of the stream."""
        line, size = bytes(self._kept), self._size
        self._kept, self._size = bytearray(), 0
        if size > self._max_line_bytes:
            return [Oversized(size)]
        line = line.removesuffix(b"\r")
        return [line] if line.strip() else []

    def _extend(self, data: bytes) -> None:
        self._size += len(data)
        if self._size > self._max_line_bytes:
            self._kept = bytearray()
        else:
            self._kept += data


class StreamTransport:
    """One line per frame over a pair of asyncio streams."""

    def __init__(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        *,
        max_line_bytes: int = DEFAULT_MAX_LINE_BYTES,
    ) -> None:
        self._reader = reader
        self._writer = writer
        self._lines = LineReader(max_line_bytes)
        self._ready: deque[bytes | Oversized] = deque()
        self._at_end = False
        self._closed = False

    @property
    def is_closed(self) -> bool:
        """Whether this side has closed the transport."""
        return self._closed

    async def receive(self) -> bytes | Oversized | None:
        """Wait for the next line; `None` at the end of the stream or after `aclose`."""
        while not self._closed:
            if self._ready:
                return self._ready.popleft()
            if self._at_end:
                break
            await self._read()
        return None

    async def _read(self) -> None:
        try:
            data = await self._reader.read(READ_BYTES)
        except OSError:
            # A reset pipe or socket, and our own `aclose`: an end like any other.
            data = b""
        self._at_end = not data
        self._ready.extend(self._lines.feed(data) if data else self._lines.finish())

    def send(self, frame: bytes) -> None:
        """Write a line; what the peer has not read yet is buffered without limit."""
        if not self._closed and not self._writer.is_closing():
            self._writer.write(frame + b"\n")

    async def drain(self) -> None:
        """Wait until the write buffer has fallen below its limit."""
        with contextlib.suppress(OSError):
            await self._writer.drain()

    async def aclose(self) -> None:
        """Close the writing side and end a waiting `receive`."""
        if self._closed:
            return
        self._closed = True
        # The only way to end a pending read without cancelling the task that awaits it.
        self._reader.set_exception(ConnectionAbortedError("the transport was closed"))
        self._writer.close()
        closing = asyncio.ensure_future(self._writer.wait_closed())
        closing.add_done_callback(_note_closed)
        # A timeout must not cancel the wait: that would cancel a future of the stream's own.
        if not (await asyncio.wait({closing}, timeout=CLOSE_TIMEOUT_S))[0]:
            # The peer does not read: what is buffered for it is dropped.
            # (Aborting a pipe that has just been closed raises AttributeError.)
            with contextlib.suppress(AttributeError):
                self._writer.transport.abort()


def _note_closed(closing: asyncio.Future[None]) -> None:
    if not closing.cancelled() and isinstance(closing.exception(), OSError):
        logger.debug("The peer was gone before the stream was closed: %s", closing.exception())


class MemoryTransport:
    """One end of a pair in one process and one event loop."""

    def __init__(self, inbox: _Frames, outbox: _Frames) -> None:
        self._inbox = inbox
        self._outbox = outbox
        self._closed = False

    @classmethod
    def pair(cls) -> tuple[MemoryTransport, MemoryTransport]:
        """Return two ends: each receives what the other sends."""
        there: _Frames = asyncio.Queue()
        back: _Frames = asyncio.Queue()
        return cls(back, there), cls(there, back)

    async def receive(self) -> bytes | Oversized | None:
        """Wait for the next frame; `None` once either end is closed and all frames are read."""
        if self._closed:
            return None
        frame = await self._inbox.get()
        if frame is None or self._closed:
            # Every later call has to find the end too.
            self._inbox.put_nowait(None)
            return None
        return frame

    def send(self, frame: bytes) -> None:
        """Put a frame into the other end's inbox."""
        if not self._closed:
            self._outbox.put_nowait(frame)

    async def drain(self) -> None:
        """Return at once: the queue has no limit."""

    async def aclose(self) -> None:
        """Close both ends; the other one can still read what was sent to it."""
        if not self._closed:
            self._closed = True
            self._inbox.put_nowait(None)
            self._outbox.put_nowait(None)


class RecordingTransport:
    """Passes everything on and records each frame, in the order of the wire.

    Args:
        inner: What carries the frames.
        record: Gets each frame, a sent one as it goes out.
        redact_received: Takes secrets out of a received frame, for everybody; called once for each.
    """

    def __init__(
        self,
        inner: Transport,
        record: Callable[[Direction, bytes], None],
        redact_received: Callable[[bytes], bytes] = bytes,
    ) -> None:
        self._inner = inner
        self._record = record
        self._redact_received = redact_received

    async def receive(self) -> bytes | Oversized | None:
        """Wait for the next frame of the inner transport."""
        frame = await self._inner.receive()
        if isinstance(frame, bytes):
            frame = self._redact_received(frame)
            self._note("received", frame)
        return frame

    def send(self, frame: bytes) -> None:
        """Send on the inner transport."""
        self._note("sent", frame)
        self._inner.send(frame)

    async def drain(self) -> None:
        """Wait for the inner transport."""
        await self._inner.drain()

    async def aclose(self) -> None:
        """Close the inner transport."""
        await self._inner.aclose()

    def _note(self, direction: Direction, frame: bytes) -> None:
        try:
            self._record(direction, frame)
        except Exception:
            # A failing recorder must not end the connection.
            logger.exception("A frame could not be recorded.")
