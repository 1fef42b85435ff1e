"""A namespace per connection for an agent's ids. Knows no wire and no reader.

A restarted agent counts its messages and tool calls from the start again, and so does the reader of
a version without ids. Without namespaces a new answer would change an old message.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import fields, is_dataclass, replace
from functools import cache
from typing import Any, get_args, get_type_hints

from acp_notebook.session import updates as u

# The prefix of this client's own terminal ids, which no agent counts.
OWN_TERMINAL = "acp-notebook-terminal-"


class IdNamespace:
    """Marks the agent's ids with the number of the connection, from the second connection on."""

    def __init__(self, connection: int = 1) -> None:
        self._mark = f"@{connection}" if connection > 1 else ""

    def wire_id(self, marked: str) -> str:
        """Return an id in the agent's form; ids of earlier connections stay marked."""
        return marked.removesuffix(self._mark)

    def marked(self, updates: Iterable[u.SessionUpdate]) -> list[u.SessionUpdate]:
        """Return a reader's updates with marked ids."""
        return [self._mark_ids(update) for update in updates] if self._mark else list(updates)

    def _mark_ids(self, value: Any, *, is_id: bool = False) -> Any:
        if is_id and isinstance(value, str) and not value.startswith(OWN_TERMINAL):
            return value + self._mark
        if isinstance(value, tuple):
            return tuple(map(self._mark_ids, value))
        if not is_dataclass(value) or isinstance(value, type):
            return value
        ids = _agent_ids(type(value))
        found: dict[str, Any] = {}
        for name in (field.name for field in fields(value)):
            member = getattr(value, name)
            marked = self._mark_ids(member, is_id=name in ids)
            if marked is not member:
                found[name] = marked
        return replace(value, **found) if found else value


@cache
def _agent_ids(kind: type) -> frozenset[str]:
    hints = get_type_hints(kind, localns=vars(u))
    return frozenset(
        name
        for name, hint in hints.items()
        if any(declared in u.AGENT_IDS for declared in (hint, *get_args(hint)))
    )
