"""Permission for running code: our own card, the session's policy, grants, and nobody to ask."""

from __future__ import annotations

import asyncio
import threading
from concurrent.futures import Future

import pytest
from tools_bench import BOUND_S, Hands, entry_of, has_spoken, mcp_over_http, text_of, wait_as_a_cell
from watching import poll

import acp_notebook as acp
from acp_notebook.client.live.policies import Decision
from acp_notebook.errors import UsageError
from acp_notebook.session import updates as u
from acp_notebook.session.updates import CodeSubject

CODE = "ran = True"


@pytest.fixture
def asking(session):
    session.permissions = "ask"
    return session


def next_question(session):
    """A future of the session's next open question."""
    found: Future = Future()

    def note(_changes):
        opened = session.live.state.open_permissions
        if opened and not found.done():
            found.set_result(opened[-1].request)

    session.agent.thread.call(lambda: (session.live.subscribe(note), note([])))
    return found


def next_card(session, status):
    """A future of the first call of our own with this status."""
    found: Future = Future()

    def note(_changes):
        calls = [call for call in session.live.state.tool_calls.values() if call.status == status]
        if calls and not found.done():
            found.set_result(calls[0])

    session.agent.thread.call(lambda: (session.live.subscribe(note), note([])))
    return found


def answer(session, option_id):
    """Click an option of the next question, from elsewhere."""
    question = next_question(session)

    def click():
        request = question.result(BOUND_S)
        (asked,) = (each for each in session.questions if each.request == request)
        asked.answer(option_id)

    threading.Thread(target=click).start()
    return question


def last_answer(session):
    return list(session.live.state.permissions.values())[-1].answer


def test_the_question_shows_the_code_and_waits_for_a_click(hands, asking, space):
    question = answer(asking, "allow")
    assert not hands.call("run_code", code=CODE).is_error
    request = question.result(0)
    assert request.subject == CodeSubject(CODE, tool_call_id=request.subject.tool_call_id)
    assert [option.name for option in request.options] == [
        "Allow",
        "Allow for this session",
        "Reject",
    ]
    assert space["ran"]
    assert last_answer(asking).by == "you"


def test_what_is_rejected_does_not_run_and_the_agent_is_told(hands, asking, space):
    answer(asking, "reject")
    result = hands.call("run_code", code=CODE)
    assert result.is_error
    assert "Not allowed (you). Nothing was run." in text_of(result)
    assert "ran" not in space
    (card,) = asking.live.state.tool_calls.values()
    assert card.status == "cancelled"
    assert CODE in card.content[0].block.text


def test_allowed_for_the_session_is_not_asked_again_until_it_is_taken_back(hands, asking):
    answer(asking, "allow_session")
    hands.call("run_code", code="1")
    hands.call("run_code", code="2")
    assert len(asking.live.state.permissions) == 1
    assert asking.grants == ("run_code",)
    asking.revoke("run_code")
    answer(asking, "reject")
    assert hands.call("run_code", code="3").is_error


def test_only_what_was_granted_can_be_taken_back(asking):
    with pytest.raises(UsageError, match="'run_code' is not allowed for this session; nothing"):
        asking.revoke("run_code")


@pytest.mark.parametrize("policy", ["reject", "ask", "reads", lambda _: "reject"])
@pytest.mark.parametrize("way", ["session", "agent", "prompt"])
def test_a_new_policy_takes_effect_on_what_was_granted(hands, asking, space, policy, way):
    answer(asking, "allow_session")
    hands.call("run_code", code="1")
    if way == "session":
        asking.permissions = policy
    elif way == "agent":
        asking.agent.permissions = policy
    else:
        asking.prompt("/slow 0", wait=False, permissions=policy)
    if policy in {"ask", "reads"}:
        answer(asking, "reject")
    assert hands.call("run_code", code=CODE).is_error
    assert "ran" not in space
    asking.agent.permissions = "ask"


