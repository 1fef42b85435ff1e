"""Redaction in the updates of one session, also of a secret that is said in pieces.

Models stream a few characters at a time, none of which can be told from other text. So each text
that grows is remembered by its last characters, if a secret may go on there: from the twelfth
character of the secret on, what continues it is redacted. Nothing is held back.

This is done with what was read, by the ids of the session's model: what the model joins is one
text, however the agent writes it. There is one end a text of the session, so that no text can push
out the end of another one. What does not grow is redacted by itself: a title, or the code of a
question, must not lose its beginning for what was said earlier. Updates of this client's own, such
as the cards of its tools, are redacted alike. Knows no version.
"""

from __future__ import annotations

import base64
import operator
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from functools import cache
from typing import Any, Final, NamedTuple

from acp_notebook.client.connection.secret import HIDDEN, Secret, Span, merged, without
from acp_notebook.session import updates as u

MAX_DEPTH: Final = 50
"""How deep JSON is looked at here; what is deeper was redacted in the frame."""

Path = tuple[str, ...]

# The places in an update of what is appended to a text of the session.
_GROWING: Final = {("TextBlock", "text"), ("output",)}
# What the user says is kept to be sent.
_OWN_WORDS: Final = (u.PromptQueued, u.PromptSent)


class RedactedPieces:
    """The texts of one session; `secrets` may grow.

    Args:
        secrets: What is redacted.
        on_change: Gets each text of an update that was redacted more than by itself, and what was
            made of it. Bytes come as base64 and as text.
    """

    def __init__(
        self, secrets: Sequence[Secret], on_change: Callable[[Mapping[str, str]], object]
    ) -> None:
        self._secrets = secrets
        self._on_change = on_change
        self._ends: dict[Path, bytes] = {}

    def redacted(self, update: u.SessionUpdate) -> u.SessionUpdate:
        """Return an update without the secrets; to be called once for each."""
        if not self._secrets or isinstance(update, _OWN_WORDS):
            return update
        entry = tuple(map(self._whole, _entry(update)))
        said: dict[Path, list[Any]] = {}

        def note(path: Path, text: Any) -> Any:
            if path in said:
                said[path].append(text)
            else:
                said[path] = [text]
            return text

        found: u.SessionUpdate = _Walk(self._whole, note).record(update, entry)
        redacted = {path: self._continued(path, texts) for path, texts in said.items()}
        results = {path: iter(texts) for path, texts in redacted.items() if texts is not None}
        return self._replaced(update, entry, results) if results else found

    def _replaced(
        self, update: u.SessionUpdate, entry: Path, results: Mapping[Path, Iterator[bytes]]
    ) -> u.SessionUpdate:
        changes: dict[str, str] = {}

        def put(path: Path, text: Any) -> Any:
            if path not in results:
                return text
            result = next(results[path])
            if result == _bytes(text):
                return text
            plain, shown = self._whole(_text(text)), _text(result)
            if isinstance(text, bytes):
                changes.update({_base64(text): _base64(result), plain: shown})
                return result
            if plain != shown:
                changes[plain] = shown
            return shown

        found: u.SessionUpdate = _Walk(self._whole, put).record(update, entry)
        if changes:
            self._on_change(changes)
        return found

    def _continued(self, path: Path, texts: list[Any]) -> list[bytes] | None:
        """Return the next parts of a text without the secrets; None if they have none."""
        before = self._ends.pop(path, b"")
        data = before + _bytes(type(texts[0])().join(texts))
        if path[2:] in _GROWING:  # after what it belongs to
            end = max((secret.end_of(data) for secret in self._secrets), key=len)
            if end:
                self._ends[path] = end
        spans = merged(span for span in self._spans(data) if span[1] > len(before))
        if not spans:
            return None
        is_marked = any(secret.ends(before) for secret in self._secrets)
        return _cut(list(map(_bytes, texts)), len(before), spans, is_marked=is_marked)

    def _whole(self, text: str) -> str:
        """Return a text that is no part of a longer one, such as an id."""
        data = _bytes(text)
        spans = self._spans(data)
        return _text(without(data, spans)) if spans else text

    def _spans(self, data: bytes) -> list[Span]:
        size = len(data)
        return [
            span
            for secret in self._secrets
            if size >= secret.least  # most texts are shorter
            for span in secret.spans(data)
        ]


