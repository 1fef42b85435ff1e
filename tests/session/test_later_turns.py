"""What one turn leaves behind for the next: a plan that goes on, a cancel that fails."""

from __future__ import annotations

from acp_notebook.session import updates as u
from acp_notebook.session.changes import EntryRemoved
from acp_notebook.session.reducer import apply
from acp_notebook.session.state import EntryKey, SessionState

PLAN = u.PlanId("plan")
KEY = EntryKey("plan", "plan")
FIRST, SECOND = u.PromptId("p1"), u.PromptId("p2")


def play(state, *updates):
    return [change for update in updates for change in apply(state, update)]


def turn(prompt_id, *updates, end=None):
    end = end or u.StateUpdate("idle", "end_turn")
    return (u.PromptSent(prompt_id, ()), u.StateUpdate("running"), *updates, end)


def test_a_plan_that_a_later_turn_goes_on_with_is_shown_there():
    state = SessionState()
    play(state, *turn(FIRST, u.PlanUpdate(PLAN, ())))
    changes = play(state, *turn(SECOND, u.PlanUpdate(PLAN, (u.PlanEntry("go on"),))))
    assert EntryRemoved(KEY) in changes
    assert state.owners[KEY] == SECOND
    assert state.timeline.count(KEY) == 1


def test_a_plan_that_changes_within_its_turn_stays_where_it_is():
    state = SessionState()
    changes = play(state, *turn(FIRST, u.PlanUpdate(PLAN, ()), u.PlanUpdate(PLAN, ())))
    assert EntryRemoved(KEY) not in changes


def test_an_error_that_confirms_a_cancel_is_the_cancel():
    state = SessionState()
    aborted = u.StateUpdate("idle", "error", u.Failure("aborted"))
    play(state, *turn(FIRST, u.CancelSent(), end=aborted))
    assert state.prompts[FIRST].stop_reason == "cancelled"
    assert state.prompts[FIRST].failure is None


def test_a_call_left_open_by_its_turn_does_not_hold_up_the_next():
    state = SessionState()
    left = u.ToolCallUpdate(u.ToolCallId("left"), status="in_progress")
    play(state, *turn(FIRST, left))
    assert state.prompts[FIRST].stop_reason == "end_turn"
    own = u.ToolCallUpdate(u.ToolCallId("own"), status="in_progress")
    cancelled = u.StateUpdate("idle", "cancelled")
    play(state, *turn(SECOND, own, u.CancelSent(), end=cancelled))
    assert state.prompts[SECOND].stop_reason == "cancelled"
    assert {key: call.status for key, call in state.tool_calls.items()} == {
        "left": "in_progress",
        "own": "cancelled",
    }
