"""What can be told of an agent: who it is, what it offers, what it said beside the protocol.

Only reads; usable from any thread. Knows the connection, no session.
"""

from __future__ import annotations

from acp_notebook.client.agent_thread import AgentThread
from acp_notebook.client.connection.agent_connection import AgentConnection
from acp_notebook.client.connection.reconnecting import ReconnectingConnection
from acp_notebook.protocol.dialect import AuthMethod, Capabilities, Implementation
from acp_notebook.protocol.negotiate import Negotiated
from acp_notebook.trace.recording import Recording


class AgentFacts:
    """The reading half of `Agent`."""

    def __init__(self, connecting: ReconnectingConnection, thread: AgentThread) -> None:
        self.thread = thread
        self._connecting = connecting

    @property
    def _facts(self) -> Negotiated:
        return self._connecting.facts

    @property
    def connection(self) -> AgentConnection:
        """The present connection; on the agent thread."""
        return self._connecting.connection

    @property
    def info(self) -> Implementation:
        """Name, title and version, as it says."""
        return self._facts.info

    @property
    def capabilities(self) -> Capabilities:
        """What it offers."""
        return self._facts.capabilities

    @property
    def auth_methods(self) -> tuple[AuthMethod, ...]:
        """Its ways to log in; having some does not mean that a login is needed."""
        return self._facts.auth_methods

    @property
    def protocol_version(self) -> int:
        """The negotiated version."""
        return self._facts.dialect.version

    @property
    def stderr(self) -> str:
        """The last part of what it wrote to stderr."""
        return self.connection.stderr

    @property
    def noise(self) -> list[str]:
        """Lines on its stdout that were no messages."""
        return self.thread.call(lambda: list(self.connection.noise))

    @property
    def recording(self) -> Recording:
        """The wire traffic of the present connection."""
        return self.connection.recording

    @property
    def pid(self) -> int | None:
        """Its process id; None before it was started, and for an agent at an address."""
        return self.connection.endpoint.pid if self.connection.endpoint is not None else None

    @property
    def is_running(self) -> bool:
        """Whether its process is connected."""
        return self.connection.is_alive
