"""Requests as real agents make them, odd but answerable: each gets its one answer and is shown."""

from __future__ import annotations

import pytest
from memory_agent import SESSION, MemoryAgent, RefusedError
from watching import Person, answer, poll, until, until_asked

from acp_notebook.session.state import EntryKey

proves = pytest.mark.requirement
ASK = "session/request_permission"
CALL = {"toolCallId": "call"}
YES = {"optionId": "yes", "name": "Yes", "kind": "allow_once"}
NO = {"optionId": "no", "name": "No", "kind": "reject_once"}


@pytest.fixture(params=[1, 2], ids=["v1", "v2"])
def agent(request):
    return MemoryAgent(request.param)


@pytest.fixture
def session(meet, agent, host):
    host(Person())
    return meet(agent).session


def params(agent, *options, call=CALL, session_id=SESSION, **more):
    asked = {"sessionId": session_id, "options": list(options), **more}
    if agent.version == 1:
        return {**asked, "toolCall": call}
    return {"title": "May I?", **asked, "subject": {"type": "tool_call", "toolCall": call}}


def selected(option_id):
    return {"outcome": {"outcome": "selected", "optionId": option_id}}


@proves("PERM-3")
@pytest.mark.parametrize("request_id", [0, "0", "a-b-c", "", -1, 2**53])
def test_whatever_id_a_request_has_its_answer_has_the_same(session, agent, request_id):
    agent.asked[request_id] = ASK
    agent.send({"id": request_id, "method": ASK, "params": params(agent, YES, NO)})
    (asked,) = until_asked(session)
    answer(session, asked, "yes")
    assert agent.wait(request_id)["result"] == selected("yes")
    assert type(agent.answers_to(request_id)[0]["id"]) is type(request_id)


@proves("PERM-2")
def test_options_of_one_kind_are_all_there_and_told_apart_by_their_ids(session, agent):
    always = [
        {"optionId": f"always-{n}", "name": f"Always {n}", "kind": "allow_always"} for n in (1, 2)
    ]
    once = [{"optionId": f"once-{n}", "name": f"Once {n}", "kind": "allow_once"} for n in (1, 2)]
    request_id = agent.begin(ASK, params(agent, *always, *once))
    (asked,) = until_asked(session)
    shown = session.live.state.permissions[asked].request.options
    assert [option.name for option in shown] == ["Always 1", "Always 2", "Once 1", "Once 2"]
    answer(session, asked, "always-2")
    assert agent.wait(request_id)["result"] == selected("always-2")


@proves("PERM-2")
def test_options_without_a_kind_or_with_the_same_id_can_be_chosen(session, agent):
    bare = {"optionId": "a", "name": "Allow"}
    request_id = agent.begin(ASK, params(agent, bare, {"optionId": "a"}, {"name": "no id"}, "odd"))
    (asked,) = until_asked(session)
    shown = session.live.state.permissions[asked].request.options
    assert [(option.option_id, option.name, option.kind) for option in shown] == [
        ("a", "Allow", ""),
        ("a", "a", ""),
    ]
    answer(session, asked, "a")
    answer(session, asked, "a")
    assert agent.wait(request_id)["result"] == selected("a")
    agent.settle()
    assert len(agent.answers_to(request_id)) == 1


@proves("PERM-2")
@pytest.mark.parametrize("options", [[], [{"name": "no id"}], None, {}], ids=str)
def test_a_question_without_an_answer_is_refused_and_explained(session, agent, options):
    request_id = agent.begin(ASK, {**params(agent), "options": options})
    assert agent.wait(request_id)["error"]["code"] == -32602
    (violation,) = session.live.state.violations
    assert violation.where == ASK
    assert session.live.state.open_permissions == []
    assert session.live.state.timeline[-1].kind == "violation"


@proves("PERM-5")
def test_an_open_question_waits_without_a_limit_while_everything_else_goes_on(session, agent):
    request_id = agent.begin(ASK, params(agent, YES, NO))
    (asked,) = until_asked(session)
    chunk = {"type": "text", "text": "meanwhile"}
    agent.tell({"sessionUpdate": "agent_message_chunk", "messageId": "m", "content": chunk})
    agent.tell({"sessionUpdate": "tool_call_update", **CALL, "status": "completed"})
    agent.settle()
    assert agent.answers_to(request_id) == []
    answer(session, asked, "no")
    assert agent.wait(request_id)["result"] == selected("no")


