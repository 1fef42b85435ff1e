"""A form or page as an entry of the live view: drawn once, then only told what is wrong.

A form that is drawn anew would lose what was typed; the words beside its fields are an operation
of their own. Also reads what a page says of a form.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from acp_notebook.render import operations as op
from acp_notebook.render.entries.live_entry import CardEntry
from acp_notebook.render.operations import Operation
from acp_notebook.session.elicitation import Action, Elicitation, ElicitationId
from acp_notebook.session.state import SessionState

ACTIONS: dict[str, Action] = {"decline": "decline", "dismiss": "cancel", "open": "accept"}


class FormEntry(CardEntry):
    """An elicitation in the live view."""

    _told: dict[str, str] | None = None
    _wrong: Operation | None = None

    def update(self, state: SessionState) -> list[Operation]:
        """What the page lacks."""
        found = super().update(state)
        elicitation = state.elicitations[ElicitationId(self.key.id)]
        errors = elicitation.errors
        if not elicitation.is_open:
            self._wrong = None
        # The same words again are news too: the page waits for them after each attempt.
        if errors is not self._told and elicitation.is_open:
            self._told = errors
            self._wrong = self._words(elicitation) if errors else None
            found += [self._wrong] if self._wrong else []
        return found

    def snapshot(self) -> list[Operation]:
        """All that the page should have."""
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
    """What a page sent, by the names of the fields. Controls are named by their place."""
    if not isinstance(values, Mapping):
        return {}
    return {
        item.name: values[f"f{number}"]
        for number, item in enumerate(elicitation.request.fields)
        if f"f{number}" in values
    }
