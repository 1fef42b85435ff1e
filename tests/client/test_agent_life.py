"""Agents that end: everything that waits is told, the next prompt starts them again."""

from __future__ import annotations

import os
import signal

import psutil
import pytest
from watching import (
    NODE_AGENT,
    PYTHON_AGENT,
    all_gone,
    bad,
    frames,
    is_gone,
    needs_node,
    only_linux,
    poll,
    sent,
    story,
    until,
    until_asked,
    until_text,
)

from acp_notebook.errors import TurnStopped, UsageError

proves = pytest.mark.requirement


def user_messages(turn):
    return turn.read(
        lambda state, keys: [state.messages[key].text for key in keys if key.kind == "user"]
    )


# it ends in mid-turn


@proves("WIRE-6")
@proves("WIRE-7")
@pytest.mark.parametrize(("how", "code"), [((), 1), (("zero",), 0)])
def test_an_agent_that_dies_in_mid_turn_fails_the_turn_with_its_status(start, how, code):
    agent = start(bad("dies-mid-turn", *how), label="poor")
    turn = agent.session.prompt("go")
    assert turn.text == "one two three "
    assert turn.stop_reason is None
    assert turn.error == (
        f"The agent poor ended with exit code {code}. Your next prompt starts it again."
    )
    assert agent.session.state == "disconnected"
    assert not agent.is_running
    (lost,) = turn.read(lambda state, keys: [state.asides[k] for k in keys if k.kind == "lost"])
    assert lost.detail.strip() == ("fatal: out of credits" if code else "")
    with pytest.raises(TurnStopped, match=f"exit code {code}") as caught:
        turn.raise_for_stop()
    assert ("fatal: out of credits" in str(caught.value)) == bool(code)


@proves("WIRE-7")
def test_the_signal_that_ended_it_is_named(start, person):
    agent = start(PYTHON_AGENT)
    turn = agent.session.prompt("[[permission:two]]", wait=False)
    until_asked(agent.session, 2)
    os.kill(agent.pid, signal.SIGKILL)
    turn.wait()
    assert "ended with signal SIGKILL" in turn.error
    assert [p.answer.by for p in turn.permissions] == ["the agent ended"] * 2
    assert [call.status for call in turn.tool_calls] == ["interrupted"] * 2


@proves("WIRE-7")
def test_a_queued_prompt_is_settled_too(start):
    agent = start(story("exits-when-told"))
    first = agent.session.prompt("hang", wait=False)
    second = agent.session.prompt("never", wait=False)
    until(agent.session, lambda state: len(state.pending) == 2)
    os.kill(agent.pid, signal.SIGTERM)
    assert "SIGTERM" in first.wait().outcome
    assert "SIGTERM" in second.wait().outcome


@proves("WIRE-7")
@proves("WIRE-8")
def test_the_end_is_noticed_though_a_child_keeps_the_pipes_open(start, short_stages):
    agent = start(story("leaves-a-child"))
    turn = agent.session.prompt("go").wait()
    assert "ended with signal SIGKILL" in turn.error
    assert all_gone([agent.pid, int(turn.text)])


@proves("WIRE-7")
def test_an_agent_that_closes_its_stdout_has_ended(start, short_stages):
    agent = start(story("closes-stdout"))
    turn = agent.session.prompt("go")
    assert turn.text == "my last words"
    assert "closed its output and could be heard no more, so it was ended with" in turn.error
    assert all_gone([agent.pid])


@proves("WIRE-7")
def test_an_agent_that_closes_its_stdin_has_ended(start, short_stages):
    agent = start(story("closes-stdin"))
    turn = agent.session.prompt("go")
    assert "closed its input and could be told nothing more, so it was ended with" in turn.error
    (lost,) = turn.read(lambda state, keys: [state.asides[k] for k in keys if k.kind == "lost"])
    assert lost.detail.strip() == "my ears hurt"
    assert all_gone([agent.pid])


def test_an_agent_that_reads_nothing_is_told_of_and_can_be_stopped(
    start, short_stages, monkeypatch, caplog
):
    monkeypatch.setattr("acp_notebook.client.connection.stdio_process.UNREAD_S", 0.1)
    agent = start(story("reads-nothing"))
    turn = agent.session.prompt("x" * 1_000_000, wait=False)
    until(agent.session, lambda state: any(key.kind == "notice" for key in state.asides))
    (notice,) = turn.notices
    assert "does not read what is sent to it" in notice.title
    assert agent.session.state == "running"
    agent.session.stop()
    agent.session.stop()
    assert turn.wait().stop_reason == "cancelled"
    agent.quit()
    assert all_gone([agent.pid])
    assert "Exception in callback" not in caplog.text


@only_linux
@proves("WIRE-8")
@pytest.mark.parametrize("how", ["", "die"])
def test_what_left_the_agents_session_ends_with_the_agent(start, short_stages, how):
    agent = start(story("leaves-daemons", how))
    pids = [int(word) for word in agent.session.prompt("go").text.split()]
    if not how:
        assert not any(is_gone(pid) for pid in pids)
        agent.quit()
    assert len(pids) == 2
    assert all_gone(pids)


