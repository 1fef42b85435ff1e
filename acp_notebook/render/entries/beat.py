"""What there is time for in one message to a page. Knows no document."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Final

from acp_notebook.budget import Budget
from acp_notebook.render.entries.live_entry import CardEntry, LiveTerminal, StreamEntry
from acp_notebook.render.markup import Theme
from acp_notebook.render.operations import Operation
from acp_notebook.session.state import EntryKey, SessionState
from acp_notebook.session.updates import TerminalId

BEAT_SECONDS: Final = 0.08
Entries = Mapping[EntryKey, CardEntry | StreamEntry]


def draw(
    entries: Entries,
    keys: Collection[EntryKey],
    state: SessionState,
    beat: Budget,
    *,
    is_last: bool = False,
) -> tuple[list[Operation], dict[EntryKey, None]]:
    """Draw entries in their order; return the operations, and what is left for the next beat."""
    found: list[Operation] = []
    left: dict[EntryKey, None] = {}
    for key in keys:
        entry, is_late = entries[key], beat.is_spent
        if not is_late:
            found += (entry.finish if is_last else entry.update)(state, beat)
        left |= {key: None} if is_late or entry.is_behind else {}
    return found, left


def draw_again(
    entries: Entries, keys: Collection[EntryKey], state: SessionState, theme: Theme
) -> dict[EntryKey, None]:
    """Draw entries that have to be there at once; return what the next beat draws better."""
    beat = Budget(BEAT_SECONDS)
    left: dict[EntryKey, None] = {}
    for key in keys:
        theme.is_hasty = beat.is_spent
        entries[key].update(state, beat)
        left |= {key: None} if theme.is_hasty or entries[key].is_behind else {}
    theme.is_hasty = False
    return left


def draw_terminals(
    terminals: Mapping[TerminalId, LiveTerminal],
    state: SessionState,
    places: Mapping[TerminalId, list[str]],
    beat: Budget,
) -> tuple[list[Operation], set[TerminalId]]:
    """Draw terminals in their places; return the operations, and those that there was time for."""
    found: list[Operation] = []
    drawn: set[TerminalId] = set()
    for terminal_id, live in terminals.items():
        if beat.is_spent:
            break
        found += live.update(state.terminals[terminal_id], places.get(terminal_id, []))
        drawn.add(terminal_id)
    return found, drawn
