"""Starting agents that behave badly, and what they send: a clear word, and no process left."""

from __future__ import annotations

import concurrent.futures
import re
import sys
import threading

import pytest
from watching import (
    NODE_AGENT,
    all_gone,
    bad,
    children,
    frames,
    needs_node,
    poll,
    story,
    until,
    until_text,
)

import acp_notebook as acp
from acp_notebook.client.host import Host
from acp_notebook.errors import (
    AgentError,
    AgentExited,
    AgentNotFound,
    AuthRequired,
    RequestFailed,
    UnsupportedByAgent,
    UnsupportedProtocolVersion,
    UsageError,
)

proves = pytest.mark.requirement


@pytest.fixture(autouse=True)
def nothing_is_left():
    """Each start that fails takes its processes with it."""
    before = children()
    yield
    # Those that the shared agents of other tests need were there before.
    assert all_gone(children() - before)


def initializes(agent):
    return [m["params"] for m in frames(agent, "sent") if m.get("method") == "initialize"]


# starts that fail


@pytest.mark.parametrize(
    ("command", "cwd", "words"),
    [
        (["no-such-agent-here"], ".", r"no command 'no-such-agent-here' on the PATH.*Install"),
        (["./no-such-file"], ".", r"There is no .*/no-such-file\. Check the path"),
        (["./data.txt"], ".", r"data\.txt is not an executable file\. Make it executable"),
        (["./folder"], ".", r"folder is not an executable file"),
        (["./garbage"], ".", r"garbage cannot be started: Exec format error"),
        ([sys.executable, "a\0b"], ".", r"cannot be started: embedded null byte"),
        ([sys.executable], "no/folder", r"folder .*/no/folder does not exist.*--cwd"),
    ],
)
def test_a_command_that_cannot_be_started_says_why(tmp_path, monkeypatch, command, cwd, words):
    (tmp_path / "data.txt").write_text("data")
    (tmp_path / "folder").mkdir()
    (tmp_path / "garbage").write_bytes(b"\x00\x01garbage")
    (tmp_path / "garbage").chmod(0o755)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(AgentNotFound, match=re.compile(words, re.DOTALL)):
        acp.start(command=command, cwd=cwd)


def test_the_path_that_was_searched_is_named(monkeypatch):
    monkeypatch.setenv("PATH", "/first/folder:/second/folder")
    with pytest.raises(AgentNotFound, match=r"Looked in:\n  /first/folder\n  /second/folder"):
        acp.start(command=["no-such-agent-here"])


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({}, "either an agent's name or a command"),
        ({"name": "demo", "command": ["x"]}, "either an agent's name or a command"),
        ({"command": []}, "command is empty"),
        ({"command": ["x"], "protocol": 3}, "no ACP protocol version 3; use 1 or 2"),
        ({"command": ["x"], "permissions": "everything"}, "no permission policy 'everything'"),
    ],
)
def test_a_call_that_cannot_be_meant_says_what_to_write(arguments, words):
    with pytest.raises(UsageError, match=words):
        acp.start(**arguments)


@proves("WIRE-6")
def test_an_agent_that_exits_at_once_shows_its_code_and_last_words():
    with pytest.raises(AgentExited) as caught:
        acp.start(command=bad("exits-at-once"))
    assert caught.value.status == "exit code 3"
    first, *rest = str(caught.value).splitlines()
    assert "exit code 3 before it answered `initialize`. To see what it says, run it in" in first
    assert rest == ["Its last words on stderr:", "  cannot find the configuration file"]


def test_an_agent_that_closes_its_input_at_once_is_found_out(short_stages):
    with pytest.raises(AgentExited, match=r"closed its input.* before it answered") as caught:
        acp.start(command=story("closes-stdin", "first"))
    assert caught.value.stderr_tail.strip() == "my ears hurt"


@proves("INIT-3")
def test_a_version_that_we_do_not_speak_closes_and_names_both_sides():
    with pytest.raises(UnsupportedProtocolVersion, match=r"version 7; this client speaks 1 and 2"):
        acp.start(command=bad("version-7"))


@proves("INIT-3")
@needs_node
def test_an_agent_for_v2_only_that_is_asked_for_v1_says_so():
    with pytest.raises(UnsupportedProtocolVersion, match=r"not speak protocol version 1, only 2"):
        acp.start(command=[*NODE_AGENT, "--protocol", "2"], protocol=1)


def test_a_refused_session_shows_the_cause():
    with pytest.raises(RequestFailed, match=r"session/new failed: Internal error: usage limit"):
        acp.start(command=bad("error-in-session-new"))


@proves("AUTH-1")
def test_a_login_that_is_needed_is_said_with_its_ways(start):
    agent = start(bad("auth-required"))
    assert agent.needs_login
    with pytest.raises(AuthRequired) as caught:
        _ = agent.session
    assert "Authentication required. " in str(caught.value)
    assert "Log in" in str(caught.value)
    methods = [message.get("method") for message in frames(agent, "sent")]
    assert methods == ["initialize", "session/new"]  # no login by itself


