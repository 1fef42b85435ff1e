"""Ids of a second connection never meet those of the first."""

from __future__ import annotations

import pytest

from acp_notebook.client.live.id_namespace import OWN_TERMINAL, IdNamespace
from acp_notebook.protocol.fields import Malformed
from acp_notebook.protocol.v1.dialect import V1Dialect
from acp_notebook.protocol.v2.dialect import V2Dialect
from acp_notebook.session import updates as u
from acp_notebook.session.content import TextBlock
from acp_notebook.session.elicitation import ElicitationId, ElicitationRequested

TEXT = {"type": "text", "text": "words"}


class Marked:
    """A reader whose updates are marked as those of a connection."""

    def __init__(self, reader, connection):
        self._reader = reader
        self._ids = IdNamespace(connection)

    def __getattr__(self, name):
        return lambda *given: self._ids.marked(getattr(self._reader, name)(*given))


@pytest.fixture
def reader():
    return Marked(V2Dialect().reader(), 2)


def test_messages_and_their_chunks_keep_together(reader):
    (whole,) = reader.update(
        {"sessionUpdate": "agent_message", "messageId": "m", "content": [TEXT]}
    )
    (chunk,) = reader.update(
        {"sessionUpdate": "agent_message_chunk", "messageId": "m", "content": TEXT}
    )
    assert whole.message_id == chunk.message_id == "m@2"
    assert whole.content == (TextBlock("words"),)
    assert chunk.content == TextBlock("words")


def test_the_answer_to_a_prompt_names_the_same_message(reader):
    assert reader.prompt_answered(u.PromptId("p"), {"messageId": "m"}) == [
        u.PromptAccepted(u.PromptId("p"), u.MessageId("m@2"))
    ]
    assert reader.prompt_answered(u.PromptId("p"), {}) == [u.PromptAccepted(u.PromptId("p"))]


def test_terminals_inside_tool_calls_and_background_work_are_marked_too(reader):
    terminal = {"type": "terminal", "terminalId": "t"}
    (call,) = reader.update(
        {"sessionUpdate": "tool_call_update", "toolCallId": "c", "content": [terminal]}
    )
    (chunk,) = reader.update(
        {"sessionUpdate": "tool_call_content_chunk", "toolCallId": "c", "content": terminal}
    )
    (state,) = reader.update(
        {
            "sessionUpdate": "state_update",
            "state": "idle",
            "background": [{"type": "tool_call", "toolCallId": "c"}],
        }
    )
    assert (call.tool_call_id, call.content) == ("c@2", (u.TerminalItem(u.TerminalId("t@2")),))
    assert chunk.item == u.TerminalItem(u.TerminalId("t@2"))
    assert [item.id for item in state.background] == ["c@2"]


@pytest.mark.parametrize(
    "subject",
    [
        {"type": "tool_call", "toolCall": {"toolCallId": "c"}},
        {"type": "command", "command": "ls", "toolCallId": "c"},
    ],
)
def test_a_permission_is_about_the_marked_call(reader, subject):
    params = {
        "title": "May I?",
        "subject": subject,
        "options": [{"optionId": "yes", "name": "Yes", "kind": "allow_once"}],
    }
    asked = reader.permission_asked(u.PermissionId("1"), params)[-1]
    assert asked.subject.tool_call_id == "c@2"
    assert asked.permission_id == "1"  # ours, not the agent's
    assert asked.options[0].option_id == "yes"  # goes back to the agent as it is


def test_plans_and_compactions_are_marked(reader):
    plan = {"type": "items", "planId": "p", "entries": []}
    (planned,) = reader.update({"sessionUpdate": "plan_update", "plan": plan})
    (chunk,) = reader.update(
        {"sessionUpdate": "compaction_summary_chunk", "compactionId": "k", "content": TEXT}
    )
    assert (planned.plan_id, chunk.compaction_id) == ("p@2", "k@2")


