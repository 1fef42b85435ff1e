from __future__ import annotations

import json
import re
import time
from collections.abc import Iterable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from page_model import PageModel
from turns import TURNS, turn_with_everything

from acp_notebook.render.document import TurnDocument
from acp_notebook.render.parsing.markdown_stream import SLICE_CHARS
from acp_notebook.session import updates as u
from acp_notebook.session.changes import EntryChanged
from acp_notebook.session.content import TextBlock
from acp_notebook.session.reducer import apply
from acp_notebook.session.state import EntryKey, SessionState

MESSAGE, CALL, TERMINAL = u.MessageId("m"), u.ToolCallId("c"), u.TerminalId("t")
PROMPT, QUESTION = u.PromptId("p"), u.PermissionId("q")
OPTIONS = (
    u.PermissionOption("yes", "Go ahead", "allow_once"),
    u.PermissionOption("always", "Always", "allow_always"),
    u.PermissionOption("no", "Stop", "reject_once"),
)


class Turn:
    """A document, the session under it and a page over it."""

    def __init__(self) -> None:
        self.state = SessionState()
        self.document = TurnDocument(self.state, agent_name="demo")
        self.page = PageModel()
        self.urgent = False

    def see(self, *updates: u.SessionUpdate) -> str:
        """Apply the updates, send, and read the page."""
        self.send(*updates)
        return self.page.text

    def send(self, *updates: u.SessionUpdate) -> None:
        self.urgent = self.note(updates)
        self.page.obey(self.document.ops())
        while self.document.is_behind:
            self.page.obey(self.document.ops())

    def note(self, updates: Iterable[u.SessionUpdate]) -> bool:
        changes = [change for update in updates for change in apply(self.state, update)]
        return self.document.note(changes)

    def snapshot(self) -> PageModel:
        page = PageModel()
        return page.obey(self.document.snapshot())


def say(text: str) -> u.MessageChunk:
    return u.MessageChunk("agent", MESSAGE, TextBlock(text))


@given(TURNS, st.data())
@settings(max_examples=200, deadline=None)
def test_operations_one_by_one_build_what_a_snapshot_builds(
    turn: Iterable[u.SessionUpdate], data: st.DataObject
) -> None:
    seen = Turn()
    for update in turn:
        if data.draw(st.booleans()):
            seen.send(update)
        else:
            seen.note([update])
    seen.send()
    assert seen.snapshot().html == seen.page.html
    seen.document.finish("end_turn")
    seen.send()
    assert seen.snapshot().html == seen.page.html


@given(TURNS, st.data())
@settings(max_examples=100, deadline=None)
def test_the_end_does_not_depend_on_when_things_were_sent(
    turn: Iterable[u.SessionUpdate], data: st.DataObject
) -> None:
    often, once = Turn(), Turn()
    for update in turn:
        if data.draw(st.booleans()):
            often.send(update)
        else:
            often.note([update])
        once.note([update])
    for each in (often, once):
        each.document.finish("end_turn", None, 1.0)
        each.send()
    assert list(often.page.html.values()) == list(once.page.html.values())


def test_nothing_new_sends_nothing() -> None:
    turn = Turn()
    turn.see(*turn_with_everything())
    assert turn.document.ops() == []


def test_operations_are_json() -> None:
    turn = Turn()
    turn.note(turn_with_everything("a\ud800b\x00"))
    assert json.dumps(turn.document.ops(), ensure_ascii=False).encode("utf-8")


def test_only_entries_that_were_named_are_shown() -> None:
    state = SessionState()
    apply(state, say("old"))
    document = TurnDocument(state, agent_name="demo")
    assert document.keys == []
    document.note(apply(state, u.MessageChunk("agent", u.MessageId("n"), TextBlock("new"))))
    assert document.keys == [EntryKey("agent", "n")]
    again = TurnDocument(state, [EntryKey("agent", "m")], agent_name="demo")
    assert again.keys == [EntryKey("agent", "m")]


def test_the_turn_is_found_though_the_timeline_loses_entries() -> None:
    turn = Turn()
    turn.see(u.PlanUpdate(u.PlanId("x"), ()), say("one"))
    assert "three" in turn.see(u.PlanRemoved(u.PlanId("x")), say(" two"), say(" three"))
    assert [key.kind for key in turn.document.keys] == ["agent"]


