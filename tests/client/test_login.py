"""Logging in over real stdio: the offer, each kind of way, what is done anew, the logout."""

from __future__ import annotations

import sys

import pytest
from watching import AGENTS, BOUND_S, Person, Somebody, frames, poll, text_of

from acp_notebook.errors import (
    AgentError,
    AuthRequired,
    RequestFailed,
    UnsupportedByAgent,
    UsageError,
)

proves = pytest.mark.requirement


class Typist(Person):
    """Somebody who types these lines, each when the program asks for it."""

    def __init__(self, *lines):
        self.lines = lines
        self.seen = ""
        self.hidden = []

    def terminal(self):
        return self.attend

    def attend(self, terminal, title):
        self.title = title
        for prompt, line in self.lines:
            assert poll(lambda prompt=prompt: prompt in self.read(terminal))
            self.hidden.append(terminal.hides_typing)
            self.seen = self.read(terminal)
            terminal.write(line)
        assert self.wait(terminal.ended, BOUND_S)
        self.seen = self.read(terminal)

    def read(self, terminal):
        return bytes(terminal.output).decode()


NAME = (b"", b"Ann\r")


@pytest.fixture(params=[1, 2], ids=["v1", "v2"])
def wanting(request, start, tmp_path):
    """Starts an agent that wants a login, in both versions."""

    def begin(*words):
        version = ["v2"] if request.param == 2 else []
        command = [sys.executable, str(AGENTS / "login_agent.py"), *words, *version]
        return start(command, env={"LOGIN_TOKEN": str(tmp_path / "token")}, label="locked")

    return begin


def methods_sent(agent):
    return [message["method"] for message in frames(agent, "sent") if "method" in message]


@proves("AUTH-1")
def test_ways_that_are_advertised_do_not_mean_that_a_login_is_needed(wanting):
    agent = wanting("agent,terminal", "lax")
    assert not agent.needs_login
    assert methods_sent(agent) == ["initialize", "session/new"]


@proves("AUTH-2")
def test_an_agent_that_wants_a_login_is_there_without_a_session(wanting):
    agent = wanting("agent,terminal,odd")
    assert agent.needs_login
    assert agent.is_running
    assert agent.sessions == []
    with pytest.raises(AuthRequired) as caught:
        agent.session.prompt("hello")
    assert "Authentication required. It offers: Log in by agent (by-agent), Type a code" in str(
        caught.value
    )
    assert "%acp login METHOD --to locked" in str(caught.value)


@proves("AUTH-2")
def test_the_agents_own_way_is_called_and_the_session_opened(wanting):
    agent = wanting("agent")
    assert agent.login() is None
    assert not agent.needs_login
    call = "authenticate" if agent.protocol_version == 1 else "auth/login"
    assert methods_sent(agent) == ["initialize", "session/new", call, "session/new"]
    assert agent.session.prompt("hello").text == "heard: hello"


@proves("AUTH-2")
def test_several_ways_are_told_apart_by_id_or_name(wanting):
    agent = wanting("agent,second")
    with pytest.raises(UsageError, match=r"Log in by agent \(by-agent\), Log in by second"):
        agent.login()
    with pytest.raises(UsageError, match="no way to log in 'by-magic'"):
        agent.login("by-magic")
    agent.login("log in BY second")
    call = next(frame for frame in frames(agent, "sent") if "methodId" in text_of(frame))
    assert call["params"] == {"methodId": "by-second"}


@proves("AUTH-2")
def test_ways_of_unknown_types_are_shown_and_never_called(wanting):
    agent = wanting("odd")
    with pytest.raises(AuthRequired, match="only ways that this client does not know: By device"):
        _ = agent.session
    with pytest.raises(UsageError, match="of the type '_device'"):
        agent.login("by-device")
    with pytest.raises(UsageError, match="Log in with its own program"):
        agent.login()
    assert methods_sent(agent) == ["initialize", "session/new"]


@proves("AUTH-1")
def test_without_ways_nothing_is_called_and_the_way_out_is_said(wanting):
    agent = wanting("none", "logout")
    with pytest.raises(UsageError, match="no way to log in from here"):
        agent.login()
    with pytest.raises(UnsupportedByAgent, match="offers no logout"):
        agent.logout()
    assert methods_sent(agent) == ["initialize", "session/new"]


