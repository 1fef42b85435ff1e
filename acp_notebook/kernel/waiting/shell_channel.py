"""The kernel's shell channel, served from inside a running cell.

ipykernel handles shell messages one by one, so a click that arrives while a cell runs would wait
for the end of the cell. A waiting cell therefore reads the main thread's shell socket itself:

1. Answered at once: comm messages, which carry the clicks, and requests of a loading page or of
   the editor, which change nothing. Their handlers must finish without awaiting.
2. Queued: everything else, above all cells. The frames go to the kernel's own queue, unchanged and
   in order of arrival. A kind of message whose handler awaits is queued from then on.
3. A `KeyboardInterrupt` is held back from the moment a message is read until it is answered or
   queued, so that none is lost; only the handler itself can be interrupted.
4. A served request ends with the status `idle`, which front ends apply to the whole kernel, so
   `busy` is published again for the running cell.
5. A cell that awaits leaves the kernel's loop running. Then that loop reads the socket, and
   `attended` replaces the stream's callback by one with the same rules.

All dependence on private names of ipykernel and pyzmq is here; a kernel that lacks one of them gets
no channel and a warning. Knows no events, jobs or agents. Main thread only.
"""

from __future__ import annotations

import asyncio
import functools
import inspect
import signal
import sys
import warnings
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, Self

import zmq

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType

COMM_MESSAGES = frozenset({"comm_open", "comm_msg", "comm_close"})
# A reloaded page sends these before it shows any widget; completion keeps the editor usable.
# They change nothing, so a handler that was given up may be run a second time.
HARMLESS_REQUESTS = frozenset(
    {
        "kernel_info_request",
        "comm_info_request",
        "complete_request",
        "inspect_request",
        "is_complete_request",
        "history_request",
    }
)
# A flood of messages must not keep the waiting cell from noticing the end of its wait.
MESSAGES_PER_ROUND = 50

# Identity and message of the request whose output this is.
Parent = tuple[Any, dict[str, Any]]


class NoClicksWarning(RuntimeWarning):
    """The kernel lacks a part that the channel needs: clicks do not arrive while a cell waits."""


class _MissingPartError(Exception):
    """A private name that the shell channel needs is missing."""


class HeldInterrupts:
    """Postpones interrupts, so that none can lose a message between socket and queue.

    Python may raise `KeyboardInterrupt` between any two bytecodes. Inside the block an interrupt
    is only noted; it is raised on release.
    """

    def __init__(self) -> None:
        self._noted = False
        self._handler: Any = None

    def __enter__(self) -> Self:
        self._hold()
        return self

    def __exit__(self, *exc_info: object) -> None:
        self._release()

    @contextmanager
    def released(self) -> Iterator[None]:
        """Let interrupts through within the block; a noted one is raised at once."""
        try:
            self._release()
            yield
        finally:
            self._hold()

    def _hold(self) -> None:
        # None means a handler that Python did not install and could not restore.
        if signal.getsignal(signal.SIGINT) is not None:
            self._handler = signal.signal(signal.SIGINT, self._note)

    def _release(self) -> None:
        if self._handler is not None:
            signal.signal(signal.SIGINT, self._handler)
            self._handler = None
        if self._noted:
            self._noted = False
            signal.raise_signal(signal.SIGINT)

    def _note(self, _number: int, _frame: FrameType | None) -> None:
        self._noted = True


