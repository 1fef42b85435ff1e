"""Redaction of secrets that this client sends to an agent, in all that the agent sends back.

Knows no protocol. A secret that an agent splits across messages is not found.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from acp_notebook.jsonrpc import Oversized, Transport

HIDDEN: Final = "(hidden)"


class Redaction:
    """The secrets of one connection: random words of plain letters, which JSON does not escape."""

    def __init__(self) -> None:
        self._words: list[str] = []

    def add(self, words: Iterable[str]) -> None:
        """Redact these words from now on."""
        self._words += words

    def in_bytes(self, data: bytes) -> bytes:
        """Return the data without the secrets."""
        for word in self._words:
            data = data.replace(word.encode(), HIDDEN.encode())
        return data

    def in_text(self, text: str) -> str:
        """Return the text without the secrets."""
        for word in self._words:
            text = text.replace(word, HIDDEN)
        return text


class RedactingTransport:
    """Wraps a transport and redacts the frames that it receives."""

    def __init__(self, inner: Transport, redaction: Redaction) -> None:
        self._inner = inner
        self._redaction = redaction

    async def receive(self) -> bytes | Oversized | None:
        """Wait for the next frame and redact it."""
        frame = await self._inner.receive()
        return self._redaction.in_bytes(frame) if isinstance(frame, bytes) else frame

    def send(self, frame: bytes) -> None:
        """Send on the inner transport."""
        self._inner.send(frame)

    async def drain(self) -> None:
        """Wait for the inner transport."""
        await self._inner.drain()

    async def aclose(self) -> None:
        """Close the inner transport."""
        await self._inner.aclose()
