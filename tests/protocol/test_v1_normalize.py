"""How v1 is completed: message runs, the prompt as message, states, the one plan, modes, nulls."""

from __future__ import annotations

import pytest

from acp_notebook.protocol.fields import Malformed
from acp_notebook.protocol.v1.normalize import MODE_OPTION_ID, PLAN_ID, V1Reader
from acp_notebook.session import updates as u
from acp_notebook.session.content import ImageBlock, ResourceLinkBlock, TextBlock
from acp_notebook.session.reducer import apply
from acp_notebook.session.state import EntryKey, SessionState

OPTIONS = [{"optionId": "y", "name": "Yes", "kind": "allow_once"}]
TYPED = (TextBlock("do it"),)


class Played:
    """A reader and the state that it feeds."""

    def __init__(self):
        self.reader = V1Reader()
        self.state = SessionState()

    def take(self, updates):
        for update in updates:
            apply(self.state, update)
        return updates

    def update(self, kind, /, **members):
        return self.take(self.reader.update({"sessionUpdate": kind, **members}))

    def chunk(self, text, role="agent_message", **members):
        return self.update(f"{role}_chunk", content={"type": "text", "text": text}, **members)

    def prompt(self, prompt_id="p1", content=TYPED):
        return self.take(self.reader.prompt_sent(prompt_id, content))

    def answer(self, result=None, prompt_id="p1"):
        result = {"stopReason": "end_turn"} if result is None else result
        return self.take(self.reader.prompt_answered(prompt_id, result))

    def ask(self, permission_id="1", **call):
        params = {"options": OPTIONS, "toolCall": {"toolCallId": "c", **call}}
        return self.take(self.reader.permission_asked(permission_id, params))

    def settle(self, permission_id="1", option_id="y"):
        settled = u.PermissionSettled(permission_id, option_id, "you")
        return self.take(self.reader.permission_settled(settled))

    @property
    def shown(self):
        """The timeline as (kind, text or id)."""
        messages = self.state.messages
        return [
            (key.kind, messages[key].text if key in messages else key.id)
            for key in self.state.timeline
        ]


@pytest.fixture
def played():
    return Played()


# ---------------------------------------------------------------- message runs


def test_a_run_of_chunks_of_one_role_is_one_message(played):
    for text in ("a", "b", "c"):
        played.chunk(text)
    assert played.shown == [("agent", "abc")]


@pytest.mark.parametrize(
    ("kind", "members"),
    [
        ("agent_thought_chunk", {"content": {"type": "text", "text": "hm"}}),
        ("tool_call", {"toolCallId": "c", "title": "t"}),
        ("tool_call_update", {"toolCallId": "c"}),
        ("plan", {"entries": []}),
    ],
)
def test_another_role_a_tool_call_and_a_plan_end_a_run(played, kind, members):
    played.chunk("a")
    played.update(kind, **members)
    played.chunk("b")
    assert [text for role, text in played.shown if role == "agent"] == ["a", "b"]


@pytest.mark.parametrize(
    ("kind", "members"),
    [
        ("usage_update", {"used": 1, "size": 2}),
        ("available_commands_update", {"availableCommands": []}),
        ("current_mode_update", {"currentModeId": "x"}),
        ("session_info_update", {"title": "t"}),
        ("_unknown", {}),
        ("plan", {"entries": "broken"}),
    ],
)
def test_what_is_beside_the_conversation_or_broken_ends_no_run(played, kind, members):
    played.chunk("a")
    played.update(kind, **members)
    played.chunk("b")
    assert [text for role, text in played.shown if role == "agent"] == ["ab"]


def test_updates_of_a_known_tool_call_do_not_split_the_text_around_them(played):
    played.update("tool_call", toolCallId="c", title="t")
    played.chunk("a")
    played.update("tool_call_update", toolCallId="c", status="completed")
    played.chunk("b")
    assert played.shown == [("tool_call", "c"), ("agent", "ab")]


def test_the_end_of_the_turn_ends_a_run(played):
    played.prompt()
    played.chunk("a")
    played.answer()
    played.chunk("b")
    assert played.shown == [("user", "do it"), ("agent", "a"), ("agent", "b")]
    assert played.state.is_idle