@proves("INIT-6")
def test_an_agent_without_sessions_is_told_apart():
    with pytest.raises(UnsupportedByAgent, match=r"story-agent offers no sessions"):
        acp.start(command=story("no-sessions"))


def test_a_session_without_an_id_is_an_error():
    with pytest.raises(AgentError, match="without a session id"):
        acp.start(command=story("no-session-id"))


# a start that takes long


class Starting(Host):
    """Sees the agent while it starts, and interrupts the wait when told to."""

    def __init__(self, when_started):
        self.when_started = when_started
        self.agent = None

    def wait_for_agent(self, agent, work, *, is_start):
        assert is_start
        self.agent = agent
        self.when_started(agent)
        raise KeyboardInterrupt


@proves("WIRE-6")
def test_a_silent_agent_shows_stderr_while_it_starts_and_can_be_interrupted(host):
    def wait_for_progress(agent):
        assert poll(lambda: "fetching package 3 of 3" in agent.stderr)
        assert repr(agent) == "<Agent python: not connected, 0 session(s)>"
        with pytest.raises(UsageError, match="not connected yet"):
            _ = agent.capabilities

    starting = host(Starting(wait_for_progress))
    with pytest.raises(KeyboardInterrupt):
        acp.start(command=bad("silent"), label="python")
    assert len(initializes(starting.agent)) == 1  # an interrupt is no reason for the v1 retry
    assert not starting.agent.is_running


def test_a_start_that_is_interrupted_before_there_is_a_process_leaves_none(host):
    starting = host(Starting(lambda _: None))
    with pytest.raises(KeyboardInterrupt):
        acp.start(command=bad("silent"))
    assert all_gone([starting.agent.pid] if starting.agent.pid else [])


# the handshake


@proves("INIT-2")
def test_initialize_carries_both_shapes(start):
    (params,) = initializes(start(story("refuses-while-busy")))
    assert params["protocolVersion"] == 2
    assert params["info"] == params["clientInfo"]
    assert set(params["info"]) == {"name", "title", "version"}
    assert isinstance(params["capabilities"], dict)
    assert isinstance(params["clientCapabilities"], dict)


@proves("INIT-3")
@needs_node
@pytest.mark.parametrize(("protocol", "version"), [(2, 2), (1, 1)])
def test_the_version_is_the_one_both_speak(start, protocol, version):
    agent = start(NODE_AGENT, protocol=protocol)
    assert agent.protocol_version == version
    assert agent.info.label == "SDK test agent"
    assert agent.capabilities.image


@proves("INIT-1")
def test_nothing_is_sent_before_initialize_and_the_session_are_answered(start):
    agent = start(story("refuses-while-busy"))
    agent.session.prompt("hello")
    wire = [
        (frame.direction, frame.label)
        for frame in agent.recording.frames()
        if not frame.label.startswith("session/update")
    ]
    assert wire == [
        ("sent", "initialize"),
        ("received", "result of request 1"),
        ("sent", "session/new"),
        ("received", "result of request 2"),
        ("sent", "session/prompt"),
        ("received", "result of request 3"),
    ]


@proves("INIT-3")
@pytest.mark.parametrize("command", [bad("v1-strict"), bad("v1-strict", "exit")])
def test_an_agent_that_chokes_gets_one_retry_in_a_fresh_process(start, command):
    agent = start(command)
    first, second = initializes(agent)
    assert first["protocolVersion"] == 2
    assert second["protocolVersion"] == 1
    assert not {"info", "capabilities"} & second.keys()
    assert agent.protocol_version == 1
    assert agent.session.prompt("hi").text == "hello"


@proves("INIT-3")
def test_the_error_for_an_unsupported_version_leads_to_v1(start):
    agent = start(bad("unsupported-version"))
    assert [params["protocolVersion"] for params in initializes(agent)] == [2, 1]
    assert agent.session.prompt("hi").stop_reason == "end_turn"


@proves("INIT-3")
def test_an_agent_that_says_2_and_speaks_1_is_taken_as_v1(start):
    agent = start(bad("says-2-speaks-1"))
    assert agent.protocol_version == 1
    assert agent.session.prompt("hi").text == "hello"


# what arrives


@proves("WIRE-1")
@proves("WIRE-2")
def test_noise_between_the_frames_is_kept_aside(start):
    agent = start(bad("banner"))
    assert agent.session.prompt("hi").text == "hello"
    assert any("Loaded cached credentials." in line for line in agent.noise)
    assert len(agent.noise) <= 200


