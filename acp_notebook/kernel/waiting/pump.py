"""How a cell waits: the main thread serves the page, runs jobs, and notices the end.

Holds the signal that ends a wait, the pump that waits for it, and the jobs that other threads ask
the main thread to do. Knows nothing about agents, sessions or widgets; what it must know of
ipykernel's insides is in `shell_channel`.
"""

from __future__ import annotations

import collections
import math
import signal as signals
import socket
import threading
import time
import weakref
from concurrent.futures import Future
from contextlib import suppress
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Self, TypeVar

import zmq

from acp_notebook.kernel.waiting.shell_channel import find_shell_channel

if TYPE_CHECKING:
    from collections.abc import Callable

    from acp_notebook.kernel.waiting.shell_channel import Parent, ShellChannel

T = TypeVar("T")

# On Windows a blocking wait does not see an interrupt, so no wait is longer than this.
SLICE_MS = 200.0


class JobInterruptedError(Exception):
    """A job on the main thread was stopped before it had a result."""


class _WakeUp:
    """Wakes a poller from any thread. A socket pair, as Windows cannot poll pipes."""

    def __init__(self) -> None:
        reader, writer = socket.socketpair()
        reader.settimeout(0)
        writer.settimeout(0)
        self._reader, self._writer = reader, writer
        # The finalizer holds the sockets, so they never meet the collector open.
        self._close = weakref.finalize(self, _close_all, reader, writer)

    def fileno(self) -> int:
        return self._reader.fileno()

    def wake(self) -> None:
        # A full buffer will wake the poller anyway; a closed wake-up has nobody to wake.
        with suppress(OSError):
            self._writer.send(b"\0")

    def drain(self) -> None:
        with suppress(BlockingIOError):
            while self._reader.recv(4096):
                pass

    def close(self) -> None:
        self._close()


def _close_all(*sockets: socket.socket) -> None:
    for each in sockets:
        each.close()


class Signal:
    """Says once, from any thread, that a wait is over; `zmq.Poller` can wait for it."""

    def __init__(self) -> None:
        self._wake_up = _WakeUp()
        self._is_set = False

    def set(self) -> None:
        """End the wait. Safe from any thread and from a signal handler; only the first counts."""
        if not self._is_set:
            self._is_set = True
            self._wake_up.wake()

    def is_set(self) -> bool:
        """Whether the wait is over."""
        return self._is_set

    def fileno(self) -> int:
        """The file descriptor that becomes readable when the signal is set."""
        return self._wake_up.fileno()


class _Job(Generic[T]):
    """A call that belongs on the main thread, and the future of its result."""

    def __init__(self, call: Callable[[], T]) -> None:
        self.future: Future[T] = Future()
        self._call = call

    def run(self) -> None:
        if not self.future.set_running_or_notify_cancel():
            return
        try:
            result = self._call()
        except KeyboardInterrupt:
            # Not the interrupt itself: it would end the event loop that awaits the future.
            self.future.set_exception(JobInterruptedError("The cell was interrupted."))
            raise
        except Exception as error:  # noqa: BLE001 - it belongs to whoever asked for the job
            self.future.set_exception(error)
        except BaseException as error:  # noqa: BLE001 - SystemExit would end the asker's loop too
            stopped = JobInterruptedError(f"The call ended with {type(error).__name__}.")
            stopped.__cause__ = error
            self.future.set_exception(stopped)
        else:
            self.future.set_result(result)


_jobs: collections.deque[_Job[Any]] = collections.deque()


def run_on_main(job: Callable[[], T]) -> Future[T]:
    """Run a call on the main thread; usable from any thread.

    A waiting cell runs it at once and waits on; its output belongs to that cell. If no cell waits
    the kernel runs it when its loop is free. On the main thread itself it runs before this returns.

    Args:
        job: The call. If it raises, only its future fails. An interrupt during the call fails the
            future with `JobInterruptedError` and goes on to the waiting cell.

    Returns:
        The future of the result.
    """
    entry = _Job(job)
    if threading.current_thread() is threading.main_thread():
        entry.run()
        return entry.future
    _jobs.append(entry)
    # Read after the append, as `Pump.__exit__` looks for jobs after it has left: one of the two
    # always sees the other.
    pump = Pump.current
    if pump is not None:
        pump.wake()
    elif not _schedule_jobs():
        with suppress(ValueError):
            _jobs.remove(entry)
            entry.future.set_exception(
                RuntimeError(
                    "The main thread is not free: no cell waits for a turn, and there is no "
                    "Jupyter kernel whose loop could run this. Run the turn in the foreground."
                )
            )
    return entry.future


def _schedule_jobs() -> bool:
    from IPython.core.getipython import get_ipython

    loop = getattr(getattr(get_ipython(), "kernel", None), "io_loop", None)
    if loop is None:
        return False
    loop.add_callback(_run_jobs_on_loop)
    return True


