"""Commands that a v1 agent runs through this client: real, bounded, visible, gone at the end."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import psutil
import pytest
from watching import (
    NODE_AGENT,
    all_gone,
    children,
    is_gone,
    needs_node,
    only_linux,
    poll,
    until,
)

from acp_notebook.client.serving import terminals
from acp_notebook.client.serving.terminal_output import VIEW_BYTES, KeptText, ViewFeed
from acp_notebook.session import updates as u
from acp_notebook.session.reducer import apply
from acp_notebook.session.state import SessionState

proves = pytest.mark.requirement
ASKING = (sys.executable, str(Path(__file__).parents[1] / "requesting_agent.py"))
OUTPUT, WAIT, KILL, RELEASE = (
    [f"terminal/{name}", {"terminalId": "$TERM"}]
    for name in ("output", "wait_for_exit", "kill", "release")
)
# Tells its pid and that of a child which ignores SIGTERM, and goes on.
FAMILY = (
    "import os, signal, subprocess, sys, time\n"
    "child = 'import signal as s, time; s.signal(s.SIGTERM, s.SIG_IGN); time.sleep(120)'\n"
    "process = subprocess.Popen([sys.executable, '-c', child])\n"
    "print(os.getpid(), process.pid, flush=True)\n"
    "time.sleep(120)\n"
)


def create(command, *args, **more):
    return ["terminal/create", {"command": command, "args": list(args), **more}]


def python(code, **more):
    return create(sys.executable, "-c", code, **more)


class Asked:
    """An agent that asks for what the test says."""

    def __init__(self, agent):
        self.agent = agent

    def __call__(self, *steps, wait=True):
        self.turn = self.agent.session.prompt(json.dumps([[step] for step in steps]), wait=wait)
        return self.answers() if wait else None

    def answers(self):
        found = json.loads(self.turn.text)
        return [answer.get("result", answer) for answer in found]

    @property
    def terminals(self):
        """The session's terminals, in order."""
        agent = self.agent
        return agent.thread.call(lambda: list(agent.session.live.state.terminals.values()))

    def words(self):
        """Wait until the last terminal shows a whole line; its words."""
        until(
            self.agent.session,
            lambda state: state.terminals and b"\n" in list(state.terminals.values())[-1].output,
        )
        return self.terminals[-1].output.decode().split()


@pytest.fixture
def asking(start, tmp_path):
    """An agent in `tmp_path`; at the end no process is left of its commands."""
    before = children()
    asked = Asked(start(ASKING, cwd=tmp_path, serve=["terminal"]))
    yield asked
    asked.agent.quit()
    assert poll(lambda: all(is_gone(pid) for pid in children() - before))


@needs_node
@proves("V1-1")
@proves("TOOL-7")
def test_the_official_agent_runs_a_command_and_the_call_shows_it(start, tmp_path):
    agent = start(NODE_AGENT, protocol=1, cwd=tmp_path, serve=["terminal"])
    turn = agent.session.prompt("[[terminal]]")
    assert turn.text == 'terminal: "price: €\\n"'
    (call,) = turn.tool_calls
    (terminal_id,) = call.terminal_ids
    state = agent.session.live.state
    terminal = agent.thread.call(lambda: state.terminals[terminal_id])
    assert terminal.output.decode() == "price: €\n"
    assert terminal.command == "printf 'price: €\\n'"
    assert terminal.cwd == str(tmp_path.resolve())
    assert terminal.exit_status == u.ExitStatus(exit_code=0)


@proves("V1-1")
def test_output_and_errors_come_in_order_with_the_exit_code(asking):
    code = "import sys; print('out', flush=True); sys.stderr.write('err\\n'); sys.exit(3)"
    _, exited, output, _ = asking(python(code), WAIT, OUTPUT, RELEASE)
    assert exited == {"exitCode": 3, "signal": None}
    assert output == {"output": "out\nerr\n", "truncated": False, "exitStatus": exited}
    (terminal,) = asking.terminals
    assert bytes(terminal.output) == b"out\nerr\n"
    assert terminal.exit_status == u.ExitStatus(exit_code=3)


