"""What there is time for in one message to a page. Knows no document."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Final

from acp_notebook.budget import Budget
from acp_notebook.render.entries.live_entry import CardEntry, StreamEntry
from acp_notebook.render.operations import Operation
from acp_notebook.session.state import EntryKey, SessionState

BEAT_SECONDS: Final = 0.08
Entries = Mapping[EntryKey, CardEntry | StreamEntry]


def draw(
    entries: Entries, keys: Collection[EntryKey], state: SessionState
) -> tuple[list[Operation], dict[EntryKey, None]]:
    """Draw entries in their order; return the operations, and what is left for the next beat."""
    beat = Budget(BEAT_SECONDS)
    found: list[Operation] = []
    left: dict[EntryKey, None] = {}
    for key in keys:
        entry, is_late = entries[key], beat.is_spent
        found += [] if is_late else entry.update(state)
        left |= {key: None} if is_late or entry.is_behind else {}
    return found, left


def close(
    entries: Entries, keys: Collection[EntryKey], state: SessionState, dirty: Collection[EntryKey]
) -> list[Operation]:
    """Draw entries for the last time; without time, the unchanged ones stay as they are."""
    beat = Budget(BEAT_SECONDS)
    found: list[Operation] = []
    for key in keys:
        if key in dirty or not beat.is_spent:
            found += entries[key].finish(state, beat)
    return found