def test_a_new_policy_decides_the_question_that_is_open(hands, asking, space):
    question = next_question(asking)
    call = hands.begin("run_code", code=CODE)
    question.result(BOUND_S)
    asking.permissions = "reject"
    assert "Not allowed (policy reject)" in text_of(wait_as_a_cell(call))
    assert "ran" not in space


@pytest.mark.parametrize("policy", ["ask", lambda _: "reject"])
def test_a_function_that_answers_after_its_successor_has_come_does_not_count(
    hands, asking, space, policy
):
    asked, may_answer = threading.Event(), threading.Event()

    def slow(_question):
        asked.set()
        may_answer.wait(BOUND_S)
        return "allow"

    async def slowly(question):
        return await asyncio.to_thread(slow, question)

    def change():
        asked.wait(BOUND_S)
        asking.permissions = policy
        may_answer.set()
        if policy == "ask":
            next_question(asking).result(BOUND_S)
            wait_until_asked(asking)
            asking.questions[0].answer("reject")

    asking.permissions = slowly
    threading.Thread(target=change).start()
    assert hands.call("run_code", code=CODE).is_error
    assert "ran" not in space


def test_what_a_policy_allowed_does_not_begin_when_the_policy_is_gone(hands, asking, space):
    """The kernel is busy with the cell that takes the permission back."""
    asking.permissions = "allow"
    card = next_card(asking, "in_progress")
    call = hands.begin("run_code", code=CODE)
    card.result(BOUND_S)
    asking.permissions = "ask"
    assert "The permission was taken back" in text_of(wait_as_a_cell(call))
    assert "ran" not in space


def test_what_a_person_allowed_once_runs_whatever_the_policy_becomes(hands, asking, space):
    answer(asking, "allow")
    card = next_card(asking, "in_progress")
    call = hands.begin("run_code", code=CODE)
    card.result(BOUND_S)
    asking.permissions = "reads"
    assert not wait_as_a_cell(call).is_error
    assert space["ran"]


def test_a_click_on_its_way_grants_nothing_under_a_policy_set_meanwhile(hands, asking):
    next_question(asking)
    call = hands.begin("run_code", code="1")
    wait_until_asked(asking)
    (asked,), goes_on = asking.questions, threading.Event()
    asking.agent.thread.post(lambda: goes_on.wait(BOUND_S))  # the thread is at work
    clicked = Decision("allow_session", "you")
    asking.agent.thread.post(lambda: asked.settle(clicked))
    asking.permissions = "reject"
    goes_on.set()
    assert not wait_as_a_cell(call).is_error  # allowed once, before
    assert asking.grants == ()
    assert hands.call("run_code", code="2").is_error


def test_a_question_that_was_open_when_a_grant_was_taken_back_may_grant_again(hands, asking):
    call = hands.begin("run_code", code="1")
    wait_until_asked(asking)
    asking.revoke()
    (asked,) = asking.questions
    asked.answer("allow_session")
    assert not wait_as_a_cell(call).is_error
    assert asking.grants == ("run_code",)


def test_a_grant_of_one_session_is_not_another_ones(hands, asking, agent):
    answer(asking, "allow_session")
    hands.call("run_code", code="1")
    assert asking.grants == ("run_code",)
    assert agent.new_session().grants == ()


@pytest.mark.parametrize(("policy", "runs"), [("allow", True), ("reject", False), ("reads", None)])
def test_the_policy_of_the_session_decides(hands, session, space, policy, runs):
    session.permissions = policy
    if runs is None:  # running code is no reading: it is asked
        answer(session, "reject")
    assert hands.call("run_code", code=CODE).is_error == (not runs)
    assert ("ran" in space) == bool(runs)
    assert last_answer(session).by == ("you" if runs is None else f"policy {policy}")


def test_a_policy_function_sees_the_code(hands, session, space):
    seen = []

    def only_sums(question):
        seen.append(question)
        return "allow" if question.subject.code.startswith("sum") else "reject"

    session.permissions = only_sums
    assert hands.text("run_code", code="sum([1, 2])") == "3"
    assert hands.call("run_code", code=CODE).is_error
    assert {question.kind for question in seen} == {"execute"}
    assert "ran" not in space


