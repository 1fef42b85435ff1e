"""A program on a pseudo-terminal: its output as bytes, its input as keys. POSIX only.

Output is read on the agent thread and passed to `on_output` there. Nothing is recorded, because
what the user types may be a secret. Knows no agent and no view.
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
# Seconds to read the rest of the output after the end; a child may keep the terminal open forever.
LAST_WORDS_S = 0.5
_READ_BYTES = 64 * 1024


class PseudoTerminal:
    """A running program; the future `ended` gets its exit status.

    Args:
        command: The program (a path) and its arguments.
        env: The whole environment.
        cwd: The working directory.
        thread: The thread that reads the output.

    Raises:
        AgentNotFound: The program cannot be started.
    """

    def __init__(
        self, command: Sequence[str], *, env: Mapping[str, str], cwd: str, thread: AgentThread
    ) -> None:
        self.command = shlex.join(command)
        self.output = bytearray()
        """The output so far; belongs to the agent thread."""
        self.on_output: Callable[[], None] | None = None
        self.ended: concurrent.futures.Future[int] = concurrent.futures.Future()
        self._thread = thread
        self._process = _spawn(command, {**env, "TERM": "xterm-256color"}, cwd)
        self._closed = asyncio.Event()
        thread.post(lambda: thread.spawn(self._run()))

    @property
    def hides_typing(self) -> bool:
        """Whether the program reads a line without echo, as for a password."""
        try:
            flags = termios.tcgetattr(self._process.fd)[3]
        except (termios.error, ValueError, OSError):
            return False
        # A full-screen program turns off the echo too, but it reads keys, not lines.
        return not flags & termios.ECHO and bool(flags & termios.ICANON)

    def write(self, data: bytes) -> None:
        """Send input; it is dropped after the end. Usable from any thread."""

        def write() -> None:
            if not self.ended.done():
                with contextlib.suppress(OSError):
                    self._process.write(data)

        self._thread.post(write)

    def end(self) -> None:
        """Kill the program and its process session. Usable from any thread."""
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
            # Processes that are left have lost their terminal.
            guard.signal_session(process.pid, signal.SIGHUP)
            self.ended.set_result(status if status is not None else -1)
            process.fileobj.close()

    def _readable(self) -> None:
        try:
            data = os.read(self._process.fd, _READ_BYTES)
        except OSError:  # Linux reports the end of file as an error
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
        # Python 3.12 warns about a fork in a process with threads, but the child execs at once.
        warnings.simplefilter("ignore", DeprecationWarning)
        try:
            return PtyProcess.spawn(
                list(command), cwd=cwd, env=dict(env), dimensions=(ROWS, COLUMNS)
            )
        except (OSError, ValueError) as error:
            raise AgentNotFound(f"{command[0]} cannot be started: {error}") from None
