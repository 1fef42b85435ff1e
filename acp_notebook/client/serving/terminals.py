"""Commands that an agent runs through this client, each in its own terminal. Knows no view.

Each command is a process in its own process session, with an empty stdin and one pipe for stdout
and stderr. The output goes to the agent, up to its byte limit, and into the session as a terminal
like an agent's own. A stop ends the commands of the stopped turn, and the loss or the end of the
agent all of them, with their children.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import os
import shlex
import shutil
from collections.abc import Coroutine
from pathlib import Path
from typing import Any

from acp_notebook.client.live.id_namespace import OWN_TERMINAL
from acp_notebook.client.live.live_session import LiveSession
from acp_notebook.client.process.child_process import READ_BYTES, ChildProcess, signal_name
from acp_notebook.client.serving.leave import ask_leave
from acp_notebook.client.serving.roots import Roots, find_inside
from acp_notebook.client.serving.terminal_output import KeptText, ViewFeed
from acp_notebook.jsonrpc import INVALID_PARAMS, IncomingRequest, RpcError
from acp_notebook.protocol.client_calls import CommandOutput, StartCommand, not_found
from acp_notebook.session import updates as u
from acp_notebook.session.admission import STOPPED, Admission, was_stopped
from acp_notebook.session.changes import SessionChange

STAGE_S = 2.0
DRAIN_S = 0.5
"""The wait for the end of the output after the end of the command: a child of the command may
hold the pipe for ever."""
VIEW_PERIOD_S = 0.05

_numbers = itertools.count(1)


class Command:
    """One command of the agent, from its start to its release."""

    def __init__(
        self, child: ChildProcess, session: LiveSession, admission: Admission, limit: int | None
    ) -> None:
        self.terminal_id = u.TerminalId(f"{OWN_TERMINAL}{next(_numbers)}")
        self.session = session
        self.admission = admission
        self.is_stopped = False
        self.kept = KeptText(limit)
        self.ended = asyncio.Event()
        self.exit_status: u.ExitStatus | None = None
        self._child = child
        self._feed = ViewFeed(self.terminal_id)
        self._flushing: asyncio.TimerHandle | None = None
        self._stopping = asyncio.Lock()
        self._is_closed = False
        self._loop = asyncio.get_running_loop()
        self._reading = self._loop.create_task(self._read())
        self._watching = self._loop.create_task(self._watch())

    async def _read(self) -> None:
        assert self._child.pipes.stdout is not None
        with contextlib.suppress(OSError):
            while data := await self._child.pipes.stdout.read(READ_BYTES):
                self.kept.feed(data)
                self._feed.feed(data)
                if self._flushing is None:
                    self._flushing = self._loop.call_later(VIEW_PERIOD_S, self._flush)

    def _flush(self) -> None:
        if self._flushing is not None:
            self._flushing.cancel()
            self._flushing = None
        self.session.apply(self._feed.take())

    async def _watch(self) -> None:
        await self._child.exited()
        await asyncio.wait({self._reading}, timeout=DRAIN_S)
        if self._reading.done():
            self.kept.feed(b"", is_last=True)
        code = self._child.return_code or 0
        self.exit_status = (
            u.ExitStatus(exit_code=code) if code >= 0 else u.ExitStatus(signal=signal_name(-code))
        )
        self._flush()
        self.session.apply([u.TerminalUpdate(self.terminal_id, exit_status=self.exit_status)])
        self.ended.set()
        await self._child.left_nothing()
        if self._reading.done():
            self._close()

    async def stop(self) -> None:
        """End the command and its children, even those that outlived it."""
        async with self._stopping:
            if self._is_closed:
                return
            tree = self._child.tree()
            if not self.ended.is_set():
                await self._child.terminate(tree, STAGE_S)
            await self._child.kill_rest(tree, STAGE_S)
            await asyncio.wait({self._watching}, timeout=STAGE_S)

    async def release(self) -> None:
        """End the command and close its pipe."""
        await self.stop()
        self._reading.cancel()
        self._watching.cancel()
        self._close()

    def _close(self) -> None:
        if not self._is_closed:
            self._is_closed = True
            self._child.close()

    def kill_now(self) -> None:
        """Kill the command with all its children, for the exit of this process; on any thread."""
        self._child.kill_now()


class Terminals:
    """Serves commands to the agent. Called on the agent thread, except `kill_now`."""

    def __init__(self, roots: Roots) -> None:
        self._roots = roots
        self._commands: dict[str, Command] = {}
        self._sessions: set[LiveSession] = set()
        self._endings: set[asyncio.Task[None]] = set()

    async def create(
        self, incoming: IncomingRequest, session: LiveSession, request: StartCommand
    ) -> u.TerminalId:
        """Start a command and return its terminal's id.

        Raises:
            RpcError: The folder is out of reach, the command cannot be run, or no turn stands for
                the request.
        """
        line = request.command
        words = [line, *request.arguments]
        shown = line if len(words) == 1 else shlex.join(words)
        environment = {**os.environ, **request.environment}
        roots = self._roots(session)
        folder = await asyncio.to_thread(find_inside, request.cwd or roots[0], roots)
        admission = ask_leave(session, f"run {shown}")
        try:
            program, arguments = _program(words, str(folder), environment)
            child = await ChildProcess.start(
                program,
                arguments,
                env=environment,
                cwd=str(folder),
                stdin=asyncio.subprocess.DEVNULL,
                stderr=asyncio.subprocess.STDOUT,
            )
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or error
            raise RpcError(INVALID_PARAMS, f"{line!r} cannot be run: {reason}") from None
        command = Command(child, session, admission, request.output_limit_bytes)
        self._commands[command.terminal_id] = command
        session.apply([u.TerminalUpdate(command.terminal_id, command=shown, cwd=str(folder))])
        if incoming.answered or not session.state.is_connected:
            # The request was withdrawn, or the agent ended, during the start.
            await self._discard(command)
        self._end_with(session)
        self._end_with(session.owner)
        if was_stopped(session.owner.state, admission):
            await self._discard(command)
            raise RpcError(INVALID_PARAMS, STOPPED)
        return command.terminal_id

    async def output(
        self, _incoming: IncomingRequest, _session: LiveSession, terminal_id: u.TerminalId
    ) -> CommandOutput:
        """Return the command's output so far, and its exit status."""
        command = self._command(terminal_id)
        return CommandOutput(*command.kept.read(), command.exit_status)

    async def wait_for_exit(
        self, _incoming: IncomingRequest, _session: LiveSession, terminal_id: u.TerminalId
    ) -> u.ExitStatus:
        """Wait for the end of the command and return its exit status."""
        command = self._command(terminal_id)
        await command.ended.wait()
        return command.exit_status or u.ExitStatus()

    async def kill(
        self, _incoming: IncomingRequest, _session: LiveSession, terminal_id: u.TerminalId
    ) -> None:
        """End the command; its output stays available."""
        await self._command(terminal_id).stop()

    async def release(
        self, _incoming: IncomingRequest, _session: LiveSession, terminal_id: u.TerminalId
    ) -> None:
        """End the command and forget its terminal."""
        await self._discard(self._command(terminal_id))

    def _command(self, terminal_id: u.TerminalId) -> Command:
        command = self._commands.get(terminal_id)
        if command is None:
            raise not_found(f"There is no terminal {terminal_id!r}, or it was released.")
        return command

    async def _discard(self, command: Command) -> None:
        self._commands.pop(command.terminal_id, None)
        await command.release()

    def _end_with(self, session: LiveSession) -> None:
        if session in self._sessions:
            return
        self._sessions.add(session)

        def look(changes: list[SessionChange]) -> None:
            del changes
            if session.state.is_cancelling:
                self._stop_commands(session)
            if not session.state.is_connected:
                self._sessions.discard(session)
                subscription.close()
                self.end_soon(session)

        subscription = session.subscribe(look)

    def _stop_commands(self, owner: LiveSession) -> None:
        """End the commands of a stopped turn; their output stays available."""
        turns = {prompt.prompt_id for prompt in owner.state.open_prompts}
        for command in self._commands.values():
            is_of_turn = command.session.owner is owner and command.admission.prompt_id in turns
            if is_of_turn and not command.is_stopped:
                command.is_stopped = True
                self._end_later(command.stop())

    def end_soon(self, session: LiveSession) -> None:
        """Start ending the commands of a session, without waiting."""
        self._end_later(self.end(session))

    def _end_later(self, work: Coroutine[Any, Any, None]) -> None:
        ending = asyncio.get_running_loop().create_task(work)
        self._endings.add(ending)
        ending.add_done_callback(self._endings.discard)

    async def end(self, session: LiveSession | None = None) -> None:
        """End the commands of a session, or all, and wait for their end."""
        ending = [
            command
            for command in self._commands.values()
            if session is None or command.session is session
        ]
        await asyncio.gather(*(self._discard(command) for command in ending))

    def kill_now(self) -> None:
        """Kill every command at once, for the exit of this process; on any thread."""
        for command in list(self._commands.values()):
            command.kill_now()


def _program(words: list[str], cwd: str, environment: dict[str, str]) -> tuple[str, list[str]]:
    """Find the program; a lone word that names none is a line for the shell, as agents send it."""
    name, arguments = words[0], words[1:]
    if os.path.dirname(name):  # noqa: PTH120 - the question is whether a folder was written
        candidate = Path(cwd, name)
        found = str(candidate) if candidate.is_file() else None
    else:
        found = shutil.which(name, path=environment.get("PATH", os.defpath))
    if found is not None:
        return found, arguments
    if arguments:
        raise FileNotFoundError(f"there is no command {name!r}")
    if os.name == "nt":
        return os.environ.get("COMSPEC", "cmd.exe"), ["/c", name]
    # Agents mostly write bash.
    return shutil.which("bash") or "/bin/sh", ["-c", name]
