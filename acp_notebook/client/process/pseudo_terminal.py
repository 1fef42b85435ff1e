"""A program on a pseudo-terminal: its output as bytes, its input as keys. POSIX only.

Output is read on the agent thread and passed to `on_output` there. Nothing is recorded, because
what the user types may be a secret. What the program leaves in a process session of its own lives
on, such as the browser of a login, until the kernel is killed. Knows no agent and no view.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextlib
import os
import shlex
import signal
import termios
from collections.abc import Callable, Mapping, Sequence

from acp_notebook.client.agent_thread import AgentThread
from acp_notebook.client.process.child_process import ChildProcess
from acp_notebook.errors import AgentNotFound

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
        self._keys = bytearray()
        self._closed = asyncio.Event()
        spawning = thread.submit(_spawn(command, {**env, "TERM": "xterm-256color"}, cwd))
        self._child, self._fd = spawning.result()
        thread.post(lambda: thread.spawn(self._run()))

    @property
    def hides_typing(self) -> bool:
        """Whether the program reads a line without echo, as for a password."""
        try:
            flags = termios.tcgetattr(self._fd)[3]
        except (termios.error, ValueError, OSError):
            return False
        # A full-screen program turns off the echo too, but it reads keys, not lines.
        return not flags & termios.ECHO and bool(flags & termios.ICANON)

    def write(self, data: bytes) -> None:
        """Send input; it is dropped after the end. Usable from any thread."""

        def write() -> None:
            if not self.ended.done():
                self._keys += data
                self._send_keys()

        self._thread.post(write)

    def end(self) -> None:
        """Kill the program and its process session. Usable from any thread."""
        if not self.ended.done():
            for number in (signal.SIGHUP, signal.SIGCONT, signal.SIGKILL):
                self._child.signal([], number)

    async def _run(self) -> None:
        loop = asyncio.get_running_loop()
        loop.add_reader(self._fd, self._readable)
        try:
            await self._child.exited()
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._closed.wait(), LAST_WORDS_S)
        finally:
            loop.remove_reader(self._fd)
            loop.remove_writer(self._fd)
            # Processes that are left have lost their terminal.
            self._child.signal([], signal.SIGHUP)
            code = self._child.return_code
            self._child.close()
            self.ended.set_result(code if code is not None else -1)
            os.close(self._fd)

    def _send_keys(self) -> None:
        try:
            del self._keys[: os.write(self._fd, self._keys)]
        except BlockingIOError:
            pass  # the program does not read at present
        except OSError:
            self._keys.clear()
        loop = asyncio.get_running_loop()
        if self._keys:
            loop.add_writer(self._fd, self._send_keys)
        else:
            loop.remove_writer(self._fd)

    def _readable(self) -> None:
        try:
            data = os.read(self._fd, _READ_BYTES)
        except OSError:  # Linux reports the end of file as an error
            data = b""
        if not data:
            asyncio.get_running_loop().remove_reader(self._fd)
            self._closed.set()
            return
        self.output += data
        if self.on_output is not None:
            self.on_output()


async def _spawn(
    command: Sequence[str], env: Mapping[str, str], cwd: str
) -> tuple[ChildProcess, int]:
    ours, theirs = os.openpty()
    try:
        termios.tcsetwinsize(theirs, (ROWS, COLUMNS))
        os.set_blocking(ours, False)
        child = await ChildProcess.start(
            command[0], command[1:], env=env, cwd=cwd, stdin=theirs, stdout=theirs, stderr=theirs
        )
    except (OSError, ValueError) as error:
        os.close(ours)
        raise AgentNotFound(f"{command[0]} cannot be started: {error}") from None
    finally:
        os.close(theirs)
    return child, ours
