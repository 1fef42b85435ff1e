"""A form or url request as an entry of the live view, and the values that the page sends.

The errors beside a form's fields are a separate operation: redrawing the form would lose the typed
values. Checks no values.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from acp_notebook.budget import Budget
from acp_notebook.render import operations as op
from acp_notebook.render.entries.live_entry import CardEntry, StreamEntry
from acp_notebook.render.operations import Operation
from acp_notebook.session.elicitation import Action, Elicitation, ElicitationId
from acp_notebook.session.state import EntryKey, SessionState

STREAMED = frozenset({"agent", "thought"})
ACTIONS: dict[str, Action] = {"decline": "decline", "dismiss": "cancel", "open": "accept"}


class FormEntry(CardEntry):
    """An elicitation in the live view."""

    _sent_errors: dict[str, str] | None = None
    _wrong: Operation | None = None

    def update(self, state: SessionState, beat: Budget | None = None) -> list[Operation]:
        """Return the operations since the last call, with a form's new errors."""
        found = super().update(state, beat)
        elicitation = state.elicitations[ElicitationId(self.key.id)]
        errors = elicitation.errors
        if not elicitation.is_open:
            self._wrong = None
        # Repeated errors are sent too: the page waits for them after each attempt.
        if errors is not self._sent_errors and elicitation.is_open:
            self._sent_errors = errors
            self._wrong = self._words(elicitation) if errors else None
            found += [self._wrong] if self._wrong else []
        return found

    def snapshot(self) -> list[Operation]:
        """Return everything for a new page."""
        found = super().snapshot()
        return [*found, self._wrong] if self._wrong else found

    def _words(self, elicitation: Elicitation) -> Operation:
        words = {
            str(number): elicitation.errors[item.name]
            for number, item in enumerate(elicitation.request.fields)
            if item.name in elicitation.errors
        }
        return op.wrong(self.ident, words)


def given_values(elicitation: Elicitation, values: object) -> dict[str, Any]:
    """Return the page's values by field name; the page names controls by position."""
    if not isinstance(values, Mapping):
        return {}
    return {
        item.name: values[f"f{number}"]
        for number, item in enumerate(elicitation.request.fields)
        if f"f{number}" in values
    }


def entry_type(key: EntryKey) -> type[CardEntry | StreamEntry]:
    """Return the class of an entry's kind."""
    if key.kind == "elicitation":
        return FormEntry
    return StreamEntry if key.kind in STREAMED else CardEntry