class _Walk(NamedTuple):
    """Goes through an update with a function for ids, and one for texts."""

    of_id: Callable[[str], str]
    of_text: Callable[[Path, Any], Any]

    def record(self, record: Any, entry: Path) -> Any:
        """Return a record of the model with what was made of its texts; itself if they stayed."""
        kind: type = type(record)
        found: dict[str, Any] = {}
        for name, is_id in _names(kind):
            value = getattr(record, name)
            if is_id and isinstance(value, str):
                result: Any = self.of_id(value)
            else:
                result = self._value(value, entry, (*entry, kind.__name__, name))
            if result is not value:
                found[name] = result
        return replace(record, **found) if found else record

    def _value(self, value: Any, entry: Path, path: Path) -> Any:
        if isinstance(value, str):
            return self.of_text(path, value) if value else value
        if isinstance(value, bytes):
            # A terminal's whole output, and what appends to it, are one text.
            return self.of_text((*entry, "output"), value) if value else value
        if isinstance(value, tuple):
            return _same(value, tuple(self._value(item, entry, path) for item in value))
        if isinstance(value, (dict, list)):
            return self._json(value, path, (*path, "keys"), 0)
        is_record = is_dataclass(value) and not isinstance(value, type)
        return self.record(value, entry) if is_record else value

    def _json(self, node: Any, path: Path, names: Path, depth: int) -> Any:
        """Return JSON; its strings are one text, whatever the keys, which the agent chooses."""
        if isinstance(node, str):
            return self.of_text(path, node) if node else node
        if depth > MAX_DEPTH or not isinstance(node, (dict, list)):
            return node
        if isinstance(node, list):
            return _same(node, [self._json(item, path, names, depth + 1) for item in node])
        keys = [self.of_text(names, key) for key in node]
        values = [
            self._json(value, names if key == "type" else path, names, depth + 1)
            for key, value in node.items()
        ]
        is_same = all(map(operator.is_, (*node, *node.values()), (*keys, *values)))
        return node if is_same else dict(zip(keys, values, strict=True))


def _cut(texts: list[bytes], position: int, spans: list[Span], *, is_marked: bool) -> list[bytes]:
    """Return texts that follow one another, the first at a position, without spans of them.

    Each span has one mark, where it begins; the first one `is_marked` if it began earlier.
    """
    found: list[bytes] = []
    rest = deque(spans)
    is_marked = is_marked and rest[0][0] < position
    for text in texts:
        kept: list[bytes] = []
        at, end = position, position + len(text)
        while rest and rest[0][0] < end:
            first, last = rest[0]
            kept.append(text[at - position : max(first - position, at - position)])
            kept.append(b"" if is_marked else HIDDEN.encode())
            at, is_marked = min(last, end), last > end
            if is_marked:
                break
            rest.popleft()
        found.append(b"".join([*kept, text[at - position :]]))
        position = end
    return found


def _entry(update: u.SessionUpdate) -> Path:
    """Return the entry of the session that the update appends to, by the kind of entry and id."""
    match update:
        case u.MessageUpdate(role=role, message_id=key) | u.MessageChunk(role=role, message_id=key):
            return (role, key)
        case u.ToolCallUpdate(tool_call_id=key) | u.ToolCallChunk(tool_call_id=key):
            return ("tool_call", key)
        case u.TerminalUpdate(terminal_id=key) | u.TerminalChunk(terminal_id=key):
            return ("terminal", key)
        case u.CompactionUpdate(compaction_id=key) | u.CompactionChunk(compaction_id=key):
            return ("compaction", key)
        case _:
            return ()


@cache
def _names(kind: type) -> list[tuple[str, bool]]:
    """Return the fields of a record, and whether each is an id."""
    names = [field.name for field in fields(kind)]
    return [(name, name == "id" or name.endswith("_id")) for name in names]


def _same(before: Any, after: Any) -> Any:
    return before if all(map(operator.is_, before, after)) else after


def _bytes(text: str | bytes) -> bytes:
    return text if isinstance(text, bytes) else text.encode(errors="surrogatepass")


def _text(data: str | bytes) -> str:
    if isinstance(data, str):
        return data
    try:
        return data.decode(errors="surrogatepass")
    except UnicodeDecodeError:  # what a terminal says need not be UTF-8
        return data.decode(errors="replace")


def _base64(data: bytes) -> str:
    return base64.b64encode(data).decode()