def test_an_id_of_the_agent_is_used_as_it_is_also_across_a_tool_call(played):
    played.chunk("a", messageId="m1")
    played.chunk("b", messageId="m2")
    played.update("tool_call", toolCallId="c", title="t")
    played.chunk("c", messageId="m2")
    assert played.shown == [("agent", "a"), ("agent", "bc"), ("tool_call", "c")]
    assert EntryKey("agent", "m1") in played.state.messages


def test_late_text_of_a_known_id_appends_after_the_answer_and_the_turn_stays_ended(played):
    played.prompt()
    played.chunk("E", messageId="m1")
    played.answer()
    played.chunk("M", messageId="m1")
    assert played.shown == [("user", "do it"), ("agent", "EM")]
    assert played.state.is_idle
    assert played.state.prompts["p1"].stop_reason == "end_turn"


def test_an_absent_id_does_not_split_but_a_changed_one_does(played):
    played.chunk("a", messageId="m1")
    played.chunk("b")
    played.chunk("c", messageId=None)
    played.chunk("d", messageId="m2")
    assert played.shown == [("agent", "abc"), ("agent", "d")]


def test_ids_made_up_here_say_so_and_are_never_used_twice(played):
    played.prompt()
    played.chunk("a")
    played.chunk("b", role="agent_thought")
    played.answer()
    played.prompt("p2")
    ids = [key.id for key in played.state.messages]
    assert len(set(ids)) == len(ids) == 4
    assert all(name.startswith("v1-") for name in ids)


# ---------------------------------------------------------------- the prompt as message


def test_the_prompt_is_the_user_message_and_stands_once(played):
    played.prompt(content=(TextBlock("look"), ImageBlock("AA==", "image/png")))
    assert played.shown == [("user", "look")]
    assert played.state.prompts["p1"].phase == "working"
    assert played.state.activity == "running"


@pytest.mark.parametrize("pieces", [["do it"], ["do", " it"], ["", "do it"]])
def test_an_echo_of_the_prompt_is_no_second_message(played, pieces):
    played.prompt()
    for piece in pieces:
        assert played.chunk(piece, role="user_message") == []
    assert played.shown == [("user", "do it")]


def test_an_echoed_attachment_is_no_second_message(played):
    link = {"type": "resource_link", "uri": "u:1", "name": "n"}
    played.prompt(content=(*TYPED, ResourceLinkBlock("u:1", "n")))
    played.chunk("do it", role="user_message")
    assert played.update("user_message_chunk", content=link) == []


def test_a_user_message_that_is_no_echo_is_shown(played):
    played.prompt()
    played.chunk("from elsewhere", role="user_message")
    assert played.shown == [("user", "do it"), ("user", "from elsewhere")]


def test_after_the_first_output_nothing_counts_as_an_echo(played):
    played.prompt()
    played.chunk("ok")
    played.chunk("do it", role="user_message")
    assert played.shown == [("user", "do it"), ("agent", "ok"), ("user", "do it")]


def test_user_messages_without_a_prompt_are_shown(played):
    played.chunk("earlier", role="user_message")
    assert played.shown == [("user", "earlier")]


# ---------------------------------------------------------------- states and ends


@pytest.mark.parametrize(
    "reason", ["end_turn", "max_tokens", "max_turn_requests", "refusal", "cancelled", "_vendor"]
)
def test_the_answer_is_the_end_with_its_stop_reason(played, reason):
    played.prompt()
    assert played.answer({"stopReason": reason}) == [u.StateUpdate("idle", reason)]
    assert played.state.prompts["p1"].stop_reason == reason


@pytest.mark.parametrize(
    ("result", "reason"),
    [({"stopReason": "done"}, "done"), ({}, None), ({"stopReason": None}, None), ("ok", None)],
)
def test_a_missing_or_unknown_stop_reason_is_reported_and_ends_the_turn(played, result, reason):
    played.prompt()
    violation, idle = played.answer(result)
    assert (violation.where, idle) == ("session/prompt", u.StateUpdate("idle", reason))
    assert played.state.prompts["p1"].is_ended