@proves("PERM-4")
def test_one_call_has_one_card_whichever_of_question_and_updates_comes_first(session, agent):
    first = {**CALL, "kind": "edit", "status": "pending"}
    request_id = agent.begin(ASK, params(agent, YES, NO, call=first))
    (asked,) = until_asked(session)
    kind = "tool_call" if agent.version == 1 else "tool_call_update"
    announced = {**CALL, "title": "Write notes.md", "rawInput": {"path": "notes.md"}}
    agent.tell({"sessionUpdate": kind, **announced})
    agent.tell({"sessionUpdate": "tool_call_update", **CALL, "status": "in_progress"})
    answer(session, asked, "yes")
    agent.wait(request_id)
    agent.tell({"sessionUpdate": "tool_call_update", **CALL, "status": "completed"})
    agent.settle()
    state = session.live.state
    assert [key for key in state.timeline if key.kind == "tool_call"] == [
        EntryKey("tool_call", "call")
    ]
    (call,) = state.tool_calls.values()
    assert (call.title, call.kind, call.status) == ("Write notes.md", "edit", "completed")
    assert call.raw_input == {"path": "notes.md"}


@proves("PERM-3")
def test_questions_of_many_sessions_go_back_to_who_asked(session, agent):
    other_id = agent.begin(
        ASK, params(agent, YES, NO, session_id="child", call={"toolCallId": "c"})
    )
    own_id = agent.begin(ASK, params(agent, NO, YES))
    until_asked(session)
    assert poll(lambda: len(session.questions) == 2)
    own, of_child = session.questions
    own.answer("no")
    of_child.answer("yes")
    assert agent.wait(own_id)["result"] == selected("no")
    assert agent.wait(other_id)["result"] == selected("yes")


@proves("WIRE-4")
def test_a_question_before_any_session_is_answered(meet, agent):
    def locked(_):
        raise RefusedError(-32000, "Authentication required")

    agent.answers["session/new"] = locked
    meet(agent)
    request_id = agent.begin(ASK, params(agent, YES, NO))
    assert agent.wait(request_id)["error"]["code"] == -32602


@proves("PERM-8")
def test_taking_back_what_is_not_open_changes_nothing(session, agent):
    request_id = agent.begin(ASK, params(agent, YES, NO))
    (asked,) = until_asked(session)
    for unknown in ("no-such-id", None, [request_id], str(request_id), True):
        agent.send({"method": "$/cancel_request", "params": {"requestId": unknown}})
    agent.send({"method": "$/cancel_request"})
    agent.settle()
    assert agent.answers_to(request_id) == []
    answer(session, asked, "yes")
    assert agent.wait(request_id)["result"] == selected("yes")
    agent.send({"method": "$/cancel_request", "params": {"requestId": request_id}})
    agent.settle()
    assert len(agent.answers_to(request_id)) == 1


@proves("STATE-4")
def test_updates_outside_of_any_turn_are_applied_and_shown(session, agent):
    kind = "tool_call" if agent.version == 1 else "tool_call_update"
    agent.tell({"sessionUpdate": kind, **CALL, "title": "The model has changed"})
    text = {"type": "text", "text": "[MODE] careful"}
    agent.tell({"sessionUpdate": "agent_message_chunk", "messageId": "m", "content": text})
    until(session, lambda state: state.messages)
    state = session.live.state
    assert [key.kind for key in state.timeline] == ["tool_call", "agent"]
    assert state.is_idle
    assert session.prompt("go on").stop_reason == "end_turn"


@proves("WIRE-4")
@pytest.mark.parametrize("method", ["craft/drainQueue", "_x/foo", "terminal/create", ""])
def test_a_method_of_the_agents_own_is_refused_at_once(session, agent, method):
    assert agent.ask(method)["error"]["code"] == -32601
    agent.send({"method": "vendor/notify/session", "params": [1]})
    agent.send({"method": "_auth/status_update"})
    agent.settle()
    assert session.live.state.violations == []


@proves("PROMPT-4")
@pytest.mark.parametrize(
    "error",
    [
        {"code": 400, "message": "Bad Request"},
        {"code": -32603, "message": "Internal error", "data": {"details": "model is down"}},
        {"code": 99999999999, "message": ""},
        {"code": "400"},
        {},
        "refused",
    ],
    ids=str,
)
def test_a_failing_prompt_ends_with_whatever_error_there_is(session, agent, error):
    def fail(_):
        refused = RefusedError(0)
        refused.error = error
        raise refused

    agent.answers["session/prompt"] = fail
    turn = session.prompt("try")
    assert turn.stop_reason is None
    assert turn.error
    assert session.state == "idle"
