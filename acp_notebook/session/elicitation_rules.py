"""The elicitation rules of the reducer, which alone uses this module. Pure."""

from __future__ import annotations

from acp_notebook.session.changes import EntryChanged, HeaderChanged, SessionChange
from acp_notebook.session.elicitation import (
    AnswerRefused,
    Elicitation,
    ElicitationRequested,
    ElicitationSettled,
    UrlCompleted,
)
from acp_notebook.session.state import EntryKey, SessionState

Changes = list[SessionChange]


def requested(state: SessionState, update: ElicitationRequested) -> Changes:
    """Add the request as an entry of the turn at work, like a permission."""
    key = EntryKey("elicitation", update.elicitation_id)
    elicitation = state.elicitations[update.elicitation_id] = Elicitation(update)
    state.asked.add(key, elicitation)
    state.add_entry(key)
    return [EntryChanged(key), HeaderChanged()]


def settled(state: SessionState, update: ElicitationSettled) -> Changes:
    """Store the first answer; ignore any other."""
    elicitation = state.elicitations[update.elicitation_id]
    if elicitation.answer is not None:
        return []
    elicitation.answer = update
    elicitation.errors = {}
    key = EntryKey("elicitation", update.elicitation_id)
    state.asked.remove(key)
    return [EntryChanged(key), HeaderChanged()]


def answer_refused(state: SessionState, update: AnswerRefused) -> Changes:
    """Store the errors of an open form's values."""
    elicitation = state.elicitations[update.elicitation_id]
    if elicitation.answer is not None:
        return []
    elicitation.errors = dict(update.errors)
    return [EntryChanged(EntryKey("elicitation", update.elicitation_id))]


def url_completed(state: SessionState, update: UrlCompleted) -> Changes:
    """Mark a url as completed; an unknown id has no effect (ELIC-2)."""
    changes: Changes = []
    for elicitation in state.elicitations.values():
        wanted = elicitation.request.url_request
        if wanted is None or wanted.url_id != update.url_id or elicitation.is_completed:
            continue
        elicitation.is_completed = True
        changes.append(EntryChanged(EntryKey("elicitation", elicitation.request.elicitation_id)))
    return changes


def close_all(state: SessionState, by: str) -> Changes:
    """Cancel all open requests (WIRE-7)."""
    changes: Changes = []
    for elicitation in state.open_elicitations:
        update = ElicitationSettled(elicitation.request.elicitation_id, "cancel", by)
        changes += settled(state, update)
    return changes