@proves("V1-1")
def test_a_command_that_runs_has_output_but_no_exit_status(asking):
    asking(create("echo begun; sleep 120"))
    asking.words()
    terminal_id = asking.turn.read(lambda state, _: next(iter(state.terminals)))
    (output,) = asking(["terminal/output", {"terminalId": terminal_id}])
    assert output == {"output": "begun\n", "truncated": False}


def test_an_empty_stdin_keeps_no_command_waiting(asking):
    _, exited = asking(python("import sys; sys.exit(len(sys.stdin.read()))"), WAIT)
    assert exited["exitCode"] == 0


@proves("V1-1")
@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("echo one && echo two", "one\ntwo\n"),
        ("for x in a b; do echo $x; done", "a\nb\n"),
        ("cd / && pwd", "/\n"),
        ("./my script.sh", "a file with a blank in its name\n"),
        ("pwd", "{cwd}\n"),
    ],
)
def test_a_whole_line_without_arguments_is_run_by_the_shell(asking, tmp_path, line, expected):
    script = tmp_path / "my script.sh"
    script.write_text("#!/bin/sh\necho a file with a blank in its name\n")
    script.chmod(0o755)
    _, _, output = asking(create(line), WAIT, OUTPUT)
    assert output["output"] == expected.format(cwd=tmp_path.resolve())
    assert asking.terminals[0].command == line


def test_a_line_whose_program_is_missing_ends_as_in_a_shell(asking):
    _, exited, output = asking(create("no-such-program-here"), WAIT, OUTPUT)
    assert exited["exitCode"] == 127
    assert "no-such-program-here" in output["output"]


def test_a_missing_program_with_arguments_is_an_error(asking):
    (answer,) = asking(create("no-such-program-here", "x"))
    assert answer["error"]["code"] == -32602
    assert "there is no command 'no-such-program-here'" in answer["error"]["message"]
    assert asking.terminals == []


@proves("WIRE-9")
def test_the_environment_is_the_users_with_what_the_agent_adds(asking, monkeypatch):
    monkeypatch.setenv("ACP_TEST_MINE", "mine")
    code = "import os; print(os.environ['ACP_TEST_MINE'], os.environ['ADDED'])"
    added = [{"name": "ADDED", "value": "a b"}]
    _, _, output = asking(python(code, env=added), WAIT, OUTPUT)
    assert output["output"] == "mine a b\n"


@pytest.mark.parametrize(
    "more",
    [
        {"env": [{"name": "A"}]},
        {"env": [{"name": "A=B", "value": ""}]},
        {"args": [1]},
        {"command": None},
        {"command": "true\0"},
    ],
)
def test_what_cannot_be_run_is_invalid_and_starts_nothing(asking, more):
    (answer,) = asking(["terminal/create", {"command": "true", "args": ["x"], **more}])
    assert answer["error"]["code"] == -32602
    assert asking.terminals == []


@proves("V1-1")
def test_the_working_directory_stays_inside_the_folder(asking, tmp_path):
    (tmp_path / "sub").mkdir()
    _, _, output = asking(create("pwd", cwd=str(tmp_path / "sub")), WAIT, OUTPUT)
    assert output["output"] == f"{tmp_path.resolve() / 'sub'}\n"
    (answer,) = asking(create("pwd", cwd=str(tmp_path.parent)))
    assert "outside the folders" in answer["error"]["message"]
    (answer,) = asking(create("pwd", cwd=str(tmp_path / "none")))
    assert "No such file or directory" in answer["error"]["message"]


@proves("V1-1")
def test_the_byte_limit_cuts_the_beginning_between_characters(asking):
    code = "print('a' + '€' * 100, end='')"
    _, _, output = asking(python(code, outputByteLimit=10), WAIT, OUTPUT)
    assert output["output"] == "€€€"
    assert output["truncated"] is True