class ShellChannel:
    """Serves the main thread's shell messages while a cell occupies that thread."""

    def __init__(self, kernel: Any) -> None:
        self._kernel = kernel
        self._stream, self._replies = _main_shell(kernel)
        self._queued_kinds: set[str] = set()
        self._awaiting = 0
        self._to_kernel: Any = None
        self._cell: Any = None
        self._router_loop = _loop_of_a_router_that_stalls(kernel)
        _check_parts(kernel, self._stream)

    @property
    def socket(self) -> Any:
        """The zmq socket on which the messages arrive, or None once the kernel has closed it."""
        return self._stream.socket

    @property
    def parent(self) -> Parent:
        """Identity and message of the request that output currently belongs to."""
        return self._kernel._parent_ident["shell"], self._kernel.get_parent("shell")  # noqa: SLF001

    @contextmanager
    def output_for(self, parent: Parent) -> Iterator[None]:
        """Assign output to another request within the block."""
        present = self.parent
        self._kernel.set_parent(*parent)
        try:
            yield
        finally:
            self._kernel.set_parent(*present)

    @contextmanager
    def attended(self) -> Iterator[None]:
        """Serve the messages while a cell awaits and the kernel's loop reads; reentrant."""
        if self._awaiting == 0:
            self._cell, self._to_kernel = self.parent, self._stream._recv_callback  # noqa: SLF001
            self._stream.on_recv(self._take, copy=False)
        self._awaiting += 1
        try:
            yield
        finally:
            self._awaiting -= 1
            if self._awaiting == 0:
                self._stream.on_recv(self._to_kernel, copy=False)
                self._to_kernel = None

    def _take(self, frames: list[Any]) -> None:
        with HeldInterrupts() as interrupts:
            is_served = self._serve_or_queue(frames, interrupts)
        if is_served:
            # As in `serve`, but here the current request is the one just served, not the cell's.
            self._kernel._publish_status("busy", "shell", parent=self._cell[1])  # noqa: SLF001

    def serve(self) -> None:
        """Serve or queue the messages that have arrived, at most `MESSAGES_PER_ROUND`."""
        served = 0
        for _ in range(MESSAGES_PER_ROUND):
            with HeldInterrupts() as interrupts:
                frames = self._receive()
                if frames is None:
                    break
                served += self._serve_or_queue(frames, interrupts)
        if served:
            # Front ends apply the idle of a served message to the whole kernel.
            self._kernel._publish_status("busy", "shell", parent=self.parent[1])  # noqa: SLF001

    def wake_kernel(self) -> None:
        """Make the kernel read its socket once, as soon as its loop runs again.

        Our own reads can use up the edge-triggered wake-up that the kernel's stream waits for.
        """
        self._kernel.io_loop.add_callback(_read_on, self._stream)
        self.nudge()

    def nudge(self) -> None:
        """Make the router thread of ipykernel 7.0 to 7.3 read a message that it left unread."""
        if self._router_loop is not None:
            self._router_loop.add_callback(_read_on, self._kernel.shell_stream)

    def _receive(self) -> list[Any] | None:
        with suppress(zmq.Again):
            frames: list[Any] = self.socket.recv_multipart(zmq.NOBLOCK, copy=False)
            return frames
        return None

    def _serve_or_queue(self, frames: list[Any], interrupts: HeldInterrupts) -> bool:
        request = self._read(frames)
        if request is not None and self._answer(*request, interrupts):
            return True
        self._queue(frames)
        return False

    def _read(self, frames: list[Any]) -> tuple[list[bytes], dict[str, Any]] | None:
        """Return the identities and message, or None if the message must be queued."""
        session = self._kernel.session
        try:
            identities, parts = session.feed_identities(frames, copy=False)
            # Deserializing the content would record the signature, and the kernel would then
            # reject a message that we queue as a duplicate.
            message: dict[str, Any] = session.deserialize(parts, content=False, copy=False)
            if not self._is_served(message["header"]["msg_type"]):
                return None
            message["content"] = session.unpack(message["content"])
        except Exception:  # noqa: BLE001 - the kernel reads it again and reports what is wrong
            return None
        return identities, message

    def _is_served(self, kind: str) -> bool:
        if kind in self._queued_kinds:
            return False
        if kind in COMM_MESSAGES:
            # A comm handler has effects, so it must not be started, given up and started again.
            return not inspect.iscoroutinefunction(self._kernel.shell_handlers.get(kind))
        return kind in HARMLESS_REQUESTS

    def _answer(
        self, identities: list[bytes], message: dict[str, Any], interrupts: HeldInterrupts
    ) -> bool:
        """Run the handler; return False if it cannot finish while the cell runs."""
        kernel, kind = self._kernel, message["header"]["msg_type"]
        finished = True
        with self.output_for((identities, message)):
            kernel._publish_status("busy", "shell", parent=message)  # noqa: SLF001
            try:
                with interrupts.released():
                    result = kernel.shell_handlers[kind](self._replies, identities, message)
                    finished = not inspect.iscoroutine(result) or _finishes_in_one_step(result)
                self._send_replies()
            except KeyboardInterrupt:
                raise
            except BaseException:  # also sys.exit() in a handler: the cell keeps waiting
                kernel.log.exception("A handler of %s failed while a cell waited", kind)
            finally:
                if finished:
                    _flush_output()
                    kernel._publish_status("idle", "shell", parent=message)  # noqa: SLF001
                else:
                    self._queued_kinds.add(kind)
        return finished

    def _send_replies(self) -> None:
        """Send the replies that ipykernel 6 buffers until its loop runs; 7 sends at once."""
        if not isinstance(self._replies, zmq.Socket):
            self._replies.flush(zmq.POLLOUT)

    def _queue(self, frames: list[Any]) -> None:
        """Pass a message to the kernel as its stream would, in the order of arrival.

        `io_loop.add_callback` would not keep the order: the stream may have scheduled a read
        already, and a later message would overtake this one.
        """
        to_kernel = self._to_kernel or self._stream._recv_callback  # noqa: SLF001
        result = to_kernel(frames)
        if inspect.isawaitable(result):
            task = asyncio.ensure_future(result)
            _PENDING.add(task)
            task.add_done_callback(_PENDING.discard)