@proves("AUTH-2")
def test_a_code_is_typed_into_the_agents_program_and_the_agent_started_again(wanting, host):
    typist = host(
        Typist(
            ("Good day. Your name:", b"Ann\r"),
            ("Code:", b"wrong\r"),
            ("That is wrong.", b"sesame\r"),
        )
    )
    agent = wanting("terminal")
    before = agent.pid
    agent.login()
    assert typist.title == "locked: Type a code"
    assert typist.hidden[0] is False
    assert typist.hidden[1] is True
    assert "That is right." in typist.seen
    assert "sesame" not in typist.seen
    assert agent.pid != before
    assert not agent.needs_login
    # A new process: what it got before is another link's trace.
    assert methods_sent(agent) == ["initialize", "session/new"]
    assert not any("sesame" in text_of(frame) for frame in frames(agent, "sent"))
    assert agent.session.prompt("hello").text == "heard: hello"


@proves("AUTH-2")
@pytest.mark.parametrize(
    ("line", "how"), [(b"\x04", "exit code 1"), (b"\x03", "exit code|signal 2")]
)
def test_a_program_that_does_not_end_well_is_no_login(wanting, host, line, how):
    host(Typist(("Your name:", line)))
    agent = wanting("terminal")
    with pytest.raises(AgentError, match=how):
        agent.login()
    assert agent.needs_login
    assert methods_sent(agent) == ["initialize", "session/new"]


@proves("AUTH-2")
def test_where_nobody_types_the_command_for_a_terminal_is_said(wanting):
    agent = wanting("terminal")
    with pytest.raises(UsageError, match=r"Run this in a terminal.*login_agent.py.*--login"):
        agent.login()


@proves("AUTH-2")
def test_a_prompt_that_was_refused_is_sent_again(wanting):
    agent = wanting("agent", "lax")
    refused = agent.session.prompt("first try")
    assert refused.needs_login
    assert "Authentication required" in refused.error
    assert agent.needs_login
    turn = agent.login()
    assert turn is not refused
    assert turn.text == "heard: first try"
    assert not agent.needs_login


@proves("AUTH-2")
def test_a_prompt_refused_for_want_of_a_login_is_sent_after_one_in_a_terminal(wanting, host):
    host(Typist(("Your name:", b"Ann\r"), ("Code:", b"sesame\r")))
    agent = wanting("terminal", "lax")
    session = agent.session
    assert session.prompt("first try").needs_login
    turn = agent.login()
    # The new process is asked to take up the session, and it can: it is logged in.
    assert turn.session is session
    assert turn.text == "heard: first try"


@proves("AUTH-3")
def test_after_a_logout_an_active_session_leads_to_the_offer(wanting):
    agent = wanting("agent", "logout")
    agent.login()
    session = agent.session
    assert session.prompt("one").text == "heard: one"
    agent.logout()
    turn = session.prompt("two")
    assert turn.needs_login
    assert agent.needs_login
    assert agent.login().text == "heard: two"
    assert session.prompt("three").text == "heard: three"


@proves("AUTH-3")
def test_a_session_that_cannot_be_taken_up_for_want_of_a_login_waits_for_it(wanting, tmp_path):
    agent = wanting("agent", "logout")
    agent.login()
    session = agent.session
    agent.logout()
    agent.kill_now()
    assert poll(lambda: session.state == "disconnected")
    turn = session.prompt("are you there?")
    assert turn.needs_login
    again = agent.login()
    assert again.text == "heard: are you there?"
    assert again.session is session


@proves("AUTH-1")
def test_a_v1_agent_is_logged_out_only_where_it_offers_that(start, tmp_path):
    command = [sys.executable, str(AGENTS / "login_agent.py"), "agent"]
    agent = start(command, env={"LOGIN_TOKEN": str(tmp_path / "token")})
    with pytest.raises(UnsupportedByAgent):
        agent.logout()
    assert "logout" not in methods_sent(agent)


@proves("ELIC-1")
def test_a_login_may_ask_for_a_code_by_a_form_outside_of_sessions(wanting):
    agent = wanting("agent", "form")
    agent.elicit = None
    with pytest.raises(RequestFailed, match="Wrong code"):  # nobody can be asked: declined
        agent.login()
    assert agent.needs_login
    agent.elicit = lambda _: {"code": "sesame"}
    agent.login()
    assert agent.session.prompt("hello").text == "heard: hello"


@proves("ELIC-1")
def test_a_person_fills_in_the_form_of_a_login(wanting, person):
    agent = wanting("agent", "form")
    shown = []

    class Known(Somebody):
        def ask(self, question):
            shown.append(question.title)
            question.submit({"code": "sesame"})

    person.audience = lambda _: Known()
    agent.login()
    assert "The code, please" in shown
    assert not agent.needs_login


@proves("INIT-5")
def test_a_terminal_for_logins_is_advertised(wanting):
    agent = wanting("agent", "lax")
    (params,) = [f["params"] for f in frames(agent, "sent") if f["method"] == "initialize"]
    assert params["clientCapabilities"]["auth"] == {"terminal": True}
    assert params["capabilities"]["auth"] == {"terminal": {}}
