"""What only v2 says: whole messages, states, chunks of tool calls, terminals, plans, subjects."""

from __future__ import annotations

import base64

import pytest

from acp_notebook.protocol.fields import Malformed
from acp_notebook.protocol.v2.normalize import V2Reader
from acp_notebook.session import updates as u
from acp_notebook.session.content import TextBlock

TEXT = {"type": "text", "text": "x"}
OPTIONS = [{"optionId": "y", "name": "Yes", "kind": "allow_once"}]


def one(kind, /, **members):
    (found,) = V2Reader().update({"sessionUpdate": kind, **members})
    return found


def b64(data):
    return base64.b64encode(data).decode()


# ---------------------------------------------------------------- messages and state


@pytest.mark.parametrize(
    ("kind", "role"),
    [("user_message", "user"), ("agent_message", "agent"), ("agent_thought", "thought")],
)
def test_a_whole_message_has_three_states_of_content_and_meta(kind, role):
    assert one(kind, messageId="m") == u.MessageUpdate(role, "m")
    assert one(kind, messageId="m", content=None, _meta=None) == u.MessageUpdate(
        role, "m", None, None
    )
    assert one(kind, messageId="m", content=[]).content == ()
    assert one(kind, messageId="m", content=[TEXT, {"type": "text"}]).content == (TextBlock("x"),)
    assert one(kind, messageId="m", content="x").content is u.UNSET


def test_meta_of_a_chunk_stays_with_the_chunk():
    found = one("agent_message_chunk", messageId="m", content=TEXT, _meta={"a": 1})
    assert found == u.MessageChunk("agent", "m", TextBlock("x"))


@pytest.mark.parametrize("kind", ["user", "agent"])
def test_a_message_without_an_id_is_a_violation(kind):
    assert isinstance(one(f"{kind}_message", content=[TEXT]), u.Violation)
    assert isinstance(one(f"{kind}_message_chunk", content=TEXT), u.Violation)
    assert isinstance(one(f"{kind}_message_chunk", messageId=None, content=TEXT), u.Violation)


def test_states_are_read_with_reason_error_and_background():
    assert one("state_update", state="running") == u.StateUpdate("running")
    found = one(
        "state_update",
        state="idle",
        stopReason="error",
        error={"code": -32603, "message": "no credit", "data": {"a": 1}},
        background=[
            {"type": "terminal", "terminalId": "t"},
            {"type": "tool_call", "toolCallId": "c"},
            {"type": "_job"},
            7,
        ],
    )
    assert found == u.StateUpdate(
        "idle",
        "error",
        u.Failure("no credit", -32603, {"a": 1}),
        (
            u.BackgroundItem("terminal", "t"),
            u.BackgroundItem("tool_call", "c"),
            u.BackgroundItem("_job", ""),
        ),
    )


@pytest.mark.parametrize("reason", [None, 3, [], {}])
def test_a_stop_reason_of_another_type_counts_as_not_given(reason):
    assert one("state_update", state="idle", stopReason=reason) == u.StateUpdate("idle")


def test_an_unknown_state_is_kept_as_it_is_and_a_missing_one_is_a_violation():
    assert one("state_update", state="_compacting").state == "_compacting"
    assert isinstance(one("state_update"), u.Violation)
    assert isinstance(one("state_update", state=None), u.Violation)


def test_a_malformed_background_counts_as_not_reported():
    assert one("state_update", state="idle", background="x").background is u.UNSET
    assert one("state_update", state="idle", background=None).background is None
    assert one("state_update", state="idle", background=[]).background == ()


# ---------------------------------------------------------------- tool calls


def test_null_resets_in_a_tool_call_update():
    found = one(
        "tool_call_update",
        toolCallId="c",
        name=None,
        title=None,
        kind=None,
        status=None,
        content=None,
        locations=None,
        rawInput=None,
        rawOutput=None,
        capabilities=None,
        _meta=None,
    )
    assert found == u.ToolCallUpdate("c", *[None] * 10)


def test_a_tool_call_chunk_holds_one_item():
    found = one(
        "tool_call_content_chunk", toolCallId="c", content={"type": "content", "content": TEXT}
    )
    assert found == u.ToolCallChunk("c", u.ContentItem(TextBlock("x")))
    for broken in (None, {"type": "content"}, {}, {"type": "terminal"}, {"type": "diff"}):
        assert isinstance(
            one("tool_call_content_chunk", toolCallId="c", content=broken), u.Violation
        )


