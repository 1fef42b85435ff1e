"""Forms and pages in the session: whose turn they belong to, the first answer, the end."""

from __future__ import annotations

from acp_notebook.session import elicitation as e
from acp_notebook.session import updates as u
from acp_notebook.session.changes import EntryChanged, HeaderChanged
from acp_notebook.session.content import TextBlock
from acp_notebook.session.form import Form, FormField, UrlRequest
from acp_notebook.session.reducer import apply
from acp_notebook.session.state import EntryKey, SessionState

FORM = Form((FormField("name", "text", "Name"),))
KEY = EntryKey("elicitation", "a1")


def played(*updates):
    state = SessionState()
    for update in updates:
        apply(state, update)
    return state


def asked(elicitation_id="a1", page=None):
    form = FORM if page is None else None
    return e.ElicitationRequested(elicitation_id, "Who are you?", form, page)


def test_it_is_an_entry_of_the_turn_at_work_and_waits_for_the_user():
    state = played(u.PromptSent("p1", (TextBlock("hi"),)), u.StateUpdate("running"))
    assert not state.has_questions
    assert apply(state, asked()) == [EntryChanged(KEY), HeaderChanged()]
    assert state.entries_of("p1")[-1] == KEY
    assert state.has_questions
    assert [each.request for each in state.open_elicitations] == [asked()]


def test_the_first_answer_counts():
    state = played(asked())
    settled = e.ElicitationSettled("a1", "accept", "you", {"name": "Ann"})
    assert apply(state, settled) == [EntryChanged(KEY), HeaderChanged()]
    assert apply(state, e.ElicitationSettled("a1", "cancel", "late")) == []
    assert state.elicitations["a1"].answer is settled
    assert not state.has_questions


def test_what_is_wrong_is_kept_until_the_answer():
    state = played(asked())
    assert apply(state, e.AnswerRefused("a1", {"name": "Too short."})) == [EntryChanged(KEY)]
    assert state.elicitations["a1"].errors == {"name": "Too short."}
    assert state.has_questions
    apply(state, e.ElicitationSettled("a1", "decline", "you"))
    assert state.elicitations["a1"].errors == {}
    assert apply(state, e.AnswerRefused("a1", {"name": "Late."})) == []
    assert state.elicitations["a1"].errors == {}


def test_a_page_is_completed_by_the_agents_id_and_unknown_ids_change_nothing():
    state = played(asked(page=UrlRequest("w1", "https://example.org")), asked("a2"))
    assert apply(state, e.UrlCompleted("other")) == []
    assert apply(state, e.UrlCompleted("w1")) == [EntryChanged(KEY)]
    assert apply(state, e.UrlCompleted("w1")) == []
    assert state.elicitations["a1"].is_completed
    assert state.elicitations["a1"].is_open


def test_the_loss_of_the_agent_closes_what_is_open():
    state = played(asked(), asked("a2"))
    apply(state, e.ElicitationSettled("a1", "accept", "you", {}))
    apply(state, u.AgentLost("It ended."))
    answers = [each.answer for each in state.elicitations.values()]
    assert [(answer.action, answer.by) for answer in answers] == [
        ("accept", "you"),
        ("cancel", "the agent ended"),
    ]
