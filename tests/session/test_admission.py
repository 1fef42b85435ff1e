"""Whether a tool call may begin, in every phase of the work that it may belong to."""

from __future__ import annotations

import pytest

from acp_notebook.session import updates as u
from acp_notebook.session.admission import STOPPED, NotAdmitted, admit, reason_to_end
from acp_notebook.session.content import TextBlock
from acp_notebook.session.reducer import apply
from acp_notebook.session.state import SessionState

pytestmark = pytest.mark.pure

ONE, TWO = u.PromptId("one"), u.PromptId("two")
SENT = [u.PromptSent(ONE, (TextBlock("x"),))]
AT_WORK = [*SENT, u.PromptAccepted(ONE), u.StateUpdate("running")]
DONE = [*AT_WORK, u.StateUpdate("idle", "end_turn")]
CANCELLING = [*AT_WORK, u.CancelSent()]
STOPPED_TURN = [*CANCELLING, u.StateUpdate("idle", "cancelled")]
# Agents say this too, and end the turn all the same.
STOPPED_ALL_THE_SAME = [*CANCELLING, u.StateUpdate("idle", "end_turn")]
FAILURE = u.Failure("no")
WATCHER = (u.BackgroundItem("terminal", u.WorkId("t")),)


def session(updates):
    state = SessionState()
    for update in updates:
        apply(state, update)
    return state


@pytest.mark.parametrize("updates", [SENT, AT_WORK], ids=["sent", "at work"])
def test_a_call_belongs_to_the_turn_that_goes_on(updates):
    admission = admit(session(updates))
    assert admission.prompt_id == ONE
    assert not admission.is_background
    assert not admission.needs_person


@pytest.mark.parametrize(
    ("updates", "words"),
    [
        ([], "No turn is going on"),
        (DONE, "No turn is going on"),
        (CANCELLING, "stopped the turn"),
        (STOPPED_TURN, "stopped the turn"),
        (STOPPED_ALL_THE_SAME, "stopped the turn"),
        ([*DONE, u.StoppedAtRest()], "stopped the turn"),
        ([*AT_WORK, u.AgentLost("gone")], "The agent ended"),
        ([*AT_WORK, u.PromptFailed(ONE, u.Failure("no"))], None),
    ],
    ids=[
        "never prompted",
        "over",
        "cancelling",
        "stopped",
        "stopped, says the end",
        "stopped at rest",
        "lost",
        "failed, still running",
    ],
)
def test_a_call_without_work_is_refused_with_the_reason(updates, words):
    if words is None:
        assert admit(session(updates)).is_background
        return
    with pytest.raises(NotAdmitted, match=words):
        admit(session(updates))


@pytest.mark.parametrize(
    ("before", "needs_person"),
    [
        ([], True),
        (DONE, False),
        (STOPPED_TURN, True),
        (STOPPED_ALL_THE_SAME, True),
        ([*DONE, u.StoppedAtRest()], True),
        ([*STOPPED_ALL_THE_SAME, u.PromptSent(TWO, ()), u.PromptFailed(TWO, FAILURE)], False),
    ],
    ids=[
        "before the first prompt",
        "after a turn",
        "after a stop",
        "after a stop, says the end",
        "stopped at rest",
        "prompted again",
    ],
)
@pytest.mark.parametrize(
    "background",
    [u.StateUpdate("idle", background=WATCHER), u.StateUpdate("running")],
    ids=["reported", "running by itself"],
)
def test_background_work_is_asked_and_by_a_person_where_no_turn_stands_for_it(
    before, needs_person, background
):
    admission = admit(session([*before, background]))
    assert admission.is_background
    assert admission.needs_person == needs_person


@pytest.mark.parametrize(
    ("later", "reason"),
    [
        ([], ""),
        ([u.StateUpdate("idle", "end_turn")], "The turn ended before it could begin."),
        ([u.PromptSent(TWO, ()), u.StateUpdate("idle", "end_turn")], ""),
        ([u.StateUpdate("idle", "end_turn", background=WATCHER)], ""),
        ([u.CancelSent()], STOPPED),
        ([u.CancelSent(), u.StateUpdate("idle", "cancelled")], STOPPED),
        ([u.CancelSent(), u.StateUpdate("idle", "end_turn", background=WATCHER)], STOPPED),
        ([u.StateUpdate("idle", "end_turn", background=WATCHER), u.StoppedAtRest()], STOPPED),
        ([u.AgentLost("gone")], "The agent ended."),
    ],
    ids=[
        "goes on",
        "ended",
        "next",
        "background",
        "cancelling",
        "stopped",
        "stopped, says the end",
        "stopped at rest",
        "lost",
    ],
)
def test_what_has_not_begun_ends_with_its_turn(later, reason):
    state = session(AT_WORK)
    admission = admit(state)
    for update in later:
        apply(state, update)
    assert reason_to_end(state, admission) == reason


def test_a_stopped_turns_call_stays_refused_in_the_next_turn():
    state = session(AT_WORK)
    admission = admit(state)
    for update in [u.CancelSent(), u.StateUpdate("idle", "cancelled"), u.PromptSent(TWO, ())]:
        apply(state, update)
    assert reason_to_end(state, admission) == STOPPED
    assert admit(state).prompt_id == TWO
