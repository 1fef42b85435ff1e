"""The guard before each agent: it passes everything on, and leaves nothing of a killed kernel."""

from __future__ import annotations

import contextlib
import subprocess
import sys
from pathlib import Path

import psutil
import pytest
from watching import BOUND_S, all_gone, children, is_gone, only_linux, poll, story

from acp_notebook.client.process import guard

proves = pytest.mark.requirement

# Plays the kernel: starts the agent in argv[1] through a guard, and tells what the guard says.
KERNEL = f"""
import marshal, os, socket, subprocess, sys, time
ours, theirs = socket.socketpair()
terminal, stdin = os.openpty() if "on-a-terminal" in sys.argv else (None, subprocess.PIPE)
script = [{guard.__file__!r}]
if "elsewhere" in sys.argv:
    run = "import runpy, sys; sys.platform = 'elsewhere'; runpy.run_path(%r, run_name='__main__')"
    script = ["-c", run % script[0]]
command = [sys.executable, "-I", "-S", *script, str(theirs.fileno()), str(os.getpid())]
beside = subprocess.Popen(command, stdin=stdin, pass_fds=[theirs.fileno()], start_new_session=True)
theirs.close()
words = [os.fsencode(word) for word in (sys.executable, "-c", sys.argv[1])]
ours.sendall(marshal.dumps((b"/", words[0], words, dict(os.environb))))
print("guard", beside.pid, flush=True)
print(ours.recv(100).decode(), end="", flush=True)
if terminal:
    print(open(terminal).readline(), end="", flush=True)
if "with-a-fork" in sys.argv:
    fork = os.fork()  # holds the agent's stdin and the guard's line
    if fork:
        print("fork", fork, flush=True)
time.sleep(120)
"""
# Plays the agent: tells the pids of what it starts.
AGENT = """
import os, subprocess, signal, sys, time
sleeper = [sys.executable, "-c", "import time; time.sleep(120)"]
def start(**how):
    print("child", subprocess.Popen(sleeper, **how).pid, flush=True)
def daemon():
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            print("child", os.getpid(), flush=True)
            time.sleep(120)
        os._exit(0)
    os.wait()
"""
WAITS = "\ntime.sleep(120)"
STUBBORN = "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
KINDS = {
    "a child": ("start()" + WAITS, ""),
    "a child in a group of its own": ("start(process_group=0)" + WAITS, ""),
    "a child where nothing adopts processes": ("start()" + WAITS, "elsewhere"),
    "processes that ignore SIGTERM": (STUBBORN + "start()" + WAITS, ""),
    "an agent on a terminal": (STUBBORN + "start()" + WAITS, "on-a-terminal"),
    "an agent beside a fork of the kernel": ("start()" + WAITS, "with-a-fork"),
}
LEFT_THE_SESSION = {
    "a child in a session of its own": ("start(start_new_session=True)" + WAITS, ""),
    "a child whose agent has ended": ("start(start_new_session=True)", ""),
    "a daemon": ("daemon()" + WAITS, ""),
    "a daemon beside a fork of the kernel": ("daemon()" + WAITS, "with-a-fork"),
}
ROWS = [*KINDS, *(pytest.param(kind, marks=only_linux) for kind in LEFT_THE_SESSION)]


class Kernel:
    """A process with a guarded agent; `pids` are those that must go with it."""

    def __init__(self, agent, how=""):
        self.process = subprocess.Popen(
            [sys.executable, "-c", KERNEL, AGENT + agent, how], stdout=subprocess.PIPE, text=True
        )
        said = {"guard", "started", "child", *(["fork"] if how == "with-a-fork" else [])}
        self.told = {}
        while set(self.told) < said:
            kind, pid = self.process.stdout.readline().split()
            self.told[kind] = int(pid)
        self.fork = self.told.pop("fork", None)
        self.pids = [self.told[kind] for kind in ("guard", "started", "child")]

    def close(self):
        for pid in filter(None, [self.process.pid, self.fork, *self.pids]):
            with contextlib.suppress(psutil.NoSuchProcess):
                psutil.Process(pid).kill()
        self.process.wait(BOUND_S)
        self.process.stdout.close()


@pytest.fixture(scope="module")
def killed():
    """A killed kernel for each row; they wait for the guards' stages together."""
    rows = {**KINDS, **(LEFT_THE_SESSION if sys.platform == "linux" else {})}
    kernels = {kind: Kernel(*how) for kind, how in rows.items()}
    for kernel in kernels.values():
        kernel.process.kill()
    yield kernels
    for kernel in kernels.values():
        kernel.close()


@pytest.fixture
def kernel():
    kernel = Kernel("start(process_group=0)" + WAITS)
    yield kernel
    kernel.close()


@proves("WIRE-8")
@pytest.mark.parametrize("kind", ROWS)
def test_a_guard_whose_parent_is_gone_ends_the_whole_session(killed, kind):
    assert all_gone(killed[kind].pids)
    assert killed[kind].fork is None or not is_gone(killed[kind].fork)


@only_linux
def test_a_killed_guard_takes_the_agent_along(kernel):
    psutil.Process(kernel.told["guard"]).kill()
    assert poll(lambda: is_gone(kernel.told["started"]))


@pytest.mark.skipif(sys.platform != "linux", reason="reads Linux's process table")
def test_the_members_of_a_session_are_all_of_its_groups(kernel):
    pids = {kernel.told["started"], kernel.told["child"]}
    assert set(guard.session_members(kernel.told["started"])) == pids
    assert set(guard.descendants(kernel.told["guard"])) == pids


@proves("WIRE-8")
def test_each_agent_has_a_guard_of_its_own_that_goes_with_it(start):
    before = children()
    agent = start(story("exits-when-told"))
    beside = children() - before - {agent.pid}
    assert beside == {psutil.Process(agent.pid).ppid()}
    agent.quit()
    assert all_gone(beside)


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux lists open descriptors as files")
def test_no_pipe_of_the_agent_is_open_in_its_guard_and_no_line_of_the_guard_in_the_agent(start):
    agent = start(story("exits-when-told"))

    def links(pid):
        found = Path(f"/proc/{pid}/fd").iterdir()
        return {int(each.name): str(each.readlink()) for each in found}

    beside = links(psutil.Process(agent.pid).ppid())
    assert {beside[number] for number in range(3)} == {"/dev/null"}
    assert set(links(agent.pid)) == {0, 1, 2}
    assert not set(links(agent.pid).values()) & set(beside.values())