@pytest.mark.requirement("PROMPT-5")
def test_the_agents_user_message_takes_the_prompts_place() -> None:
    turn = Turn()
    assert "question" in turn.see(u.PromptSent(PROMPT, (TextBlock("question"),)))
    text = turn.see(
        u.StateUpdate("running"), u.MessageChunk("user", MESSAGE, TextBlock("question"))
    )
    assert text.count("question") == 1


@pytest.mark.requirement("PROMPT-6")
def test_a_queued_prompt_can_be_withdrawn() -> None:
    turn = Turn()
    text = turn.see(say("busy"), u.PromptQueued(PROMPT, (TextBlock("next"),)))
    assert "queued" in text
    assert "Withdraw" in text
    assert turn.document.queued_prompt("e1") == PROMPT
    turn.see(u.PromptWithdrawn(PROMPT))
    assert turn.document.queued_prompt("e1") is None
    assert "next" not in turn.page.text


@pytest.mark.requirement("PERM-1")
def test_a_permission_shows_what_it_is_about_and_the_agents_own_labels() -> None:
    turn = Turn()
    text = turn.see(
        u.ToolCallUpdate(CALL, title="Write", raw_input={"path": "a.txt", "text": "one\ntwo"}),
        u.PermissionRequested(QUESTION, "May I?", OPTIONS, "It is safe", u.ToolCallSubject(CALL)),
    )
    for part in ("May I?", "It is safe", "a.txt", "one two", "Go ahead", "Always", "from now on"):
        assert part in text
    assert turn.document.permission_answer("e1", 2, 1) == (QUESTION, "no")


@pytest.mark.requirement("PERM-1")
def test_a_command_that_asks_is_shown_in_full_with_its_folder() -> None:
    command = "make " + "x" * 500 + " \u202e;rm"
    subject = u.CommandSubject(command, "/home/me")
    text = Turn().see(u.PermissionRequested(QUESTION, "Run?", OPTIONS, subject=subject))
    assert command.replace("\u202e", "[U+202E]") in text
    assert "/home/me" in text


def test_a_button_without_meaning_answers_nothing() -> None:
    turn = Turn()
    turn.see(u.PermissionRequested(QUESTION, "May I?", OPTIONS))
    assert turn.document.permission_answer("e0", 3, 1) is None
    assert turn.document.permission_answer("e0", -1, 1) is None
    assert turn.document.permission_answer("e9", 0, 1) is None
    turn.see(u.PermissionSettled(QUESTION, "no", "you"))
    assert turn.document.permission_answer("e0", 0, 2) is None


def test_an_answer_to_an_earlier_drawing_of_the_question_does_not_count() -> None:
    turn = Turn()
    call = u.ToolCallSubject(CALL)
    turn.see(u.ToolCallUpdate(CALL, title="Write", raw_input={"path": "a.txt"}))
    turn.see(u.PermissionRequested(QUESTION, "May I?", OPTIONS, subject=call))
    assert turn.document.permission_answer("e1", 0, 1) == (QUESTION, "yes")
    turn.see(u.ToolCallUpdate(CALL, raw_input={"path": "/etc/passwd"}))
    assert turn.document.permission_answer("e1", 0, 1) is None
    assert turn.document.permission_answer("e1", 0, None) is None
    assert turn.document.permission_answer("e1", 0, 2) == (QUESTION, "yes")


def test_a_question_that_has_yet_to_be_drawn_takes_no_answer_and_gets_its_buttons_back() -> None:
    turn = Turn()
    turn.see(u.PermissionRequested(QUESTION, "May I?", OPTIONS))
    turn.document.note([EntryChanged(EntryKey("permission", QUESTION))])
    assert turn.document.permission_answer("e0", 0, 1) is None
    (again,) = [each for each in turn.document.ops() if each["op"] == "put"]
    assert "May I?" in again["html"]
    assert turn.document.permission_answer("e0", 0, again["rev"]) == (QUESTION, "yes")


@pytest.mark.requirement("PERM-3")
def test_one_question_does_not_hide_another() -> None:
    turn = Turn()
    other = u.PermissionId("r")
    turn.see(u.PermissionRequested(QUESTION, "First?", OPTIONS))
    turn.see(u.PermissionRequested(other, "Second?", OPTIONS))
    turn.see(u.PermissionSettled(QUESTION, "yes", "you"))
    assert turn.document.permission_answer("e1", 0, 1) == (other, "yes")
    assert "Allowed once" in turn.page.text


