"""A turn as text for a console: it only grows, and nothing in it moves a cursor."""

from __future__ import annotations

import pytest

from acp_notebook.render.header import Ending
from acp_notebook.render.text.console import ConsoleText, question_text, typed_place
from acp_notebook.session import updates as u
from acp_notebook.session.changes import EntryChanged
from acp_notebook.session.content import ResourceBlock, TextBlock, UnknownBlock
from acp_notebook.session.reducer import apply
from acp_notebook.session.state import SessionState
from acp_notebook.session.timings import Timings

MESSAGE = u.MessageId("m")
CALL = u.ToolCallId("c")
ASKED = u.PermissionId("1")
OPTIONS = (
    u.PermissionOption("y", "Yes", "allow_once"),
    u.PermissionOption("n", "No", "reject_once"),
)


class Console:
    """Feeds updates to a state and gathers what a console prints."""

    def __init__(self) -> None:
        self.state = SessionState()
        self.text = ConsoleText(self.state, Timings())

    def after(self, *updates: u.SessionUpdate) -> str:
        changes = [change for update in updates for change in apply(self.state, update)]
        return self.text.more(each.key for each in changes if isinstance(each, EntryChanged))


@pytest.fixture
def console() -> Console:
    return Console()


def said(words: str, message: u.MessageId = MESSAGE, kind: str = "agent") -> u.MessageChunk:
    return u.MessageChunk(kind, message, TextBlock(words))


def call(status: str, **more: object) -> u.ToolCallUpdate:
    return u.ToolCallUpdate(CALL, status=status, title="Run `make`", kind="execute", **more)


def test_a_message_is_printed_as_it_grows(console: Console) -> None:
    assert console.after(said("One")) == "One"
    assert console.after(said(" and two")) == " and two"
    assert console.after(said(" and three"), said(".")) == " and three."


def test_what_follows_a_message_begins_on_a_line_of_its_own(console: Console) -> None:
    console.after(said("One"))
    assert console.after(call("pending")).startswith("\n\n○ Run: Run `make`")
    assert console.after(said("Two", u.MessageId("n"))) == "Two"
    console.after(said("\n", u.MessageId("n")))
    assert console.after(call("completed")).startswith("\n✓ Run")


def test_a_message_that_was_replaced_is_told_anew(console: Console) -> None:
    console.after(said("One"))
    replaced = u.MessageUpdate("agent", MESSAGE, (TextBlock("Other"),))
    assert console.after(replaced) == "\n(replaced)\nOther"


def test_a_tool_call_has_a_line_at_its_beginning_and_at_its_end(console: Console) -> None:
    assert console.after(call("pending")).count("\n") == 1
    assert console.after(call("in_progress")) == ""
    output = (u.ContentItem(TextBlock("so far")),)
    assert console.after(call("in_progress", content=output)) == ""
    assert console.after(call("failed")).startswith("✗ Run: Run `make` (failed")


def test_of_a_plan_only_the_steps_that_changed_are_told_again(console: Console) -> None:
    def plan(*states: str) -> u.PlanUpdate:
        entries = tuple(
            u.PlanEntry(f"Step {number}", status=state) for number, state in enumerate(states)
        )
        return u.PlanUpdate(u.PlanId("p"), entries)

    assert console.after(plan("in_progress", "pending")) == "  ◐ Step 0\n  ○ Step 1\n"
    assert console.after(plan("completed", "pending")) == "  ✓ Step 0\n"
    assert console.after(plan("completed", "pending")) == ""


def test_thoughts_are_only_mentioned(console: Console) -> None:
    thought = u.MessageId("t")
    assert console.after(said("Hm", thought, "thought")) == "… thinking\n"
    assert console.after(said(", well", thought, "thought")) == ""


def test_an_open_question_is_asked_elsewhere_and_its_answer_told(console: Console) -> None:
    assert console.after(u.PermissionRequested(ASKED, "May I?", OPTIONS)) == ""
    assert (
        console.after(u.PermissionSettled(ASKED, "y", "you")) == "May I?: Allowed once · by you\n"
    )


def test_no_escape_reaches_the_terminal(console: Console) -> None:
    evil = "\x1b]0;owned\x07\x1b[2J\x9b31m"
    printed = console.after(said(evil), call("completed"), u.Notice("error", evil, evil))
    request = u.PermissionRequested(ASKED, evil, OPTIONS, subject=u.CommandSubject(evil, evil))
    apply(console.state, request)
    printed += question_text(console.state, console.state.permissions[ASKED], evil)
    printed += console.text.end(evil, Ending("end_turn", u.Failure(evil)))
    assert not {"\x1b", "\x07", "\x9b"} & set(printed)


def test_the_end_says_what_failed_unless_it_was_told(console: Console) -> None:
    failed = Ending(None, u.Failure("It broke."), 2.0)
    console.after(said("One"))
    assert console.text.end("demo", failed).startswith("\n\nError: It broke.\n[Ended with an error")
    prompt = u.PromptId("p")
    console.after(u.PromptSent(prompt, (TextBlock("go"),)))
    assert "It broke." in console.after(u.AgentLost("It broke."))
    assert console.text.end("demo", failed).startswith("[Ended with an error")


