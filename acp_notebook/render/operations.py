"""What a page is told to do: place HTML by name. The page knows nothing else.

An entry is a block in the list of entries; a slot is a named place inside one. A `put` that
replaces an entry keeps what its slots hold, so text that grew there is never sent twice.
"""

from __future__ import annotations

from typing import Any, Final

from markupsafe import Markup

Operation = dict[str, Any]
_SHORT_CHARS: Final = 2_000


def clear() -> Operation:
    """Empty the page: everything follows."""
    return {"op": "clear"}


def put(ident: str, kind: str, html: Markup, before: Markup | None = None) -> Operation:
    """A new entry at the end, or an entry anew in its place.

    Of a long entry that the page has as `before` only what is new goes out, between so much of its
    beginning and of its end as `keep` says: an agent may send a growing output whole, each time.
    """
    operation: Operation = {"op": "put", "id": ident, "kind": kind, "html": str(html)}
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
    """How many characters two texts have in common at their beginning."""
    least, most = 0, min(len(one), len(other))
    while least < most:
        middle = (least + most + 1) // 2
        if one[least:middle] == other[least:middle]:
            least = middle
        else:
            most = middle - 1
    return least


def remove(ident: str) -> Operation:
    """An entry goes away."""
    return {"op": "del", "id": ident}


def fill(slot: str, html: Markup) -> Operation:
    """A slot holds exactly this."""
    return {"op": "set", "slot": slot, "html": str(html)}


def append(slot: str, html: Markup, keep: int | None = None) -> Operation:
    """A slot holds this as well; of its children the last `keep` stay."""
    operation: Operation = {"op": "add", "slot": slot, "html": str(html)}
    if keep is not None:
        operation["keep"] = keep
    return operation


def wrong(ident: str, words: dict[str, str]) -> Operation:
    """What is wrong with what was filled in, by the place of the field."""
    return {"op": "wrong", "id": ident, "words": words}


def say(text: str, *, is_question: bool = False) -> Operation:
    """A sentence for those who listen; a question is also for those who look elsewhere."""
    operation: Operation = {"op": "say", "text": text}
    if is_question:
        operation["ask"] = True
    return operation