@proves("WIRE-7")
def test_an_agent_whose_guard_is_killed_has_ended(start):
    agent = start(story("exits-when-told"))
    psutil.Process(agent.pid).parent().kill()
    until(agent.session, lambda state: not state.is_connected)
    assert all_gone([agent.pid])
    assert agent.session.prompt("hello again").text == "hello again"


# the next prompt


@proves("WIRE-7")
def test_the_next_prompt_starts_it_again_and_says_that_it_forgot(start):
    agent = start(bad("dies-mid-turn"))
    first_pid, first = agent.pid, agent.session.prompt("first")
    second = agent.session.prompt("second")
    assert agent.pid != first_pid
    assert second.text == "one two three "
    assert user_messages(first) == ["first"]
    assert user_messages(second) == ["second"]
    assert first.text == "one two three "  # the new agent's ids are not the old one's
    assert [notice.title for notice in second.notices] == ["A new session was opened"]
    assert first.notices == []
    assert all_gone([first_pid])


@proves("WIRE-7")
@needs_node
@pytest.mark.parametrize("protocol", [2, 1])
def test_the_session_is_resumed_where_the_agent_can(start, tmp_path, protocol):
    agent = start([*NODE_AGENT, "--state", str(tmp_path / "kept")], protocol=protocol)
    first, session_id = agent.session.prompt("[[say:remember me]][[tool]]"), agent.session.id
    dead = agent.session.prompt("[[exit:3]]")
    assert "exit code 3" in dead.error
    again = agent.session.prompt("[[say:I do]][[tool]]")
    assert (again.text, again.stop_reason, again.notices) == ("I do", "end_turn", [])
    assert agent.session.id == session_id
    methods = [m.get("method") for m in frames(agent, "sent")]
    assert methods == ["initialize", "session/resume", "session/prompt"]
    assert first.text == "remember me"
    assert len(again.tool_calls) == 1


@proves("WIRE-7")
@needs_node
def test_a_new_agent_that_counts_from_the_start_again_changes_nothing_old(start):
    agent = start(NODE_AGENT)  # keeps no sessions: `msg-1`, `call-1` come a second time
    first = agent.session.prompt("[[say:old words]][[tool]][[plan]]")
    agent.session.prompt("[[exit:1]]")
    second = agent.session.prompt("[[say:new words]][[tool:fail]][[plan]][[terminal]]")
    assert (first.text, second.text) == ("old words", "new words")
    assert [call.status for call in first.tool_calls] == ["completed"]
    assert [call.status for call in second.tool_calls] == ["failed", "completed"]
    assert second.plan is not None
    (terminal_id,) = second.tool_calls[1].terminal_ids
    assert second.read(lambda state, _: terminal_id in state.terminals)


@proves("WIRE-7")
def test_an_agent_that_leaves_after_each_turn_serves_the_next_prompt_too(start):
    agent = start(story("ends-after-each-turn"))
    said = []
    for _ in range(3):
        said.append(agent.session.prompt("go").text)
        until(agent.session, lambda state: not state.is_connected)
    assert len(set(said)) == 3
    assert all(words.startswith("turn of ") for words in said)


@proves("WIRE-7")
def test_a_prompt_need_not_wait_until_an_ended_agent_is_gone(start):
    agent = start(story("closes-stdout-when-idle"))
    first, first_pid = agent.session.prompt("go"), agent.pid
    assert poll(lambda: not agent.is_running)
    second = agent.session.prompt("go")  # the old process is being ended meanwhile
    assert (first.text, second.text) == (f"turn of {first_pid}", f"turn of {agent.pid}")
    assert second.stop_reason == "end_turn"
    assert all_gone([first_pid])


def test_prompts_at_once_start_it_only_once(start):
    agent = start(story("exits-when-told"))
    agent.session.prompt("exit")
    turns = [agent.session.prompt(f"{n}", wait=False) for n in range(3)]
    assert [turn.wait().text for turn in turns] == ["0", "1", "2"]
    methods = [message.get("method") for message in frames(agent, "sent")]
    assert methods == ["initialize", "session/new", *["session/prompt"] * 3]


def test_a_new_session_in_the_place_of_the_old_has_used_nothing(start):
    session = start(story("exits-when-told", "usage")).session
    session.prompt("hello")
    assert session.last_turn.usage.used == 53
    session.prompt("exit")
    turn = session.prompt("again")
    assert turn.notices[0].title == "A new session was opened"
    assert turn.usage is None
    assert session.title is None


def test_both_sessions_of_an_agent_come_back(start):
    agent = start(PYTHON_AGENT)
    first, second = agent.session, agent.new_session()
    first.prompt("[[exit:1]]")
    assert second.state == "disconnected"
    assert second.prompt("[[say:second]]").text == "second"
    assert first.prompt("[[say:first]]").text == "first"
    assert len({first.id, second.id}) == 2


