"""Permission and cancel over real stdio: who answers, with what, how often, and when."""

from __future__ import annotations

import pytest
from watching import (
    answer,
    bad,
    frames,
    permission_answers,
    poll,
    sent,
    story,
    until,
    until_asked,
    until_text,
)

from acp_notebook.session.updates import Notice

proves = pytest.mark.requirement
TOOL_STATUS = {True: "completed", False: "failed"}


def selected(option_id: str) -> dict[str, object]:
    return {"outcome": {"outcome": "selected", "optionId": option_id}}


CANCELLED = {"outcome": {"outcome": "cancelled"}}


def only_answer(session):
    ((result,),) = permission_answers(session)
    return result


# policies


@proves("PERM-6")
@pytest.mark.parametrize(
    ("policy", "option", "by"),
    [
        ("allow", "yes-once", "policy allow"),
        ("reject", "no-once", "policy reject"),
        ("reads", "no-once", "nobody can be asked here"),  # the tool deletes
        ("ask", "no-once", "nobody can be asked here"),
    ],
)
def test_a_policy_answers_at_once_and_stands_in_the_record(session, policy, option, by):
    turn = session.prompt("[[permission]]", permissions=policy)
    assert turn.text == f"permission call-1: selected {option}"
    (permission,) = turn.permissions
    assert (permission.answer.option_id, permission.answer.by) == (option, by)
    assert only_answer(session) == selected(option)


@proves("PERM-7")
def test_with_nobody_to_ask_the_question_is_refused_and_the_turn_ends(session):
    turn = session.prompt("[[permission]][[say:and on]]")
    assert turn.text.startswith("permission call-1: selected no-once")
    assert turn.stop_reason == "end_turn"


def _allow(question):
    return question.options[0].option_id


async def _allow_later(question):
    return question.options[0].option_id


class _ByKind:
    def __call__(self, question):
        return "yes-once" if question.kind == "delete" else "no-once"


@proves("PERM-6")
@pytest.mark.parametrize("function", [_allow, _allow_later, _ByKind()])
def test_a_function_decides(session, function):
    session.permissions = function
    turn = session.prompt("[[permission]]")
    assert turn.text == "permission call-1: selected yes-once"
    assert turn.permissions[0].answer.by == "your policy function"


def test_a_function_sees_what_is_asked(session):
    seen = []
    session.permissions = lambda question: seen.append(question) or "no-always"
    session.prompt("[[permission]]")
    (question,) = seen
    assert question.kind == "delete"
    assert [option.option_id for option in question.options] == [
        "yes-once",
        "yes-always",
        "no-once",
        "no-always",
    ]
    assert question.options[0].name == "Yes, this time"
    assert question.subject.tool_call_id == "call-1"


def _raises(_):
    raise LookupError("no such rule")


def _exits(_):
    raise SystemExit(3)


def _is_interrupted(_):
    raise KeyboardInterrupt


@proves("PERM-6")
@pytest.mark.parametrize(
    ("function", "words"),
    [
        (_raises, "LookupError: no such rule"),
        (_exits, "SystemExit: 3"),
        (_is_interrupted, "KeyboardInterrupt"),
        (lambda _: "yes", "returned 'yes', which is not one of the options: 'yes-once'"),
        (lambda _: True, "returned True"),
        (lambda question: question.options[0], "returned PermissionOption"),
    ],
)
def test_a_function_that_fails_allows_nothing_and_says_so(session, function, words):
    turn = session.prompt("[[permission]]", permissions=function)
    assert turn.text == "permission call-1: selected no-once"
    (notice,) = [n for n in turn.notices if n.title == "Your permission policy failed"]
    assert words in notice.description
    assert session.prompt("[[say:on]]").text == "on"  # the agent thread is alive


@proves("PERM-6")
def test_a_function_that_has_no_opinion_leaves_it_to_the_person(session, person):
    turn = session.prompt("[[permission]]", permissions=lambda _: None, wait=False)
    (question,) = until_asked(session)
    answer(session, question, "yes-always")
    assert turn.wait().text == "permission call-1: selected yes-always"
    assert turn.permissions[0].answer.by == "you"


@proves("PERM-2")
def test_an_option_of_an_unknown_kind_is_no_approval(v2_session):
    turn = v2_session.prompt("[[permission:odd]]", permissions="allow")
    options = turn.permissions[0].request.options
    assert options[-1].kind == "_perhaps"
    assert turn.permissions[0].answer.option_id == "yes-once"


# a person


@proves("PERM-1")
@proves("PERM-2")
def test_a_person_answers_with_the_exact_option(session, person):
    turn = session.prompt("[[permission]]", wait=False)
    (question,) = until_asked(session)
    until(session, lambda state: state.activity == "requires_action")
    assert session.state == "requires_action"
    answer(session, question, "no-always")
    assert turn.wait().text == "permission call-1: selected no-always"
    assert only_answer(session) == selected("no-always")


