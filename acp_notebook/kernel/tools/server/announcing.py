"""An MCP server that notifies its clients when its list of tools changes. Imports the MCP SDK.

Clients of older MCP versions are notified on their open stream, newer ones through the subscription
they have requested. Usable on the server's loop only. Knows no tool and no caller.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Any, Final

from mcp.server.lowlevel import NotificationOptions, Server
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler, ToolsListChanged

# A client that reconnects repeatedly leaves its old connections in the list.
_MAX_CLIENTS: Final = 64


class AnnouncingServer(Server[Any]):
    """An MCP server with a changing list of tools."""

    def __init__(self, name: str, *, on_list_tools: Any, **options: Any) -> None:
        self._bus: Final = InMemorySubscriptionBus()
        self._clients: dict[str, Any] = {}

        async def list_tools(context: Any, params: Any) -> Any:
            self._note(context)
            return await on_list_tools(context, params)

        super().__init__(
            name,
            on_list_tools=list_tools,
            on_subscriptions_listen=ListenHandler(self._bus),
            **options,
        )

    def create_initialization_options(
        self, notification_options: NotificationOptions | None = None, *args: Any, **options: Any
    ) -> Any:
        """Return the handshake's options, which declare that the list may change."""
        notification_options = notification_options or NotificationOptions(tools_changed=True)
        return super().create_initialization_options(notification_options, *args, **options)

    def _note(self, context: Any) -> None:
        """Register a client that has read the list; over stdio there is only one."""
        headers = getattr(context.request, "headers", {})
        key = headers.get("mcp-session-id", "")
        self._clients.pop(key, None)
        self._clients[key] = context.session
        if len(self._clients) > _MAX_CLIENTS:
            del self._clients[next(iter(self._clients))]

    async def announce(self) -> None:
        """Notify every client that the list has changed."""
        await self._bus.publish(ToolsListChanged())
        for session in list(self._clients.values()):
            with suppress(Exception):  # a client that has gone
                await session.send_tool_list_changed()
