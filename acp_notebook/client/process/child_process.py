"""A process of this client with everything below it, in a process session of its own.

What an agent's process and a terminal's command have in common: the start, the end of the whole
tree, and the guard that ends it when this process is killed. Knows neither of the two, and no ACP.
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
    """The process's streams, and when it exited.

    asyncio's own `Process.wait` also waits for the pipes in some Python versions, which a child of
    the process can hold open for ever.
    """

    def __init__(self) -> None:
        super().__init__(READ_BYTES, asyncio.get_running_loop())
        self.exited = asyncio.Event()

    def process_exited(self) -> None:
        """Note the end; called by the event loop."""
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
            OSError: It cannot be started.
            ValueError: A word of it cannot be passed to the system.
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
        """How it ended: a code, or the negative number of a signal; None while it runs."""
        return self._process.get_returncode()

    async def exited(self) -> None:
        """Until the process itself has ended; what it started may go on."""
        await self.pipes.exited.wait()

    async def ends_within(self, seconds: float) -> bool:
        """Whether it ends in this time."""
        try:
            await asyncio.wait_for(self.exited(), seconds)
        except TimeoutError:
            return False
        return True

    def tree(self) -> list[psutil.Process]:
        """The processes below it and itself, also those that left its session."""
        with contextlib.suppress(psutil.Error):
            if self._root is not None:
                return [*self._root.children(recursive=True), self._root]
        return []

    def has_members(self) -> bool:
        """Whether anything of its process session still runs."""
        if os.name != "posix" or self._pid_is_reused():
            return False
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.pid, 0)
            return True
        return Path("/proc/self").is_dir() and bool(guard.session_members(self.pid))

    def signal(self, tree: list[psutil.Process], number: signal.Signals) -> None:
        """Send a signal to these processes and to all of its session."""
        # psutil compares creation times, so a reused pid is never hit.
        for process in tree:
            with contextlib.suppress(psutil.Error):
                process.send_signal(number)
        if os.name == "posix" and not self._pid_is_reused():
            guard.signal_session(self.pid, number)

    async def terminate(self, tree: list[psutil.Process], stage_s: float) -> None:
        """Terminate the processes, then kill what is left."""
        self.signal(tree, signal.SIGTERM)
        if not await self.ends_within(stage_s):
            self.signal(tree, signal.SIGKILL)
            await self.ends_within(stage_s)

    def kill_now(self) -> None:
        """Kill the whole tree at once; for the end of this process."""
        if not self._is_over:
            self.signal(self.tree(), signal.SIGKILL)
            self._dismiss_guard()

    def close(self) -> None:
        """Let go of it: the pipes, which stay open where nobody reads them, and the guard."""
        self._process.close()
        self._is_over = True
        self._dismiss_guard()

    def _pid_is_reused(self) -> bool:
        # The session outlives its first process, so that one being gone is no reason to stop here.
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
    """A signal's name, or its number where it has none."""
    with contextlib.suppress(ValueError):
        return signal.Signals(number).name
    return str(number)


def _process_of(pid: int) -> psutil.Process | None:
    try:
        return psutil.Process(pid)
    except psutil.Error:
        return None  # it has ended already


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
