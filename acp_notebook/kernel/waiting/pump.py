"""The pump: how a cell waits on the kernel's main thread while the page stays alive.

A cell that waits for a turn occupies the main thread, on which the kernel also handles the page's
comm messages. A plain wait would deadlock: the turn waits for a permission, and the click that
grants it waits for the cell. So the wait itself serves the page:

1. The cell polls two sources, each of which wakes it at once: the kernel's shell socket, and a bell
   that new jobs and the event that ends the wait ring.
2. Each round runs the due jobs, serves the shell messages, then checks the event. `shell_channel`
   decides what is served. Other cells stay queued: their code must not run inside this one.
3. An interrupt leaves `Pump.wait` as `KeyboardInterrupt`; the waiting cell decides what to cancel.
   A job or handler running at that moment fails, but no message is lost.

Jobs are calls that belong on the main thread but are requested by other threads: a user's function,
an agent's code. A waiting cell runs them at once; between cells the kernel's loop runs them.

A wait opens no file: all waits of the main thread share one pair of sockets, which exists as long
as the process. So waiting leaves nothing behind, and works when no file can be opened any more.
Knows no agents, sessions or widgets; `shell_channel` has all knowledge of ipykernel's internals.
"""

from __future__ import annotations

import collections
import functools
import math
import queue
import signal
import socket
import threading
import time
import weakref
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Self, TypeVar

import zmq

from acp_notebook.kernel.waiting.shell_channel import find_shell_channel

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from acp_notebook.kernel.waiting.shell_channel import Parent, ShellChannel

T = TypeVar("T")

# On Windows an interrupt does not end a blocking poll, so no poll is longer than this.
SLICE_MS = 200.0


class JobInterruptedError(Exception):
    """A job on the main thread was interrupted, or exited, before it had a result."""


class _Bell:
    """Wakes a waiting thread, from any thread and from a signal handler."""

    def __init__(self) -> None:
        self._rings: queue.SimpleQueue[None] = queue.SimpleQueue()

    def ring(self) -> None:
        """Wake the thread, now or at its next wait."""
        self._rings.put(None)

    def wait(self, timeout_ms: int) -> bool:
        """Wait for a ring; return False if there was none."""
        with suppress(queue.Empty):
            self._rings.get(timeout=timeout_ms / 1000)
            return True
        return False


class _PollableBell(_Bell):
    """A bell that is heard while a zmq socket is polled. A socket pair: Windows polls no pipes."""

    def __init__(self) -> None:
        super().__init__()
        reader, writer = socket.socketpair()
        reader.settimeout(0)
        writer.settimeout(0)
        self._reader, self._writer = reader, writer
        # The finalizer refers to the sockets, so the garbage collector never finds them open.
        weakref.finalize(self, _close_all, reader, writer)

    def ring(self) -> None:
        # A full buffer wakes the poller anyway.
        with suppress(OSError):
            self._writer.send(b"\0")

    def wait_or_poll(self, other: Any, timeout_ms: int) -> bool:
        """Wait for a ring or for a message on a zmq socket; return False if there was neither."""
        poller = zmq.Poller()
        poller.register(self._reader.fileno(), zmq.POLLIN)
        poller.register(other, zmq.POLLIN)
        is_woken = bool(poller.poll(timeout_ms))
        with suppress(BlockingIOError):
            while self._reader.recv(4096):
                pass
        return is_woken


def _close_all(*sockets: socket.socket) -> None:
    for each in sockets:
        each.close()


@functools.cache
def bell_of_main_thread() -> _PollableBell:
    """Return the bell of all waits that serve the page; made once, before files run out."""
    return _PollableBell()


class WaitEvent:
    """A one-shot event that ends a pump's wait. Holds no file."""

    def __init__(self) -> None:
        self._is_set = False
        self._bell: _Bell | None = None

    def set(self) -> None:
        """End the wait. Safe from any thread and from a signal handler; may be repeated."""
        if self._is_set:
            return
        # The order matters: here set, then look for the bell; a wait does the reverse.
        self._is_set = True
        bell = self._bell
        if bell is not None:
            bell.ring()

    def is_set(self) -> bool:
        """Whether `set` was called."""
        return self._is_set

    @contextmanager
    def heard_by(self, bell: _Bell) -> Iterator[None]:
        """Ring a bell when the event is set within the block."""
        before, self._bell = self._bell, bell
        try:
            yield
        finally:
            self._bell = before


