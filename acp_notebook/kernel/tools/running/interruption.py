"""Work on the main thread that other threads can call off: a cancel, a time limit, a lost caller.

Only a signal to the main thread can stop running Python code. This module's signal handler
distinguishes our own signal, which ends only the work, from the user's interrupt, which also ends
the cell. Knows no tool.
"""

from __future__ import annotations

import _thread
import asyncio
import signal
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, Final, Generic, TypeVar

from acp_notebook.kernel.tools.results import ToolFailure
from acp_notebook.kernel.waiting.pump import JobInterruptedError, run_on_main

T = TypeVar("T")

# How long a call waits, in seconds, while the kernel is busy with another cell.
QUEUE_S: Final = 60.0
# Code may catch the interrupt, or be inside a library that checks for it only now and then.
RETRY_S: Final = 1.0
RETRIES: Final = 5
ACCEPT_TRIES: Final = 10
ACCEPT_PAUSE_S: Final = 0.2


class CalledOff(KeyboardInterrupt):
    """Raised inside the work when it is called off; `except Exception` does not catch it."""


class Stopped(Exception):
    """The work was called off. Raised to the caller; it does not end the waiting cell."""


class MainThreadWork(Generic[T]):
    """One call that runs on the main thread."""

    def __init__(self, call: Callable[[], T]) -> None:
        self.started: Future[None] = Future()
        self.called_off: Future[None] = Future()
        self.reason = ""
        """Why the work was called off; empty if it was not."""
        self.may_begin: Callable[[], str] = lambda: ""
        """Asked on the main thread at the last moment; returns why the work must not begin."""
        self._call = call
        self._lock = threading.Lock()
        self._is_running = False

    def run(self) -> T:
        """Run the call on the main thread.

        Raises:
            Stopped: The work was called off.
        """
        with self._lock:
            self.reason = self.reason or self.may_begin()
            if self.reason:
                raise Stopped(self.reason)
            self._is_running = True
        self.started.set_result(None)
        try:
            return self._run()
        except CalledOff:
            raise Stopped(self.reason) from None

    def _run(self) -> T:
        before = signal.signal(signal.SIGINT, self._on_signal)
        try:
            try:
                return self._call()
            finally:
                self._is_running = False
        finally:
            signal.signal(signal.SIGINT, before)

    def _on_signal(self, number: int, frame: Any) -> None:
        if not self.reason:
            signal.default_int_handler(number, frame)
        if self._is_running:
            raise CalledOff(self.reason)

    def call_off(self, reason: str) -> None:
        """Interrupt the work, or prevent its start; from any thread. May be repeated."""
        with self._lock:
            self.reason = self.reason or reason
            if not self.called_off.done():
                self.called_off.set_result(None)
            if self._is_running:
                _signal_main_thread()


def _signal_main_thread() -> None:
    main = threading.main_thread().ident
    if hasattr(signal, "pthread_kill") and main is not None:
        # Unlike `interrupt_main` this also interrupts a blocking system call.
        signal.pthread_kill(main, signal.SIGINT)
    else:
        _thread.interrupt_main()


async def run_bounded(work: MainThreadWork[T], limit_s: float, *, queue_s: float = QUEUE_S) -> T:
    """Run work on the main thread and wait for its result.

    Args:
        work: The call.
        limit_s: The longest run time in seconds.
        queue_s: The longest wait for a free main thread in seconds.

    Raises:
        ToolFailure: The kernel is busy, the user interrupted the work, or it cannot be stopped.
        Stopped: The work was called off, or took too long.
    """
    future = await _accepted(work)
    result = asyncio.wrap_future(future)
    # Retrieve the exception in any case: a caller that was cancelled does not await it.
    result.add_done_callback(lambda done: done.cancelled() or done.exception())
    try:
        await _begin(work, future, result, queue_s)
        either: set[asyncio.Future[Any]] = {result, asyncio.wrap_future(work.called_off)}
        await asyncio.wait(either, timeout=limit_s, return_when=asyncio.FIRST_COMPLETED)
        if not result.done():
            await _end(work, result, f"It ran longer than its limit of {limit_s:g} seconds.")
        return await result
    except asyncio.CancelledError:
        work.call_off("The agent called it off.")
        future.cancel()
        raise
    except JobInterruptedError:
        raise ToolFailure("The user interrupted the kernel while this ran.") from None
    except RuntimeError as error:
        if not work.started.done():
            raise ToolFailure(str(error)) from None
        raise


async def _accepted(work: MainThreadWork[T]) -> Future[T]:
    """Submit the work; retried because in a terminal an agent may call before the cell waits."""
    for _ in range(ACCEPT_TRIES):
        future = run_on_main(work.run)
        if not future.done() or work.started.done():
            break
        await asyncio.sleep(ACCEPT_PAUSE_S)
    return future


async def _begin(
    work: MainThreadWork[T], future: Future[T], result: asyncio.Future[T], queue_s: float
) -> None:
    started = asyncio.wrap_future(work.started)
    either: set[asyncio.Future[Any]] = {started, result}
    await asyncio.wait(either, timeout=queue_s, return_when=asyncio.FIRST_COMPLETED)
    if not started.done() and not result.done() and future.cancel():
        raise ToolFailure(
            f"The kernel is busy with another cell, and was for {queue_s:g} seconds. "
            "Nothing was run. Try again later, or ask the user to wait for that cell."
        )


async def _end(work: MainThreadWork[T], result: asyncio.Future[T], reason: str) -> None:
    if not work.reason:
        work.call_off(reason)
    for _ in range(RETRIES):
        await asyncio.wait({result}, timeout=RETRY_S)
        if result.done():
            return
        work.call_off(reason)
    raise ToolFailure(
        f"{work.reason} It does not react to an interrupt either: the kernel is busy with it, and "
        "the user may have to restart the kernel."
    )