def test_a_new_session_starts_it_again_too(start):
    agent = start(story("exits-when-told"))
    agent.session.prompt("exit")
    assert agent.new_session().prompt("here").text == "here"


@proves("WIRE-7")
@pytest.mark.parametrize("when", ["early", "late"])
def test_an_agent_that_can_only_tell_a_session_again_keeps_its_memory(start, tmp_path, when):
    session = start(story("only-loads", str(tmp_path / "memory"), when)).session
    session.prompt("one")
    assert session.prompt("exit").error
    turn = session.prompt("two")
    assert turn.text == "remembered: ['one', 'exit', 'two']"
    assert user_messages(turn) == ["two"]
    assert turn.notices == []
    asked = [message["method"] for message in frames(session.agent, "sent")]
    assert asked[1:3] == ["session/resume", "session/load"]
    # What it told again is known already; what it is called was not.
    assert session.title == "Told again"
    texts = [message.text for message in session.live.state.messages.values()]
    assert not [text for text in texts if text.startswith("heard")]


@proves("WIRE-7")
def test_an_agent_that_does_not_come_back_ends_the_prompt_with_the_reason(start, tmp_path):
    agent = start(story("only-once", str(tmp_path / "started"), "exit"))
    agent.session.prompt("go")
    turns = [agent.session.prompt("again", wait=False) for _ in range(2)]
    for turn in turns:
        assert "ended with exit code 7 before it answered `initialize`" in turn.wait().error
        assert "no second time" in turn.error
    assert not agent.is_running


@proves("CANCEL-1")
def test_a_prompt_that_waits_for_a_hanging_start_can_be_taken_back(start, tmp_path):
    agent = start(story("only-once", str(tmp_path / "started"), "hang"))
    agent.session.prompt("go")
    turn = agent.session.prompt("again", wait=False)
    assert poll((tmp_path / "started.hangs").exists)
    turn.cancel()
    assert turn.wait().stop_reason == "cancelled"


def test_quitting_a_hanging_start_ends_the_prompt_that_waits_for_it(start, tmp_path, short_stages):
    agent = start(story("only-once", str(tmp_path / "started"), "hang"))
    agent.session.prompt("go")
    turn = agent.session.prompt("again", wait=False)
    assert poll((tmp_path / "started.hangs").exists)
    agent.quit()
    assert turn.wait().error is not None
    assert all_gone([agent.pid])


# quit


@proves("WIRE-8")
def test_quit_may_be_called_twice_and_tells_what_waits(start):
    agent = start(story("exits-when-told"), label="mine")
    turn = agent.session.prompt("hang", wait=False)
    until(agent.session, lambda state: state.activity == "running")
    agent.quit()
    agent.quit()
    assert turn.wait().error == "The agent mine was ended."
    assert agent.session.state == "disconnected"
    with pytest.raises(UsageError, match=r"mine was ended\. Start it again with %acp start"):
        agent.session.prompt("more")
    with pytest.raises(UsageError, match=r"mine was ended\."):
        agent.new_session()


@proves("WIRE-8")
@pytest.mark.parametrize("how", [(), ("stubborn",)])
def test_an_agent_that_ignores_the_end_of_stdin_is_ended_with_its_child(start, short_stages, how):
    agent = start(bad("ignores-eof", *how))
    assert poll(lambda: "child " in agent.stderr)
    child = int(agent.stderr.split()[1])
    agent.quit()
    assert all_gone([agent.pid, child])
    assert agent.connection.endpoint.ending.startswith("ended with signal")  # it closed nothing
    agent.quit()


@proves("WIRE-8")
def test_an_agent_that_floods_can_be_ended(start, short_stages):
    agent = start(story("floods"))
    agent.session.prompt("go", wait=False)
    until_text(agent.session, "x")
    agent.quit()
    assert all_gone([agent.pid])


@proves("WIRE-8")
def test_ending_the_process_kills_its_child_at_once(start):
    agent = start(bad("ignores-eof", "stubborn"))
    assert poll(lambda: "child " in agent.stderr)
    pids = [agent.pid, int(agent.stderr.split()[1])]
    agent.thread.call(lambda: agent.connection.end("enough"))
    assert all_gone(pids)


def test_permissions_set_on_the_agent_hold_for_its_sessions(start):
    agent = start(story("exits-when-told"))
    agent.permissions = "allow"
    assert agent.session.permissions == agent.new_session().permissions == "allow"
    with pytest.raises(UsageError, match="no permission policy 'yes'"):
        agent.permissions = "yes"
    assert agent.permissions == "allow"


def test_a_cancel_is_not_sent_to_an_agent_that_is_gone(start):
    agent = start(story("exits-when-told"))
    agent.session.prompt("exit")
    assert agent.session.stop() == "Nothing is running."
    assert sent(agent.session, "session/cancel") == []
