"""The bounded output of a terminal's command, for the agent and for the view.

Starts no process; knows no wire.
"""

from __future__ import annotations

import codecs
from typing import Final

from acp_notebook.session import updates as u

DEFAULT_LIMIT_BYTES: Final = 1024 * 1024
MAX_LIMIT_BYTES: Final = 16 * 1024 * 1024
"""The most that is kept, whatever the agent asks for."""

VIEW_BYTES: Final = 256 * 1024

_CONTINUATION, _CONTINUATION_MASK = 0x80, 0xC0


class KeptText:
    """The end of an output as text of at most `limit` bytes of UTF-8.

    Old text is cut from the beginning, whole characters at a time. Bytes that are no UTF-8 are
    replaced; a character split between two reads is not.
    """

    def __init__(self, limit: int | None) -> None:
        self._limit = min(DEFAULT_LIMIT_BYTES if limit is None else max(limit, 0), MAX_LIMIT_BYTES)
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._kept = bytearray()
        self._is_truncated = False

    def feed(self, data: bytes, *, is_last: bool = False) -> None:
        """Append output."""
        self._kept += self._decoder.decode(data, is_last).encode()
        # Cutting moves all that is kept, so it waits for twice the limit.
        if len(self._kept) > 2 * self._limit:
            self._cut()

    def _cut(self) -> None:
        start = len(self._kept) - self._limit
        if start <= 0:
            return
        while start < len(self._kept) and self._kept[start] & _CONTINUATION_MASK == _CONTINUATION:
            start += 1
        del self._kept[:start]
        self._is_truncated = True

    def read(self) -> tuple[str, bool]:
        """Return the text, and whether its beginning was cut."""
        self._cut()
        return self._kept.decode(), self._is_truncated


class ViewFeed:
    """Turns output into updates of the session's terminal, bounded to its last part."""

    def __init__(self, terminal_id: u.TerminalId) -> None:
        self._terminal_id = terminal_id
        self._tail = bytearray()
        self._unshown = 0
        self._shown = 0

    def feed(self, data: bytes) -> None:
        """Append output."""
        self._tail += data
        self._unshown += len(data)
        if len(self._tail) > 2 * VIEW_BYTES:
            del self._tail[:-VIEW_BYTES]

    def take(self) -> list[u.SessionUpdate]:
        """Return the updates since the last call: appended bytes or, after a flood, a snapshot."""
        if not self._unshown:
            return []
        if self._shown + self._unshown > 2 * VIEW_BYTES:
            snapshot = bytes(self._tail[-VIEW_BYTES:])
            self._shown, self._unshown = len(snapshot), 0
            return [u.TerminalUpdate(self._terminal_id, output=snapshot)]
        data = bytes(self._tail[-self._unshown :])
        self._shown += len(data)
        self._unshown = 0
        return [u.TerminalChunk(self._terminal_id, data)]
