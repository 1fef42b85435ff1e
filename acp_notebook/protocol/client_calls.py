"""What an agent may ask of this client's disk and shell: requests and results without wire names.

A version that has such calls gives a `ClientCalls` with its dialect; a version without gives None.
Knows no file and no process.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, NamedTuple, TypeVar

from acp_notebook.errors import NOT_FOUND_CODE
from acp_notebook.jsonrpc import RpcError
from acp_notebook.protocol.fields import Json
from acp_notebook.session.updates import ExitStatus, TerminalId

Q = TypeVar("Q")
R = TypeVar("R")


@dataclass(frozen=True, slots=True)
class ReadFile:
    """A text file, or `limit` lines of it; `line` counts from 1."""

    path: str
    line: int = 1
    limit: int | None = None


@dataclass(frozen=True, slots=True)
class WriteFile:
    """The whole text of a file."""

    path: str
    content: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class StartCommand:
    """A command with its arguments, and how many bytes of its output are kept."""

    command: str
    arguments: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict, repr=False)
    cwd: str | None = None
    output_limit_bytes: int | None = None


class CommandOutput(NamedTuple):
    """What a command has written so far; `exit_status` None: it goes on."""

    text: str
    is_truncated: bool
    exit_status: ExitStatus | None


@dataclass(frozen=True, slots=True)
class ClientCall(Generic[Q, R]):
    """One method: its name, how its params are read and its result is written."""

    method: str
    read: Callable[[Json], Q]
    """Raises `Malformed`."""
    write: Callable[[R], dict[str, Any]]


@dataclass(frozen=True, slots=True)
class ClientCalls:
    """The methods of one version."""

    read_file: ClientCall[ReadFile, str]
    write_file: ClientCall[WriteFile, None]
    start_command: ClientCall[StartCommand, TerminalId]
    command_output: ClientCall[TerminalId, CommandOutput]
    wait_for_exit: ClientCall[TerminalId, ExitStatus]
    kill_command: ClientCall[TerminalId, None]
    release_terminal: ClientCall[TerminalId, None]


def not_found(message: str, uri: str | None = None) -> RpcError:
    """The error for a file or terminal that is not there."""
    return RpcError(NOT_FOUND_CODE, message, None if uri is None else {"uri": uri})
