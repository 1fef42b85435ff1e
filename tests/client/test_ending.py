"""The end of agents, whatever hangs: within a bound, and nothing is left of them."""

from __future__ import annotations

import concurrent.futures
import os
import threading
from contextlib import contextmanager, suppress

import psutil
import pytest
from memory_agent import LATER, MemoryAgent
from watching import all_gone, bad, until_text

from acp_notebook.client import ending
from acp_notebook.client.ending import end_all, running_agents
from acp_notebook.client.interrupted import WaitInterrupted
from acp_notebook.client.process.spare_files import keep_spare_files, spare_files
from acp_notebook.errors import AgentError


class Stubborn:
    """An agent that ends when it is told twice, and by being killed."""

    def __init__(self, label, *, ends_at_once=False):
        self.label = label
        self.end = concurrent.futures.Future()
        self.was_killed = False
        self._ends_at_once = ends_at_once

    def begin_to_end(self):
        if self._ends_at_once:
            self.end.set_result(None)
        return self.end

    def kill_now(self):
        self.was_killed = True
        self.end.set_result(None)


def test_those_that_do_not_end_in_time_are_killed_and_named(monkeypatch):
    monkeypatch.setattr(ending, "PATIENCE_S", 0.01)
    good, bad_one, other = Stubborn("good", ends_at_once=True), Stubborn("bad"), Stubborn("other")
    assert end_all([bad_one, good, other]) == ["bad", "other"]
    assert [each.was_killed for each in (bad_one, good, other)] == [True, False, True]


def test_an_interrupt_kills_what_still_runs_at_once(impatient):
    host = impatient(lambda: None)
    stuck = Stubborn("stuck")
    with pytest.raises(WaitInterrupted, match=r"^Interrupted, so killed at once: stuck\.$"):
        end_all([Stubborn("good", ends_at_once=True), stuck])
    assert stuck.was_killed
    assert host.waits == 1


def test_an_error_of_one_end_is_raised_after_all_ended():
    broken, late = Stubborn("broken"), Stubborn("late", ends_at_once=True)
    broken.end.set_exception(OSError("broken"))
    with pytest.raises(OSError, match="broken"):
        end_all([broken, late])
    assert late.end.done()


def test_an_agent_ends_though_the_thread_of_the_agents_is_blocked(start, monkeypatch, caplog):
    monkeypatch.setattr(ending, "PATIENCE_S", 0.1)
    monkeypatch.setattr(ending, "NOTICE_S", 0.0)
    agent = start(bad("ignores-cancel"), label="stuck")
    agent.session.prompt("go", wait=False)
    until_text(agent.session, "working")
    pid, is_free = agent.pid, threading.Event()
    agent.thread.post(lambda: is_free.wait(20))
    assert agent in running_agents()
    agent.quit()
    assert all_gone([pid])
    assert agent not in running_agents()
    assert "stuck did not end in time" in caplog.text
    is_free.set()


@contextmanager
def no_file_left():
    """Opens files until the system refuses more, under a limit just above what is open."""
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    first = os.open(os.devnull, os.O_RDONLY)
    resource.setrlimit(resource.RLIMIT_NOFILE, (first + 64, hard))
    files = [first]
    with suppress(OSError):
        while True:
            files.append(os.open(os.devnull, os.O_RDONLY))
    try:
        yield
    finally:
        for each in files:
            os.close(each)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


@pytest.mark.skipif(os.name != "posix", reason="the limit is another one there")
def test_an_agent_and_its_children_end_when_no_file_can_be_opened(start, short_stages):
    agent = start(bad("ignores-eof", "stubborn"))
    pids = [agent.pid, *(each.pid for each in psutil.Process(agent.pid).children())]
    with no_file_left():
        with pytest.raises(AgentError, match=r"as many files open as it may.*%acp quit LABEL"):
            start(bad("ignores-eof"))
        agent.quit()
    assert all_gone(pids)


@pytest.mark.skipif(os.name != "posix", reason="the limit is another one there")
def test_a_few_files_are_kept_in_reserve_to_look_up_processes():
    keep_spare_files()
    with no_file_left():
        for _ in range(2):
            with spare_files():
                assert psutil.Process().children(recursive=True) is not None
        with pytest.raises(OSError, match="Too many open files"):
            psutil.Process().children(recursive=True)


def test_an_interrupt_of_the_start_ends_the_attempt_in_one_line(meet, impatient):
    agent = MemoryAgent(2)
    agent.answers["initialize"] = lambda _: LATER
    impatient(lambda: agent.until_heard("initialize"))
    before = running_agents()
    with pytest.raises(WaitInterrupted, match=r"^The start of memory was interrupted\.$") as caught:
        meet(agent)
    assert caught.value.__suppress_context__
    assert running_agents() == before


def test_an_interrupt_of_any_other_work_is_told_in_one_line(meet, impatient):
    agent = MemoryAgent(2)
    client = meet(agent)
    agent.answers["session/list"] = lambda _: LATER
    impatient(lambda: agent.until_heard("session/list"))
    with pytest.raises(WaitInterrupted, match=r"^Interrupted: memory had not answered\.$"):
        client.list_sessions()
