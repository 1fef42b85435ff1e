"""Nothing of an agent outlives the program that started it, and no interrupt reaches it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import pytest
from watching import BOUND_S, all_gone, bad, is_gone, story

from acp_notebook.client.connection.stdio_process import (
    STDERR_TAIL_BYTES,
    AgentProcess,
    StderrTail,
)

proves = pytest.mark.requirement

# Starts an agent with a child, tells their pids, does what it is told.
PROGRAM = """
import ast, os, sys, time
import acp_notebook as acp
from acp_notebook.errors import UsageError

if len(sys.argv) > 2:
    sys.executable = ""  # which leaves nothing to run a guard with
agent = acp.start(command=ast.literal_eval(sys.argv[1]))
pause = time.sleep
for _ in range(1500):
    if "child " in agent.stderr:
        break
    pause(0.02)
print(agent.pid, agent.stderr.split()[1], flush=True)
command = sys.stdin.readline().strip()
if command == "raise":
    raise LookupError("the program failed")
if command == "prompt":
    print(agent.session.prompt("hi").text, flush=True)
if command == "fork":
    fork = os.fork()
    if fork == 0:
        try:
            agent.session.prompt("hi")
        except UsageError as error:
            print(error, flush=True)
        other = acp.start(command=ast.literal_eval(sys.argv[1]))
        print(other.session.prompt("hi").text, flush=True)
        sys.exit()
    assert os.waitpid(fork, 0) == (fork, 0)
    print(agent.session.prompt("hi").text, flush=True)
if command == "wait":
    try:
        print("waiting", flush=True)
        pause(120)
    except KeyboardInterrupt:
        print("interrupted:", agent.session.prompt("hi").text, flush=True)
        sys.stdin.readline()  # lives on until it was looked at
"""


class Program:
    """A Python program with an agent; `pids` are the agent's and its child's."""

    def __init__(self, command, *options):
        self.process = subprocess.Popen(
            [sys.executable, "-c", PROGRAM, repr(command), *options],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        self.pids = [int(word) for word in self.process.stdout.readline().split()]
        assert len(self.pids) == 2, self.process.communicate()[1]
        assert not any(is_gone(pid) for pid in self.pids)

    def tell(self, command):
        self.process.stdin.write(command + "\n")
        self.process.stdin.flush()

    def close(self):
        self.process.kill()
        return self.process.communicate(timeout=BOUND_S)


@pytest.fixture
def program():
    running = []

    def run(command, *options):
        running.append(Program(command, *options))
        return running[-1]

    yield run
    for one in running:
        one.close()
        assert all_gone(one.pids)


@proves("WIRE-8")
def test_a_program_that_is_killed_leaves_nothing_behind(program):
    running = program(bad("ignores-eof"))
    running.process.kill()
    running.process.wait(BOUND_S)
    assert all_gone(running.pids)


@proves("WIRE-8")
@pytest.mark.parametrize("command", ["end", "raise"])
@pytest.mark.parametrize("options", [(), ("without-guard",)])
def test_a_program_that_ends_leaves_nothing_behind(program, command, options):
    running = program(bad("ignores-eof", "stubborn"), *options)
    running.tell(command)
    assert running.process.wait(BOUND_S) == (command == "raise")
    assert all_gone(running.pids)
    assert ("the program failed" in running.process.stderr.read()) == (command == "raise")


@proves("WIRE-8")
def test_a_program_that_is_terminated_leaves_nothing_behind(program):
    running = program(bad("ignores-eof"))
    running.process.terminate()
    assert running.process.wait(BOUND_S) == -signal.SIGTERM
    assert all_gone(running.pids)


@proves("WIRE-8")
def test_an_interrupt_of_the_programs_group_does_not_reach_the_agent(program):
    running = program(bad("ignores-eof"))
    running.tell("wait")
    assert running.process.stdout.readline() == "waiting\n"
    os.killpg(running.process.pid, signal.SIGINT)
    assert running.process.stdout.readline() == "interrupted: hello\n"
    assert not any(is_gone(pid) for pid in running.pids)


def test_a_fork_of_the_program_cannot_use_the_agent_and_does_not_end_it(program):
    running = program(bad("ignores-eof"))
    running.tell("fork")
    assert running.process.stdout.readline().startswith("This process is a fork")
    assert [running.process.stdout.readline() for _ in range(2)] == ["hello\n"] * 2
    assert running.process.wait(BOUND_S) == 0


@proves("WIRE-8")
def test_an_ended_agent_takes_what_it_left_in_its_session_along(start):
    agent = start(story("leaves-a-child"))
    turn = agent.session.prompt("go")
    assert all_gone([int(turn.text)])


@proves("WIRE-6")
def test_the_tail_of_stderr_keeps_the_last_bytes():
    tail = StderrTail()
    for number in range(40_000):
        tail.feed(f"line {number}\n".encode())
    assert tail.text.endswith("line 39999\n")
    assert len(tail.text) == STDERR_TAIL_BYTES
    tail.feed("€".encode()[:2])
    assert tail.text.endswith("\N{REPLACEMENT CHARACTER}")


async def test_an_agent_is_told_to_reach_local_addresses_without_a_proxy(monkeypatch, tmp_path):
    monkeypatch.delenv("no_proxy", raising=False)
    monkeypatch.setenv("NO_PROXY", "example.org")
    code = "import os, sys; sys.stdout.write(os.environ['no_proxy'] + '\\n')"
    process = await AgentProcess.start([sys.executable, "-c", code], env={}, cwd=str(tmp_path))
    assert await process.transport.receive() == b"example.org,127.0.0.1,localhost"
    await process.stop()
