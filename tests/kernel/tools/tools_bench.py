"""The official MCP client as an agent's hands, and a main thread that waits as a cell does."""

from __future__ import annotations

import asyncio
import threading
from concurrent.futures import Future
from contextlib import asynccontextmanager
from typing import Any

import httpx2
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters
from mcp.client.streamable_http import streamable_http_client

from acp_notebook.kernel.waiting.pump import Pump, WaitEvent

BOUND_S = 30.0


def mcp_over_http(entry: dict[str, Any], mode: str = "auto", hear: Any = None) -> Client:
    """The official client for an entry of `mcpServers` of type http."""
    headers = {header["name"]: header["value"] for header in entry["headers"]}
    http = httpx2.AsyncClient(
        headers=headers, timeout=httpx2.Timeout(BOUND_S, read=None), trust_env=False
    )
    return Client(_owned(entry["url"], http), mode=mode, message_handler=hear)


@asynccontextmanager
async def _owned(url: str, http: Any):
    async with http, streamable_http_client(url, http_client=http) as streams:
        yield streams


def mcp_over_stdio(entry: dict[str, Any], mode: str = "legacy", hear: Any = None) -> Client:
    """The official client for an entry of type stdio."""
    env = {item["name"]: item["value"] for item in entry["env"]}
    return Client(
        StdioServerParameters(command=entry["command"], args=entry["args"], env=env),
        mode=mode,
        message_handler=hear,
    )


class Hands:
    """Calls tools from another thread, as the agent's process does, while this one waits."""

    def __init__(self, open_client: Any) -> None:
        self._open_client = open_client
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        self._ready: Future[Any] = Future()
        self._over: asyncio.Event | None = None
        self._life = asyncio.run_coroutine_threadsafe(self._live(), self._loop)
        self.client = self._ready.result(BOUND_S)

    async def _live(self) -> None:
        self._over = asyncio.Event()
        try:
            async with self._open_client() as client:
                self._ready.set_result(client)
                await self._over.wait()
        except BaseException as error:
            if not self._ready.done():
                self._ready.set_exception(error)
            raise

    def submit(self, work: Any) -> Future[Any]:
        return asyncio.run_coroutine_threadsafe(work, self._loop)

    def begin(self, name: str, /, **arguments: Any) -> Future[Any]:
        """Call a tool; returns at once."""
        return self.submit(self.client.call_tool(name, arguments))

    def call(self, name: str, /, **arguments: Any) -> Any:
        """Call a tool and wait as a cell does."""
        return wait_as_a_cell(self.begin(name, **arguments))

    def text(self, name: str, /, **arguments: Any) -> str:
        """Call a tool; its text."""
        return text_of(self.call(name, **arguments))

    def names(self) -> list[str]:
        return [tool.name for tool in self.tools()]

    def tools(self) -> list[Any]:
        return self.submit(self.client.list_tools(cache_mode="bypass")).result(BOUND_S).tools

    def close(self) -> None:
        assert self._over is not None
        self._loop.call_soon_threadsafe(self._over.set)
        self._life.result(BOUND_S)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(BOUND_S)
        self._loop.close()


def wait_as_a_cell(future: Future[Any]) -> Any:
    """Wait on the main thread with the pump, and return the result."""
    done = WaitEvent()
    future.add_done_callback(lambda _: done.set())
    with Pump(None) as pump:
        assert pump.wait(done, BOUND_S), "the call did not come back"
    return future.result(0)


def has_spoken(session: Any) -> threading.Event:
    """Set when the agent is at work: a tool may be called sooner than a prompt is read."""
    event = threading.Event()

    def note(_changes: Any) -> None:
        messages = session.live.state.messages
        if any(key.kind == "agent" for key in messages):
            event.set()

    session.agent.thread.call(lambda: (session.live.subscribe(note), note([])))
    return event


def text_of(result: Any) -> str:
    """The text, without the word before a bare JSON value (test_results.py is about that)."""
    texts = [block.text for block in result.content if block.type == "text"]
    return "\n".join(text.removeprefix("Output:\n") for text in texts)


def entry_of(session: Any) -> dict[str, Any]:
    """What the agent is told of the tools in a set-up of the session."""
    agent = session.agent
    return agent.thread.call(lambda: agent._setup_for(session.live).mcp_servers[0])
