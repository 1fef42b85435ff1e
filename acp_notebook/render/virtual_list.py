"""The entries of a very long turn that the page has: the latest, and open questions.

Ten thousand cards would make the page slow; earlier ones return on request. Knows no HTML.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any, Final

from acp_notebook.session.state import EntryKey

SHOWN_ENTRIES: Final = 250
# Entries leave many at a time, so that not every new one changes the far end of the page.
SLACK: Final = 50


class VirtualList:
    """Chooses the entries that leave the page, oldest first."""

    def __init__(self) -> None:
        self.hidden: dict[EntryKey, None] = {}
        """Entries that the page no longer has, in order."""
        self._size = SHOWN_ENTRIES

    def leaving(
        self, entries: Mapping[EntryKey, Any], waiting: Collection[EntryKey]
    ) -> list[EntryKey]:
        """Hide surplus entries and return the ones to remove from the page."""
        surplus = len(entries) - len(self.hidden) - self._size
        if surplus <= SLACK:
            return []
        found: list[EntryKey] = []
        for key in entries:
            if len(found) == surplus:
                break
            if key not in self.hidden and key not in waiting:
                found.append(key)
        if found:
            self._hide(found, entries)
        return [key for key in found if entries[key].is_placed]

    def _hide(self, keys: Iterable[EntryKey], entries: Mapping[EntryKey, Any]) -> None:
        hidden = {**self.hidden, **dict.fromkeys(keys)}
        self.hidden = {key: None for key in entries if key in hidden}

    def widen(self) -> list[EntryKey]:
        """Show the latest of the hidden entries again and return them."""
        back = list(self.hidden)[-SHOWN_ENTRIES:]
        for key in back:
            del self.hidden[key]
        self._size += SHOWN_ENTRIES
        return back

    def forget(self, key: EntryKey) -> bool:
        """Forget a removed entry; return whether it was hidden."""
        return self.hidden.pop(key, 0) is None