def test_an_error_ends_the_turn_and_a_new_one_begins_afresh(played):
    played.prompt()
    played.take(played.reader.prompt_failed("p1", u.Failure("no", -1)))
    assert (played.state.is_idle, played.state.prompts["p1"].failure) == (True, u.Failure("no", -1))
    played.prompt("p2")
    played.answer(prompt_id="p2")
    assert played.state.prompts["p2"].stop_reason == "end_turn"


def test_an_error_after_a_cancel_is_the_cancel(played):
    played.prompt()
    played.take(played.reader.cancel_sent())
    played.take(played.reader.prompt_failed("p1", u.Failure("aborted", -32800)))
    prompt = played.state.prompts["p1"]
    assert (prompt.stop_reason, prompt.failure) == ("cancelled", None)
    assert not played.state.is_cancelling


def test_a_cancel_does_not_reach_into_the_next_turn(played):
    played.prompt()
    played.take(played.reader.cancel_sent())
    played.answer({"stopReason": "cancelled"})
    played.prompt("p2")
    played.take(played.reader.prompt_failed("p2", u.Failure("no", -1)))
    assert played.state.prompts["p2"].failure == u.Failure("no", -1)


def test_an_open_permission_is_requires_action_until_the_last_is_answered(played):
    played.prompt()
    played.ask("1")
    played.ask("2")
    assert played.state.activity == "requires_action"
    played.settle("2")
    assert played.state.activity == "requires_action"
    played.settle("1")
    assert played.state.activity == "running"


def test_a_permission_outside_a_turn_does_not_change_the_state(played):
    played.ask()
    assert (played.state.is_idle, len(played.state.open_permissions)) == (True, 1)
    played.settle()
    assert played.state.is_idle


def test_a_permission_left_open_does_not_hold_up_the_next_turn(played):
    played.prompt()
    played.ask("1")
    played.answer()
    assert played.state.is_idle
    played.settle("1", None)
    assert played.state.is_idle
    played.prompt("p2")
    assert played.state.activity == "running"


# ---------------------------------------------------------------- tool calls


def test_null_in_a_tool_call_update_means_unchanged(played):
    made = {
        "toolCallId": "c",
        "name": "bash",
        "title": "List",
        "kind": "execute",
        "status": "in_progress",
        "content": [{"type": "content", "content": {"type": "text", "text": "x"}}],
        "locations": [{"path": "/a"}],
        "rawInput": {"a": 1},
        "rawOutput": {"b": 2},
        "_meta": {"m": 1},
    }
    played.update("tool_call", **made)
    nulls = dict.fromkeys(made) | {"toolCallId": "c"}
    (found,) = played.update("tool_call_update", **nulls)
    assert found == u.ToolCallUpdate("c")
    call = played.state.tool_calls["c"]
    assert (call.title, call.kind, call.status, call.meta) == (
        "List",
        "execute",
        "in_progress",
        {"m": 1},
    )


def test_an_empty_content_clears(played):
    content = [{"type": "content", "content": {"type": "text", "text": "x"}}]
    played.update("tool_call", toolCallId="c", content=content)
    played.update("tool_call_update", toolCallId="c", content=[])
    assert played.state.tool_calls["c"].content == []


def test_an_update_for_a_call_never_announced_creates_it_and_invents_nothing(played):
    played.update("tool_call_update", toolCallId="zz", status="completed")
    call = played.state.tool_calls["zz"]
    assert (call.title, call.kind, call.status) == (None, "other", "completed")


def test_a_repeated_announcement_does_not_undo_the_status(played):
    played.update("tool_call_update", toolCallId="c", status="completed")
    played.update("tool_call", toolCallId="c", title="Late", status="pending")
    call = played.state.tool_calls["c"]
    assert (call.title, call.status) == ("Late", "completed")


@pytest.mark.parametrize("tool_call_id", [None, 3, [], {}])
def test_a_tool_call_without_a_readable_id_is_a_violation(played, tool_call_id):
    for kind in ("tool_call", "tool_call_update"):
        (found,) = played.update(kind, toolCallId=tool_call_id)
        assert isinstance(found, u.Violation)


