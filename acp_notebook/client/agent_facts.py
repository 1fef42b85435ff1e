"""The readable facts of an agent, from any thread. Knows the connection, no session."""

from __future__ import annotations

from acp_notebook.client.agent_thread import AgentThread
from acp_notebook.client.connection.agent_connection import AgentConnection
from acp_notebook.client.connection.reconnecting import ReconnectingConnection
from acp_notebook.protocol.dialect import AuthMethod, Capabilities, Implementation
from acp_notebook.protocol.negotiate import Negotiated
from acp_notebook.trace.recording import Recording


class AgentFacts:
    """The read-only half of `Agent`: identity, capabilities, process, output."""

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
        """The agent's name, title and version."""
        return self._facts.info

    @property
    def capabilities(self) -> Capabilities:
        """The agent's capabilities."""
        return self._facts.capabilities

    @property
    def auth_methods(self) -> tuple[AuthMethod, ...]:
        """The ways to log in, which an agent may list even if no login is needed."""
        return self._facts.auth_methods

    @property
    def protocol_version(self) -> int:
        """The negotiated protocol version."""
        return self._facts.dialect.version

    @property
    def stderr(self) -> str:
        """The last part of the agent's stderr."""
        return self.connection.stderr

    @property
    def noise(self) -> list[str]:
        """Lines on the agent's stdout that were no messages."""
        return self.thread.call(lambda: list(self.connection.noise))

    @property
    def recording(self) -> Recording:
        """The wire traffic of the present connection."""
        return self.connection.recording

    @property
    def pid(self) -> int | None:
        """The process id; None before the start, and for an agent at an address."""
        return self.connection.endpoint.pid if self.connection.endpoint is not None else None

    @property
    def is_running(self) -> bool:
        """Whether the agent is connected."""
        return self.connection.is_alive
