"""How an agent is reached: as a process of ours or at an address; their common interface.

Knows no message.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from acp_notebook.client.agents.launch import Launch
from acp_notebook.client.connection.stdio_process import AgentProcess, StderrTail
from acp_notebook.jsonrpc import Transport


class Endpoint(Protocol):
    """A started or reached agent, before the handshake.

    Attributes:
        on_unread: Called with the number of waiting bytes when the agent has not read them for a
            while.
    """

    on_unread: Callable[[int], None] | None

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
        """Wait until the process or connection has ended, or can be told nothing more."""

    async def wait(self) -> None:
        """Wait until the process or connection has ended and its stderr is read."""

    async def stop(self) -> None:
        """End the process or connection; may be called more than once."""

    def kill_now(self) -> None:
        """End the process or connection at once; on any thread."""


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