@proves("PERM-1")
def test_title_description_and_subject_are_kept(v2_session):
    (permission,) = v2_session.prompt("[[permission:command]]").permissions
    assert permission.request.title == "May it be deleted?"
    assert permission.request.description == "The file cannot be brought back."
    assert permission.request.subject.command == "rm results.csv"


@proves("PERM-4")
def test_the_questions_title_is_not_the_tools(v2_session):
    turn = v2_session.prompt("[[permission]]")
    assert turn.permissions[0].request.title == "May it be deleted?"
    assert [call.title for call in turn.tool_calls] == ["Delete the results"]


@proves("PERM-3")
def test_two_questions_are_answered_in_reverse_order_each_once(session, person):
    turn = session.prompt("[[permission:two]]", wait=False)
    first, second = until_asked(session, 2)
    until(session, lambda state: state.activity == "requires_action")
    answer(session, second, "no-once")
    answer(session, second, "yes-once")  # a second click is too late
    assert len(session.agent.thread.call(lambda: session.live.state.open_permissions)) == 1
    assert session.state == "requires_action"
    answer(session, first, "yes-once")
    turn.wait()
    assert permission_answers(session) == [[selected("yes-once")], [selected("no-once")]]
    assert "permission call-1: selected yes-once" in turn.text
    assert "permission call-2: selected no-once" in turn.text


@proves("PERM-3")
def test_an_answer_that_was_not_offered_changes_nothing(session, person):
    turn = session.prompt("[[permission]]", wait=False)
    (question,) = until_asked(session)
    answer(session, question, "of my own")
    answer(session, "no such question", "yes-once")
    assert not turn.is_done
    answer(session, question, "yes-once")
    assert turn.wait().permissions[0].answer.option_id == "yes-once"


@proves("PERM-5")
def test_a_tool_that_goes_on_does_not_close_the_question(start, person):
    session = start(story("goes-on-while-asking")).session
    turn = session.prompt("go", wait=False)
    until_text(session, "asked")
    assert [call.status for call in turn.tool_calls] == ["in_progress"]
    assert [permission.is_open for permission in turn.permissions] == [True]
    turn.cancel()
    assert turn.wait().stop_reason == "cancelled"


@proves("PERM-8")
def test_a_question_that_the_agent_takes_back_is_closed(node_session, person):
    turn = node_session.prompt("[[permission:withdraw]]")
    (permission,) = turn.permissions
    assert permission.answer.option_id is None
    assert permission.answer.by == "the agent took the question back"
    ((error,),) = permission_answers(node_session)
    assert error["code"] == -32800
    assert turn.stop_reason == "end_turn"


@proves("PERM-4")
@proves("TOOL-1")
def test_a_question_about_a_call_that_was_never_announced_creates_it(start):
    turn = start(bad("never-announced")).session.prompt("go", permissions="allow")
    (call,) = turn.tool_calls
    assert (call.title, call.kind, call.status) == ("Delete the results", "delete", "completed")
    assert '"optionId": "yes"' in turn.text


@proves("PERM-3")
def test_a_question_of_a_child_session_is_answered_apart_from_the_turn(start, person):
    session = start(story("child-session")).session
    turn = session.prompt("go", wait=False)
    assert poll(lambda: session.questions)
    (question,) = session.questions
    assert question.session.session_id == "child"
    question.answer("yes")
    assert turn.wait().text == "outcome: selected"
    assert turn.permissions == []
    assert session.prompt("go", permissions="allow").text == "outcome: selected"


# cancel


@proves("CANCEL-1")
def test_a_cancel_is_sent_once_and_as_a_notification(session):
    turn = session.prompt("[[hang]]", wait=False)
    until(session, lambda state: state.activity == "running")
    turn.cancel()
    turn.cancel()
    assert turn.wait().stop_reason == "cancelled"
    turn.cancel()
    assert sent(session, "session/cancel") == [{"sessionId": session.id}]
    cancels = [m for m in frames(session.agent, "sent") if m.get("method") == "session/cancel"]
    assert all("id" not in message for message in cancels)


@proves("CANCEL-1")
def test_an_idle_session_is_never_cancelled(session):
    assert session.stop() == "Nothing is running."
    turn = session.prompt("[[say:a]]")
    turn.cancel()
    assert session.stop() == "Nothing is running."
    assert session.prompt("[[say:b]]").stop_reason == "end_turn"
    assert sent(session, "session/cancel") == []


@proves("CANCEL-1")
def test_a_turn_that_is_over_cannot_cancel_the_next_one(session, person):
    over = session.prompt("[[say:a]]")
    running = session.prompt("[[permission]]", wait=False)
    (question,) = until_asked(session)
    over.cancel()
    answer(session, question, "yes-once")
    assert running.wait().stop_reason == "end_turn"
    assert sent(session, "session/cancel") == []


