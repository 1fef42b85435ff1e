"""How an agent is reached: as a process of ours or at an address; their common interface.

Knows no message.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol
from urllib.parse import urlsplit

from acp_notebook.client.connection.stdio_process import AgentProcess, StderrTail
from acp_notebook.jsonrpc import Transport
from acp_notebook.protocol.negotiate import LATEST

_ADDRESS = re.compile(r"(wss?|https?)://", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Launch:
    """How to start or reach an agent; `name` is its label in the notebook.

    With an `address` there is no command, and `headers` are sent with every connection. `serve`
    names the client capabilities that the agent is offered.
    """

    name: str
    command: tuple[str, ...]
    cwd: str
    env: dict[str, str] = field(default_factory=dict)
    protocol: int = LATEST
    address: str = ""
    headers: dict[str, str] = field(default_factory=dict, repr=False)
    serve: frozenset[str] = frozenset()
    directories: tuple[str, ...] = ()
    """Additional working directories of its sessions, as absolute paths."""

    @property
    def advice(self) -> str:
        """A sentence for the user on what to do if the agent does not start or answer."""
        if self.address:
            shown = public_address(self.address)
            return f"Check the address, and that an agent is served there: {shown}"
        return f"To see what it says, run it in a terminal: {shlex.join(self.command)}"

    @property
    def comeback(self) -> str:
        """A sentence for the user on what happens after the agent was lost."""
        return f"Your next prompt {'connects' if self.address else 'starts it'} again."


class Endpoint(Protocol):
    """A started or reached agent, before the handshake."""

    on_stderr: Callable[[], None] | None

    @property
    def transport(self) -> Transport:
        """The transport to the agent."""

    @property
    def stderr(self) -> StderrTail:
        """The end of the agent's stderr; empty for an agent at an address."""

    @property
    def pid(self) -> int | None:
        """The process id; None for an agent at an address."""

    @property
    def status(self) -> str:
        """How the process or connection ended, in a few words; empty until then."""

    @property
    def ending(self) -> str:
        """How the process or connection ended, as a predicate that follows the agent's name."""

    async def exited(self) -> None:
        """Wait until the process or connection has ended."""

    async def wait(self) -> None:
        """Wait until the process or connection has ended and its stderr is read."""

    async def stop(self) -> None:
        """End the process or connection; may be called more than once."""

    def kill_now(self) -> None:
        """End the process or connection at once; on any thread."""


def is_address(name: str) -> bool:
    """Whether the text is the address of an agent (ws, wss, http, https) and not its name."""
    return _ADDRESS.match(name) is not None


def public_address(address: str) -> str:
    """Return the address without its user part and query, which may hold a secret."""
    parts = urlsplit(address)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"


async def open_endpoint(launch: Launch) -> Endpoint:
    """Start the agent's process, or connect to its address.

    Raises:
        AgentNotFound: The agent cannot be started or reached.
        UsageError: The packages for addresses are not installed.
    """
    if launch.address:
        from acp_notebook.client.connection.remote import RemoteAgent

        return await RemoteAgent.connect(launch.address, launch.headers)
    return await AgentProcess.start(launch.command, env=launch.env, cwd=launch.cwd)
