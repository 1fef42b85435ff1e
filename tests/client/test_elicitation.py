"""Forms and pages over real stdio: who answers, with what, how often, and when."""

from __future__ import annotations

import json
import sys

import pytest
from watching import AGENTS, BOUND_S, Person, Somebody, frames, text_of, until

from acp_notebook.session.state import EntryKey

proves = pytest.mark.requirement


@pytest.fixture(params=["v1", "v2"])
def asking(request, start):
    """A session on an agent that asks, in both versions."""
    return start([sys.executable, str(AGENTS / "asking_agent.py"), request.param]).session


def until_open(session):
    """Wait until a form or page is open; it."""
    until(session, lambda state: state.open_elicitations)
    return session.agent.thread.call(lambda: session.live.state.open_elicitations[0].request)


def question_of(session, request):
    return session.live.questions.get(EntryKey("elicitation", request.elicitation_id))


def fill(session, request, **values):
    """Send a form from a view, where the check may refuse it."""
    question = question_of(session, request)
    if question is not None:  # else it was answered before
        session.agent.thread.call(lambda: question.submit(values))


def reply(session, request, action):
    question = question_of(session, request)
    if question is not None:
        session.agent.thread.call(lambda: question.reply(action))


def answers(session):
    """For each elicitation of the agent, every answer the client sent to it."""
    asked = [
        message["id"]
        for message in frames(session.agent, "received")
        if isinstance(message, dict) and message.get("method") == "elicitation/create"
    ]
    replies = [message for message in frames(session.agent, "sent") if "method" not in message]
    return [
        [reply.get("result", reply.get("error")) for reply in replies if reply["id"] == request]
        for request in asked
    ]


VALID = {"name": "Bo", "mail": "bo@example.org", "age": 41}
ACCEPTED = {
    **VALID,
    "share": 0.5,
    "sure": True,
    "side": "r",
    "pets": ["c"],
}


# a person


@proves("ELIC-1")
def test_a_form_is_sent_only_when_it_obeys_its_rules(asking, person):
    turn = asking.prompt("everything", wait=False)
    request = until_open(asking)
    assert asking.state == ("requires_action" if asking.agent.protocol_version == 1 else "running")
    fill(asking, request, **{**VALID, "mail": "nonsense", "age": "151"})
    until(asking, lambda state: state.elicitations[request.elicitation_id].errors)
    (asked,) = turn.elicitations
    assert asked.is_open
    assert asked.errors == {
        "mail": "This must be an e-mail address, such as name@example.org.",
        "age": "This must be 150 or less.",
    }
    assert answers(asking) == [[]]
    fill(asking, request, **{**VALID, "age": "41"})
    turn.wait(BOUND_S)
    assert answers(asking) == [[{"action": "accept", "content": ACCEPTED}]]
    (asked,) = turn.elicitations
    assert (asked.answer.by, asked.answer.content, asked.errors) == ("you", ACCEPTED, {})
    fill(asking, request, **VALID)
    reply(asking, request, "decline")
    assert len(answers(asking)[0]) == 1


@proves("ELIC-1")
@pytest.mark.parametrize("action", ["decline", "cancel"])
def test_a_form_is_declined_or_cancelled(asking, person, action):
    turn = asking.prompt("everything", wait=False)
    request = until_open(asking)
    reply(asking, request, "accept")  # only a page can be accepted without values
    reply(asking, request, action)
    turn.wait(BOUND_S)
    assert answers(asking) == [[{"action": action}]]
    assert turn.elicitations[0].answer.action == action


@proves("ELIC-1")
def test_secrets_are_in_neither_record_nor_trace(asking, person):
    turn = asking.prompt("secret", wait=False)
    fill(asking, until_open(asking), user="ann", password="xyzzy")
    turn.wait(BOUND_S)
    assert turn.text == "accept: 5"
    assert turn.elicitations[0].answer.content == {"user": "ann", "password": "••••"}
    sent = [text_of(frame) for frame in frames(asking.agent, "sent")]
    assert not any("xyzzy" in frame for frame in sent)
    assert any('"password": "(hidden)"' in frame for frame in sent)


@proves("ELIC-2")
def test_a_page_is_accepted_and_completed_by_its_id(asking, person):
    turn = asking.prompt("page https://example.org/in", wait=False)
    request = until_open(asking)
    assert request.url == "https://example.org/in"
    reply(asking, request, "accept")
    turn.wait(BOUND_S)
    until(asking, lambda state: state.elicitations[request.elicitation_id].is_completed)
    assert answers(asking) == [[{"action": "accept"}]]
    assert turn.notices == []
    assert asking.agent.is_running


# the end of a turn, of the question, of the agent


@proves("CANCEL-3")
def test_a_cancel_answers_what_is_open_and_what_still_comes(asking, person):
    turn = asking.prompt("hang", wait=False)
    until_open(asking)
    turn.cancel()
    turn.wait(BOUND_S)
    assert turn.stop_reason == "cancelled"
    assert answers(asking) == [[{"action": "cancel"}], [{"action": "cancel"}]]
    assert {asked.answer.by for asked in turn.elicitations} == {"the turn was cancelled"}


@proves("ELIC-1")
def test_a_question_that_is_withdrawn_is_closed(asking, person):
    turn = asking.prompt("withdraw")
    assert '"code": -32800' in turn.text
    (asked,) = turn.elicitations
    assert asked.answer.by == "the agent took the question back"
    assert len(answers(asking)[0]) == 1


