"""What a user does with an agent, on agents that nobody here wrote. See the README beside this."""

from __future__ import annotations

import json
import os
import signal
import threading
from pathlib import Path

import pytest
from watching import Somebody

import acp_notebook as acp
from acp_notebook.client.host import Host, current_host, install_host

FOLDER = os.environ.get("ACP_AGENTS")
BOUND_S = 60.0
GEMINI_WIPES = "needs a gemini later than 0.61, which wipes a session loaded in its first minute"
REASON = "needs real agents: set ACP_AGENTS to a folder as tests/real_agents/README.md describes"

pytestmark = [pytest.mark.skipif(not FOLDER, reason=REASON), pytest.mark.timeout(300)]


def _cases():
    for path in sorted(Path(FOLDER or ".").glob("*.json")) if FOLDER else []:
        facts = json.loads(path.read_text())
        if "cmd" in facts:
            for protocol in facts.get("protocols", [1, 2]):
                yield pytest.param((path.stem, facts, protocol), id=f"{path.stem}-v{protocol}")


class Person(Host):
    """Somebody who could be asked."""

    def audience(self, agent):
        return Somebody()


@pytest.fixture(scope="module", params=list(_cases()) or [None])
def started(request):
    """One agent for the whole story; each test opens its own session."""
    name, facts, protocol = request.param
    agent = start(name, facts, protocol)
    yield agent, facts
    agent.quit()


def start(name, facts, protocol):
    return acp.start(
        command=facts["cmd"], env=facts["env"], cwd=facts["cwd"], protocol=protocol, label=name
    )


@pytest.fixture
def session(started):
    agent, _ = started
    return agent.new_session()


def once(session, is_so):
    """Set as soon as something is so of the session."""
    event = threading.Event()

    def look(_changes=None):
        if is_so(session.live.state):
            event.set()

    session.agent.thread.call(lambda: (session.live.subscribe(look), look()))
    return event


def speaks(state):
    return any(key.kind == "agent" and message.text for key, message in state.messages.items())


def test_text_is_answered(session):
    turn = session.prompt("[[go]] [[text]]", timeout=BOUND_S)
    assert turn.stop_reason == "end_turn"
    assert turn.text
    assert session.live.state.violations == []


@pytest.mark.parametrize("policy", ["allow", "reject"])
def test_a_permission_decides_what_is_done(session, started, policy):
    path = Path(started[1]["cwd"], f"{policy}-{session.id[:8]}.txt")
    session.permissions = policy
    turn = session.prompt(f"[[go]] [[sh:echo hello > {path.name}]] [[text]]", timeout=BOUND_S)
    assert [permission.answer.by for permission in turn.permissions] == [f"policy {policy}"]
    assert len(turn.tool_calls) == 1
    assert turn.tool_calls[0].is_finished
    assert path.exists() == (policy == "allow")


def test_cancel_ends_the_turn_as_cancelled_and_the_next_prompt_works(session):
    turn = session.prompt("[[go]] [[slow]]", wait=False)
    assert once(session, speaks).wait(BOUND_S)
    turn.cancel()
    assert turn.wait(BOUND_S).stop_reason == "cancelled"
    assert session.prompt("[[go]] [[text]]", timeout=BOUND_S).stop_reason == "end_turn"


def test_cancel_with_an_open_permission(session):
    before = current_host()
    install_host(Person())
    try:
        turn = session.prompt("[[go]] [[sh:echo hello > asked.txt]]", wait=False)
        assert once(session, lambda state: state.open_permissions).wait(BOUND_S)
        turn.cancel()
        assert turn.wait(BOUND_S).stop_reason == "cancelled"
    finally:
        install_host(before)
    assert [permission.answer.option_id for permission in turn.permissions] == [None]
    assert all(call.is_finished for call in turn.tool_calls)


def test_a_second_prompt_while_busy_gets_its_own_answer(session):
    first = session.prompt("[[go]] [[slow]]", wait=False)
    assert once(session, speaks).wait(BOUND_S)
    second = session.prompt("[[go]] [[text]]", wait=False)
    assert first.wait(BOUND_S).stop_reason == "end_turn"
    assert second.wait(BOUND_S).stop_reason == "end_turn"
    assert second.text
    assert second.text not in first.text


def test_a_mode_can_be_set(session):
    option = next((each for each in session.config_options if each.category == "mode"), None)
    if option is None:
        pytest.skip("this agent offers no modes: needs a release of it that does")
    other = next(choice.value for choice in option.choices if choice.value != option.value)
    session.set_option(option.id, other)
    value = next(each.value for each in session.config_options if each.id == option.id)
    assert value == other


def test_a_session_is_taken_up_by_a_new_process(started):
    agent, facts = started
    if not agent.capabilities.replay:
        pytest.skip("this agent replays no session: needs a release of it that does")
    if agent.label == "gemini":
        pytest.skip(
            "needs a gemini later than 0.61, which wipes a session loaded in its first minute"
        )
    # Some agents lock a session to the process that has it.
    before = start(agent.label, facts, agent.launch.protocol)
    before.session.prompt("[[go]] [[text]]", timeout=BOUND_S)
    before.quit()
    after = start(agent.label, facts, agent.launch.protocol)
    try:
        again = after.resume(before.session.id)
        assert "agent" in [key.kind for key in again.live.state.timeline]
        assert again.prompt("[[go]] [[text]]", timeout=BOUND_S).stop_reason == "end_turn"
    finally:
        after.quit()


def test_a_killed_agent_comes_back_with_its_session(started):
    agent, facts = started
    if agent.label == "gemini":
        pytest.skip(
            "needs a gemini later than 0.61, which wipes a session loaded in its first minute"
        )
    own = start(agent.label, facts, agent.launch.protocol)
    try:
        session = own.session
        before = session.id
        session.prompt("[[go]] [[text]]", timeout=BOUND_S)
        gone = once(session, lambda state: not state.is_connected)
        os.kill(own.pid, signal.SIGKILL)
        assert gone.wait(BOUND_S)
        turn = session.prompt("[[go]] [[text]]", timeout=BOUND_S)
        assert (turn.stop_reason, turn.notices, session.id) == ("end_turn", [], before)
    finally:
        own.quit()
