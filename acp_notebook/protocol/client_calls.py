"""An agent's calls of this client's disk and shell, without wire names.

The dialect of a version with such calls has a `ClientCalls`. Knows no file and no process.
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
    """A text file to read, or `limit` lines of it; `line` counts from 1."""

    path: str
    line: int = 1
    limit: int | None = None


@dataclass(frozen=True, slots=True)
class WriteFile:
    """A file to write, with its whole text."""

    path: str
    content: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class StartCommand:
    """A command to start, and the number of bytes of its output to keep."""

    command: str
    arguments: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict, repr=False)
    cwd: str | None = None
    output_limit_bytes: int | None = None


class CommandOutput(NamedTuple):
    """A command's output so far; `exit_status` None while it runs."""

    text: str
    is_truncated: bool
    exit_status: ExitStatus | None


@dataclass(frozen=True, slots=True)
class ClientCall(Generic[Q, R]):
    """A method, the reader of its params and the writer of its result."""

    method: str
    read: Callable[[Json], Q]
    """Raises `Malformed`."""
    write: Callable[[R], dict[str, Any]]


@dataclass(frozen=True, slots=True)
class ClientCalls:
    """The methods of a version."""

    read_file: ClientCall[ReadFile, str]
    write_file: ClientCall[WriteFile, None]
    start_command: ClientCall[StartCommand, TerminalId]
    command_output: ClientCall[TerminalId, CommandOutput]
    wait_for_exit: ClientCall[TerminalId, ExitStatus]
    kill_command: ClientCall[TerminalId, None]
    release_terminal: ClientCall[TerminalId, None]


def not_found(message: str, uri: str | None = None) -> RpcError:
    """Return the error for a missing file or terminal."""
    return RpcError(NOT_FOUND_CODE, message, None if uri is None else {"uri": uri})