@proves("CANCEL-3")
def test_open_questions_are_answered_cancelled(session, person):
    turn = session.prompt("[[permission:two]]", wait=False)
    until_asked(session, 2)
    assert session.stop().startswith("Cancel sent.")
    assert turn.wait().stop_reason == "cancelled"
    assert permission_answers(session) == [[CANCELLED], [CANCELLED]]
    assert {permission.answer.by for permission in turn.permissions} == {"the turn was cancelled"}


@proves("CANCEL-3")
@pytest.mark.parametrize("name", ["asks-late", "asks-late-v2"])
def test_a_question_after_the_cancel_is_answered_cancelled(start, person, name):
    session = start(story(name)).session
    turn = session.prompt("go", permissions="allow", wait=False)
    until_text(session, "working")
    turn.cancel()
    assert turn.wait().stop_reason == "cancelled"
    assert turn.text == "working outcome: cancelled"
    assert only_answer(session) == CANCELLED


@proves("CANCEL-3")
def test_a_function_that_answers_after_the_cancel_is_too_late(session):
    asked = []

    def cancels(question):
        # In one step: the agent may confirm before this thread runs again.
        session.agent.thread.call(lambda: (session.live.cancel(), asked.append(question)))
        return "yes-once"

    turn = session.prompt("[[permission]]", permissions=cancels, wait=False)
    assert turn.wait().stop_reason == "cancelled"
    assert len(asked) == 1
    assert only_answer(session) == CANCELLED


@proves("CANCEL-2")
@proves("CANCEL-4")
def test_running_tools_show_as_cancelled_at_once_and_later_updates_win(node_session):
    turn = node_session.prompt("[[tool]][[cancel-late]]", wait=False)
    until(
        node_session, lambda state: any(c.title == "A slow tool" for c in state.tool_calls.values())
    )

    def stop_and_look():
        node_session.live.cancel()
        return [call.status for call in node_session.live.state.tool_calls.values()]

    assert node_session.agent.thread.call(stop_and_look) == ["completed", "cancelled"]
    assert turn.wait().stop_reason == "cancelled"
    assert [call.status for call in turn.tool_calls] == ["completed", "completed"]


@proves("CANCEL-5")
def test_the_next_prompt_after_a_cancel_works(session):
    turn = session.prompt("[[hang]]", wait=False)
    turn.cancel()
    turn.wait()
    follower = session.prompt("[[permission]]", permissions="allow")
    assert follower.text.endswith("selected yes-once")
    assert follower.stop_reason == "end_turn"


@proves("CANCEL-5")
def test_an_abort_error_after_a_cancel_is_the_cancel(start):
    agent = start(story("abort-error"))
    turn = agent.session.prompt("go", wait=False)
    until_text(agent.session, "working")
    turn.cancel()
    turn.wait()
    assert (turn.stop_reason, turn.error) == ("cancelled", None)
    assert agent.is_running


@proves("CANCEL-5")
def test_an_abort_error_before_a_v2_prompt_was_accepted_is_the_cancel(start):
    session = start(story("abort-error-v2")).session
    turn = session.prompt("go", wait=False)
    until(session, lambda state: state.title == "Not accepted yet")
    turn.cancel()
    turn.wait()
    assert (turn.stop_reason, turn.error) == ("cancelled", None)
    follower = session.prompt("again", permissions="allow")
    assert "selected" in follower.text  # the cancel is over: questions are answered again


# an agent that does not stop


@proves("CANCEL-4")
@proves("CANCEL-6")
def test_a_second_stop_ends_an_agent_that_ignores_the_first(start):
    agent = start(bad("ignores-cancel"))
    session, pid = agent.session, agent.pid
    turn = session.prompt("go", wait=False)
    until_text(session, "working")
    assert session.stop() == "Cancel sent. Stop once more to end the agent's process."
    until(session, lambda state: state.tool_calls)
    assert "more 21" in turn.text
    assert not turn.is_done
    assert session.stop() == "The agent did not confirm the cancel; its process is ended."
    assert turn.wait().stop_reason == "cancelled"
    assert [call.status for call in turn.tool_calls] == ["interrupted"]
    ended = f"The agent {agent.label} was ended: it did not stop."
    told = turn.read(
        lambda state, keys: [state.asides[key] for key in keys if key.kind == "notice"]
    )
    assert told == [Notice("warning", ended, "Your next prompt starts it again.")]
    assert session.state == "disconnected"
    follower = session.prompt("again", wait=False)
    until(session, lambda state: len(state.messages) > 2)
    assert agent.pid != pid
    session.stop()
    session.stop()
    assert follower.wait().stop_reason == "cancelled"