@proves("WIRE-6")
def test_a_flood_on_stderr_does_not_stop_the_agent(start):
    agent = start(bad("stderr-flood"))
    assert agent.session.prompt("hi").text == "hello"
    assert 0 < len(agent.stderr) <= 64 * 1024


@proves("WIRE-1")
@pytest.mark.parametrize("prompt", ["message", "tool"])
def test_a_line_of_20_mb_is_applied(start, prompt):
    turn = start(bad("huge-line")).session.prompt(prompt)
    if prompt == "tool":
        (item,) = turn.tool_calls[0].content
        assert len(item.block.text) == 20_000_000
    else:
        assert len(turn.text) == 20_000_000 + len("hello")


@proves("WIRE-1")
def test_a_line_above_the_cap_is_dropped_alone_and_said(start):
    session = start(bad("huge-line", "68000000")).session
    turn = session.prompt("message")
    assert turn.text == "hello"
    violations = turn.read(lambda state, _: list(state.violations))
    assert [v.where for v in violations] == ["the connection"]
    assert re.fullmatch(r"A message of 68\d{6} bytes was dropped: too long\.", violations[0].reason)
    assert "violation" in [key.kind for key in turn.timeline]


@proves("WIRE-3")
@proves("WIRE-4")
@proves("WIRE-5")
def test_malformed_updates_cost_only_themselves_and_every_request_is_answered_once(start):
    agent = start(bad("malformed"))
    turn = agent.session.prompt("go", permissions="allow")
    assert turn.stop_reason == "end_turn"
    assert [f"good {index} " in turn.text for index in range(19)] == [True] * 19
    assert "from a batch " in turn.text
    assert [
        (call.title, call.status) for call in turn.tool_calls if call.title == "A good tool"
    ] == [("A good tool", "completed")]
    replies = [m for m in frames(agent, "sent") if "method" not in m and m["id"] is not None]
    outcome = {reply["id"]: reply for reply in replies}
    assert len(replies) == len(outcome) == 6
    codes = {key: reply["error"]["code"] for key, reply in outcome.items() if "error" in reply}
    assert codes == {
        "batch": -32601,
        0: -32601,
        "unknown": -32601,
        "empty": -32602,
        "no-params": -32602,
    }
    # Options of unknown kind are neither an approval nor a refusal.
    assert outcome["no-kind"]["result"] == {"outcome": {"outcome": "cancelled"}}
    empty_batches = [m for m in frames(agent, "sent") if "method" not in m and m["id"] is None]
    assert [m["error"]["code"] for m in empty_batches] == [-32600]
    violations = turn.read(lambda state, _: list(state.violations))
    assert {"agent_message_chunk", "tool_call", "plan"} <= {v.where for v in violations}


@proves("SESS-3")
def test_updates_before_the_session_is_known_are_kept(start):
    session = start(bad("late-updates")).session
    assert session.title == "An early title"
    assert [command.name for command in session.commands] == ["early"]


@proves("SESS-3")
def test_updates_for_sessions_that_never_come_are_kept_within_bounds(start):
    agent = start(story("early-and-noisy"))
    assert agent.session.title == "Early"
    assert agent.thread.call(lambda: len(agent.connection.routes._held)) == 999


@proves("STATE-4")
@proves("V1-2")
def test_updates_after_the_answer_are_applied_to_the_same_message(start):
    session = start(bad("late-updates")).session
    turn = session.prompt("go")
    assert turn.stop_reason == "end_turn"
    until(session, lambda state: all(c.is_finished for c in state.tool_calls.values()))
    until_text(session, "on time")
    assert turn.text == "on time"
    assert [call.status for call in turn.tool_calls] == ["completed"]
    assert session.state == "idle"


@proves("STATE-1")
@proves("STATE-2")
@proves("STATE-5")
def test_a_sloppy_v2_agent_ends_its_turn_once_and_not_too_early(start):
    session = start(bad("v2-sloppy")).session
    ends = []
    turn = session.prompt("go", wait=False)
    turn.done.add_done_callback(ends.append)
    turn.wait()
    assert turn.stop_reason == "end_turn"
    until_text(session, "hello again")
    assert turn.text == "hello again"
    assert len(ends) == 1
    reasons = turn.read(lambda state, _: [v.reason for v in state.violations])
    assert reasons == ["the answer must be an object, got nothing; taken as accepted"]


def test_starts_from_several_threads_do_not_mix():
    gate = threading.Barrier(3)

    def run(number):
        gate.wait(10)
        agent = acp.start(command=bad("banner"), label=f"agent {number}")
        try:
            return agent.label, agent.session.prompt("hi").text, agent.pid
        finally:
            agent.quit()

    with concurrent.futures.ThreadPoolExecutor(3) as pool:
        found = list(pool.map(run, range(3)))
    assert [text for _, text, _ in found] == ["hello"] * 3
    assert len({pid for _, _, pid in found}) == 3
