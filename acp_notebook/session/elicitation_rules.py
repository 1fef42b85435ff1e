"""How forms and pages that an agent asks for change a session. Pure; used by the reducer alone."""

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
    """An entry of its own in the turn that is at work, as a permission is."""
    state.elicitations[update.elicitation_id] = Elicitation(update)
    key = EntryKey("elicitation", update.elicitation_id)
    state.add_entry(key)
    return [EntryChanged(key), HeaderChanged()]


def settled(state: SessionState, update: ElicitationSettled) -> Changes:
    """The first answer counts; there is only one."""
    elicitation = state.elicitations[update.elicitation_id]
    if elicitation.answer is not None:
        return []
    elicitation.answer = update
    elicitation.errors = {}
    return [EntryChanged(EntryKey("elicitation", update.elicitation_id)), HeaderChanged()]


def answer_refused(state: SessionState, update: AnswerRefused) -> Changes:
    """The form stays open, and says what is wrong."""
    elicitation = state.elicitations[update.elicitation_id]
    if elicitation.answer is not None:
        return []
    elicitation.errors = dict(update.errors)
    return [EntryChanged(EntryKey("elicitation", update.elicitation_id))]


def url_completed(state: SessionState, update: UrlCompleted) -> Changes:
    """An id that is not known here changes nothing (ELIC-2)."""
    changes: Changes = []
    for elicitation in state.elicitations.values():
        wanted = elicitation.request.url_request
        if wanted is None or wanted.url_id != update.url_id or elicitation.is_completed:
            continue
        elicitation.is_completed = True
        changes.append(EntryChanged(EntryKey("elicitation", elicitation.request.elicitation_id)))
    return changes


def close_all(state: SessionState, by: str) -> Changes:
    """Nobody waits for an answer any more (WIRE-7)."""
    changes: Changes = []
    for elicitation in state.open_elicitations:
        update = ElicitationSettled(elicitation.request.elicitation_id, "cancel", by)
        changes += settled(state, update)
    return changes
