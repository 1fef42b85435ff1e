"""Whom a question reaches: the audiences of its session, one after another, and the Python API."""

from __future__ import annotations

import concurrent.futures
import itertools

import pytest
from memory_agent import BOUND_S, LATER, SESSION, MemoryAgent, RefusedError
from watching import Person, Somebody, poll, until_asked

from acp_notebook.client.live.audience import Nobody, Respondents
from acp_notebook.errors import AgentError, UsageError

proves = pytest.mark.requirement
ASK = "session/request_permission"
CREATE = "elicitation/create"
YES = {"optionId": "yes", "name": "Yes", "kind": "allow_once"}
NO = {"optionId": "no", "name": "No", "kind": "reject_once"}
FORM = {
    "mode": "form",
    "message": "Who are you?",
    "requestedSchema": {
        "type": "object",
        "properties": {"age": {"type": "integer", "maximum": 150}},
        "required": ["age"],
    },
}
CANCELLED = {"outcome": {"outcome": "cancelled"}}


@pytest.fixture(params=[1, 2], ids=["v1", "v2"])
def agent(request):
    return MemoryAgent(request.param)


def params(agent, session_id=SESSION):
    asked = {"sessionId": session_id, "options": [YES, NO]}
    call = {"toolCallId": "call"}
    if agent.version == 1:
        return {**asked, "toolCall": call}
    return {"title": "May I?", **asked, "subject": {"type": "tool_call", "toolCall": call}}


def selected(option_id):
    return {"outcome": {"outcome": "selected", "optionId": option_id}}


def only_question(session):
    assert poll(lambda: session.questions)
    (question,) = session.questions
    return question


class Several(Person):
    """A host whose audiences a test names, one for each time that one is wanted."""

    def __init__(self, *audiences):
        self.audiences = list(audiences)

    def audience(self, agent):
        return self.audiences.pop(0) if self.audiences else Nobody()


# the Python API


@proves("PERM-9")
def test_a_permission_is_answered_in_python_once(meet, agent, person):
    session = meet(agent).session
    request_id = agent.begin(ASK, params(agent))
    question = only_question(session)
    assert [option.option_id for option in question.options] == ["yes", "no"]
    with pytest.raises(UsageError, match=r"no option 'maybe'. There are: 'yes', 'no'"):
        question.answer("maybe")
    with pytest.raises(UsageError, match="is no form"):
        question.fill({})
    question.answer("yes")
    assert agent.wait(request_id)["result"] == selected("yes")
    assert not question.is_open
    assert session.questions == []
    for again in (lambda: question.answer("yes"), question.decline):
        with pytest.raises(UsageError, match="was answered before"):
            again()


@proves("PERM-9")
def test_a_permission_is_declined_by_its_reject_option(meet, agent, person):
    session = meet(agent).session
    request_id = agent.begin(ASK, params(agent))
    only_question(session).decline()
    assert agent.wait(request_id)["result"] == selected("no")


@proves("PERM-9")
def test_a_form_is_filled_in_python_if_it_obeys_its_rules(meet, agent, person):
    session = meet(agent).session
    request_id = agent.begin(CREATE, {**FORM, "sessionId": SESSION})
    question = only_question(session)
    assert (question.title, [field.name for field in question.form.fields]) == (
        "Who are you?",
        ["age"],
    )
    with pytest.raises(UsageError, match="age: This must be 150 or less"):
        question.fill({"age": 151})
    with pytest.raises(UsageError, match="has no options"):
        question.answer("yes")
    question.fill({"age": 41})
    assert agent.wait(request_id)["result"] == {"action": "accept", "content": {"age": 41}}


@proves("PERM-9")
def test_a_form_is_declined_and_a_url_opened_in_python(meet, agent, person):
    session = meet(agent).session
    declined = agent.begin(CREATE, {**FORM, "sessionId": SESSION})
    only_question(session).decline()
    assert agent.wait(declined)["result"] == {"action": "decline"}
    url = {"mode": "url", "message": "Log in", "url": "https://example.org", "elicitationId": "u"}
    opened = agent.begin(CREATE, {**url, "sessionId": SESSION})
    only_question(session).fill({})
    assert agent.wait(opened)["result"] == {"action": "accept"}


# audiences


