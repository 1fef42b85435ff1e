"""Words that an agent was told and nobody else may read: kept out of whatever it says back.

Knows no protocol. A word that an agent cuts in two is not found.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

HIDDEN: Final = "(hidden)"


class Redaction:
    """The words of one connection: random ones of plain letters, so that JSON leaves them alone."""

    def __init__(self) -> None:
        self._words: list[str] = []

    def add(self, words: Iterable[str]) -> None:
        """Hide these from now on."""
        self._words += words

    def in_bytes(self, data: bytes) -> bytes:
        """The data without the words."""
        for word in self._words:
            data = data.replace(word.encode(), HIDDEN.encode())
        return data

    def in_text(self, text: str) -> str:
        """The text without the words."""
        for word in self._words:
            text = text.replace(word, HIDDEN)
        return text
