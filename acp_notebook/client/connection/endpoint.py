"""An agent that was started or reached: what a connection needs of a process or an address.

Knows no message.
"""

from __future__ import annotations

from typing import Protocol

from acp_notebook.client.connection.launch import Launch
from acp_notebook.client.connection.stdio_process import AgentProcess, StderrTail
from acp_notebook.jsonrpc import Transport


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