@proves("PERM-9")
def test_two_sessions_are_seen_by_different_audiences(meet, agent, host):
    seen = Somebody()
    host(Several(seen, Nobody(), seen, Nobody()))
    client = meet(agent)
    agent.answers["session/new"] = lambda _: {"sessionId": "unseen"}
    unseen = client.new_session()
    client.sessions[0].prompt("hello")
    unseen.prompt("hello", quiet=True, wait=False)
    shown, refused = agent.begin(ASK, params(agent)), agent.begin(ASK, params(agent, "unseen"))
    assert agent.wait(refused)["result"] == selected("no")
    question = only_question(client.sessions[0])
    assert seen.asked == [question]
    question.answer("yes")
    assert agent.wait(shown)["result"] == selected("yes")
    (settled,) = unseen.live.state.permissions.values()
    assert settled.answer.by == "nobody can be asked here"


@proves("PERM-7")
def test_a_question_moves_on_when_its_audience_leaves_and_is_refused_after_the_last(
    meet, agent, host
):
    host(Several())
    session = meet(agent).session
    respondents, call = session.live.respondents, session.agent.thread.call
    first, second = Somebody(), Somebody()
    stays = [call(lambda each=each: respondents.attend(each)) for each in (first, second)]
    request_id = agent.begin(ASK, params(agent))
    (question,) = [only_question(session)]
    assert (first.asked, second.asked) == ([], [question])
    call(stays[1].close)
    call(stays[1].close)
    assert first.asked == [question]
    assert agent.answers_to(request_id) == []
    call(stays[0].close)
    assert agent.wait(request_id)["result"] == selected("no")


def test_the_standby_is_asked_when_no_watching_audience_can_be():
    class Blind(Somebody):
        can_ask = False

    respondents = Respondents()
    respondents.standby = Somebody()
    respondents.attend(Blind())
    question = object()
    assert respondents.place(question)
    assert respondents.standby.asked == [question]
    respondents.standby = Nobody()
    assert not respondents.place(question)


def test_a_quiet_prompt_is_shown_nowhere_and_has_its_audience(meet, agent, host):
    shown = []

    class Showing(Person):
        def show_turn(self, turn):
            shown.append(turn)

    host(Showing())
    session = meet(agent).session
    quiet = session.prompt("hello", quiet=True)
    loud = session.prompt("hello")
    assert shown == [loud]
    assert not quiet.is_shown
    request_id = agent.begin(ASK, params(agent))
    only_question(session).answer("yes")
    assert agent.wait(request_id)["result"] == selected("yes")


# order


def opens_with(agent, *messages, session_id=SESSION):
    """`session/new` answers, and sends these in the same moment."""

    def answer(_):
        request_id = agent.heard[-1]["id"]
        agent._send({"id": request_id, "result": {"sessionId": session_id, **agent.set_up()}})
        for message in messages:
            agent._send(message)
        return LATER

    agent.answers["session/new"] = answer


@proves("SESS-3")
def test_a_question_behind_the_answer_that_opens_its_session_is_asked_in_it(meet, agent, person):
    agent.asked["early"] = ASK
    opens_with(agent, {"id": "early", "method": ASK, "params": params(agent)})
    session = meet(agent).session
    only_question(session).answer("yes")
    assert agent.wait("early")["result"] == selected("yes")
    # And the first prompt owns what came before it.
    assert [each.request.options[0].option_id for each in session.prompt("x").permissions] == [
        "yes"
    ]


@proves("SESS-3")
def test_a_question_before_the_answer_waits_for_its_session_beside_another_one(meet, agent, person):
    client = meet(agent)
    agent.asked |= {"before": ASK, "withdrawn": ASK}

    def answer(_):
        for request_id in ("before", "withdrawn"):
            asked = params(agent, "second")
            agent._send({"id": request_id, "method": ASK, "params": asked})
        agent._send({"method": "$/cancel_request", "params": {"requestId": "withdrawn"}})
        return {"sessionId": "second", **agent.set_up()}

    agent.answers["session/new"] = answer
    second = client.new_session()
    assert client.sessions[0].questions == []
    only_question(second).answer("yes")
    assert agent.wait("before")["result"] == selected("yes")
    assert agent.wait("withdrawn")["error"]["code"] == -32800