@pytest.mark.requirement("PERM-5")
def test_a_tool_update_draws_the_open_question_anew_and_leaves_it_open() -> None:
    turn = Turn()
    turn.see(
        u.ToolCallUpdate(CALL, title="Write"),
        u.PermissionRequested(QUESTION, "May I?", OPTIONS, subject=u.ToolCallSubject(CALL)),
    )
    turn.see(u.ToolCallUpdate(CALL, raw_input={"path": "late.txt"}))
    assert "late.txt" in turn.page.html["e1"]
    assert "Go ahead" in turn.page.html["e1"]


def test_what_is_urgent() -> None:
    turn = Turn()
    turn.see(u.PromptSent(PROMPT, ()), u.StateUpdate("running"))
    assert not turn.urgent
    turn.see(say("first"))
    assert turn.urgent
    turn.see(say("more"))
    assert not turn.urgent
    turn.see(u.PermissionRequested(QUESTION, "May I?", OPTIONS))
    assert turn.urgent
    turn.see(u.PermissionSettled(QUESTION, "yes", "you"))
    assert turn.urgent
    turn.see(u.StateUpdate("requires_action"))
    assert turn.urgent
    turn.see(u.StateUpdate("running"))
    assert not turn.urgent
    turn.see(u.StateUpdate("idle", "end_turn"))
    assert not turn.urgent  # the end itself is, and follows at once


def test_a_thought_tells_that_it_goes_on_and_that_it_is_over() -> None:
    turn = Turn()
    thought = u.MessageChunk("thought", u.MessageId("t"), TextBlock("**Plan** first"))
    assert "Thinking… Plan first" in turn.see(u.StateUpdate("running"), thought)
    text = turn.see(say("answer"))
    assert "Thinking…" not in text
    assert "Thought Plan first" in text


@pytest.mark.requirement("MSG-2")
def test_a_whole_message_replaces_what_was_streamed() -> None:
    turn = Turn()
    turn.see(say("draft\n\nmore"))
    whole = u.MessageUpdate("agent", MESSAGE, (TextBlock("final"),))
    text = turn.see(whole, say(" words"))
    assert "final words" in text
    assert "draft" not in text
    turn.see(u.MessageUpdate("agent", MESSAGE, None))
    assert "final" not in turn.page.text


def test_metadata_of_a_message_sends_nothing() -> None:
    turn = Turn()
    turn.see(say("text"))
    turn.note([u.MessageUpdate("agent", MESSAGE, meta={"k": 1})])
    assert turn.document.ops() == []


@pytest.mark.requirement("TOOL-7")
def test_a_terminal_appends_to_where_the_tool_shows_it() -> None:
    turn = Turn()
    turn.see(u.TerminalUpdate(TERMINAL, command="ls"), u.TerminalChunk(TERMINAL, b"one\ntw"))
    assert "one tw" in turn.page.text
    turn.see(u.ToolCallUpdate(CALL, title="List", content=(u.TerminalItem(TERMINAL),)))
    assert turn.page.html["e0"] == ""
    turn.note([u.TerminalChunk(TERMINAL, b"o\nthree\n")])
    operations = turn.document.ops()
    assert [operation["op"] for operation in operations] == ["add", "set"]
    turn.page.obey(operations)
    assert "one two three" in turn.page.text


@pytest.mark.requirement("TOOL-7")
def test_a_snapshot_of_a_terminal_replaces_everything() -> None:
    turn = Turn()
    turn.see(u.TerminalChunk(TERMINAL, b"old\n"))
    text = turn.see(u.TerminalUpdate(TERMINAL, output=b"new\n"))
    assert "new" in text
    assert "old" not in text


def test_a_long_terminal_sends_its_window_only() -> None:
    turn = Turn()
    turn.see(u.TerminalChunk(TERMINAL, b"line\n" * 100_000))
    assert turn.page.html["e0"].count("line</div>") == 400
    assert "earlier lines not shown" in turn.page.text


@pytest.mark.requirement("PLAN-1")
def test_a_plan_is_a_checklist_with_progress() -> None:
    entries = (
        u.PlanEntry("a", "high", "completed"),
        u.PlanEntry("b", "low", "in_progress"),
        u.PlanEntry("c", "medium", "cancelled"),
        u.PlanEntry("d", "medium", "_later"),
    )
    text = Turn().see(u.PlanUpdate(u.PlanId("x"), entries))
    assert "1 of 3 done" in text
    assert "high priority" in text
    assert "_later" in text