# The loop refers to tasks weakly; a queued cell must not be collected before it runs.
_PENDING: set[asyncio.Future[Any]] = set()


@functools.lru_cache(maxsize=1)
def find_shell_channel(kernel: Any) -> tuple[ShellChannel | None, str]:
    """Probe a kernel; the result is cached.

    Args:
        kernel: The running ipykernel.

    Returns:
        The channel and an empty string, or None and a sentence that names the missing part. The
        sentence is also issued as a `NoClicksWarning`.
    """
    try:
        return ShellChannel(kernel), ""
    except _MissingPartError as missing:
        version = getattr(sys.modules.get("ipykernel"), "__version__", "of unknown version")
        reason = (
            f"This kernel (ipykernel {version}) has no {missing}, so buttons may not react while a "
            "cell waits (interrupting works); ipykernel 6.31 and 7.4 are known to work."
        )
        warnings.warn(reason, NoClicksWarning, stacklevel=3)
        return None, reason


def _main_shell(kernel: Any) -> tuple[Any, Any]:
    """Return the stream that brings shell messages to the main thread, and where replies go."""
    thread = getattr(kernel, "shell_channel_thread", None)
    if thread is None:
        stream = _part(kernel, "shell_stream")
        return stream, stream
    manager = _part(thread, "manager")
    stream = _part(_part(manager, "_shell_channel_to_main"), "to_stream")
    return stream, _part(manager, "get_subshell_to_shell_channel_socket")(None)


def _loop_of_a_router_that_stalls(kernel: Any) -> Any | None:
    """Return the loop of the router thread, if that thread can leave a message unread.

    ipykernel 7.0 to 7.3 write replies to the router's socket directly, not through its stream.
    This uses up the wake-up of a message that arrives at the same moment (about one in a hundred
    cells sent right after a reply), and later messages do not help. 7.4 uses the stream.
    """
    thread = getattr(kernel, "shell_channel_thread", None)
    if thread is None or hasattr(thread.manager, "_shell_stream"):
        return None
    return getattr(thread, "io_loop", None)


def _read_on(stream: Any) -> None:
    if not stream.closed():
        stream.flush(zmq.POLLIN)


def _check_parts(kernel: Any, stream: Any) -> None:
    for name in ("session", "io_loop", "shell_handlers", "_publish_status", "_parent_ident"):
        _part(kernel, name)
    for name in ("set_parent", "get_parent", "log"):
        _part(kernel, name)
    for name in ("_recv_callback", "flush", "closed"):
        _part(stream, name)
    if not isinstance(_part(stream, "socket"), zmq.Socket):
        raise _MissingPartError(f"`{type(stream).__name__}.socket` that zmq can poll")


def _part(owner: Any, name: str) -> Any:
    value = getattr(owner, name, None)
    if value is None:
        raise _MissingPartError(f"`{type(owner).__name__}.{name}`")
    return value


def _finishes_in_one_step(coroutine: Any) -> bool:
    """Run a handler that is `async` in name only; close one that really awaits."""
    try:
        coroutine.send(None)
    except StopIteration:
        return True
    coroutine.close()
    return False


def _flush_output() -> None:
    # A handler's output must be sent before the idle that ends its request. A stream that the
    # user installed may be unable to flush.
    for stream in (sys.stdout, sys.stderr):
        with suppress(Exception):
            stream.flush()