@proves("SESS-3")
def test_a_question_for_a_session_that_never_comes_is_refused_and_shown(meet, agent, person):
    client = meet(agent)
    agent.asked["early"] = ASK

    def refuse(_):
        agent._send({"id": "early", "method": ASK, "params": params(agent, "never")})
        raise RefusedError(-32603, "no")

    agent.answers["session/new"] = refuse
    with pytest.raises(AgentError):
        client.new_session()
    assert agent.wait("early")["error"]["code"] == -32602
    (violation,) = client.connection.routes.scope.state.violations
    assert "'never' was never opened" in violation.reason
    assert client.sessions[0].questions == []


@proves("CANCEL-3")
def test_a_cancelled_turn_cancels_what_its_child_sessions_asked(meet, agent, person):
    agent.answers["session/prompt"] = lambda _: LATER
    session = meet(agent).session
    turn = session.prompt("begin", wait=False)
    agent.until_heard("session/prompt")
    request_id = agent.begin(ASK, params(agent, "child"))
    assert only_question(session).session is not session.live
    turn.cancel()
    assert agent.wait(request_id)["result"] == CANCELLED
    assert session.questions == []


@proves("PERM-9")
def test_closing_a_session_answers_what_it_asked(meet, agent, person):
    session = meet(agent).session
    request_id = agent.begin(ASK, params(agent))
    until_asked(session)
    session.close()
    assert agent.wait(request_id)["result"] == CANCELLED


def in_new_sessions(agent):
    """Let each session/new open a session of its own."""
    numbers = itertools.count(1)
    agent.answers["session/new"] = lambda _: {"sessionId": f"s{next(numbers)}", **agent.set_up()}


def test_the_child_sessions_of_a_closed_session_end_with_it(meet, agent, person):
    in_new_sessions(agent)
    client = meet(agent, permissions="allow")
    asked = agent.begin(ASK, params(agent, "child"))
    assert agent.wait(asked)["result"] == selected("yes")
    client.session.close()
    client.new_session()
    client.permissions = "reject"
    asked = agent.begin(ASK, params(agent, "child"))
    assert agent.wait(asked)["result"] == selected("no")


def test_a_session_that_is_being_opened_obeys_a_new_policy(meet, agent, person):
    client = meet(agent, permissions="allow")
    agent.answers["session/new"] = lambda _: LATER
    opening = concurrent.futures.ThreadPoolExecutor().submit(client.new_session)
    agent.until(lambda: len(opened(agent)) == 2)
    client.permissions = "reject"
    answer = {"sessionId": "second", **agent.set_up()}
    agent.send({"id": opened(agent)[-1], "result": answer})
    asked = agent.begin(ASK, params(agent, "second"))
    assert agent.wait(asked)["result"] == selected("no")
    assert opening.result(BOUND_S).permissions == "reject"


def opened(agent):
    """The ids of the requests for a session."""
    return [each["id"] for each in agent.heard if each.get("method") == "session/new"]


@pytest.mark.parametrize("is_known", [True, False], ids=["resumed", "forgotten"])
def test_what_was_allowed_for_a_session_ends_with_it(meet, agent, person, is_known):
    def resume(_):
        if not is_known:
            raise RefusedError(-32002)
        return agent.set_up()

    agent.answers["session/load"] = agent.answers["session/resume"] = resume
    client = meet(agent)
    client.session.live.respondents.grants["run_code"] = None
    client.thread.call(lambda: client.connection.end("ended by the test"))
    client.session.prompt("again")
    assert client.session.grants == (("run_code",) if is_known else ())


def test_listeners_hear_in_the_order_of_their_subscription_until_they_close(meet, agent):
    session = meet(agent).session
    live, call, heard = session.live, session.agent.thread.call, []

    def first(_changes):
        heard.append("first")
        second.close()

    subscriptions = [call(lambda: live.subscribe(first))]
    second = call(lambda: live.subscribe(lambda _: heard.append("second")))
    subscriptions.append(call(lambda: live.subscribe(lambda _: heard.append("third"))))
    info = {"sessionUpdate": "session_info_update", "title": "A title"}
    agent.tell(info)
    assert poll(lambda: len(heard) == 2)
    assert heard == ["first", "third"]
    for subscription in subscriptions:
        call(subscription.close)
        call(subscription.close)
    agent.tell({**info, "title": "Another"})
    assert poll(lambda: session.title == "Another")
    assert len(heard) == 2
