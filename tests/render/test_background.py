"""Work that goes on beside the conversation is said in the view and in every form of the record."""

from __future__ import annotations

import pytest

from acp_notebook.render.document import TurnDocument
from acp_notebook.render.record import record_bundle
from acp_notebook.session import updates as u
from acp_notebook.session.reducer import apply
from acp_notebook.session.state import SessionState

WORDS = "1 still running in the background"


def session(*items):
    state = SessionState()
    prompt_id = u.PromptId("p")
    for update in (
        u.PromptSent(prompt_id, ()),
        u.StateUpdate("running"),
        u.StateUpdate("idle", "end_turn", background=items),
    ):
        apply(state, update)
    return state


@pytest.mark.requirement("STATE-4")
def test_what_runs_in_the_background_is_said_everywhere():
    state = session(u.BackgroundItem("terminal", "t"))
    bundle = record_bundle(state, [], agent_name="a", stop_reason="end_turn")
    assert all(WORDS in form for form in bundle.values())
    document = TurnDocument(state, [], agent_name="a")
    document.ops()
    assert WORDS in str(document.snapshot())


@pytest.mark.requirement("STATE-4")
def test_nothing_is_said_of_an_empty_list():
    state = session()
    bundle = record_bundle(state, [], agent_name="a", stop_reason="end_turn")
    assert not any("background" in form for form in (bundle["text/plain"], bundle["text/markdown"]))
