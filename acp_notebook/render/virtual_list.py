"""Which entries of a very long turn the page has: the latest, and those that wait for an answer.

Ten thousand cards would make a page slow that nobody reads to the end; the rest comes back by
request. Knows no HTML.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any, Final

from acp_notebook.session.state import EntryKey

SHOWN_ENTRIES: Final = 250
# Entries leave many at a time, so that a page is not touched at its far end with each new one.
SLACK: Final = 50


class VirtualList:
    """Chooses what leaves the page, oldest first."""

    def __init__(self) -> None:
        self.hidden: dict[EntryKey, None] = {}
        """Entries that the page no longer has, in order."""
        self._size = SHOWN_ENTRIES

    def leaving(
        self, entries: Mapping[EntryKey, Any], waiting: Collection[EntryKey]
    ) -> list[EntryKey]:
        """Which entries are to leave now."""
        surplus = len(entries) - len(self.hidden) - self._size
        if surplus <= SLACK:
            return []
        found: list[EntryKey] = []
        for key in entries:
            if len(found) == surplus:
                break
            if key not in self.hidden and key not in waiting:
                found.append(key)
        self._hide(found, entries)
        return [key for key in found if entries[key].is_placed]

    def _hide(self, keys: Iterable[EntryKey], entries: Mapping[EntryKey, Any]) -> None:
        hidden = {**self.hidden, **dict.fromkeys(keys)}
        self.hidden = {key: None for key in entries if key in hidden}

    def widen(self) -> list[EntryKey]:
        """Take the latest of the hidden entries back."""
        back = list(self.hidden)[-SHOWN_ENTRIES:]
        for key in back:
            del self.hidden[key]
        self._size += SHOWN_ENTRIES
        return back

    def forget(self, key: EntryKey) -> bool:
        """The entry is gone; whether it was hidden."""
        return self.hidden.pop(key, 0) is None
