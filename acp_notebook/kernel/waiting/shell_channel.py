"""The kernel's shell channel, served from inside a running cell.

Holds everything that leans on private names of ipykernel and pyzmq: where the main thread's shell
messages arrive, which of them may be answered while a cell runs, and how the others are given to
the kernel's own queue. Knows nothing about waiting, signals or agents.
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
# A page that is loaded again asks these before it shows any widget; completion keeps the editor
# alive. They change nothing, so one that cannot be answered now may be asked a second time.
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
# A flood of clicks must not keep the waiting cell from noticing that its wait is over.
MESSAGES_PER_ROUND = 50

# Identity and message of the request that output belongs to.
Parent = tuple[Any, dict[str, Any]]


class NoClicksWarning(RuntimeWarning):
    """The kernel is built differently from what we know: cells wait, but clicks do not arrive."""


class _MissingPartError(Exception):
    """A private name that the shell channel needs is not there."""


class HeldInterrupts:
    """Keeps an interrupt from tearing a message between the socket and its place.

    A `KeyboardInterrupt` may be raised between any two bytecodes, also after a message left the
    socket and before it is safe. While held it is noted, and raised on release.
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
        """Let interrupts through for a while, a noted one at once."""
        try:
            self._release()
            yield
        finally:
            self._hold()

    def _hold(self) -> None:
        # None means a handler that Python did not install and could not put back.
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
    """Serves the main thread's shell messages while a cell keeps that thread.

    Comm messages and harmless requests are answered at once. Everything else, cells above all,
    goes to the kernel's own queue in the order of arrival, which the kernel takes up when the
    running cell has ended. Use it on the main thread only.
    """

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
        """The zmq socket on which the messages arrive, or None when the kernel closed it."""
        return self._stream.socket

    @property
    def parent(self) -> Parent:
        """Identity and message of the request that output belongs to at present."""
        return self._kernel._parent_ident["shell"], self._kernel.get_parent("shell")  # noqa: SLF001

    @contextmanager
    def output_for(self, parent: Parent) -> Iterator[None]:
        """Let output belong to another request for a while."""
        present = self.parent
        self._kernel.set_parent(*parent)
        try:
            yield
        finally:
            self._kernel.set_parent(*present)

    @contextmanager
    def attended(self) -> Iterator[None]:
        """Serve the messages while a cell awaits: then the kernel's own loop reads the socket.

        Its stream would put everything behind the cell. May be entered several times at once.
        """
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
            # See `serve`; the present request is the one just served, not the cell's.
            self._kernel._publish_status("busy", "shell", parent=self._cell[1])  # noqa: SLF001

    def serve(self) -> None:
        """Take the messages that have arrived; return when there is none, or after many."""
        served = 0
        for _ in range(MESSAGES_PER_ROUND):
            with HeldInterrupts() as interrupts:
                frames = self._receive()
                if frames is None:
                    break
                served += self._serve_or_queue(frames, interrupts)
        if served:
            # Front ends take the idle of a served message for the whole kernel: the cell runs on.
            self._kernel._publish_status("busy", "shell", parent=self.parent[1])  # noqa: SLF001

    def wake_kernel(self) -> None:
        """Let the kernel look at its socket once, as soon as its loop runs again.

        Reading behind the stream's back can use up the wake-up that the stream waits for.
        """
        self._kernel.io_loop.add_callback(_read_on, self._stream)
        self.nudge()

    def nudge(self) -> None:
        """Free a message that ipykernel 7.0 to 7.3 left unread in its router thread."""
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
        """The identities and message, or None when the kernel should deal with it later."""
        session = self._kernel.session
        try:
            identities, parts = session.feed_identities(frames, copy=False)
            # Only peek: reading in full records the signature, and the kernel would then refuse
            # a message that we queue as a duplicate.
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
            # A comm handler has effects, so it must not be begun, given up and begun again.
            return not inspect.iscoroutinefunction(self._kernel.shell_handlers.get(kind))
        return kind in HARMLESS_REQUESTS

    def _answer(
        self, identities: list[bytes], message: dict[str, Any], interrupts: HeldInterrupts
    ) -> bool:
        """True when answered, False when the handler cannot finish while the cell runs."""
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
            except BaseException:  # also sys.exit() in a handler: the cell waits on
                kernel.log.exception("A handler of %s failed while a cell waited", kind)
            finally:
                if finished:
                    _flush_output()
                    kernel._publish_status("idle", "shell", parent=message)  # noqa: SLF001
                else:
                    self._queued_kinds.add(kind)
        return finished

    def _send_replies(self) -> None:
        """Send what ipykernel 6 only keeps until its loop runs again; 7 sends by itself."""
        if not isinstance(self._replies, zmq.Socket):
            self._replies.flush(zmq.POLLOUT)

    def _queue(self, frames: list[Any]) -> None:
        """Give a message to the kernel as its stream would, in the order of arrival.

        Not by way of `io_loop.add_callback`: the stream may have a read of its own scheduled
        already, and a message that arrives later would then overtake this one.
        """
        to_kernel = self._to_kernel or self._stream._recv_callback  # noqa: SLF001
        result = to_kernel(frames)
        if inspect.isawaitable(result):
            task = asyncio.ensure_future(result)
            _PENDING.add(task)
            task.add_done_callback(_PENDING.discard)


# The loop holds tasks weakly; a queued cell must not be collected before it runs.
_PENDING: set[asyncio.Future[Any]] = set()


@functools.lru_cache(maxsize=1)
def find_shell_channel(kernel: Any) -> tuple[ShellChannel | None, str]:
    """Probe a kernel, once.

    Args:
        kernel: The running ipykernel.

    Returns:
        The channel and an empty string, or None and a sentence that says what is missing. The
        sentence is also given as a `NoClicksWarning`.
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
    """The stream that brings shell messages to the main thread, and where replies go."""
    thread = getattr(kernel, "shell_channel_thread", None)
    if thread is None:
        stream = _part(kernel, "shell_stream")
        return stream, stream
    manager = _part(thread, "manager")
    stream = _part(_part(manager, "_shell_channel_to_main"), "to_stream")
    return stream, _part(manager, "get_subshell_to_shell_channel_socket")(None)


def _loop_of_a_router_that_stalls(kernel: Any) -> Any | None:
    """The loop of the thread that hands shell messages out, if it can leave one unread.

    ipykernel 7.0 to 7.3 write replies to the router's socket behind its stream's back, which uses
    up the wake-up of a message that arrives at the same moment: about one cell in a hundred that
    is sent right behind a reply. Later messages do not wake it. 7.4 writes through the stream.
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
    """Run a handler that is `async` in name only; give one up that really waits."""
    try:
        coroutine.send(None)
    except StopIteration:
        return True
    coroutine.close()
    return False


def _flush_output() -> None:
    # What a handler printed must leave before the idle that ends its request. A stream that the
    # user put in place may be unable to flush.
    for stream in (sys.stdout, sys.stderr):
        with suppress(Exception):
            stream.flush()
