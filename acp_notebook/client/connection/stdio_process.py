"""An agent's process: start, stderr, staged stop with its whole process tree.

The process gets a session of its own, because a kernel interrupt goes to the kernel's whole process
group and must not kill the agent. Therefore it must be ended explicitly: by `stop` in stages (close
stdin, terminate, kill), by `kill_now` at exit, and by `guard` when this process is killed. An agent
that closes its stdin counts as ended, for it can be told nothing more. Knows no ACP.
"""

from __future__ import annotations

import asyncio
import os
import shutil
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from acp_notebook.client.process.child_process import READ_BYTES, ChildProcess, signal_name
from acp_notebook.client.process.environment import agent_environment
from acp_notebook.errors import AgentNotFound, out_of_files
from acp_notebook.jsonrpc import StreamTransport

STDERR_TAIL_BYTES = 64 * 1024
STAGE_S = 2.0
UNREAD_S = 5.0
"""How long input may wait until the user is told."""


class StderrTail:
    """The last `STDERR_TAIL_BYTES` of an agent's stderr."""

    def __init__(self) -> None:
        self._kept = bytearray()

    def feed(self, data: bytes) -> None:
        """Append bytes; the oldest ones are dropped."""
        self._kept += data
        if len(self._kept) > 2 * STDERR_TAIL_BYTES:
            del self._kept[:-STDERR_TAIL_BYTES]

    @property
    def text(self) -> str:
        """The tail as text for display; undecodable bytes are replaced."""
        return self._kept[-STDERR_TAIL_BYTES:].decode(errors="replace")


class AgentProcess:
    """A running agent. All methods but `kill_now` belong to the agent thread.

    Attributes:
        on_unread: Called with the number of waiting bytes when the agent has not read its input
            for `UNREAD_S`.
    """

    on_unread: Callable[[int], None] | None = None

    def __init__(self, child: ChildProcess) -> None:
        assert child.pipes.stdin is not None
        assert child.pipes.stdout is not None
        self._child = child
        self._is_over = False
        self._stop_lock = asyncio.Lock()
        self.stderr = StderrTail()
        self.transport = StreamTransport(child.pipes.stdout, child.pipes.stdin)
        self._loop = asyncio.get_running_loop()
        self._stderr_task = self._loop.create_task(self._drain_stderr())
        self._deaf_since: float | None = None
        self._fault = ""
        self._unread: asyncio.TimerHandle | None = None
        child.pipes.on_waiting, child.pipes.on_taken = self._input_waits, self._input_is_taken
        self._input = child.pipes.stdin.transport
        self._input.set_write_buffer_limits(0)  # report even the last byte that waits

    @classmethod
    async def start(
        cls, command: Sequence[str], *, env: Mapping[str, str], cwd: str
    ) -> AgentProcess:
        """Start a command in this process's environment, extended by `env` (WIRE-9).

        Raises:
            AgentNotFound: The command or folder does not exist, or the command cannot be executed.
        """
        environment = agent_environment(os.environ, env)
        program = resolve_program(command, environment.get("PATH", ""), cwd)
        pipe = asyncio.subprocess.PIPE
        try:
            child = await ChildProcess.start(
                program, command[1:], env=environment, cwd=cwd, stdin=pipe, stderr=pipe
            )
        except (OSError, ValueError) as error:
            if (limit := out_of_files(error)) is not None:
                raise limit from error
            reason = getattr(error, "strerror", None) or error
            raise AgentNotFound(
                f"{program} cannot be started: {reason}. "
                "Check that it is a program for this machine and that you may execute it."
            ) from error
        return cls(child)

    async def _drain_stderr(self) -> None:
        # Read all the time: an agent that writes a lot would block on a full pipe (WIRE-6).
        assert self._child.pipes.stderr is not None
        while data := await self._child.pipes.stderr.read(READ_BYTES):
            self.stderr.feed(data)

    @property
    def pid(self) -> int:
        """The process id, which is also the id of its process session."""
        return self._child.pid

    @property
    def status(self) -> str:
        """The exit code or signal, in words; empty while the process runs."""
        code = self._child.return_code
        if code is None:
            return ""
        return f"exit code {code}" if code >= 0 else f"signal {signal_name(-code)}"

    @property
    def ending(self) -> str:
        """How and why the process ended, as a predicate that follows the agent's name."""
        return f"{self._fault}ended with {self.status}"

    async def exited(self) -> None:
        """Wait until the process has ended, or reads no more; its children may still run."""
        input_closed = self._child.pipes.input_closed
        signs = [
            self._loop.create_task(each) for each in (self._child.exited(), input_closed.wait())
        ]
        try:
            await asyncio.wait(signs, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for sign in signs:
                sign.cancel()
        if input_closed.is_set() and not self.transport.is_closed:
            self._deaf_since = self._loop.time()

    def _input_waits(self) -> None:
        self._unread = self._loop.call_later(UNREAD_S, self._tell_unread)

    def _input_is_taken(self) -> None:
        if self._unread is not None:
            self._unread.cancel()

    def _tell_unread(self) -> None:
        size = self._input.get_write_buffer_size()
        if self.on_unread is not None and size and not self._input.is_closing():
            self.on_unread(size)

    async def wait(self) -> None:
        """Wait until the process has ended and its stderr is read.

        A child that inherited stderr can keep it open forever, so reading ends after `STAGE_S`.
        """
        await self._child.exited()
        await asyncio.wait({self._stderr_task}, timeout=STAGE_S)

    async def stop(self) -> None:
        """End the process and its descendants in stages. May be called more than once."""
        async with self._stop_lock:
            if self._is_over:
                return
            tree = self._child.tree()
            stage_s, fault = self._closing_stage_s(), self._closed_pipe()
            await self.transport.aclose()
            if not await self._child.ends_within(stage_s):
                self._fault = fault
                await self._child.terminate(tree, STAGE_S)
            # The agent may have left children behind.
            await self._child.kill_rest(tree, STAGE_S)
            await asyncio.wait({self._stderr_task}, timeout=STAGE_S)
            self._child.close()
            self._is_over = True

    def _closing_stage_s(self) -> float:
        # An agent that closed its stdin itself has had a part of this time.
        if self._deaf_since is None:
            return STAGE_S
        return max(0.0, self._deaf_since + STAGE_S - self._loop.time())

    def _closed_pipe(self) -> str:
        assert self._child.pipes.stdout is not None
        if self._deaf_since is not None:
            return "closed its input and could be told nothing more, so it was "
        if self._child.pipes.stdout.at_eof():
            return "closed its output and could be heard no more, so it was "
        return ""

    def kill_now(self) -> None:
        """Kill the whole tree at once, when this process exits."""
        self._child.kill_now()


def resolve_program(command: Sequence[str], path: str, cwd: str) -> str:
    """Return the path of a command's program.

    Raises:
        AgentNotFound: The program or the folder does not exist, or the program is not executable.
    """
    if not Path(cwd).is_dir():
        raise AgentNotFound(f"The folder {cwd} does not exist. Choose another one with --cwd.")
    name = command[0]
    if os.path.dirname(name):  # noqa: PTH120 - `./agent` differs from `agent` here
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
