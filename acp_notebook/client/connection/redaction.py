"""Redaction of secrets that this client sends to an agent, in all that the agent sends back.

Knows no protocol. A secret that an agent splits across messages is not found.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

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