def test_a_diff_gets_a_patch_and_keeps_its_texts(played):
    content = [
        {"type": "diff", "path": "/a", "oldText": "1\n", "newText": "2\n"},
        {"type": "diff", "path": "/broken"},
    ]
    played.update("tool_call", toolCallId="c", content=content)
    (item,) = played.state.tool_calls["c"].content
    assert (item.old_text, item.new_text) == ("1\n", "2\n")
    assert item.patch.endswith("@@ -1 +1 @@\n-1\n+2\n")


# ---------------------------------------------------------------- permissions


def test_the_question_is_the_title_of_the_tool_call(played):
    update, request = played.ask(title="Delete build", kind="delete")
    assert update == u.ToolCallUpdate("c", title="Delete build", kind="delete")
    assert (request.title, request.subject) == ("Delete build", u.ToolCallSubject("c"))


def test_a_request_with_almost_no_data_uses_the_title_that_is_known(played):
    played.update("tool_call", toolCallId="c", title="Delete build")
    assert played.ask(title=None, status="pending")[1].title == "Delete build"


def test_a_request_for_a_call_never_announced_creates_it_and_has_a_neutral_title(played):
    assert played.ask(kind="execute")[1].title == "Permission needed"
    assert played.state.tool_calls["c"].kind == "execute"
    played.update("tool_call_update", toolCallId="c", status="completed")
    assert played.shown == [("tool_call", "c"), ("permission", "1")]


@pytest.mark.parametrize("call", [None, [], {}, {"toolCallId": 3}, {"toolCallId": []}])
def test_a_request_without_a_tool_call_is_malformed(played, call):
    with pytest.raises(Malformed):
        played.reader.permission_asked("1", {"options": OPTIONS, "toolCall": call})


# ---------------------------------------------------------------- plan, modes, options


def test_the_one_plan_is_replaced_whole(played):
    played.update("plan", entries=[{"content": "a"}, {"content": "b"}])
    played.update("plan", entries=[{"content": "c", "status": "completed"}, {"status": "x"}])
    assert played.state.plans[PLAN_ID].entries == (u.PlanEntry("c", "medium", "completed"),)
    played.update("plan", entries=[])
    assert played.state.plans[PLAN_ID].entries == ()
    assert played.shown == [("plan", PLAN_ID)]


MODES = {
    "currentModeId": "ask",
    "availableModes": [
        {"id": "ask", "name": "Ask", "description": "asks first"},
        {"id": "code"},
        {"name": "no id"},
    ],
}
MODE = u.ConfigOption(
    MODE_OPTION_ID,
    "Mode",
    "select",
    "ask",
    "mode",
    None,
    (u.ConfigValue("ask", "Ask", "asks first"), u.ConfigValue("code", "code")),
)


def option(name, category=None):
    raw = {"id": name, "name": name, "type": "boolean", "currentValue": True}
    return raw | ({"category": category} if category else {})


def opened(played, **answer):
    played.take(played.reader.opened(answer))
    return [found.id for found in played.state.config_options]


def test_modes_become_an_option_before_the_others(played):
    assert opened(played, modes=MODES, configOptions=[option("model")]) == [MODE_OPTION_ID, "model"]
    assert played.state.config_options[0] == MODE


def test_modes_give_way_to_a_real_option_of_their_category(played):
    assert opened(played, modes=MODES, configOptions=[option("real", "mode")]) == ["real"]


def test_a_changed_mode_changes_the_option_and_keeps_the_others(played):
    opened(played, modes=MODES, configOptions=[option("model")])
    played.update("current_mode_update", currentModeId="code")
    assert [found.value for found in played.state.config_options] == ["code", True]


def test_changed_options_replace_the_others_and_keep_the_mode(played):
    opened(played, modes=MODES, configOptions=[option("model")])
    played.update("config_option_update", configOptions=[option("a"), option("b")])
    assert [found.id for found in played.state.config_options] == [MODE_OPTION_ID, "a", "b"]


@pytest.mark.parametrize(
    "answer",
    [
        {},
        {"modes": None, "configOptions": None, "models": None},
        {"modes": {}},
        {"modes": {"currentModeId": "a", "availableModes": "broken"}},
        {"modes": {"currentModeId": "a", "availableModes": {"a": 1}}},
        {"modes": [], "configOptions": {}},
    ],
)
def test_a_set_up_answer_with_nothing_readable_gives_no_options(played, answer):
    assert played.reader.opened(answer) == []
