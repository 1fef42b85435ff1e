"""Access to the tools: the server runs as long as a session has a token for it.

Each session gets a token of its own and the transport that its agent supports. Runs on the agent
thread. Knows the form of an MCP server entry; does not know what the tools do.
"""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING, Any

from acp_notebook.agent_kit.tool_server import is_loopback
from acp_notebook.client.host import McpServer
from acp_notebook.kernel.tools import functions
from acp_notebook.kernel.tools.caller import Caller
from acp_notebook.kernel.tools.server.tool_server import (
    CLOSE_S,
    ToolServer,
    bridge_entry,
    http_entry,
)
from acp_notebook.kernel.tools.toolbox import Toolbox

if TYPE_CHECKING:
    from acp_notebook.client.agent import Agent
    from acp_notebook.client.live.live_session import LiveSession

logger = logging.getLogger(__name__)


class KernelTools:
    """Gives the agents' sessions access to the tools of this kernel."""

    def __init__(self, shell: Any) -> None:
        self.prefers_bridge = False
        """Whether agents that support stdio and HTTP get the stdio bridge."""
        self._toolbox = Toolbox(shell)
        self._server: ToolServer[Caller] | None = None
        self._callers: list[Caller] = []

    def servers_for(self, agent: Agent, live: LiveSession) -> tuple[McpServer, ...]:
        """Return the MCP servers for a session's setup; none if the agent cannot connect."""
        write = _entry_writer(agent, prefers_bridge=self.prefers_bridge)
        if write is None:
            return ()
        if self._server is None:
            self._server = ToolServer(self._toolbox)
            functions.listeners.append(self._server.announce)
        caller = next((caller for caller in self._callers if caller.live is live), None)
        if caller is None:
            caller = Caller(agent, live)
            self._callers.append(caller)
        self._server.unregister(caller)
        token = self._server.register(caller)
        entry = write(self._server.url, token)
        return (McpServer(entry, (token,), lambda: self._release(caller, token)),)

    async def _release(self, caller: Caller, token: str) -> None:
        """Revoke the token of a session; without other sessions, stop the server."""
        server = self._server
        if server is None or not server.admits(token):
            return  # the session has got another token since
        caller.leave()
        self._callers.remove(caller)
        server.unregister(caller)
        if server.is_needed:
            return
        self._server = None
        functions.listeners.remove(server.announce)
        _, late = await asyncio.wait({asyncio.wrap_future(server.close())}, timeout=CLOSE_S)
        if late:
            logger.warning("The notebook's tools still listen on port %d.", server.port)


def _entry_writer(agent: Agent, *, prefers_bridge: bool = False) -> Any:
    """Return the entry function for the agent: HTTP, stdio bridge, or None if out of reach."""
    address = agent.launch.address
    if address and not is_loopback(address):
        return None
    offered = agent.capabilities
    if offered.mcp_stdio and (prefers_bridge or not offered.mcp_http):
        return bridge_entry
    return http_entry if offered.mcp_http else None
