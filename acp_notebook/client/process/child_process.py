"""A child process and its descendants, in a process session of their own.

Shared by agent processes and terminal commands: the start, through the guard that ends the tree
when this process is killed, and the end of the whole tree. Windows has no process sessions, and no
guard. Knows neither agents nor commands, and no ACP.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import signal
from collections.abc import Callable, Mapping, Sequence
from functools import partial

import psutil

from acp_notebook.client.process import guard
from acp_notebook.client.process.guard_line import GuardFailedError, GuardLine
from acp_notebook.client.process.spare_files import keep_spare_files, spare_files

logger = logging.getLogger(__name__)

READ_BYTES = 64 * 1024
ROUND_S = 0.05


class Pipes(asyncio.subprocess.SubprocessStreamProtocol):
    """The streams of a process, and what happens to them.

    In some Python versions asyncio's `Process.wait` also waits for the pipes, which a child of the
    process can keep open forever.

    Attributes:
        over: Set at the end of the process that was started here: the guard, if there is one.
        input_closed: Set once the stdin of the process is closed, at either end.
        on_waiting: Called when input has to wait until the process reads.
        on_taken: Called when no input waits any more.
    """

    def __init__(self) -> None:
        super().__init__(READ_BYTES, asyncio.get_running_loop())
        self.over = asyncio.Event()
        self.input_closed = asyncio.Event()
        self.on_waiting: Callable[[], None] | None = None
        self.on_taken: Callable[[], None] | None = None

    def process_exited(self) -> None:
        """Set `over`; called by the event loop."""
        super().process_exited()
        self.over.set()

    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None:
        """Set `input_closed`; called by the event loop, also while nothing is written."""
        super().pipe_connection_lost(fd, exc)
        if fd == 0:
            self.input_closed.set()

    def pause_writing(self) -> None:
        """Tell that input waits; called by the event loop."""
        super().pause_writing()
        if self.on_waiting is not None:
            self.on_waiting()

    def resume_writing(self) -> None:
        """Tell that no input waits; called by the event loop."""
        super().resume_writing()
        if self.on_taken is not None:
            self.on_taken()


class ChildProcess:
    """A running process. All methods but `kill_now` belong to the thread that started it."""

    def __init__(
        self, process: asyncio.SubprocessTransport, pipes: Pipes, line: GuardLine | None
    ) -> None:
        keep_spare_files()
        self.pipes = pipes
        self.pid = process.get_pid() if line is None else line.pid
        """The process id, which is also the id of its process session."""
        self._process = process
        self._line = line
        self._exited = pipes.over if line is None else line.exited
        self._root = _process_of(self.pid)
        self._guard = None if line is None else _process_of(process.get_pid())
        self._is_over = False

    @classmethod
    async def start(
        cls,
        program: str,
        arguments: Sequence[str],
        *,
        env: Mapping[str, str],
        cwd: str,
        stdin: int,
        stderr: int,
        stdout: int = asyncio.subprocess.PIPE,
    ) -> ChildProcess:
        """Start a program with exactly this environment; a terminal as stdin becomes its own.

        Raises:
            OSError: The program cannot be started.
            ValueError: A word of the command or environment cannot be passed to the system.
        """
        run = partial(
            asyncio.get_running_loop().subprocess_exec,
            Pipes,
            stdin=stdin,
            stdout=stdout,
            stderr=stderr,
            start_new_session=True,
        )
        if os.name == "posix":
            words = [os.fsencode(word) for word in (program, *arguments)]
            environment = {os.fsencode(name): os.fsencode(value) for name, value in env.items()}
            job = (os.fsencode(cwd), words[0], words, environment)
            try:
                line, started = await GuardLine.open(
                    job, lambda command, number: run(*command, pass_fds=[number])
                )
                return cls(*started, line)
            except GuardFailedError as error:
                logger.warning("A process has no guard: %s", error)
        return cls(*await run(program, *arguments, cwd=cwd, env=env), None)

    @property
    def return_code(self) -> int | None:
        """The exit code, or the negative number of a signal; None while the process runs."""
        return self._process.get_returncode() if self._line is None else self._line.code

    async def exited(self) -> None:
        """Wait until the process itself has ended; its children may still run."""
        await self._exited.wait()

    async def left_nothing(self) -> None:
        """Wait until its children have ended too, as far as the guard knows them."""
        await self.pipes.over.wait()

    async def ends_within(self, seconds: float) -> bool:
        """Wait at most this long for the end; return whether the process has ended."""
        return await _is_set_within(self._exited, seconds)

    def tree(self) -> list[psutil.Process]:
        """Return the process and its descendants, including those that left its session."""
        with contextlib.suppress(psutil.Error, OSError), spare_files():
            if self._guard is not None:
                return list(self._guard.children(recursive=True))
        with contextlib.suppress(psutil.Error, OSError), spare_files():
            if self._root is not None:
                return [*self._root.children(recursive=True), self._root]
        return []

    def signal(self, tree: list[psutil.Process], number: signal.Signals) -> None:
        """Send a signal to these processes and to all processes of the session."""
        with spare_files():
            # psutil compares creation times, so a reused pid is never hit.
            for process in tree:
                with contextlib.suppress(psutil.Error, OSError):
                    process.send_signal(number)
            with contextlib.suppress(OSError):
                if os.name == "posix" and not self._pid_is_reused():
                    guard.signal_session(self.pid, number)

    async def terminate(self, tree: list[psutil.Process], stage_s: float) -> None:
        """Terminate the processes; kill those that still run after `stage_s` seconds."""
        self.signal(tree, signal.SIGTERM)
        if not await self.ends_within(stage_s):
            self.signal(tree, signal.SIGKILL)
            await self.ends_within(stage_s)

    async def kill_rest(self, tree: list[psutil.Process], within_s: float) -> None:
        """Kill these processes and all descendants, even those that are started meanwhile."""
        for _ in range(int(within_s / ROUND_S)):
            self.signal([*tree, *self.tree()], signal.SIGKILL)
            if await _is_set_within(self.pipes.over, ROUND_S):
                return

    def kill_now(self) -> None:
        """Kill the whole tree at once, when this process exits; the guard kills what escapes."""
        if not self._is_over:
            self.signal(self.tree(), signal.SIGKILL)

    def close(self) -> None:
        """Close the pipes, which otherwise stay open if nobody reads them, and end the guard."""
        self._process.close()
        if self._line is not None:
            self._line.close()
        self._is_over = True

    def _pid_is_reused(self) -> bool:
        # The session outlives its first process: with no process of this id, none is reused.
        if not psutil.pid_exists(self.pid):
            return False
        return self._root is None or not self._root.is_running()


async def _is_set_within(event: asyncio.Event, seconds: float) -> bool:
    with contextlib.suppress(TimeoutError):
        await asyncio.wait_for(event.wait(), seconds)
    return event.is_set()


def signal_name(number: int) -> str:
    """Return the name of a signal, or its number if it has no name."""
    with contextlib.suppress(ValueError):
        return signal.Signals(number).name
    return str(number)


def _process_of(pid: int) -> psutil.Process | None:
    try:
        return psutil.Process(pid)
    except psutil.Error:
        return None  # the process has already ended
