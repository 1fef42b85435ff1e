"""A program on a pseudo-terminal: its output as bytes, its input as keys. Lives on POSIX systems.

Reads on the agent thread; whoever shows it gets the bytes there. Nothing of it is recorded: what is
typed may be a secret. Knows no agent and no view.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextlib
import os
import shlex
import signal
import termios
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from acp_notebook.client.agent_thread import AgentThread
from acp_notebook.client.process import guard
from acp_notebook.errors import AgentNotFound

if TYPE_CHECKING:
    from ptyprocess import PtyProcess

ROWS, COLUMNS = 24, 96
# After its end a child of it may hold the terminal open for ever.
LAST_WORDS_S = 0.5
_READ_BYTES = 64 * 1024


class PseudoTerminal:
    """Starts at once. `ended` is done with the exit status when the program is over.

    Args:
        command: Program (a path) and arguments.
        env: The whole environment.
        cwd: The folder it runs in.
        thread: Where it is read.

    Raises:
        AgentNotFound: It cannot be started.
    """

    def __init__(
        self, command: Sequence[str], *, env: Mapping[str, str], cwd: str, thread: AgentThread
    ) -> None:
        self.command = shlex.join(command)
        self.output = bytearray()
        """What it has written so far; belongs to the agent thread."""
        self.on_output: Callable[[], None] | None = None
        self.ended: concurrent.futures.Future[int] = concurrent.futures.Future()
        self._thread = thread
        self._process = _spawn(command, {**env, "TERM": "xterm-256color"}, cwd)
        self._closed = asyncio.Event()
        thread.post(lambda: thread.spawn(self._run()))

    @property
    def hides_typing(self) -> bool:
        """Whether it asks for a line that is not echoed, as for a password."""
        try:
            flags = termios.tcgetattr(self._process.fd)[3]
        except (termios.error, ValueError, OSError):
            return False
        # A program that draws its own screen takes keys, not lines, and echoes nothing either.
        return not flags & termios.ECHO and bool(flags & termios.ICANON)

    def write(self, data: bytes) -> None:
        """Type; after the end it is dropped. Usable from any thread."""

        def write() -> None:
            if not self.ended.done():
                with contextlib.suppress(OSError):
                    self._process.write(data)

        self._thread.post(write)

    def end(self) -> None:
        """Kill it with everything it started. Usable from any thread."""
        if not self.ended.done():
            for number in (signal.SIGHUP, signal.SIGCONT, signal.SIGKILL):
                guard.signal_session(self._process.pid, number)

    async def _run(self) -> None:
        loop = asyncio.get_running_loop()
        fd = self._process.fd
        loop.add_reader(fd, self._readable)
        try:
            await loop.run_in_executor(None, self._process.wait)
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._closed.wait(), LAST_WORDS_S)
        finally:
            loop.remove_reader(fd)
            process = self._process
            status = process.exitstatus if process.signalstatus is None else -process.signalstatus
            # What it left behind has no terminal any more.
            guard.signal_session(process.pid, signal.SIGHUP)
            self.ended.set_result(status if status is not None else -1)
            process.fileobj.close()

    def _readable(self) -> None:
        try:
            data = os.read(self._process.fd, _READ_BYTES)
        except OSError:  # Linux says so where others say end of file
            data = b""
        if not data:
            asyncio.get_running_loop().remove_reader(self._process.fd)
            self._closed.set()
            return
        self.output += data
        if self.on_output is not None:
            self.on_output()


def _spawn(command: Sequence[str], env: Mapping[str, str], cwd: str) -> PtyProcess:
    from ptyprocess import PtyProcess

    with warnings.catch_warnings():
        # Python 3.12 warns of a fork beside threads. The child execs at once.
        warnings.simplefilter("ignore", DeprecationWarning)
        try:
            return PtyProcess.spawn(
                list(command), cwd=cwd, env=dict(env), dimensions=(ROWS, COLUMNS)
            )
        except (OSError, ValueError) as error:
            raise AgentNotFound(f"{command[0]} cannot be started: {error}") from None
