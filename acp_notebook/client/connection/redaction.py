"""Redaction of secrets that this client sends to an agent, in all that the agent sends back.

A secret is random, so a fragment of `LEAST_CHARS` is a part of it and no chance: each is redacted,
wherever it stands. What goes into a session is left to `redacted_pieces`, which also sees what an
agent says in smaller pieces. A secret in another encoding, or spread over unrelated texts, is not
found. Knows which members of a message a session reads; knows no version.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from acp_notebook.client.connection.redacted_pieces import MAX_DEPTH, RedactedPieces
from acp_notebook.client.connection.secret import HIDDEN, Secret, without
from acp_notebook.protocol.routing import REQUEST_PERMISSION, UPDATE

# The params that a session reads, and that nobody else looks at.
_READ: Final = {UPDATE: ("update",), REQUEST_PERMISSION: ("toolCall", "subject")}
_METHODS: Final = tuple(method.encode() for method in _READ)
# JSON may write any character by its number, and a slash after a backslash.
_SPELLED: Final = re.compile(rb"\\u00[2-7]|\\/")
_ESCAPE: Final = re.compile(rb"\\(?:u00([2-7][0-9a-fA-F])|(/)|.)", re.DOTALL)
_PLAIN: Final = frozenset(b"-_/")
MAX_RETIRED: Final = 16


class Redaction:
    """The secrets of one connection: random words of letters, digits, `-` and `_`."""

    def __init__(self) -> None:
        self._secrets: list[Secret] = []
        self._retired: list[Secret] = []

    def add(self, words: Iterable[str]) -> None:
        """Redact these words from now on."""
        self._secrets += map(Secret, words)

    def retire(self, words: Iterable[str]) -> None:
        """Note that these words are valid no more: only the newest of them are still redacted.

        Each word costs a search in all that the agent says, and an agent may open any number of
        sessions.
        """
        gone = {word.encode() for word in words}
        self._retired += [secret for secret in self._secrets if secret.word in gone]
        for secret in self._retired[:-MAX_RETIRED]:
            self._secrets.remove(secret)
        del self._retired[:-MAX_RETIRED]

    def of_session(self, on_change: Callable[[Mapping[str, str]], object]) -> RedactedPieces:
        """Return the redaction of a session's updates; see there."""
        return RedactedPieces(self._secrets, on_change)

    def in_received(self, frame: bytes) -> bytes:
        """Return a frame of the agent's without the secrets, but for what a session reads."""
        if not self._secrets:
            return frame
        if _SPELLED.search(frame):
            frame = _ESCAPE.sub(_unescaped, frame)
        plain = self.in_bytes(frame)
        if plain == frame or not any(method in frame for method in _METHODS):
            return plain
        try:
            message = json.loads(frame.decode("utf-8-sig"))
        except (ValueError, RecursionError):
            return plain
        is_batch = isinstance(message, list)
        found = [self._in_message(_bounded(each)) for each in (message if is_batch else [message])]
        return json.dumps(found if is_batch else found[0]).encode()

    def _in_message(self, message: Any) -> Any:
        params = message.get("params") if isinstance(message, dict) else None
        if not isinstance(params, dict):
            return self._in_json(message)
        names = _READ.get(str(message.get("method")), ())
        read = {name: params.pop(name) for name in names if name in params}
        found = self._in_json(message)
        found["params"].update(read)
        return found

    def _in_json(self, value: Any) -> Any:
        return json.loads(self.in_bytes(json.dumps(value).encode()))

    def in_bytes(self, data: bytes) -> bytes:
        """Return the data without the secrets."""
        return without(data, [span for secret in self._secrets for span in secret.spans(data)])

    def in_text(self, text: str) -> str:
        """Return the text without the secrets."""
        return self.in_bytes(text.encode(errors="surrogatepass")).decode(errors="surrogatepass")


def _unescaped(match: re.Match[bytes]) -> bytes:
    char = bytes([int(match[1], 16)]) if match[1] else match[2] or b""
    return char if char.isalnum() or _PLAIN.issuperset(char or b"\\") else match[0]


def _bounded(node: Any, depth: int = 0) -> Any:
    """Return JSON that is nowhere deeper than what `RedactedPieces` looks at."""
    if not isinstance(node, (dict, list)):
        return node
    if depth > MAX_DEPTH:
        return HIDDEN
    if isinstance(node, list):
        return [_bounded(item, depth + 1) for item in node]
    return {key: _bounded(value, depth + 1) for key, value in node.items()}
