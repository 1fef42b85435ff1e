"""The MCP servers that a client passes to an agent: connecting, and calling their tools.

A thin layer over the official `mcp` SDK, which is imported at the first connection. Knows no
version of ACP: it reads the server entries of both.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import urlsplit

TRANSPORTS: Final = ("http", "stdio")
_CONNECT_S: Final = 30.0


@dataclass(frozen=True, slots=True)
class ToolAnswer:
    """The result of a tool call."""

    text: str
    blocks: list[dict[str, Any]] = field(default_factory=list)
    """The whole result, images too, as content blocks for `turn.say` and `tool.output`."""
    failed: bool = False


class ToolServer:
    """An open connection to one MCP server."""

    def __init__(self, name: str, client: Any, tools: Mapping[str, str]) -> None:
        self.name = name
        self.tools = dict(tools)
        """Descriptions by tool name."""
        self._client = client

    async def call(self, tool: str, /, **arguments: Any) -> ToolAnswer:
        """Call a tool and wait for its answer without limit: a person may have to allow it."""
        result = await self._client.call_tool(tool, arguments)
        blocks = [
            block.model_dump(mode="json", by_alias=True, exclude_none=True)
            for block in result.content
        ]
        texts = [block["text"] for block in blocks if block.get("type") == "text"]
        return ToolAnswer("\n".join(texts), blocks, bool(result.is_error))


@asynccontextmanager
async def connect(entry: Mapping[str, Any]) -> AsyncIterator[ToolServer]:
    """Connect to a server of `session.mcp_servers`.

    Raises:
        ValueError: The transport is neither http nor stdio.
    """
    from mcp.client.client import Client

    async with Client(_transport(entry), mode="legacy") as client:
        listed = await client.list_tools()
        tools = {tool.name: tool.description or "" for tool in listed.tools}
        yield ToolServer(str(entry.get("name", "")), client, tools)


def _transport(entry: Mapping[str, Any]) -> Any:
    # Version 1 omits the type of stdio servers.
    kind = entry.get("type", "stdio")
    if kind == "http":
        return http_streams(str(entry["url"]), _pairs(entry.get("headers")))
    if kind == "stdio":
        from mcp.client.stdio import StdioServerParameters, stdio_client

        return stdio_client(
            StdioServerParameters(
                command=str(entry["command"]),
                args=[str(arg) for arg in entry.get("args") or ()],
                env=_pairs(entry.get("env")),
            )
        )
    raise ValueError(f"The MCP server speaks {kind!r}; the kit has {', '.join(TRANSPORTS)}.")


def is_loopback(address: str) -> bool:
    """Whether an address is on the loopback interface, so that no proxy may serve it."""
    return urlsplit(address).hostname in {"127.0.0.1", "localhost", "::1"}


@asynccontextmanager
async def http_streams(url: str, headers: dict[str, str]) -> AsyncIterator[Any]:
    """Open the streams to an MCP server; no answer is too late: a person may have to allow it."""
    import httpx2
    from mcp.client.streamable_http import streamable_http_client

    client = httpx2.AsyncClient(
        headers=headers,
        timeout=httpx2.Timeout(_CONNECT_S, read=None),
        trust_env=not is_loopback(url),
    )
    async with client, streamable_http_client(url, http_client=client) as streams:
        yield streams


def _pairs(items: Any) -> dict[str, str]:
    """Read headers or variables, which ACP sends as a list of names with values."""
    return {str(item["name"]): str(item["value"]) for item in items or ()}
