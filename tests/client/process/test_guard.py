"""The guard beside each agent: silent when dismissed, thorough when its parent is gone."""

from __future__ import annotations

import subprocess
import sys

import psutil
import pytest
from watching import BOUND_S, all_gone, children, is_gone, poll, story

from acp_notebook.client.process import guard

proves = pytest.mark.requirement
SLEEPER = [sys.executable, "-c", "import time; time.sleep(120)"]
LEADER = f"""
import subprocess, time
child = subprocess.Popen({SLEEPER!r}, process_group=0)
print(child.pid, flush=True)
time.sleep(120)
"""


@pytest.fixture
def process_session():
    """A process session with a child in a group of its own."""
    leader = subprocess.Popen(
        [sys.executable, "-c", LEADER],
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    pids = [leader.pid, int(leader.stdout.readline())]
    yield pids
    for pid in pids:
        if not is_gone(pid):
            psutil.Process(pid).kill()
    leader.wait(BOUND_S)
    leader.stdout.close()


def run_guard(session_id):
    return subprocess.Popen(
        [sys.executable, "-I", "-S", guard.__file__, str(session_id)], stdin=subprocess.PIPE
    )


@proves("WIRE-8")
def test_a_guard_whose_parent_is_gone_ends_the_whole_session(process_session):
    running = run_guard(process_session[0])
    running.stdin.close()
    assert poll(lambda: all(is_gone(pid) for pid in process_session))
    running.wait(BOUND_S)


def test_a_dismissed_guard_ends_nothing(process_session):
    running = run_guard(process_session[0])
    running.communicate(b".", timeout=BOUND_S)
    assert running.returncode == 0
    assert not any(is_gone(pid) for pid in process_session)


def test_the_members_of_a_session_are_all_of_its_groups(process_session):
    assert set(guard.session_members(process_session[0])) == set(process_session)


@proves("WIRE-8")
def test_each_agent_has_a_guard_of_its_own_that_goes_with_it(start):
    before = children()
    agent = start(story("exits-when-told"))
    beside = children() - before - {agent.pid}
    assert [psutil.Process(pid).cmdline()[-1] for pid in beside] == [str(agent.pid)]
    agent.quit()
    assert all_gone(beside)
