"""Every kind of entry is shown: as HTML, as Markdown, as text and on a console; none is dropped."""

from __future__ import annotations

import typing

import pytest
from turns import turn_with_everything

from acp_notebook.render.entries.kinds import LOOKS, entry_line, render_entry
from acp_notebook.render.markup import live_theme, record_theme
from acp_notebook.render.record import record_bundle
from acp_notebook.session import state as session_state
from acp_notebook.session import updates as u
from acp_notebook.session.elicitation import ElicitationId, ElicitationRequested
from acp_notebook.session.form import Form
from acp_notebook.session.reducer import apply
from acp_notebook.session.state import EntryKey, SessionState

KINDS = typing.get_args(session_state.EntryKind)


@pytest.fixture
def state():
    found = SessionState()
    form = ElicitationRequested(ElicitationId("f"), "word", Form(()))
    for update in [*turn_with_everything(), form, u.AgentLost("It lost the word.")]:
        apply(found, update)
    return found


def of_kind(state, kind):
    """Entries of a kind that stand for themselves: a call shows its own terminals."""
    return [
        key
        for key in state.timeline
        if key.kind == kind and not (kind == "terminal" and state.terminal_owners.get(key.id))
    ]


def test_every_kind_has_a_look():
    assert set(LOOKS) == set(KINDS)


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_is_drawn_live_and_in_a_record_and_has_a_line(state, kind):
    keys = of_kind(state, kind)
    assert keys
    for key in keys:
        assert render_entry(live_theme(), state, key, "e1")
        assert render_entry(record_theme(), state, key, "e1")
        assert entry_line(state, key)


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_stands_in_every_form_of_the_record(state, kind):
    bundle = record_bundle(
        state, of_kind(state, kind), agent_name="a", stop_reason="end_turn", ending=False
    )
    empty = {form for form in ("text/markdown", "text/plain") if not bundle[form].strip()}
    # A thought is folded, which plain text cannot do.
    assert empty == ({"text/plain"} if kind == "thought" else set())


def test_a_kind_that_nobody_knows_is_an_error_and_is_not_left_out(state):
    with pytest.raises(KeyError):
        record_bundle(state, [EntryKey("_new", "1")], agent_name="a", stop_reason="end_turn")


def test_what_the_agent_took_back_is_nowhere(state):
    gone = EntryKey("plan", "gone")
    assert not render_entry(live_theme(), state, gone, "e1")
    assert entry_line(state, gone) == ""
