from __future__ import annotations

from acp_notebook.render.document import TurnDocument
from acp_notebook.session import updates as u
from acp_notebook.session.content import TextBlock
from acp_notebook.session.reducer import apply
from acp_notebook.session.state import EntryKey, SessionState
from acp_notebook.session.timings import Timings

CALL, QUESTION, THOUGHT = u.ToolCallId("c"), u.PermissionId("q"), u.MessageId("t")
CALL_KEY, THOUGHT_KEY = EntryKey("tool_call", CALL), EntryKey("thought", THOUGHT)
YES = (u.PermissionOption("y", "Yes", "allow_once"),)


class Clock:
    """A session whose updates come at stated times."""

    def __init__(self) -> None:
        self.state = SessionState()
        self.timings = Timings()
        self.document = TurnDocument(self.state, agent_name="demo", timings=self.timings)

    def at(self, now_s: float, *updates: u.SessionUpdate) -> None:
        for update in updates:
            changes = apply(self.state, update)
            self.timings.note(self.state, changes, now_s)
            self.document.note(changes)

    def seconds(self, key: EntryKey) -> float | None:
        span = self.timings.spans.get(key)
        return span.seconds if span else None


def think(text: str) -> u.MessageChunk:
    return u.MessageChunk("thought", THOUGHT, TextBlock(text))


def say(text: str) -> u.MessageChunk:
    return u.MessageChunk("agent", u.MessageId("m"), TextBlock(text))


def test_a_thought_lasts_until_something_else_begins() -> None:
    clock = Clock()
    clock.at(1, think("a"))
    clock.at(2, think("b"))
    assert clock.seconds(THOUGHT_KEY) is None
    clock.at(5, say("x"))
    clock.at(9, say("y"))
    assert clock.seconds(THOUGHT_KEY) == 4


def test_the_end_of_the_turn_ends_a_thought() -> None:
    clock = Clock()
    clock.at(1, think("a"))
    clock.timings.end_thought(3)
    assert clock.seconds(THOUGHT_KEY) == 2


def test_a_tool_runs_from_its_beginning_to_its_end() -> None:
    clock = Clock()
    clock.at(0, u.ToolCallUpdate(CALL, title="Build"))
    clock.at(3, u.ToolCallUpdate(CALL, status="in_progress"))
    clock.at(5, u.ToolCallUpdate(CALL, title="Build it"))
    assert clock.seconds(CALL_KEY) is None
    clock.at(9, u.ToolCallUpdate(CALL, status="completed"))
    clock.at(12, u.ToolCallUpdate(CALL, raw_output="late"))
    assert clock.seconds(CALL_KEY) == 6


def test_the_time_to_answer_is_not_the_tools() -> None:
    clock = Clock()
    clock.at(0, u.ToolCallUpdate(CALL))
    clock.at(1, u.PermissionRequested(QUESTION, "May I?", YES, subject=u.ToolCallSubject(CALL)))
    clock.at(60, u.PermissionSettled(QUESTION, "y", "you"))
    clock.at(62, u.ToolCallUpdate(CALL, status="completed"))
    assert clock.seconds(CALL_KEY) == 2


def test_a_call_that_never_ran_took_no_time() -> None:
    clock = Clock()
    clock.at(0, u.ToolCallUpdate(CALL))
    clock.at(5, u.ToolCallUpdate(CALL, status="cancelled"))
    assert clock.seconds(CALL_KEY) is None


def test_the_view_shows_seconds_that_matter() -> None:
    clock = Clock()
    clock.at(1, u.StateUpdate("running"), think("Hm"))
    assert 'data-since="1.0"' in str(clock.document.ops())
    clock.at(5.2, u.ToolCallUpdate(CALL, status="in_progress"))
    text = str(clock.document.ops())
    assert "Thought for 4.2 s" in text
    assert 'data-since="5.2"' in text
    clock.at(5.5, u.ToolCallUpdate(CALL, status="completed"))
    assert "0.3 s" not in str(clock.document.ops())
