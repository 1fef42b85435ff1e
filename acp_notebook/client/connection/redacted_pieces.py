"""Redaction of a secret that an agent says in pieces, chunk by chunk of one text.

Models stream a few characters at a time, none of which can be told from other text. So each text
is remembered by its last characters: from the twelfth character of the secret on, what continues it
is redacted. Nothing is held back. Knows where `session/update` has texts and what tells them apart;
knows no version.
"""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

from acp_notebook.client.connection.secret import HIDDEN, LEAST_CHARS, Secret, without
from acp_notebook.protocol.routing import UPDATE

_METHOD: Final = UPDATE.encode()
MAX_TEXTS: Final = 256
MAX_DEPTH: Final = 12
# What distinguishes the texts at one place of an update.
_NAMES: Final = frozenset(
    ("sessionUpdate", "messageId", "toolCallId", "terminalId", "terminal_id", "compactionId")
)


class _Text(NamedTuple):
    """A string in an update: where it can be replaced, and the keys that lead to it."""

    holder: Any
    key: Any
    path: tuple[str, ...]


class RedactedPieces:
    """The texts of one connection; `secrets` may grow."""

    def __init__(self, secrets: Sequence[Secret]) -> None:
        self._secrets = secrets
        self._ends: dict[int, bytes] = {}

    def in_frame(self, frame: bytes) -> bytes:
        """Return an agent's frame without what continues a secret in one of its texts."""
        if _METHOD not in frame:
            return frame
        try:
            message = json.loads(frame)
            batch = message if isinstance(message, list) else [message]
            changes = [self._in_message(each) for each in batch if isinstance(each, dict)]
            return json.dumps(message).encode() if any(changes) else frame
        except (ValueError, RecursionError):
            return frame

    def _in_message(self, message: dict[str, Any]) -> bool:
        params = message.get("params")
        if message.get("method") != UPDATE or not isinstance(params, dict):
            return False
        names: list[str] = [str(params.get("sessionId"))]
        texts: list[_Text] = []
        _collect([params.get("update")], (), names, texts)
        is_terminal = any(name.startswith("terminal") for name in names[1:])
        is_changed = False
        for text in texts:
            said = text.holder[text.key]
            # Hashed, as an agent chooses ids of any length.
            place = hash((*names, *text.path))
            redacted = self._redacted(place, said, may_be_base64=is_terminal and text.key == "data")
            if redacted != said:
                text.holder[text.key], is_changed = redacted, True
        return is_changed

    def _redacted(self, place: int, text: str, *, may_be_base64: bool) -> str:
        data = _decoded(text) if may_be_base64 else None
        if data is not None:
            redacted = self._continued(place, data)
            whole = [span for secret in self._secrets for span in secret.spans(redacted)]
            return base64.b64encode(without(redacted, whole)).decode()
        data = text.encode(errors="surrogatepass")
        return self._continued(place, data).decode(errors="surrogatepass")

    def _continued(self, place: int, data: bytes) -> bytes:
        """Return the next bytes of a text without what continues a secret at their beginning."""
        if not data:
            return data
        before = self._ends.pop(place, b"")
        self._ends[place] = (before + data[-LEAST_CHARS:])[-LEAST_CHARS:]
        if len(self._ends) > MAX_TEXTS:
            del self._ends[next(iter(self._ends))]
        for secret in self._secrets:
            if known := secret.continued(before, data):
                mark = b"" if secret.ends(before) else HIDDEN.encode()
                return mark + data[known:]
        return data


def _collect(node: Any, path: tuple[str, ...], names: list[str], texts: list[_Text]) -> None:
    """Find the names and the texts of an update, in order; items of one list are one text."""
    is_object = isinstance(node, dict)
    for key, value in node.items() if is_object else enumerate(node):
        inner = (*path, str(key) if is_object else "")
        if isinstance(value, str):
            if key in _NAMES:
                names.append(value)
            elif key != "type":
                texts.append(_Text(node, key, inner))
        elif isinstance(value, (dict, list)) and len(path) < MAX_DEPTH:
            _collect(value, inner, names, texts)


def _decoded(text: str) -> bytes | None:
    """Return what version 2 has of a terminal's output; None if it is no base64."""
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return None
