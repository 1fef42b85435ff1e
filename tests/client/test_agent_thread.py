"""The thread that all agents share: work in order, failures to whom they belong."""

from __future__ import annotations

import asyncio
import concurrent.futures
import signal
import threading

import pytest

from acp_notebook.client.agent_thread import AgentThread, shared_thread
from acp_notebook.client.interrupted import WaitInterrupted
from acp_notebook.errors import UsageError


@pytest.fixture
def thread():
    thread = AgentThread()
    yield thread
    thread.post(thread.loop.stop)
    thread._thread.join(10)
    thread.loop.close()


def test_posted_work_is_done_in_order_on_the_thread(thread):
    done = []
    for number in range(100):
        thread.post(lambda number=number: done.append((number, thread.is_current)))
    assert thread.call(lambda: list(done)) == [(number, True) for number in range(100)]


def test_a_call_returns_the_value_and_raises_the_callers_error(thread):
    assert thread.call(lambda: 42) == 42
    with pytest.raises(ZeroDivisionError):
        thread.call(lambda: 1 // 0)
    with pytest.raises(SystemExit):
        thread.call(lambda: (_ for _ in ()).throw(SystemExit(1)))
    assert thread.call(lambda: "still alive") == "still alive"


def test_a_call_from_the_thread_itself_does_not_wait_for_itself(thread):
    assert thread.call(lambda: thread.call(lambda: "inner")) == "inner"


def test_an_interrupt_of_a_call_to_a_busy_thread_is_told_in_one_line(thread):
    is_free = threading.Event()

    def be_busy():
        signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)
        is_free.wait(10)

    with pytest.raises(WaitInterrupted, match="the thread of the agents was busy") as caught:
        thread.call(be_busy)
    assert caught.value._render_traceback_() == [str(caught.value)]
    assert caught.value.__suppress_context__
    is_free.set()
    assert thread.call(lambda: "free again") == "free again"


def test_a_spawned_task_that_fails_is_logged_and_costs_only_itself(thread, caplog):
    ended = threading.Event()

    async def fail() -> None:
        raise LookupError("gone")

    task = thread.call(lambda: thread.spawn(fail()))
    thread.call(lambda: task.add_done_callback(lambda _: ended.set()))
    assert ended.wait(10)
    assert "A task of the agent thread failed." in caplog.text
    assert "LookupError: gone" in caplog.text
    assert thread._spawned == set()


def test_a_spawned_task_that_is_cancelled_says_nothing(thread, caplog):
    ended = threading.Event()
    task = thread.call(lambda: thread.spawn(asyncio.sleep(60)))
    thread.call(lambda: (task.add_done_callback(lambda _: ended.set()), task.cancel()))
    assert ended.wait(10)
    assert caplog.text == ""


def test_in_a_fork_of_the_process_nothing_waits_for_the_thread(thread, monkeypatch):
    monkeypatch.setattr("os.getpid", lambda: -1)
    for use in (thread.post, thread.call, lambda _: thread.submit(asyncio.sleep(0))):
        with pytest.raises(UsageError, match="fork of the one that started the agent"):
            use(lambda: None)
    monkeypatch.undo()  # for the end of the thread


def test_there_is_one_thread_for_all():
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        assert len({id(thread) for thread in pool.map(lambda _: shared_thread(), range(20))}) == 1