@pytest.mark.requirement("CANCEL-6")
def test_stop_says_what_a_second_press_does() -> None:
    turn = Turn()
    assert "Stop" in turn.see(u.PromptSent(PROMPT, ()), u.StateUpdate("running"))
    assert "Press again to end the agent" in turn.see(u.CancelSent())


def test_an_empty_turn_says_so() -> None:
    turn = Turn()
    turn.see(u.PromptSent(PROMPT, (TextBlock("x"),)))
    turn.document.finish("end_turn", None, 0.5)
    assert "ended its turn without saying anything" in turn.see()


def test_a_failure_is_shown_with_its_code() -> None:
    turn = Turn()
    turn.document.finish(None, u.Failure("model overloaded", -32603), 2.0)
    text = turn.see()
    assert "model overloaded (code -32603)" in text
    assert "Ended with an error" in text


def test_after_the_end_nothing_changes() -> None:
    turn = Turn()
    turn.see(say("done"))
    turn.document.finish("end_turn")
    turn.see()
    assert not turn.note([say("late")])
    assert turn.document.ops() == []


def test_listeners_hear_questions_answers_and_the_end_only() -> None:
    turn = Turn()
    turn.see(say("chunk"), say("chunk"))
    turn.see(u.PermissionRequested(QUESTION, "May I?", OPTIONS))
    turn.see(u.PermissionSettled(QUESTION, "yes", "you"))
    turn.document.finish("end_turn")
    turn.see()
    assert turn.page.said == [
        "demo asks for permission: May I?",
        "Allowed once: May I?",
        "demo: Finished.",
    ]


def test_that_it_waits_is_said_at_the_top_and_by_the_question_alone() -> None:
    turn = Turn()
    turn.see(u.PromptSent(PROMPT, (TextBlock("x"),)), u.StateUpdate("running"))
    assert "Working" in turn.page.html["foot"]
    text = turn.see(
        u.PermissionRequested(QUESTION, "May I?", OPTIONS), u.StateUpdate("requires_action")
    )
    assert text.count("Waiting for you") == 1
    assert turn.page.html["foot"] == ""


def test_a_plan_that_is_done_folds_at_the_end_of_the_turn_and_not_before() -> None:
    turn = Turn()
    turn.see(u.PlanUpdate(u.PlanId("x"), (u.PlanEntry("look", status="completed"),)), say("so"))
    assert re.search(r"<details[^>]* open", turn.page.html["e0"])
    turn.document.finish("end_turn")
    assert "1 of 1 done" in turn.see()
    assert not re.search(r"<details[^>]* open", turn.page.html["e0"])


def test_what_ended_the_agent_is_told_by_its_entry_alone() -> None:
    turn = Turn()
    reason = "The agent demo ended with exit code 3. Your next prompt starts it again."
    turn.see(u.PromptSent(PROMPT, (TextBlock("x"),)), u.AgentLost(reason, "boom\nbang"))
    turn.document.finish(None, u.Failure(reason))
    text = turn.see()
    assert text.count("exit code 3") == text.count("starts it again") == 1
    assert "Its last words on stderr (2 lines)" in text
    turn.document.finish(None, u.Failure(reason))
    other = Turn()
    other.see(say("so"))
    other.document.finish(None, u.Failure(reason))
    assert "exit code 3" in other.see()


def test_controls_leave_their_place_at_the_end() -> None:
    turn = Turn()
    choices = (u.ConfigValue("a", "A"), u.ConfigValue("b", "B"))
    option = u.ConfigOption("m", "Mode", "select", "a", "mode", None, choices)
    turn.see(u.ConfigOptionsUpdate((option,)))
    turn.document.finish("end_turn")
    turn.see()
    assert turn.page.html["controls"] == "<span></span>"


def test_what_takes_long_is_drawn_in_several_beats() -> None:
    turn = Turn()
    text = "*[" * 200_000
    turn.note([u.MessageChunk("agent", MESSAGE, TextBlock(text))])
    beats, longest = 0, 0.0
    while not beats or turn.document.is_behind:
        began = time.thread_time()
        turn.page.obey(turn.document.ops())
        longest, beats = max(longest, time.thread_time() - began), beats + 1
    assert beats >= len(text) // SLICE_CHARS
    assert longest < 1.0  # in one piece 3 s
    turn.document.finish("end_turn", None, 1.0)
    turn.send()
    assert not turn.document.is_behind
    assert turn.page.text.count("*[") == 200_000