@pytest.mark.parametrize(
    ("capabilities", "read"), [({"cancel": {}}, True), ({}, False), ({"cancel": True}, False)]
)
def test_a_tool_call_can_be_cancelled_only_where_it_says_so(capabilities, read):
    assert one("tool_call_update", toolCallId="c", capabilities=capabilities).can_cancel is read
    assert one("terminal_update", terminalId="t", capabilities=capabilities).can_cancel is read


def test_a_diff_is_read_with_every_kind_of_change_and_without_a_patch():
    changes = [
        {"operation": "add", "path": "/a", "fileType": "text", "mimeType": "text/plain"},
        {"operation": "delete", "path": "/b", "fileType": 3},
        {"operation": "modify", "path": "/c"},
        {"operation": "move", "oldPath": "/d", "path": "/e"},
        {"operation": "copy", "oldPath": "/e", "path": "/f"},
        {"operation": "_chmod"},
        {"path": "no operation"},
    ]
    content = [
        {"type": "diff", "changes": changes},
        {"type": "diff", "changes": [], "patch": {"format": "git", "text": "diff --git"}},
        {"type": "diff", "changes": [], "patch": "x"},
    ]
    bare, patched, broken = one("tool_call_update", toolCallId="c", content=content).content
    assert bare == u.DiffItem(
        (
            u.DiffChange("add", "/a", None, "text", "text/plain"),
            u.DiffChange("delete", "/b"),
            u.DiffChange("modify", "/c"),
            u.DiffChange("move", "/e", "/d"),
            u.DiffChange("copy", "/f", "/e"),
            u.DiffChange("_chmod", ""),
        )
    )
    assert patched == u.DiffItem((), "diff --git")
    assert broken == u.DiffItem(())


# ---------------------------------------------------------------- terminals


def test_each_chunk_of_a_terminal_is_decoded_by_itself():
    for data in (b"\xe2\x82", b"\xac", b"\x1b[3", b"\x00", b""):
        found = one("terminal_output_chunk", terminalId="t", data=b64(data))
        assert found == u.TerminalChunk("t", data)


@pytest.mark.parametrize("data", ["4oI", "!!!!", "4o I=", None, 3, "é"])
def test_data_that_is_no_base64_is_a_violation(data):
    assert isinstance(one("terminal_output_chunk", terminalId="t", data=data), u.Violation)


def test_a_terminal_is_read_with_all_its_members():
    found = one(
        "terminal_update",
        terminalId="t",
        command="ls",
        cwd="/a",
        output={"data": b64(b"x")},
        exitStatus={"exitCode": 3, "signal": None},
        size={"cols": 80, "rows": 24},
    )
    assert found == u.TerminalUpdate("t", "ls", "/a", b"x", u.ExitStatus(3), (80, 24))


def test_a_terminal_has_three_states_and_broken_members_count_as_not_given():
    assert one("terminal_update", terminalId="t") == u.TerminalUpdate("t")
    names = ("command", "cwd", "output", "exitStatus", "size", "capabilities")
    cleared = one("terminal_update", terminalId="t", **dict.fromkeys(names))
    assert cleared == u.TerminalUpdate("t", None, None, None, None, None, None)
    broken = one("terminal_update", terminalId="t", **dict.fromkeys(names, "?"), title=1)
    assert broken == u.TerminalUpdate("t", "?", "?")
    assert one("terminal_update", terminalId="t", output={"data": "!"}).output is u.UNSET
    assert one("terminal_update", terminalId="t", size={"cols": 1}).size is u.UNSET
    assert one("terminal_update", terminalId="t", exitStatus={}).exit_status == u.ExitStatus()


# ---------------------------------------------------------------- plans


def test_a_plan_is_keyed_by_its_id_and_unknown_words_are_kept():
    entries = [
        {"content": "one", "priority": "high", "status": "completed"},
        {"content": "two", "priority": "_x", "status": "_y"},
        {"content": "three"},
        {"priority": "high"},
    ]
    found = one("plan_update", plan={"type": "items", "planId": "p", "entries": entries})
    assert found == u.PlanUpdate(
        "p",
        (
            u.PlanEntry("one", "high", "completed"),
            u.PlanEntry("two", "_x", "_y"),
            u.PlanEntry("three"),
        ),
    )


