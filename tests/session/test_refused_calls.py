"""A tool call whose permission was refused does not seem to go on after the turn."""

from __future__ import annotations

import pytest

from acp_notebook.session import updates as u
from acp_notebook.session.reducer import apply
from acp_notebook.session.state import SessionState

CALL = u.ToolCallId("call-1")
OPTIONS = (
    u.PermissionOption("yes", "Yes", "allow_once"),
    u.PermissionOption("no", "No", "reject_once"),
)


def told(option_id, *more):
    state = SessionState()
    permission = u.PermissionId("1")
    for update in (
        u.PromptSent(u.PromptId("p"), ()),
        u.StateUpdate("running"),
        u.ToolCallUpdate(CALL, title="Run", status="pending"),
        u.PermissionRequested(permission, "Run?", OPTIONS, None, u.ToolCallSubject(CALL)),
        u.PermissionSettled(permission, option_id, "you"),
        *more,
        u.StateUpdate("idle", "end_turn"),
    ):
        apply(state, update)
    return state.tool_calls[CALL].status


@pytest.mark.parametrize(
    ("option_id", "status"), [("no", "cancelled"), (None, "cancelled"), ("yes", "pending")]
)
def test_a_refused_call_that_is_never_mentioned_again_is_cancelled_at_the_end(option_id, status):
    assert told(option_id) == status


def test_what_the_agent_says_of_a_refused_call_stands():
    assert told("no", u.ToolCallUpdate(CALL, status="failed")) == "failed"
