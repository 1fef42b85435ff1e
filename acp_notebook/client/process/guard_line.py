"""The kernel's end of the line to a guard: what to start goes down, how it goes comes up.

Knows no pipe and no agent.
"""

from __future__ import annotations

import asyncio
import marshal
import os
import signal
import socket
import sys
from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

from acp_notebook.client.process import guard

T = TypeVar("T")


class GuardFailedError(Exception):
    """No guard could be started, for example where the kernel is no Python program of its own."""


class GuardLine(asyncio.Protocol):
    """What a guard tells about the process that it started.

    Attributes:
        pid: The process id.
        code: The exit code, or the negative number of a signal; None while the process runs. If
            the guard is killed, the process gets the same signal.
        exited: Set at the end of the process.
    """

    def __init__(self) -> None:
        self.pid = 0
        self.code: int | None = None
        self.exited = asyncio.Event()
        self._started: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        self._transport: asyncio.BaseTransport | None = None
        self._heard = b""

    @classmethod
    async def open(
        cls, job: guard.Job, start_guard: Callable[[Sequence[str], int], Awaitable[T]]
    ) -> tuple[GuardLine, T]:
        """Have a guard started, and the job by the guard.

        Args:
            job: What to start.
            start_guard: Starts a command with one descriptor more; the result is returned.

        Raises:
            GuardFailedError: The guard cannot be started.
            OSError: The job cannot be started.
            ValueError: A word of the job cannot be passed to the system.
        """
        ours, theirs = socket.socketpair()
        try:
            with theirs:
                words = (sys.executable, "-I", "-S", guard.__file__)
                number = theirs.fileno()
                started = await start_guard((*words, str(number), str(os.getpid())), number)
            loop = asyncio.get_running_loop()
            transport, line = await loop.create_unix_connection(cls, sock=ours)
        except OSError as error:
            ours.close()
            raise GuardFailedError(str(error)) from error
        except BaseException:
            ours.close()
            raise
        try:
            transport.write(marshal.dumps(job))
            line.pid = await line._started  # noqa: SLF001
        except BaseException:
            transport.close()
            raise
        return line, started

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the transport; called by the event loop."""
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        """Take lines of the guard; called by the event loop."""
        *lines, self._heard = (self._heard + data).split(b"\n")
        for line in lines:
            self._take(*line.decode(errors="replace").split(" ", 2))

    def _take(self, kind: str, number: str, reason: str = "") -> None:
        if kind == "ended":
            self.code = int(number)
            self.exited.set()
        elif not self._started.done():
            if kind == "started":
                self._started.set_result(int(number))
            else:
                known = int(number)
                error = OSError(known, reason) if known else ValueError(reason)
                self._started.set_exception(error)

    def connection_lost(self, exc: Exception | None) -> None:
        """Take the end of the guard for the end of the process; called by the event loop."""
        del exc
        if not self._started.done():
            self._started.set_exception(GuardFailedError("it ended at once"))
        if self.code is None:
            self.code = -signal.SIGKILL
        self.exited.set()

    def close(self) -> None:
        """Let go of the guard, which then ends what is left."""
        if self._transport is not None:
            self._transport.close()
