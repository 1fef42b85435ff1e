"""What a page is told to do: place HTML by name. The page knows nothing else.

An entry is a block in the list of entries; a slot is a named place inside one. A `put` that
replaces an entry keeps what its slots hold, so text that grew there is never sent twice.
"""

from __future__ import annotations

from typing import Any

from markupsafe import Markup

Operation = dict[str, Any]


def clear() -> Operation:
    """Empty the page: everything follows."""
    return {"op": "clear"}


def put(ident: str, kind: str, html: Markup) -> Operation:
    """A new entry at the end, or an entry anew in its place."""
    return {"op": "put", "id": ident, "kind": kind, "html": str(html)}


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