def test_where_nobody_can_be_asked_it_is_rejected_at_once(hands, asking, notebook, space):
    notebook.somebody_is_there = False
    result = hands.call("run_code", code=CODE)
    assert "nobody can be asked here" in text_of(result)
    assert "ran" not in space


def test_looking_is_not_asked_about(hands, asking, space):
    space["x"] = 1
    assert "x" in hands.text("list_variables")
    assert not hands.call("inspect", name="x").is_error
    assert asking.live.state.permissions == {}


def test_a_stop_takes_the_question_back(hands, asking, space):
    turn = asking.prompt("/slow 30", wait=False)
    assert has_spoken(asking).wait(BOUND_S)
    question = next_question(asking)
    call = hands.begin("run_code", code=CODE)
    question.result(BOUND_S)
    turn.cancel()
    assert "the turn was cancelled" in text_of(wait_as_a_cell(call))
    wait_as_a_cell(turn.done)
    assert "ran" not in space
    assert asking.live.state.open_permissions == []


def test_an_agent_that_calls_it_off_takes_its_question_with_it(hands, asking, space):
    question = next_question(asking)
    call = hands.begin("run_code", code=CODE)
    question.result(BOUND_S)
    closed: Future = Future()
    live = asking.live

    def note(_changes):
        if not live.state.open_permissions and not closed.done():
            closed.set_result(None)

    asking.agent.thread.call(lambda: live.subscribe(note))
    call.cancel()
    wait_as_a_cell(closed)
    assert last_answer(asking).by == "the agent took the question back"
    assert "ran" not in space


def test_the_question_is_in_the_session_whose_agent_calls(hands, asking, agent):
    other = agent.new_session()
    answer(asking, "reject")
    hands.call("run_code", code=CODE)
    assert len(asking.live.state.permissions) == 1
    assert other.live.state.permissions == {}


def test_a_lost_agent_answers_nothing_and_runs_nothing(notebook, space):
    notebook.somebody_is_there = True
    agent = acp.start("demo", label="short-lived")
    session = agent.session
    session.prompt("/slow 600", wait=False)
    hands = Hands(lambda: mcp_over_http(entry_of(session)))
    question = next_question(session)
    call = hands.begin("run_code", code=CODE)
    question.result(BOUND_S)
    agent.quit()
    assert "the agent ended" in text_of(wait_as_a_cell(call))
    assert "ran" not in space
    hands.close()


def wait_until_asked(session):
    """Wait until a person is asked: a new policy is applied on the agent thread."""
    assert poll(lambda: bool(session.live.respondents.asked))


def see(session, *updates):
    """What the agent reports, as if it did."""
    session.agent.thread.call(lambda: session.live.apply(updates))


WATCHER = u.StateUpdate("idle", background=(u.BackgroundItem("terminal", u.WorkId("t")),))


@pytest.mark.parametrize("tool", ["run_code", "list_variables", "propose_cell"])
def test_after_a_stop_nothing_is_called_until_the_next_prompt(hands, session, turn, space, tool):
    turn.cancel()
    wait_as_a_cell(turn.done)
    result = hands.call(tool, **({} if tool == "list_variables" else {"code": CODE}))
    assert result.is_error
    assert "The user stopped the turn. Nothing was run" in text_of(result)
    assert "ran" not in space
    again = session.prompt("/slow 600", wait=False)
    assert not hands.call("run_code", code=CODE).is_error
    again.cancel()
    wait_as_a_cell(again.done)


def test_a_call_that_has_not_begun_ends_with_its_turn(hands, session, turn, space):
    card = next_card(session, "in_progress")
    call = hands.begin("run_code", code=CODE)
    card.result(BOUND_S)  # the main thread is busy with this test
    turn.cancel()
    turn.done.result(BOUND_S)
    assert "stopped the turn" in text_of(wait_as_a_cell(call))
    assert "ran" not in space