def test_a_plan_of_an_unknown_type_is_kept_whole():
    plan = {"type": "_mindmap", "planId": "p", "nodes": [1]}
    found = one("plan_update", plan=plan)
    assert (found.plan_id, found.entries, found.type, found.raw) == ("p", None, "_mindmap", plan)


@pytest.mark.parametrize(
    "plan", [None, {}, {"type": "items", "planId": "p"}, {"type": "items", "entries": []}]
)
def test_a_plan_without_its_members_is_a_violation(plan):
    assert isinstance(one("plan_update", plan=plan), u.Violation)


def test_a_plan_can_be_taken_back():
    assert one("plan_removed", planId="p") == u.PlanRemoved("p")


# ---------------------------------------------------------------- session, prompts, permissions


def test_the_set_up_answer_carries_options_and_commands_and_null_counts_as_absent():
    option = {"configId": "m", "name": "M", "type": "boolean", "currentValue": True}
    answer = {"configOptions": [option], "availableCommands": [{"name": "plan"}]}
    assert V2Reader().opened(answer) == [
        u.ConfigOptionsUpdate((u.ConfigOption("m", "M", "boolean", True),)),
        u.CommandsUpdate((u.Command("plan", ""),)),
    ]
    for nothing in ({}, {"configOptions": None, "availableCommands": None}, {"configOptions": "x"}):
        assert V2Reader().opened(nothing) == []


@pytest.mark.parametrize(
    ("result", "message_id"), [({}, None), ({"messageId": "m"}, "m"), ({"messageId": None}, None)]
)
def test_both_forms_of_the_answer_mean_accepted(result, message_id):
    assert V2Reader().prompt_answered("p", result) == [u.PromptAccepted("p", message_id)]


@pytest.mark.parametrize("result", [None, [], "ok", 1])
def test_an_answer_that_is_no_object_is_reported_and_taken_as_accepted(result):
    violation, accepted = V2Reader().prompt_answered("p", result)
    assert isinstance(violation, u.Violation)
    assert accepted == u.PromptAccepted("p")


def test_what_the_client_does_passes_as_it_is():
    reader, failure = V2Reader(), u.Failure("no", -1)
    settled = u.PermissionSettled("1", "y", "you")
    assert reader.prompt_sent("p", (TextBlock("x"),)) == [u.PromptSent("p", (TextBlock("x"),))]
    assert reader.prompt_failed("p", failure) == [u.PromptFailed("p", failure)]
    assert reader.cancel_sent() == [u.CancelSent()]
    assert reader.permission_settled(settled) == [settled]


def asked(**members):
    return V2Reader().permission_asked("1", {"title": "Run it?", "options": OPTIONS, **members})


def test_a_request_about_a_tool_call_updates_that_call_and_keeps_the_titles_apart():
    call = {"toolCallId": "c", "title": "rm -rf build", "kind": "execute"}
    update, request = asked(subject={"type": "tool_call", "toolCall": call}, description="d")
    assert update == u.ToolCallUpdate("c", title="rm -rf build", kind="execute")
    assert (request.title, request.description) == ("Run it?", "d")
    assert request.subject == u.ToolCallSubject("c")


def test_a_request_about_a_command_tells_line_folder_and_call():
    subject = {"type": "command", "command": "ls", "cwd": "/a", "toolCallId": "c"}
    (request,) = asked(subject=subject)
    assert request.subject == u.CommandSubject("ls", "/a", "c")
    (request,) = asked(subject={"type": "command", "command": "ls", "terminalId": "t"})
    assert request.subject == u.CommandSubject("ls", "", None, "t")


@pytest.mark.parametrize(
    "subject",
    [
        {"type": "_net", "host": "h"},
        {"type": "tool_call"},
        {"type": "tool_call", "toolCall": {"title": "no id"}},
        {"type": "command"},
        {"no": "type"},
    ],
)
def test_a_subject_that_cannot_be_read_is_kept_and_the_question_stands(subject):
    (request,) = asked(subject=subject)
    assert request.subject == u.UnknownSubject(str(subject.get("type")), subject)


@pytest.mark.parametrize("members", [{}, {"subject": None}, {"subject": "x"}])
def test_a_request_without_a_subject_stands_by_its_title(members):
    (request,) = asked(**members)
    assert request.subject is None


def test_a_request_without_a_title_is_malformed():
    with pytest.raises(Malformed, match="title"):
        V2Reader().permission_asked("1", {"options": OPTIONS})
