"""The daemon thread of all agents, with its own event loop. Knows no agent.

The state of every agent and session is read and written on this thread only; other threads hand
over work with `post`, or get a value with `call`. Nothing here runs on a kernel's loop.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import logging
import os
import threading
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

from acp_notebook.client.interrupted import WaitInterrupted
from acp_notebook.errors import UsageError

logger = logging.getLogger(__name__)

T = TypeVar("T")


class AgentThread:
    """A daemon thread that runs an event loop until the process ends."""

    def __init__(self) -> None:
        self.loop = asyncio.new_event_loop()
        self._spawned: set[asyncio.Task[None]] = set()
        self._process_id = os.getpid()
        self._thread = threading.Thread(target=self._main, name="acp-agents", daemon=True)
        self._thread.start()

    def _main(self) -> None:
        asyncio.set_event_loop(self.loop)
        self.loop.run_forever()

    @property
    def is_current(self) -> bool:
        """Whether the caller runs on this thread."""
        return threading.current_thread() is self._thread

    def check_process(self) -> None:
        """Check that this process is the one with the thread.

        Raises:
            UsageError: This process is a fork of it, where nothing would ever be done.
        """
        if os.getpid() != self._process_id:
            raise UsageError(
                "This process is a fork of the one that started the agent, and only that one can "
                "use it. Start another agent here: acp.start(...)."
            )

    def submit(self, work: Coroutine[Any, Any, T]) -> concurrent.futures.Future[T]:
        """Run a coroutine on the thread."""
        try:
            self.check_process()
        except UsageError:
            work.close()
            raise
        return asyncio.run_coroutine_threadsafe(work, self.loop)

    def spawn(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        """Start a coroutine whose failure is logged; called on the thread."""
        task = self.loop.create_task(work)
        self._spawned.add(task)  # a loop holds its tasks weakly
        task.add_done_callback(self._spawn_ended)
        return task

    def _spawn_ended(self, task: asyncio.Task[None]) -> None:
        self._spawned.discard(task)
        error = None if task.cancelled() else task.exception()
        if error is not None:
            logger.error("A task of the agent thread failed.", exc_info=error)

    def post(self, work: Callable[[], object]) -> None:
        """Run a function on the thread, soon and in order."""
        self.check_process()
        self.loop.call_soon_threadsafe(work)

    def ask(self, read: Callable[[], T]) -> concurrent.futures.Future[T]:
        """Run a function on the thread, soon and in order, and return the future of its value."""
        answer: concurrent.futures.Future[T] = concurrent.futures.Future()

        def run() -> None:
            if not answer.set_running_or_notify_cancel():
                return  # nobody waits any more
            try:
                answer.set_result(read())
            except BaseException as error:  # noqa: BLE001 - it belongs to the caller
                answer.set_exception(error)

        self.post(run)
        return answer

    def call(self, read: Callable[[], T]) -> T:
        """Run a function on the thread and return its value; short work only.

        Raises:
            WaitInterrupted: The caller was interrupted, as the thread was busy.
        """
        if self.is_current:
            return read()
        try:
            return self.ask(read).result()
        except KeyboardInterrupt:
            raise WaitInterrupted(
                "Interrupted while the thread of the agents was busy. If it stays busy, "
                "%acp quit --all ends the agents all the same."
            ) from None


_shared: AgentThread | None = None
_lock = threading.Lock()


def shared_thread() -> AgentThread:
    """Return the thread of this process, started at first use."""
    global _shared  # noqa: PLW0603 - one thread per process is the design
    with _lock:
        if _shared is None:
            _shared = AgentThread()
        return _shared


def _forget_thread() -> None:
    # The frames of the lost thread stay, and with them its loop: nothing of it is finalised here,
    # which would kill the processes that it holds.
    global _shared, _lock
    _shared, _lock = None, threading.Lock()


if hasattr(os, "register_at_fork"):  # not on Windows
    os.register_at_fork(after_in_child=_forget_thread)