def test_background_work_is_asked_whatever_was_granted(hands, asking, turn, space):
    answer(asking, "allow_session")
    hands.call("run_code", code="1")
    turn.cancel()
    wait_as_a_cell(turn.done)
    see(asking, WATCHER)
    question = answer(asking, "allow")
    assert not hands.call("run_code", code=CODE).is_error
    assert [option.option_id for option in question.result(0).options] == ["allow", "reject"]
    answer(asking, "reject")
    assert hands.call("list_variables").is_error


def test_after_a_stop_no_policy_allows_background_work(hands, session, turn, notebook, space):
    turn.cancel()
    wait_as_a_cell(turn.done)
    see(session, WATCHER)
    answer(session, "reject")
    assert hands.call("run_code", code=CODE).is_error  # the policy is `allow`
    notebook.somebody_is_there = False
    assert "nobody can be asked here" in text_of(hands.call("run_code", code=CODE))
    assert "ran" not in space


def test_a_stop_at_rest_calls_off_what_background_work_wants_to_run(session, space):
    """The kernel is busy with the cell that stops."""
    turn = session.prompt("/slow 0", wait=False)
    wait_as_a_cell(turn.done)
    see(session, WATCHER)
    hands = Hands(lambda: mcp_over_http(entry_of(session)))
    card = next_card(session, "in_progress")
    call = hands.begin("run_code", code=CODE)
    card.result(BOUND_S)
    session.stop()
    assert "stopped the turn" in text_of(wait_as_a_cell(call))
    answer(session, "reject")
    assert hands.call("run_code", code=CODE).is_error  # the policy is `allow`
    hands.close()
    assert "ran" not in space


def test_after_a_turn_background_work_follows_the_policy_and_shows_in_its_record(session, space):
    turn = session.prompt("/slow 0", wait=False)
    wait_as_a_cell(turn.done)
    see(session, WATCHER)
    hands = Hands(lambda: mcp_over_http(entry_of(session)))
    assert not hands.call("run_code", code="ran = 'SHOWN'").is_error
    assert not hands.call("list_variables").is_error
    hands.close()
    assert space["ran"] == "SHOWN"
    assert "ran = 'SHOWN'" in turn.to_markdown()
    assert "allowed by the policy allow" in turn.to_markdown()


def test_no_agent_can_change_what_ran(hands, session, turn):
    hands.call("run_code", code="secret = 1")
    (card,) = session.live.state.tool_calls.values()
    update = {"sessionUpdate": "tool_call_update", "toolCallId": card.tool_call_id}
    hiding = {"title": "Looked at the docs", "kind": "read", "content": None}
    session.agent.thread.call(lambda: session.live.receive({**update, **hiding}))
    assert card.title == "Run code in this kernel"
    assert "secret = 1" in turn.to_markdown()
    assert "this client's own" in session.live.state.violations[-1].reason


@pytest.mark.parametrize("form", ["whole", "in pieces"])
def test_the_token_is_in_no_record_of_what_ran_and_the_code_runs_as_it_is(
    session, space, turn, form
):
    entry = entry_of(session)
    token = entry["headers"][0]["value"].removeprefix("Bearer ")
    hands = Hands(lambda: mcp_over_http(entry))
    said = repr(token) if form == "whole" else f"''.join({[token[:9], token[9:]]})"
    code = f"got = {said}\nprint(got)\ngot"
    hands.call("run_code", code=code)
    assert space["got"] == token
    hands.call("propose_cell", code=code, title=f"Use {token}")
    session.permissions = "reject"
    assert hands.call("run_code", code=code).is_error
    hands.close()
    state = session.live.state
    kept = [*state.tool_calls.values(), *state.permissions.values()]
    told = session.agent.thread.call(lambda: [repr(each) for each in kept])
    assert len(told) == 5
    told += [turn.to_markdown(), *turn._repr_mimebundle_().values()]
    assert all("(hidden)" in text for text in told[-3:])
    assert not [text for text in told if token in text]
