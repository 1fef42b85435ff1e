"""Where an agent is: a process of ours, or an address. What a connection needs of either.

Knows no message.
"""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass, field
from typing import Protocol
from urllib.parse import urlsplit

from acp_notebook.client.connection.stdio_process import AgentProcess, StderrTail
from acp_notebook.jsonrpc import Transport
from acp_notebook.protocol.negotiate import LATEST

_ADDRESS = re.compile(r"(wss?|https?)://", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Launch:
    """How to start or reach an agent; `name` is what its user calls it.

    With an `address` there is no command, and `headers` go with every connection to it. `serve`
    names what of this machine it is offered.
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
    """Further folders that its sessions work in, absolute."""

    @property
    def advice(self) -> str:
        """What to do when it does not come up."""
        if self.address:
            shown = public_address(self.address)
            return f"Check the address, and that an agent is served there: {shown}"
        return f"To see what it says, run it in a terminal: {shlex.join(self.command)}"

    @property
    def comeback(self) -> str:
        """What happens next when it is lost."""
        return f"Your next prompt {'connects' if self.address else 'starts it'} again."


class Endpoint(Protocol):
    """An agent that was started or reached, before anything was said."""

    @property
    def transport(self) -> Transport:
        """Carries the messages."""
        ...

    @property
    def stderr(self) -> StderrTail:
        """The last part of what it wrote to stderr; empty where there is none."""
        ...

    @property
    def pid(self) -> int | None:
        """Its process id; None where it is no process of ours."""
        ...

    @property
    def status(self) -> str:
        """How it ended, in a few words; empty while it is there."""
        ...

    @property
    def ending(self) -> str:
        """How it ended, as the rest of a sentence that begins with its name."""
        ...

    async def exited(self) -> None:
        """Until it is gone."""

    async def wait(self) -> None:
        """Until it is gone and its last words are read."""

    async def stop(self) -> None:
        """End it; may be called more than once."""

    def kill_now(self) -> None:
        """End it at once; on any thread."""


def is_address(name: str) -> bool:
    """Whether this is where an agent is served, not what it is called."""
    return _ADDRESS.match(name) is not None


def public_address(address: str) -> str:
    """The address without its user part and query, which may hold a secret."""
    parts = urlsplit(address)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"


async def open_endpoint(launch: Launch) -> Endpoint:
    """Start the agent's process, or connect to its address.

    Raises:
        AgentNotFound: It cannot be started or reached.
        UsageError: What an address needs is not installed.
    """
    if launch.address:
        from acp_notebook.client.connection.remote import RemoteAgent

        return await RemoteAgent.connect(launch.address, launch.headers)
    return await AgentProcess.start(launch.command, env=launch.env, cwd=launch.cwd)
