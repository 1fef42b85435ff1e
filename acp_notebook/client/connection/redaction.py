"""Redaction of secrets that this client sends to an agent, in all that the agent sends back.

A secret is random, so a fragment of `LEAST_CHARS` is a part of it and no chance: each is redacted,
wherever it stands. What an agent says in smaller pieces is `redacted_pieces`' part. A secret in
another encoding, or spread over unrelated texts, is not found. Knows no protocol.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from acp_notebook.client.connection.redacted_pieces import RedactedPieces
from acp_notebook.client.connection.secret import Secret, without

# JSON may write any character by its number, and a slash after a backslash.
_SPELLED: Final = re.compile(rb"\\u00[2-7]|\\/")
_ESCAPE: Final = re.compile(rb"\\(?:u00([2-7][0-9a-fA-F])|(/)|.)", re.DOTALL)
_PLAIN: Final = frozenset(b"-_/")


class Redaction:
    """The secrets of one connection: random words of letters, digits, `-` and `_`."""

    def __init__(self) -> None:
        self._secrets: list[Secret] = []
        self._pieces = RedactedPieces(self._secrets)

    def add(self, words: Iterable[str]) -> None:
        """Redact these words from now on."""
        self._secrets += map(Secret, words)

    def in_received(self, frame: bytes) -> bytes:
        """Return a frame of the agent's without the secrets; to be called once for each."""
        if not self._secrets:
            return frame
        if _SPELLED.search(frame):
            frame = _ESCAPE.sub(_unescaped, frame)
        return self.in_bytes(self._pieces.in_frame(frame))

    def in_bytes(self, data: bytes) -> bytes:
        """Return the data without the secrets."""
        return without(data, [span for secret in self._secrets for span in secret.spans(data)])

    def in_text(self, text: str) -> str:
        """Return the text without the secrets."""
        return self.in_bytes(text.encode(errors="surrogatepass")).decode(errors="surrogatepass")


def _unescaped(match: re.Match[bytes]) -> bytes:
    char = bytes([int(match[1], 16)]) if match[1] else match[2] or b""
    return char if char.isalnum() or _PLAIN.issuperset(char or b"\\") else match[0]
