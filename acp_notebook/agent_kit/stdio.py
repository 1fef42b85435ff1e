"""This process's stdin and stdout as a transport, on POSIX and Windows. Knows no ACP.

stdout belongs to the protocol: a stray `print`, or a child process's output, would break it.
So the transport takes both streams; the rest of the process gets stderr and an empty stdin.
"""

from __future__ import annotations

import asyncio
import os
import sys
import threading
from collections import deque
from typing import Final

from acp_notebook.jsonrpc import LineReader, Oversized

READ_BYTES: Final = 64 * 1024
STDIN, STDOUT, STDERR = 0, 1, 2


class StdioTransport:
    """Reads in a thread. `send` blocks while the client does not read: no agent runs ahead."""

    def __init__(self, read_fd: int, write_fd: int) -> None:
        self._read_fd = read_fd
        self._write_fd = write_fd
        self._loop = asyncio.get_running_loop()
        self._chunks: asyncio.Queue[bytes] = asyncio.Queue()
        self._lines = LineReader()
        self._ready: deque[bytes | Oversized] = deque()
        self._ended = False
        # A daemon, because nothing can end a blocking read of stdin.
        threading.Thread(target=self._read, name="acp-stdin", daemon=True).start()

    @classmethod
    def take(cls) -> StdioTransport:
        """Take over stdin and stdout; replace them by an empty input and by stderr."""
        sys.stdout.flush()
        read_fd, write_fd = os.dup(STDIN), os.dup(STDOUT)
        nothing = os.open(os.devnull, os.O_RDONLY)
        os.dup2(nothing, STDIN)
        os.close(nothing)
        os.dup2(STDERR, STDOUT)
        return cls(read_fd, write_fd)

    async def receive(self) -> bytes | Oversized | None:
        """Wait for the next line; `None` once the client has closed its end."""
        while not self._ready and not self._ended:
            data = await self._chunks.get()
            self._ended = not data
            self._ready.extend(self._lines.feed(data) if data else self._lines.finish())
        return self._ready.popleft() if self._ready else None

    def send(self, frame: bytes) -> None:
        """Write a line; if the client has gone, `receive` returns the end."""
        data = memoryview(frame + b"\n")
        try:
            while data:
                data = data[os.write(self._write_fd, data) :]
        except OSError:
            self._chunks.put_nowait(b"")

    async def drain(self) -> None:
        """Return at once: `send` buffers nothing."""

    async def aclose(self) -> None:
        """End a waiting `receive`. The streams stay open until the process ends."""
        self._chunks.put_nowait(b"")

    def _read(self) -> None:
        data = b"unread"
        while data:
            try:
                data = os.read(self._read_fd, READ_BYTES)
            except OSError:
                data = b""
            try:
                self._loop.call_soon_threadsafe(self._chunks.put_nowait, data)
            except RuntimeError:
                # The loop is closed: the agent ended before its client.
                return
