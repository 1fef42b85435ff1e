"""The kernel's tools for agents without HTTP: an MCP server over stdin and stdout.

The server forwards every call by HTTP. It reads the token from the environment, because arguments
are visible to every user of the machine. Knows no tool.
"""

from __future__ import annotations

import asyncio
import os
import sys
from typing import Any

from acp_notebook.agent_kit.tool_server import http_streams
from acp_notebook.kernel.tools.server.tool_server import SERVER_NAME, TOKEN_VARIABLE


async def _bridge(url: str, token: str) -> None:
    import mcp_types as types
    from mcp.client.client import Client
    from mcp.server.stdio import stdio_server

    async def on_message(message: Any) -> None:
        if isinstance(message, types.ToolListChangedNotification):
            await server.announce()

    wire = http_streams(url, {"Authorization": f"Bearer {token}"})
    async with Client(wire, mode="legacy", message_handler=on_message) as kernel:
        server = _relay(kernel)
        async with stdio_server() as (read, write):
            await server.run(read, write, server.create_initialization_options())


def _relay(kernel: Any) -> Any:
    import mcp_types as types

    from acp_notebook.kernel.tools.server.announcing import AnnouncingServer

    async def list_tools(_context: Any, _params: Any) -> types.ListToolsResult:
        return types.ListToolsResult(tools=(await kernel.session.list_tools()).tools)

    async def call_tool(context: Any, params: Any) -> Any:
        async def report(progress: float, total: float | None, message: str | None) -> None:
            await context.session.report_progress(progress, total, message)

        return await kernel.session.call_tool(
            params.name, params.arguments, progress_callback=report
        )

    return AnnouncingServer(
        SERVER_NAME,
        instructions=kernel.instructions,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )


def main() -> None:
    """Serve until stdin ends."""
    token = os.environ.pop(TOKEN_VARIABLE, "")
    if len(sys.argv) != 2 or not token:  # noqa: PLR2004 - the program and the address
        sys.exit(
            f"usage: {TOKEN_VARIABLE}=... python -m acp_notebook.kernel.tools.server.bridge URL"
        )
    asyncio.run(_bridge(sys.argv[1], token))


if __name__ == "__main__":
    main()