@proves("WIRE-7")
def test_an_agent_that_is_lost_waits_for_no_answer(asking, person):
    turn = asking.prompt("die", wait=False)
    request = until_open(asking)
    asking.agent.kill_now()
    turn.wait(BOUND_S)
    (asked,) = turn.elicitations
    assert (asked.answer.action, asked.answer.by) == ("cancel", "the agent ended")
    fill(asking, request, word="late")
    assert asking.state == "disconnected"


# functions, and nobody


@proves("ELIC-1")
def test_a_function_answers_and_defaults_fill_what_it_leaves_out(asking):
    asking.elicit = lambda request: {**VALID, "pets": ["d"]} if request.mode == "form" else None
    turn = asking.prompt("everything")
    assert answers(asking) == [[{"action": "accept", "content": {**ACCEPTED, "pets": ["d"]}}]]
    assert turn.elicitations[0].answer.by == "your function"


@proves("ELIC-1")
def test_an_async_function_opens_a_page(asking):
    async def elicit(request):
        return {} if request.url else None

    asking.elicit = elicit
    assert asking.prompt("page https://example.org").elicitations[0].answer.action == "accept"


@proves("ELIC-1")
@pytest.mark.parametrize(
    ("function", "reason"),
    [
        (lambda _: {"age": -1}, "name: Please fill this in.; mail: Please fill this in.; age:"),
        (lambda _: {**VALID, "height": 2}, "height: The form has no such field."),
        (lambda _: 7, "It returned 7"),
        (lambda _: 1 / 0, "ZeroDivisionError"),
    ],
)
def test_a_function_that_fails_is_told_and_nothing_is_sent_for_it(asking, function, reason):
    asking.elicit = function
    turn = asking.prompt("everything")
    assert answers(asking) == [[{"action": "decline"}]]
    assert reason in turn.notices[0].description


@proves("ELIC-1")
def test_with_nobody_to_ask_the_answer_is_decline_at_once(asking):
    turn = asking.prompt("everything")
    assert answers(asking) == [[{"action": "decline"}]]
    assert turn.elicitations[0].answer.by == "nobody can be asked here"
    assert turn.stop_reason == "end_turn"


def test_an_audience_that_asks_answers_the_question_itself(asking, host):
    class Console(Somebody):
        def ask(self, question):
            question.submit(VALID | {"name": question.session.connection.launch.name})

    console = host(Person())
    console.audience = lambda _: Console()
    asking.prompt("everything")
    assert answers(asking)[0][0]["content"]["name"] == asking.agent.label


# where it belongs, and what is refused


@proves("ELIC-1")
def test_a_form_of_a_child_session_is_answered_apart_from_the_turn(asking):
    asking.elicit = lambda _: {"word": "here"}
    turn = asking.prompt("child")
    assert answers(asking) == [[{"action": "accept", "content": {"word": "here"}}]]
    assert turn.elicitations == []


@proves("ELIC-1")
def test_a_form_of_a_request_is_shown_in_the_turn_of_that_request(asking):
    asking.agent.elicit = lambda _: {"word": "here"}
    turn = asking.prompt("request")
    assert answers(asking) == [[{"action": "accept", "content": {"word": "here"}}]]
    # In version 2 the prompt's own request was answered long ago: the form has no turn.
    assert len(turn.elicitations) == (1 if asking.agent.protocol_version == 1 else 0)


FORM = {"mode": "form", "message": "m"}


@proves("ELIC-3")
@pytest.mark.parametrize(
    ("params", "words"),
    [
        ({"mode": "_hologram", "message": "m"}, "did not offer the mode '_hologram'"),
        ({"message": "m"}, "mode must be a string"),
        ({**FORM}, "requestedSchema must be an object"),
        ({**FORM, "requestedSchema": {"type": "array"}}, "requestedSchema.type"),
        ({"mode": "url", "message": "m", "url": "https://x.org"}, "elicitationId"),
        ({"mode": "url", "elicitationId": "1", "url": "https://x.org"}, "message"),
    ],
)
def test_a_malformed_request_or_an_unknown_mode_is_refused(asking, params, words):
    turn = asking.prompt(f"raw {json.dumps(params)}")
    ((error,),) = answers(asking)
    assert error["code"] == -32602
    assert words in error["message"]
    assert turn.elicitations == []
    assert turn.stop_reason == "end_turn"


@proves("INIT-5")
def test_what_is_advertised_is_what_is_served(asking):
    (params,) = [f["params"] for f in frames(asking.agent, "sent") if f["method"] == "initialize"]
    for capabilities in (params["capabilities"], params["clientCapabilities"]):
        assert capabilities["elicitation"] == {"form": {}, "url": {}}


@proves("ELIC-1")
def test_the_official_agents_get_what_they_ask_for(node_session):
    def elicit(request):
        return {"name": "Ann", "count": 4} if request.form else {}

    node_session.elicit = elicit
    turn = node_session.prompt("[[elicit]][[elicit:url]]")
    content = {"name": "Ann", "count": 4, "sure": True}
    assert [asked.answer.content for asked in turn.elicitations] == [content, None]
    assert answers(node_session)[-1] == [{"action": "accept"}]
    node_session.elicit = None