def _run_jobs_on_loop() -> None:
    if not _jobs:
        return
    # Between cells the kernel ignores interrupts, which would make an endless job unstoppable.
    handler = signals.signal(signals.SIGINT, signals.default_int_handler)
    try:
        _run_jobs()
    except KeyboardInterrupt:
        # The job's future knows. Raised on, it would end the kernel; later jobs stay due.
        _schedule_jobs()
    finally:
        signals.signal(signals.SIGINT, handler)


def _run_jobs() -> None:
    while True:
        try:
            job = _jobs.popleft()
        except IndexError:
            return
        job.run()


class Pump:
    """Lets a cell wait while the page stays alive.

    On the kernel's main thread the wait serves comm messages and harmless requests and runs jobs
    (`run_on_main`); cells that arrive stay queued. Elsewhere, in a terminal, a subshell, a thread
    or an unknown kernel, it only waits. Pumps nest: a handler served by one may itself wait.

    Attributes:
        current: The innermost pump that holds the main thread, if any.
        why_unusable: One sentence when the wait does not serve the page, else empty.

    Example:
        >>> with Pump(None) as pump:
        ...     pump.wait(Signal(), timeout_s=0)
        False
    """

    current: ClassVar[Pump | None] = None

    def __init__(self, kernel: Any | None) -> None:
        """Probe the kernel.

        Args:
            kernel: `get_ipython().kernel`, or None where there is no kernel.
        """
        self._on_main = threading.current_thread() is threading.main_thread()
        self._channel: ShellChannel | None = None
        self._wake_up: _WakeUp | None = None
        self._outer: Pump | None = None
        self._cell: Parent | None = None
        if kernel is None:
            self.why_unusable = "There is no Jupyter kernel here."
        elif not self._on_main:
            self.why_unusable = "This code does not run on the kernel's main thread."
        else:
            self._channel, self.why_unusable = find_shell_channel(kernel)

    @property
    def usable(self) -> bool:
        """Whether the wait serves the page."""
        return self._channel is not None

    def __enter__(self) -> Self:
        self._wake_up = _WakeUp()
        self._outer = Pump.current
        if self._channel is not None:
            self._cell = (self._outer and self._outer.cell) or self._channel.parent
        if self._on_main:
            Pump.current = self
        return self

    def __exit__(self, *exc_info: object) -> None:
        if self._on_main:
            Pump.current = self._outer
        if self._channel is not None and self._outer is None:
            self._channel.wake_kernel()
        if self._wake_up is not None:
            self._wake_up.close()
            self._wake_up = None
        if _jobs and self._on_main:
            if self._outer is not None:
                self._outer.wake()
            else:
                _schedule_jobs()

    @property
    def cell(self) -> Parent | None:
        """The request of the cell that waits, also while a click is served."""
        return self._cell

    def wake(self) -> None:
        """Make the wait look for jobs; safe from any thread."""
        wake_up = self._wake_up
        if wake_up is not None:
            wake_up.wake()

    def wait(self, signal: Signal, timeout_s: float | None = None) -> bool:
        """Wait for a signal; an interrupt passes through as `KeyboardInterrupt`.

        Args:
            signal: What ends the wait.
            timeout_s: The longest wait in seconds; None waits without limit.

        Returns:
            True when the signal was set, False when the time was over.

        Raises:
            RuntimeError: The pump is not in use as a context manager.
        """
        if self._wake_up is None:
            raise RuntimeError("A pump waits only inside its `with` block: `with Pump(...) as p`.")
        deadline = None if timeout_s is None else time.monotonic() + timeout_s
        poller = self._poller(self._wake_up, signal)
        while True:
            self._wake_up.drain()
            if self._on_main:
                self._run_jobs()
            if self._channel is not None and self._channel.socket is not None:
                self._channel.serve()
            if signal.is_set():
                return True
            left_ms = SLICE_MS if deadline is None else (deadline - time.monotonic()) * 1000
            if left_ms <= 0:
                return False
            woken = poller.poll(math.ceil(min(left_ms, SLICE_MS)))
            if not woken and self._channel is not None:
                self._channel.nudge()

    def _poller(self, wake_up: _WakeUp, signal: Signal) -> zmq.Poller:
        poller = zmq.Poller()
        poller.register(wake_up.fileno(), zmq.POLLIN)
        poller.register(signal.fileno(), zmq.POLLIN)
        if self._channel is not None and self._channel.socket is not None:
            poller.register(self._channel.socket, zmq.POLLIN)
        return poller

    def _run_jobs(self) -> None:
        if not _jobs:
            return
        if self._channel is None or self._cell is None:
            _run_jobs()
            return
        # In a nested wait the present request is a click, whose output nobody would see.
        with self._channel.output_for(self._cell):
            _run_jobs()
