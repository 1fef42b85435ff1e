"""Which changes a view gets, and what finding that out costs."""

from __future__ import annotations

import pytest

from acp_notebook.session import updates as u
from acp_notebook.session.changes import TerminalChanged
from acp_notebook.session.content import TextBlock
from acp_notebook.session.reducer import apply
from acp_notebook.session.selection import Selection
from acp_notebook.session.state import EntryKey, SessionState

TERMINAL = u.TerminalId("t")


def turn(state: SessionState, name: str) -> u.PromptId:
    prompt = u.PromptId(name)
    for update in (u.PromptSent(prompt, (TextBlock("x"),)), u.StateUpdate("running")):
        apply(state, update)
    return prompt


def show(state: SessionState, calls: range) -> None:
    for number in calls:
        content = (u.TerminalItem(TERMINAL),)
        apply(state, u.ToolCallUpdate(u.ToolCallId(str(number)), title="t", content=content))


@pytest.mark.parametrize("is_own", [True, False])
def test_a_chunk_does_not_look_at_each_call_that_shows_the_terminal(is_own: bool) -> None:
    state = SessionState()
    prompt = turn(state, "p")
    show(state, range(1_000))
    asked = 0

    def owns(key: EntryKey) -> bool:
        nonlocal asked
        asked += 1
        return is_own and state.owners.get(key) == prompt

    selection = Selection(state, owns)
    for _ in range(100):
        changes = apply(state, u.TerminalChunk(TERMINAL, b"x"))
        shown = [each for each in selection.select(changes) if isinstance(each, TerminalChanged)]
        assert bool(shown) is is_own
    assert asked < 1_500


def test_a_terminal_belongs_to_a_view_from_the_first_call_that_shows_it() -> None:
    state = SessionState()
    turn(state, "p")
    show(state, range(2))
    apply(state, u.StateUpdate("idle", "end_turn"))
    selection = Selection.of_turn(state, turn(state, "q"))
    change = TerminalChanged(TERMINAL)
    assert not selection.is_own(change)
    show(state, range(2, 3))
    assert selection.is_own(change)
    apply(state, u.ToolCallUpdate(u.ToolCallId("2"), content=()))
    assert not selection.is_own(change)
