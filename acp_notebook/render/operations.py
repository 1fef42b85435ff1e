"""The operations that a page understands: placing HTML by name. Knows no session.

An entry is a block in the list of entries; a slot is a named place inside one. A `put` that
replaces an entry keeps the content of its slots, so text that grew there is never sent twice.
"""

from __future__ import annotations

from typing import Any, Final

from markupsafe import Markup

Operation = dict[str, Any]
_SHORT_CHARS: Final = 2_000


def clear() -> Operation:
    """Empty the page before a snapshot."""
    return {"op": "clear"}


def put(
    ident: str,
    kind: str,
    html: Markup,
    before: Markup | None = None,
    *,
    revision: int | None = None,
) -> Operation:
    """Append an entry, or replace it in its place.

    If the page has a long entry as `before`, only the changed middle is sent, and `keep` has the
    lengths of the unchanged start and end: some agents send a growing output as a whole each time.
    The page returns the revision of a question with its answer.
    """
    operation: Operation = {"op": "put", "id": ident, "kind": kind, "html": str(html)}
    if revision is not None:
        operation["rev"] = revision
    if before is None or len(html) < _SHORT_CHARS:
        return operation
    start = _common(html, before)
    rest, rest_before = html[start:], before[start:]
    end = _common(rest[::-1], rest_before[::-1])
    if start + end > len(html) // 2:
        operation["html"] = str(rest[: len(rest) - end])
        # A page counts in UTF-16.
        kept = (html[:start], rest[len(rest) - end :])
        operation["keep"] = [len(part.encode("utf-16-le")) // 2 for part in kept]
    return operation


def _common(one: str, other: str) -> int:
    """Return the length of the common prefix."""
    least, most = 0, min(len(one), len(other))
    while least < most:
        middle = (least + most + 1) // 2
        if one[least:middle] == other[least:middle]:
            least = middle
        else:
            most = middle - 1
    return least


def remove(ident: str) -> Operation:
    """Remove an entry."""
    return {"op": "del", "id": ident}


def fill(slot: str, html: Markup) -> Operation:
    """Replace the content of a slot."""
    return {"op": "set", "slot": slot, "html": str(html)}


def append(slot: str, html: Markup, keep: int | None = None) -> Operation:
    """Append to a slot; only the last `keep` children stay."""
    operation: Operation = {"op": "add", "slot": slot, "html": str(html)}
    if keep is not None:
        operation["keep"] = keep
    return operation


def wrong(ident: str, words: dict[str, str]) -> Operation:
    """Show the errors of a form's values, by position of the field."""
    return {"op": "wrong", "id": ident, "words": words}


def say(text: str, *, is_question: bool = False) -> Operation:
    """Announce a sentence to screen readers; a question also marks the browser's tab."""
    operation: Operation = {"op": "say", "text": text}
    if is_question:
        operation["ask"] = True
    return operation