@proves("V1-1")
def test_a_killed_command_stays_readable_until_it_is_released(asking):
    steps = (create("echo begun; exec sleep 120"), KILL, WAIT, OUTPUT, RELEASE, OUTPUT)
    _, killed, exited, output, released, gone = asking(*steps)
    assert killed == released == {}
    assert exited == {"exitCode": None, "signal": "SIGTERM"}
    assert output["exitStatus"] == exited
    assert gone["error"]["code"] == -32002
    assert asking.terminals[0].exit_status == u.ExitStatus(signal="SIGTERM")


@proves("V1-1")
@proves("WIRE-8")
def test_kill_takes_the_whole_family(asking, monkeypatch):
    monkeypatch.setattr(terminals, "STAGE_S", 0.3)
    asking(python(FAMILY))
    pids = [int(word) for word in asking.words()]
    terminal_id = asking.terminals[-1].terminal_id
    asking(["terminal/kill", {"terminalId": terminal_id}])
    assert all(poll(lambda pid=pid: is_gone(pid)) for pid in pids)


@proves("V1-1")
@pytest.mark.parametrize("word", ["", pytest.param("setsid", marks=only_linux)])
def test_what_a_line_left_in_the_background_goes_on_until_the_release(asking, word):
    steps = (create(f"{word} sleep 120 & echo $!"), WAIT, OUTPUT)
    _, exited, output = asking(*steps)
    assert exited["exitCode"] == 0  # though its child holds the pipe
    pid = int(output["output"])
    assert not is_gone(pid)
    terminal_id = asking.terminals[-1].terminal_id
    asking(["terminal/release", {"terminalId": terminal_id}])
    assert poll(lambda: is_gone(pid))


@proves("V1-1")
@proves("WIRE-8")
@pytest.mark.parametrize("how", ["quit", "killed", "closed", "restarted"])
def test_no_command_outlives_its_session(asking, how):
    agent = asking.agent
    asking(python(FAMILY))
    pids = [int(word) for word in asking.words()]
    if how == "quit":
        agent.quit()
    elif how == "killed":
        psutil.Process(agent.pid).kill()
    elif how == "closed":
        agent.session.close()
    else:
        agent.thread.call(lambda: agent.connection.end("ended by the test"))
    assert all_gone(pids)


# Runs a command through the client, tells its pids, ends as the argument says.
PROGRAM = """
import json, os, signal, sys
import acp_notebook as acp

agent = acp.start(command=json.loads(sys.argv[1]), serve=["terminal"])
agent.session.prompt(sys.argv[2])
while True:
    state = agent.session.live.state
    output = agent.thread.call(lambda: bytes(next(iter(state.terminals.values())).output))
    if b"\\n" in output:
        break
print(output.decode(), end="", flush=True)
if sys.argv[3] == "killed":
    os.kill(os.getpid(), signal.SIGKILL)
raise SystemExit
"""


@proves("WIRE-8")
@pytest.mark.parametrize("how", ["killed", "exits"])
def test_no_command_outlives_this_program(how):
    steps = json.dumps([[python(FAMILY)]])
    arguments = [json.dumps(ASKING), steps, how]
    command = [sys.executable, "-c", PROGRAM, *arguments]
    run = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert (run.returncode == 0) == (how == "exits")
    assert all_gone(int(word) for word in run.stdout.split())


def test_a_waiting_agent_is_answered_when_its_command_is_killed(asking):
    asking.turn = asking.agent.session.prompt(
        json.dumps([[create("echo begun; exec sleep 120")], [WAIT, KILL]])
    )
    _, exited, killed = asking.answers()
    assert (exited["signal"], killed) == ("SIGTERM", {})


def test_ids_of_a_restarted_agents_terminals_are_still_ours(asking):
    asking(create("echo first"), WAIT)
    agent = asking.agent
    agent.thread.call(lambda: agent.connection.end("ended by the test"))
    content = [{"type": "terminal", "terminalId": "$TERM"}]
    update = {"sessionUpdate": "tool_call", "toolCallId": "c", "title": "t", "content": content}
    asking(create("echo second"), WAIT, ["session/update", {"update": update}])
    (call,) = asking.turn.tool_calls
    first, second = asking.terminals
    assert call.terminal_ids == [second.terminal_id]
    assert (bytes(first.output), bytes(second.output)) == (b"first\n", b"second\n")