def test_a_question_shows_all_that_is_to_be_allowed(console: Console) -> None:
    apply(console.state, call("pending", raw_input={"command": "make \u202eevil"}))
    subject = u.ToolCallSubject(CALL)
    apply(
        console.state,
        u.PermissionRequested(ASKED, "Run it?", OPTIONS, description="It builds.", subject=subject),
    )
    lines = question_text(console.state, console.state.permissions[ASKED], "demo").splitlines()
    assert lines[:3] == ["demo asks: Run it?", "  It builds.", "  Run `make`"]
    assert '    "command": "make [U+202E]evil"' in lines
    assert lines[-2:] == ["  1  ✓ Yes", "  2  ✗ No"]


def test_a_question_shows_what_each_answer_does(console: Console) -> None:
    options = (
        u.PermissionOption("a", "No, thanks", "allow_always"),
        u.PermissionOption("b", "", "reject_once"),
        u.PermissionOption("c", f"Allow{' x' * 200} all\n  4  Reject", "odd"),
    )
    apply(console.state, u.PermissionRequested(ASKED, "May I?", options))
    lines = question_text(console.state, console.state.permissions[ASKED], "demo").split("\n")
    assert lines[1:] == [
        "  1  ✓ No, thanks (from now on)",
        "  2  ✗ Option 2",
        f"  3  • Allow{' x' * 200} all 4 Reject",
    ]


@pytest.mark.parametrize(
    ("line", "names", "place"),
    [
        ("2", ["2", "Reject"], 1),
        ("1", ["2", "1"], 0),
        ("3", ["3", "Reject"], None),
        ("٢", ["٢", "Reject"], 1),
        ("9" * 5_000, ["Yes"], None),
        ("", ["", "Reject"], None),
        ("", ["Option 1", "Reject"], None),
        ("2.", ["2.", "Reject"], None),
        ("reject", ["Allow", "Reject"], 1),
        ("Reject", ["Reject", "reject"], None),
        ("no", ["Allow", "Reject"], None),
    ],
)
def test_a_number_decides_first_and_a_name_only_if_it_is_clear(
    line: str, names: list[str], place: int | None
) -> None:
    assert typed_place(line, names) == place


WHAT = "rm --everything"


@pytest.mark.parametrize(
    "subject",
    [
        u.UnknownSubject("sql", {"type": "sql", "statement": WHAT}),
        u.UnknownSubject("sql", {"a": [{"b": [WHAT]}]}),
        u.ToolCallUpdate(CALL, title=f"ls{chr(0x200B) * 60}; {WHAT}"),
        u.ToolCallUpdate(CALL, title=f"ls {'x' * 220}; {WHAT}"),
        u.ToolCallUpdate(CALL, locations=(u.Location(WHAT, 3),)),
        u.ToolCallUpdate(CALL, raw_input=[WHAT]),
        u.ToolCallUpdate(CALL, raw_output={"it": WHAT}),
        u.ToolCallUpdate(CALL, content=(u.TerminalItem(u.TerminalId("t")),)),
        u.ToolCallUpdate(CALL, content=(u.UnknownItem("new", {"cmd": WHAT}),)),
        u.ToolCallUpdate(CALL, content=(u.ContentItem(ResourceBlock("file:///a", WHAT)),)),
        u.ToolCallUpdate(CALL, content=(u.ContentItem(ResourceBlock(WHAT, None, "AAAA")),)),
        u.ToolCallUpdate(CALL, content=(u.ContentItem(UnknownBlock("new", {"x": WHAT})),)),
        u.ToolCallUpdate(CALL, content=(u.DiffItem((u.DiffChange("delete", WHAT),)),)),
        u.ToolCallUpdate(
            CALL, content=(u.DiffItem((), old_text="", new_text="x\n" * 30_000 + WHAT),)
        ),
    ],
)
def test_a_question_leaves_nothing_of_its_subject_out(console: Console, subject: object) -> None:
    apply(console.state, u.TerminalUpdate(u.TerminalId("t"), WHAT, "/tmp"))
    if isinstance(subject, u.ToolCallUpdate):
        apply(console.state, subject)
        subject = u.ToolCallSubject(CALL)
    apply(console.state, u.PermissionRequested(ASKED, "May I?", OPTIONS, subject=subject))
    text = question_text(console.state, console.state.permissions[ASKED], "demo")
    assert WHAT in text
    assert all(line.startswith("  ") for line in text.split("\n")[1:])


def test_what_waits_of_a_message_is_printed_before_what_follows(console: Console) -> None:
    assert console.after(said("[ker")) == ""
    assert console.after(said("nel] demo")) == ""
    assert console.after(said("\n``")) == "  [“kernel”] demo\n"
    assert console.after(call("pending")).startswith("``\n\n○ Run")
    assert console.after(said("[kernel] x")) == ""
    assert console.after(said("`", u.MessageId("n"))) == "  [“kernel”] x\n\n"
    assert console.text.end("demo", Ending("end_turn", None)).startswith("`\n\n[Finished")
