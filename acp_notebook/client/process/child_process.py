"""A child process and its descendants, in a process session of their own.

Shared by agent processes and terminal commands: the start, the end of the whole tree, and the guard
that ends the tree when this process is killed. Knows neither of the two, and no ACP.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import psutil

from acp_notebook.client.process import guard

logger = logging.getLogger(__name__)

READ_BYTES = 64 * 1024
GUARD_EXIT_S = 2.0


class Pipes(asyncio.subprocess.SubprocessStreamProtocol):
    """The streams of a process, and an event for its exit.

    In some Python versions asyncio's `Process.wait` also waits for the pipes, which a child of the
    process can keep open forever.
    """

    def __init__(self) -> None:
        super().__init__(READ_BYTES, asyncio.get_running_loop())
        self.exited = asyncio.Event()

    def process_exited(self) -> None:
        """Set `exited`; called by the event loop."""
        super().process_exited()
        self.exited.set()


class ChildProcess:
    """A running process. All methods but `kill_now` belong to the thread that started it."""

    def __init__(self, process: asyncio.SubprocessTransport, pipes: Pipes) -> None:
        self.pipes = pipes
        self._process = process
        self._root = _process_of(process.get_pid())
        self._guardian = _start_guard(process.get_pid())
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
    ) -> ChildProcess:
        """Start a program with exactly this environment; its stdout is a pipe.

        Raises:
            OSError: The program cannot be started.
            ValueError: A word of the command or environment cannot be passed to the system.
        """
        process, pipes = await asyncio.get_running_loop().subprocess_exec(
            Pipes,
            program,
            *arguments,
            stdin=stdin,
            stdout=asyncio.subprocess.PIPE,
            stderr=stderr,
            cwd=cwd,
            env=env,
            start_new_session=True,
        )
        return cls(process, pipes)

    @property
    def pid(self) -> int:
        """The process id, which is also the id of its process session."""
        return self._process.get_pid()

    @property
    def return_code(self) -> int | None:
        """The exit code, or the negative number of a signal; None while the process runs."""
        return self._process.get_returncode()

    async def exited(self) -> None:
        """Wait until the process itself has ended; its children may still run."""
        await self.pipes.exited.wait()

    async def ends_within(self, seconds: float) -> bool:
        """Wait at most this long for the end; return whether the process has ended."""
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self.exited(), seconds)
        return self.pipes.exited.is_set()

    def tree(self) -> list[psutil.Process]:
        """Return the process and its descendants, including those that left its session."""
        with contextlib.suppress(psutil.Error):
            if self._root is not None:
                return [*self._root.children(recursive=True), self._root]
        return []

    def has_members(self) -> bool:
        """Whether any process of the process session still runs."""
        if os.name != "posix" or self._pid_is_reused():
            return False
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.pid, 0)
            return True
        return Path("/proc/self").is_dir() and bool(guard.session_members(self.pid))

    def signal(self, tree: list[psutil.Process], number: signal.Signals) -> None:
        """Send a signal to these processes and to all processes of the session."""
        # psutil compares creation times, so a reused pid is never hit.
        for process in tree:
            with contextlib.suppress(psutil.Error):
                process.send_signal(number)
        if os.name == "posix" and not self._pid_is_reused():
            guard.signal_session(self.pid, number)

    async def terminate(self, tree: list[psutil.Process], stage_s: float) -> None:
        """Terminate the processes; kill those that still run after `stage_s` seconds."""
        self.signal(tree, signal.SIGTERM)
        if not await self.ends_within(stage_s):
            self.signal(tree, signal.SIGKILL)
            await self.ends_within(stage_s)

    def kill_now(self) -> None:
        """Kill the whole tree at once, when this process exits."""
        if not self._is_over:
            self.signal(self.tree(), signal.SIGKILL)
            self._dismiss_guard()

    def close(self) -> None:
        """Close the pipes, which otherwise stay open if nobody reads them, and end the guard."""
        self._process.close()
        self._is_over = True
        self._dismiss_guard()

    def _pid_is_reused(self) -> bool:
        # The session outlives its first process: with no process of this id, none is reused.
        if not psutil.pid_exists(self.pid):
            return False
        return self._root is None or not self._root.is_running()

    def _dismiss_guard(self) -> None:
        guardian, self._guardian = self._guardian, None
        if guardian is None:
            return
        assert guardian.stdin is not None
        with contextlib.suppress(OSError):
            guardian.stdin.write(b".")
            guardian.stdin.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            guardian.wait(GUARD_EXIT_S)


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


def _start_guard(session_id: int) -> subprocess.Popen[bytes] | None:
    if os.name != "posix":
        return None
    try:
        return subprocess.Popen(
            [sys.executable, "-I", "-S", guard.__file__, str(session_id)],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
    except OSError:
        logger.warning("No guard could be started for a process.", exc_info=True)
        return None
