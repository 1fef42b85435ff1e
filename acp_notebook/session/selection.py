"""The part of a session in one view: the view's own entries, and every open question. Pure.

Any waiting cell can answer the session's questions, whichever turn asked them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from acp_notebook.session.changes import EntryChanged, EntryRemoved, SessionChange, TerminalChanged
from acp_notebook.session.state import EntryKey, SessionState
from acp_notebook.session.updates import PromptId, TerminalId, ToolCallId


class Selection:
    """Chooses entries and changes for a view, on the thread that owns the state.

    `owns` recognizes the view's own entries. Others are shown only as open questions.
    """

    def __init__(self, state: SessionState, owns: Callable[[EntryKey], bool]) -> None:
        self._state = state
        self.owns = owns
        self._guests: set[EntryKey] = set()
        self._terminals: dict[TerminalId, tuple[list[ToolCallId], bool]] = {}

    @classmethod
    def of_turn(cls, state: SessionState, prompt_id: PromptId) -> Selection:
        """Return the selection for the view of one turn."""
        return cls(state, lambda key: state.owners.get(key) == prompt_id)

    def entries(self) -> list[EntryKey]:
        """Return the entries to show now, in timeline order."""
        open_keys = self._state.asked.keys()
        self._guests = {key for key in open_keys if not self.owns(key)}
        return [key for key in self._state.timeline if self.owns(key) or key in open_keys]

    def select(self, changes: Iterable[SessionChange]) -> list[SessionChange]:
        """Return the changes to show; another turn's answered question is removed."""
        found: list[SessionChange] = []
        for change in changes:
            match change:
                case EntryChanged(key=key) if not self.owns(key):
                    found += self._guest_changed(change, key)
                case EntryRemoved() | TerminalChanged() if not self.is_own(change):
                    continue
                case _:
                    found.append(change)
        return found

    def is_own(self, change: SessionChange) -> bool:
        """Whether a change alters one of the view's own entries."""
        match change:
            case EntryChanged(key=key) | EntryRemoved(key=key):
                return self.owns(key)
            case TerminalChanged(terminal_id=terminal_id):
                return self._owns_terminal(terminal_id)
            case _:
                return False

    def _owns_terminal(self, terminal_id: TerminalId) -> bool:
        """Whether the view has the terminal, or a call that shows it."""
        if self.owns(EntryKey("terminal", terminal_id)):
            return True
        # Each chunk of output asks, and many calls may show one terminal: the answer holds while
        # they are the same.
        owners = self._state.terminal_owners.get(terminal_id, [])
        known, is_owned = self._terminals.get(terminal_id, ([], False))
        if known != owners:
            is_owned = any(self.owns(EntryKey("tool_call", owner)) for owner in owners)
            self._terminals[terminal_id] = owners.copy(), is_owned
        return is_owned

    def _guest_changed(self, change: EntryChanged, key: EntryKey) -> list[SessionChange]:
        if self._state.is_open_question(key):
            self._guests.add(key)
            return [change]
        if key in self._guests:
            self._guests.discard(key)
            return [EntryRemoved(key)]
        return []