class _Job(Generic[T]):
    """A call for the main thread, and the future of its result."""

    def __init__(self, call: Callable[[], T]) -> None:
        self.future: Future[T] = Future()
        self._call = call

    def run(self) -> None:
        if not self.future.set_running_or_notify_cancel():
            return
        try:
            result = self._call()
        except KeyboardInterrupt:
            # A KeyboardInterrupt in the future would end the event loop that awaits it.
            self.future.set_exception(JobInterruptedError("The cell was interrupted."))
            raise
        except Exception as error:  # noqa: BLE001 - the caller reads it from the future
            self.future.set_exception(error)
        except BaseException as error:  # noqa: BLE001 - SystemExit would end the caller's loop too
            stopped = JobInterruptedError(f"The call ended with {type(error).__name__}.")
            stopped.__cause__ = error
            self.future.set_exception(stopped)
        else:
            self.future.set_result(result)


_jobs: collections.deque[_Job[Any]] = collections.deque()


def run_on_main(job: Callable[[], T]) -> Future[T]:
    """Run a call on the main thread; usable from any thread.

    A waiting cell runs the call at once and shows its output. If no cell waits, the kernel's loop
    runs it when free. A job requested on the main thread itself runs before this returns.

    Args:
        job: The call. If it raises, only its future fails. An interrupt during the call fails the
            future with `JobInterruptedError` and also reaches the waiting cell.

    Returns:
        The future of the result; it fails with `RuntimeError` if the main thread is not free.
    """
    entry = _Job(job)
    if threading.current_thread() is threading.main_thread():
        entry.run()
        return entry.future
    _jobs.append(entry)
    # The order matters: here append, then read `current`; in `Pump.__exit__` clear `current`,
    # then look for jobs. So no job can slip between the two.
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
    handler = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        _run_jobs()
    except KeyboardInterrupt:
        # The job's future has failed already. Raised here the interrupt would end the kernel.
        _schedule_jobs()
    finally:
        signal.signal(signal.SIGINT, handler)


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
    (`run_on_main`). In a terminal, a subshell, another thread or an unknown kernel it only waits.
    Pumps nest: a handler that runs during one wait may wait itself.

    Attributes:
        current: The innermost pump that holds the main thread, if any.
        why_unusable: One sentence on why the wait does not serve the page, or an empty string.

    Example:
        >>> with Pump(None) as pump:
        ...     pump.wait(WaitEvent(), timeout_s=0)
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
        self._bell: _Bell | None = None
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
        # The page is served on the main thread only, where waits nest: one bell serves them all, as
        # an outer wait looks around again when the inner one is over.
        self._bell = _Bell() if self._channel is None else bell_of_main_thread()
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
        self._bell = None
        if _jobs and self._on_main:
            if self._outer is not None:
                self._outer.wake()
            else:
                _schedule_jobs()

    @property
    def cell(self) -> Parent | None:
        """The request of the waiting cell; it stays the same while a click is served."""
        return self._cell

    def wake(self) -> None:
        """Start another round of the wait, which runs due jobs; safe from any thread."""
        bell = self._bell
        if bell is not None:
            bell.ring()

    def wait(self, event: WaitEvent, timeout_s: float | None = None) -> bool:
        """Wait for an event.

        Args:
            event: What ends the wait.
            timeout_s: The longest wait in seconds; None waits without limit.

        Returns:
            True when the event was set, False when the time was over.

        Raises:
            KeyboardInterrupt: The cell was interrupted.
            RuntimeError: The pump is not in use as a context manager.
        """
        bell = self._bell
        if bell is None:
            raise RuntimeError("A pump waits only inside its `with` block: `with Pump(...) as p`.")
        deadline = None if timeout_s is None else time.monotonic() + timeout_s
        with event.heard_by(bell):
            while True:
                if self._on_main:
                    self._run_jobs()
                if self._channel is not None and self._channel.socket is not None:
                    self._channel.serve()
                if event.is_set():
                    return True
                left_ms = SLICE_MS if deadline is None else (deadline - time.monotonic()) * 1000
                if left_ms <= 0:
                    return False
                self._sleep(bell, math.ceil(min(left_ms, SLICE_MS)))

    def _sleep(self, bell: _Bell, timeout_ms: int) -> None:
        channel = self._channel
        if channel is None or channel.socket is None or not isinstance(bell, _PollableBell):
            bell.wait(timeout_ms)
        elif not bell.wait_or_poll(channel.socket, timeout_ms):
            channel.nudge()

    def _run_jobs(self) -> None:
        if not _jobs:
            return
        if self._channel is None or self._cell is None:
            _run_jobs()
            return
        # In a nested wait the current request is a click, whose output nobody would see.
        with self._channel.output_for(self._cell):
            _run_jobs()
