"""An agent's process: start, stderr, staged stop with its whole process tree.

The process gets a session of its own, because a kernel interrupt goes to the kernel's whole process
group and must not kill the agent. The price is that somebody has to end it: `stop` in stages
(close stdin, terminate, kill), `kill_now` at exit, and `guard` when this process is killed.
Knows no ACP.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import psutil

from acp_notebook.client import guard
from acp_notebook.errors import AgentNotFound
from acp_notebook.jsonrpc import StreamTransport

logger = logging.getLogger(__name__)

STDERR_TAIL_BYTES = 64 * 1024
STAGE_S = 2.0
_READ_BYTES = 64 * 1024


class StderrTail:
    """The last part of what an agent wrote to stderr."""

    def __init__(self) -> None:
        self._kept = bytearray()

    def feed(self, data: bytes) -> None:
        """Append what was read; the oldest bytes make room."""
        self._kept += data
        if len(self._kept) > 2 * STDERR_TAIL_BYTES:
            del self._kept[:-STDERR_TAIL_BYTES]

    @property
    def text(self) -> str:
        """The tail as text; undecodable bytes are replaced, for showing only."""
        return self._kept[-STDERR_TAIL_BYTES:].decode(errors="replace")


class _Pipes(asyncio.subprocess.SubprocessStreamProtocol):
    """The process's streams, and when it exited.

    asyncio's own `Process.wait` also waits for the pipes in some Python versions, which a child of
    the agent can hold open for ever.
    """

    def __init__(self) -> None:
        super().__init__(_READ_BYTES, asyncio.get_running_loop())
        self.exited = asyncio.Event()

    def process_exited(self) -> None:
        super().process_exited()
        self.exited.set()


class AgentProcess:
    """A running agent. All methods but `kill_now` belong to the agent thread."""

    def __init__(
        self,
        process: asyncio.SubprocessTransport,
        pipes: _Pipes,
        guardian: subprocess.Popen[bytes] | None,
    ) -> None:
        assert pipes.stdin is not None
        assert pipes.stdout is not None
        self._process = process
        self._pipes = pipes
        self._guardian = guardian
        self._root = _process_of(process.get_pid())
        self._is_over = False
        self._stop_lock = asyncio.Lock()
        self.stderr = StderrTail()
        self.on_stderr: Callable[[], None] | None = None
        self.transport = StreamTransport(pipes.stdout, pipes.stdin)
        self._stderr_task = asyncio.get_running_loop().create_task(self._drain_stderr())

    @classmethod
    async def start(
        cls, command: Sequence[str], *, env: Mapping[str, str], cwd: str
    ) -> AgentProcess:
        """Start a command with the user's environment and these additions (WIRE-9).

        Raises:
            AgentNotFound: The command or the folder is not there, or it cannot be executed.
        """
        environment = {**os.environ, **env}
        program = _resolve(command, environment.get("PATH", ""), cwd)
        try:
            process, pipes = await asyncio.get_running_loop().subprocess_exec(
                _Pipes,
                program,
                *command[1:],
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
                cwd=cwd,
                env=environment,
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or error
            raise AgentNotFound(
                f"{program} cannot be started: {reason}. "
                "Check that it is a program for this machine and that you may execute it."
            ) from error
        return cls(process, pipes, _start_guard(process.get_pid()))

    async def _drain_stderr(self) -> None:
        # Always, or an agent that writes a lot would stop at a full pipe (WIRE-6).
        assert self._pipes.stderr is not None
        while data := await self._pipes.stderr.read(_READ_BYTES):
            self.stderr.feed(data)
            if self.on_stderr is not None:
                self.on_stderr()

    @property
    def pid(self) -> int:
        """The process id, which is also the id of its process session."""
        return self._process.get_pid()

    @property
    def status(self) -> str:
        """How it ended, in words; empty while it runs."""
        code = self._process.get_returncode()
        if code is None:
            return ""
        if code >= 0:
            return f"exit code {code}"
        with contextlib.suppress(ValueError):
            return f"signal {signal.Signals(-code).name}"
        return f"signal {-code}"

    async def exited(self) -> None:
        """Until the process itself has ended; what it started may go on."""
        await self._pipes.exited.wait()

    async def wait(self) -> None:
        """Until the process has ended and its stderr is read.

        A child that inherited stderr can keep it open for ever: that wait is bounded.
        """
        await self.exited()
        await asyncio.wait({self._stderr_task}, timeout=STAGE_S)

    async def stop(self) -> None:
        """End it in stages, with all its processes. May be called more than once."""
        async with self._stop_lock:
            if self._is_over:
                return
            tree = self._tree()
            await self.transport.aclose()
            if not await self._ends_in_time():
                self._signal(tree, signal.SIGTERM)
                if not await self._ends_in_time():
                    self._signal(tree, signal.SIGKILL)
                    await self._ends_in_time()
            # The agent may have gone and left children behind.
            self._signal(tree, signal.SIGKILL)
            await asyncio.wait({self._stderr_task}, timeout=STAGE_S)
            # Closes the pipes, which would stay open where nobody reads to their end.
            self._process.close()
            self._is_over = True
            self._dismiss_guard()

    async def _ends_in_time(self) -> bool:
        try:
            await asyncio.wait_for(self.exited(), STAGE_S)
        except TimeoutError:
            return False
        return True

    def kill_now(self) -> None:
        """Kill the whole tree at once; for the end of this process."""
        if not self._is_over:
            self._signal(self._tree(), signal.SIGKILL)
            self._dismiss_guard()

    def _tree(self) -> list[psutil.Process]:
        """The processes below it, also those that left its session."""
        with contextlib.suppress(psutil.Error):
            if self._root is not None:
                return [*self._root.children(recursive=True), self._root]
        return []

    def _signal(self, tree: list[psutil.Process], number: signal.Signals) -> None:
        # psutil compares creation times, so a reused pid is never hit.
        for process in tree:
            with contextlib.suppress(psutil.Error):
                process.send_signal(number)
        if os.name == "posix" and not self._pid_is_reused():
            guard.signal_session(self.pid, number)

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
            guardian.wait(STAGE_S)


def _process_of(pid: int) -> psutil.Process | None:
    try:
        return psutil.Process(pid)
    except psutil.Error:
        return None  # it has ended already


def _resolve(command: Sequence[str], path: str, cwd: str) -> str:
    if not Path(cwd).is_dir():
        raise AgentNotFound(f"The folder {cwd} does not exist. Choose another one with --cwd.")
    name = command[0]
    if os.path.dirname(name):  # noqa: PTH120 - the question is whether a folder was written
        candidate = Path(cwd, Path(name).expanduser())
        if candidate.is_file() and os.access(candidate, os.X_OK):
            return str(candidate)
        if candidate.exists():
            raise AgentNotFound(
                f"{candidate} is not an executable file. Make it executable (chmod +x), "
                "or start it through its interpreter."
            )
        raise AgentNotFound(f"There is no {candidate}. Check the path of the agent's command.")
    found = shutil.which(name, path=path)
    if found is None:
        folders = "\n  ".join(path.split(os.pathsep))
        raise AgentNotFound(
            f"There is no command {name!r} on the PATH of this kernel. Install the agent, or give "
            f"the full path of its command. Looked in:\n  {folders}"
        )
    return found


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
        logger.warning("No guard could be started for the agent's process.", exc_info=True)
        return None