def test_a_flood_is_bounded_for_the_agent_and_for_the_view(asking):
    code = "import sys; sys.stdout.write('0123456789abcde\\n' * 300_000); print('the end')"
    _, _, output = asking(python(code), WAIT, OUTPUT)
    assert output["output"].endswith("abcde\nthe end\n")
    assert len(output["output"]) == 1024 * 1024
    assert output["truncated"] is True
    (terminal,) = asking.terminals
    assert terminal.output.endswith(b"the end\n")
    assert len(terminal.output) <= 2 * VIEW_BYTES


# the turn that a command belongs to


def made_by(tmp_path):
    return python(f"open({str(tmp_path / 'made')!r}, 'w')", cwd=str(tmp_path))


def refusal(agent, number=1):
    """Wait for a refusal in the session; the reason of the last one."""
    until(agent.session, lambda state: len(state.asides) >= number)
    *_, notice = agent.thread.call(lambda: list(agent.session.live.state.asides.values()))
    assert notice.title.startswith("Refused to run ")
    return notice.description


def test_the_policy_reject_runs_no_command(asking, tmp_path):
    asking.agent.session.permissions = "reject"
    (answer,) = asking(made_by(tmp_path))
    assert "policy reject" in answer["error"]["message"]
    assert "policy reject" in refusal(asking.agent)
    assert list(tmp_path.iterdir()) == []


def test_no_command_runs_after_the_turn(asking, tmp_path):
    asking(["after/turn", {"ask": made_by(tmp_path)}])
    assert "No turn is going on" in refusal(asking.agent)
    assert list(tmp_path.iterdir()) == []


def test_a_stop_ends_the_turns_commands_and_lets_no_other_begin(asking, tmp_path):
    asking(python(FAMILY))
    earlier = [int(word) for word in asking.words()]
    after = ["after/stop", {"ask": made_by(tmp_path)}]
    asking(python(FAMILY), after, WAIT, wait=False)
    until(asking.agent.session, lambda state: len(state.terminals) == 2)
    pids = [int(word) for word in asking.words()]
    asking.agent.session.stop()
    assert asking.turn.wait(30).stop_reason == "end_turn"
    assert all_gone(pids)
    assert "user stopped the turn" in refusal(asking.agent)
    assert list(tmp_path.iterdir()) == []
    assert not any(is_gone(pid) for pid in earlier)  # what an earlier turn left running


# the output, without a process


def test_a_character_cut_by_two_reads_is_whole():
    kept = KeptText(None)
    kept.feed(b"\xe2\x82")
    kept.feed(b"\xac")
    assert kept.read() == ("€", False)


def test_what_is_no_utf8_is_replaced_and_still_within_the_limit():
    kept = KeptText(10)
    kept.feed(b"\xff" * 50 + b"\xe2\x82")
    kept.feed(b"", is_last=True)
    text, is_truncated = kept.read()
    assert (text, is_truncated) == ("\ufffd" * 3, True)


@pytest.mark.parametrize("limit", [0, -5])
def test_a_limit_of_nothing_keeps_nothing(limit):
    kept = KeptText(limit)
    assert kept.read() == ("", False)
    kept.feed(b"x")
    assert kept.read() == ("", True)


@pytest.mark.parametrize("size", [1, 1000, VIEW_BYTES, 3 * VIEW_BYTES])
@pytest.mark.parametrize("each", [1, 7])
def test_the_view_always_has_the_end_of_the_output(size, each):
    """However it is cut and however seldom it is taken."""
    feed, state, written = ViewFeed(u.TerminalId("t")), SessionState(), b""
    for number in range(8):
        data = bytes((number + index) % 251 for index in range(size))
        written += data
        feed.feed(data)
        if number % each == 0:
            for update in feed.take():
                apply(state, update)
            output = bytes(state.terminals["t"].output)
            assert written.endswith(output)
            assert len(output) >= min(len(written), VIEW_BYTES)
            assert len(output) <= 2 * VIEW_BYTES
    feed.take()
    assert feed.take() == []
