"""A wait that is interrupted: the turn is cancelled, a second interrupt ends the wait."""

from __future__ import annotations

import pytest
from watching import bad, sent, until, until_text

from acp_notebook.client import waiting
from acp_notebook.client.waiting import TurnInterrupted

proves = pytest.mark.requirement


@proves("CANCEL-1")
def test_an_interrupt_cancels_the_turn_and_waits_for_its_end(session, impatient):
    host = impatient(lambda: until(session, lambda state: state.activity == "running"))
    with pytest.raises(TurnInterrupted, match=r"^Turn interrupted: cancelled\.$"):
        session.prompt("[[hang]]")
    assert host.waits == 2
    assert session.last_turn.stop_reason == "cancelled"
    assert len(sent(session, "session/cancel")) == 1


def test_an_interrupt_is_a_keyboard_interrupt_in_one_line(session, impatient):
    impatient(lambda: None)
    with pytest.raises(KeyboardInterrupt) as caught:
        session.prompt("[[hang]]")
    assert caught.value._render_traceback_() == ["Turn interrupted: cancelled."]
    assert caught.value.__suppress_context__


def test_a_second_interrupt_ends_the_wait_at_once(session, impatient):
    impatient(lambda: None, lambda: None)
    with pytest.raises(TurnInterrupted, match="Stopped waiting"):
        session.prompt("[[hang]]")
    assert session.last_turn.wait().stop_reason == "cancelled"


@proves("CANCEL-6")
def test_an_agent_that_does_not_confirm_is_named_with_the_next_step(start, impatient, monkeypatch):
    monkeypatch.setattr(waiting, "CANCEL_GRACE_S", 0.05)
    session = start(bad("ignores-cancel")).session
    impatient(lambda: until_text(session, "working"))
    with pytest.raises(TurnInterrupted, match=r"has not confirmed the cancel.*once more ends"):
        session.prompt("go")
    assert not session.last_turn.is_done
    session.stop()
    assert session.last_turn.wait().stop_reason == "cancelled"


@proves("PROMPT-6")
def test_an_interrupt_withdraws_a_prompt_that_was_not_sent(v1_session, impatient):
    first = v1_session.prompt("[[hang]]", wait=False)
    impatient(lambda: None)
    with pytest.raises(TurnInterrupted):
        v1_session.prompt("[[say:never]]")
    assert not first.is_done
    assert len(sent(v1_session, "session/prompt")) == 1
    first.cancel()
    first.wait()