@pytest.mark.parametrize("reader", [1, 2], indirect=True)
@pytest.mark.parametrize(
    "update",
    [
        {"sessionUpdate": "terminal_update", "command": "cat README.md"},
        {"sessionUpdate": "terminal_output_chunk", "data": "eA=="},
    ],
    ids=["command", "output"],
)
def test_an_own_terminal_may_be_shown_and_not_changed(reader, update):
    own = f"{OWN_TERMINAL}1"
    call = {"sessionUpdate": "tool_call_update", "toolCallId": "c"}
    (shown,) = reader.update({**call, "content": [{"type": "terminal", "terminalId": own}]})
    assert [item.terminal_id for item in shown.content] == [own]
    (refused,) = reader.update({**update, "terminalId": own})
    assert isinstance(refused, u.Violation)
    assert "this client's own" in refused.reason


def test_what_has_no_id_passes_as_it_is(reader):
    raw = {"sessionUpdate": "usage_update", "used": 1, "size": 2}
    assert reader.update(raw) == V2Dialect().reader().update(raw)
    assert reader.cancel_sent() == [u.CancelSent()]
    settled = u.PermissionSettled(u.PermissionId("1"), "yes", "you")
    assert reader.permission_settled(settled) == [settled]


def test_ids_that_a_reader_makes_up_are_marked():
    first, second = V1Dialect().reader(), Marked(V1Dialect().reader(), 2)

    def ids(reader):
        sent = reader.prompt_sent(u.PromptId("p"), (TextBlock("hi"),))
        return {update.message_id for update in sent if isinstance(update, u.MessageUpdate)}

    assert ids(first).isdisjoint(ids(second))


OWN = f"{u.OWN_CALL}7"


@pytest.mark.parametrize("connection", [1, 2])
@pytest.mark.parametrize(
    "update",
    [
        {"sessionUpdate": "tool_call_update", "toolCallId": OWN, "kind": "read"},
        {"sessionUpdate": "tool_call_update", "toolCallId": OWN, "title": "Looked at the docs"},
        {"sessionUpdate": "tool_call_update", "toolCallId": OWN, "content": None, "_meta": None},
        {
            "sessionUpdate": "tool_call_content_chunk",
            "toolCallId": OWN,
            "content": {"type": "content", "content": TEXT},
        },
    ],
)
def test_no_agent_can_name_a_call_of_this_client(connection, update):
    reader = Marked(V2Dialect().reader(), connection)
    (refused,) = reader.update(update)
    assert isinstance(refused, u.Violation)
    assert "this client's own" in refused.reason


def test_a_refused_message_may_be_nested_as_deep_as_it_likes():
    deep = value = []
    for _ in range(50_000):
        value.append([])
        value = value[0]
    update = u.ToolCallUpdate(OWN, raw_input={"a": deep})
    assert isinstance(IdNamespace().marked([update])[0], u.Violation)


def test_an_agents_first_version_cannot_either():
    reader = Marked(V1Dialect().reader(), 1)
    update = {"sessionUpdate": "tool_call", "toolCallId": OWN, "title": "Read", "kind": "read"}
    assert [type(each) for each in reader.update(update)] == [u.Violation]


@pytest.mark.parametrize("connection", [1, 2])
def test_a_state_that_lists_a_call_of_this_client_still_counts(connection):
    items = (u.BackgroundItem("tool_call", u.WorkId(OWN)), u.BackgroundItem("terminal", "t"))
    update = u.StateUpdate("idle", "end_turn", background=items)
    (state,) = IdNamespace(connection).marked([update])
    assert state.stop_reason == "end_turn"
    assert [item.type for item in state.background] == ["terminal"]


@pytest.mark.parametrize(
    "request_",
    [
        u.PermissionRequested(u.PermissionId("1"), "May I?", (), subject=subject)
        for subject in (u.ToolCallSubject(OWN), u.CommandSubject("ls", "/", OWN))
    ]
    + [ElicitationRequested(ElicitationId("1"), "Name?", tool_call_id=OWN)],
)
def test_no_question_can_be_about_a_call_of_this_client(request_):
    with pytest.raises(Malformed, match="this client's own"):
        IdNamespace().asked([request_])
