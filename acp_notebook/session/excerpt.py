"""A part of a session's state as it is now, for another thread. Knows no view."""

from __future__ import annotations

from collections.abc import Collection
from copy import copy
from dataclasses import fields
from typing import Any, TypeVar, cast

from acp_notebook.session.asked import Asked
from acp_notebook.session.content import Content
from acp_notebook.session.state import HOMES, Entry, EntryKey, SessionState
from acp_notebook.session.updates import ToolCallId

R = TypeVar("R")


def excerpt_of(state: SessionState, keys: Collection[EntryKey]) -> SessionState:
    """Return a copy in which these entries, with their terminals, stay as they are now.

    Another thread may read those, and no other entry.
    """
    found = copy(state)
    for each in fields(state):
        value = getattr(state, each.name)
        if isinstance(value, dict | list | set | Asked):
            setattr(found, each.name, value.copy())
    for key in keys:
        home = cast("dict[Any, Entry]", HOMES[key.kind](found))
        for name in home.keys() & {key, key.id}:
            home[name] = _copy_of(home[name])
    calls = [state.tool_calls.get(ToolCallId(key.id)) for key in keys if key.kind == "tool_call"]
    for call in filter(None, calls):
        for terminal_id in state.terminals.keys() & set(call.terminal_ids):
            found.terminals[terminal_id] = _copy_of(state.terminals[terminal_id])
    found.terminal_owners = {name: [*each] for name, each in state.terminal_owners.items()}
    return found


def _copy_of(record: R) -> R:
    """A copy with its own collections, of values that never change."""
    found = copy(record)
    for name in getattr(record, "__slots__", ()):
        value = getattr(record, name)
        if isinstance(value, list | bytearray | Content):
            setattr(found, name, value.copy())
    return found
