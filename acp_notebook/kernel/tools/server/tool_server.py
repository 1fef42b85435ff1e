"""The MCP server: Streamable HTTP on the loopback interface, with one token per session.

Listens as soon as it exists; the official SDK is imported when the first agent connects. Runs on a
thread of its own, so that it blocks neither the agents' loop nor the kernel's. Knows nothing of the
tools and callers that are passed to it.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import hmac
import json
import logging
import os
import secrets
import selectors
import socket
import sys
import threading
from collections.abc import Awaitable, Callable
from contextlib import suppress
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, Final, Generic, Protocol, TypeVar

from acp_notebook.session.content import ContentBlock, TextBlock
from acp_notebook.version import __version__

if TYPE_CHECKING:
    from acp_notebook.kernel.tools.results import ToolResult

logger = logging.getLogger(__name__)

CallerT = TypeVar("CallerT")
Caller_contra = TypeVar("Caller_contra", contravariant=True)

PATH: Final = "/mcp"
SERVER_NAME: Final = "notebook"
TOKEN_VARIABLE: Final = "ACP_NOTEBOOK_TOOLS_TOKEN"  # noqa: S105 - a name
CLOSE_S: Final = 5.0
PROGRESS_S: Final = 5.0
# Seconds that open connections get at shutdown. Only our own agents have any.
_GRACE_S: Final = 1
_CALLER: Final = "acp_notebook.caller"

_INSTRUCTIONS: Final = (
    "These tools reach the live Python kernel of the user's notebook. Look before you run: "
    "list_variables and inspect need no permission; run_code is shown to the user, who must allow "
    "it. Figures and tables that code displays appear in the notebook."
)


class Tools(Protocol[Caller_contra]):
    """The tools that a server serves."""

    def listed(self) -> list[dict[str, Any]]:
        """Return name, description, inputSchema and annotations of each tool, in MCP's form."""

    async def call(self, caller: Caller_contra, name: str, arguments: dict[str, Any]) -> ToolResult:
        """Run a tool for a caller; a failure is an error result."""


class ToolServer(Generic[CallerT]):
    """One server for any number of callers, each identified by its token."""

    def __init__(self, tools: Tools[CallerT]) -> None:
        self._tools = tools
        self._callers: dict[str, CallerT] = {}
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        self._socket.bind(("127.0.0.1", 0))
        self._socket.listen(64)
        self.port: int = self._socket.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}{PATH}"
        """The address of the server, which is no secret."""
        self._wake_reader, self._wake_writer = socket.socketpair()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._end: Callable[[], None] = lambda: None
        self._mcp: Any = None
        self._announcing: asyncio.Future[None] | None = None
        self._lock = threading.Lock()
        self._is_closing = False
        self._closed: concurrent.futures.Future[None] = concurrent.futures.Future()
        self._thread = threading.Thread(target=self._main, name="acp-tools", daemon=True)
        self._thread.start()

    def register(self, caller: CallerT) -> str:
        """Admit a caller and return a new token for it."""
        token = secrets.token_urlsafe(32)
        # Another thread may be looking through the present table.
        self._callers = {**self._callers, token: caller}
        return token

    def unregister(self, caller: CallerT) -> None:
        """Revoke all tokens of a caller."""
        self._callers = {
            token: other for token, other in self._callers.items() if other is not caller
        }

    def admits(self, token: str) -> bool:
        """Whether a token is valid."""
        return token in self._callers

    @property
    def is_needed(self) -> bool:
        """Whether any caller has a token."""
        return bool(self._callers)

    def close(self) -> concurrent.futures.Future[None]:
        """Stop the server, from any thread; the future is done once the port is closed."""
        with self._lock:
            self._is_closing = True
            self._callers = {}
        with suppress(OSError):
            self._wake_writer.send(b"\0")
        self._post(self._end)
        return self._closed

    def announce(self) -> None:
        """Notify the clients that the list of tools has changed; from any thread."""
        self._post(self._announce)

    def _post(self, call: Callable[[], None]) -> None:
        with self._lock:
            loop = self._loop
        if loop is not None:
            with suppress(RuntimeError):  # the loop has just ended
                loop.call_soon_threadsafe(call)

    # on the server's thread

    def _announce(self) -> None:
        self._announcing = asyncio.ensure_future(self._mcp.announce())

    def _main(self) -> None:
        try:
            self._await_first_call()
            if not self._is_closing:
                asyncio.run(self._serve())
        except Exception:
            logger.exception("The notebook's tools ended.")
        finally:
            for each in (self._socket, self._wake_reader, self._wake_writer):
                each.close()
            self._closed.set_result(None)

    def _await_first_call(self) -> None:
        # `select.select` fails on a descriptor above 1,023, which a kernel with many files has.
        with selectors.DefaultSelector() as selector:
            for each in (self._socket, self._wake_reader):
                selector.register(each, selectors.EVENT_READ)
            selector.select()

    async def _serve(self) -> None:
        import uvicorn

        self._mcp = _mcp_server(self._tools)
        server = uvicorn.Server(
            uvicorn.Config(
                self._gate(self._mcp),
                log_config=None,
                log_level="critical",
                access_log=False,
                server_header=False,
                lifespan="on",
                ws="none",
                timeout_graceful_shutdown=_GRACE_S,
            )
        )

        def end() -> None:
            server.should_exit = True

        with self._lock:
            self._loop, self._end = asyncio.get_running_loop(), end
            if self._is_closing:
                return
        await server.serve(sockets=[self._socket])

    def _gate(self, mcp: Any) -> Callable[..., Awaitable[None]]:
        from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
        from mcp.server.auth.provider import AccessToken
        from mcp.server.transport_security import TransportSecuritySettings

        hosts = [f"{host}:{self.port}" for host in ("127.0.0.1", "localhost")]
        app = mcp.streamable_http_app(
            streamable_http_path=PATH,
            transport_security=TransportSecuritySettings(allowed_hosts=hosts, allowed_origins=[]),
        )

        async def gate(scope: dict[str, Any], receive: Any, send: Any) -> None:
            if scope["type"] == "http":
                headers = {key: value.decode("latin-1") for key, value in scope["headers"]}
                if headers.get(b"host") not in hosts or b"origin" in headers:
                    await _refuse(send, HTTPStatus.FORBIDDEN)
                    return
                caller = self._caller(headers.get(b"authorization", ""))
                if caller is None:
                    await _refuse(send, HTTPStatus.UNAUTHORIZED)
                    return
                scope[_CALLER] = caller
                # The SDK keeps an MCP session to the client that opened it.
                client = AccessToken(token="", client_id=str(id(caller)), scopes=[])
                scope["user"] = AuthenticatedUser(client)
            await app(scope, receive, send)

        return gate

    def _caller(self, authorization: str) -> CallerT | None:
        scheme, _, given = authorization.partition(" ")
        found = None
        if scheme.lower() == "bearer":
            # Compare with every token in constant time, so that timing reveals nothing.
            for token, caller in self._callers.items():
                if hmac.compare_digest(token.encode(), given.strip().encode()):
                    found = caller
        return found


async def _refuse(send: Any, status: HTTPStatus) -> None:
    text = status.phrase.encode()
    headers = [(b"content-type", b"text/plain"), (b"content-length", str(len(text)).encode())]
    if status is HTTPStatus.UNAUTHORIZED:
        headers.append((b"www-authenticate", b"Bearer"))
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": text})


def _mcp_server(tools: Tools[Any]) -> Any:
    import mcp_types as types

    from acp_notebook.kernel.tools.server.announcing import AnnouncingServer

    async def list_tools(_context: Any, _params: Any) -> types.ListToolsResult:
        listed = [types.Tool.model_validate(tool) for tool in tools.listed()]
        return types.ListToolsResult(tools=listed)

    async def call_tool(context: Any, params: Any) -> Any:
        caller = context.request.scope[_CALLER]
        progress = asyncio.ensure_future(_report_progress(context.session))
        try:
            result = await tools.call(caller, params.name, params.arguments or {})
        finally:
            progress.cancel()
        return mcp_result(result)

    return AnnouncingServer(
        SERVER_NAME,
        version=__version__,
        title="Notebook kernel",
        instructions=_INSTRUCTIONS,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )


async def _report_progress(session: Any) -> None:
    """Report progress until cancelled, so that a client does not time out while a user decides."""
    steps = 0
    while True:
        await asyncio.sleep(PROGRESS_S)
        steps += 1
        with suppress(Exception):  # the call does not depend on it
            await session.report_progress(float(steps))


def mcp_result(result: ToolResult) -> Any:
    """Return a result in MCP's form."""
    import mcp_types as types

    from acp_notebook.protocol.content import write_block

    blocks = [*map(_no_bare_json, result.content[:1]), *result.content[1:]]
    content = [write_block(block) for block in blocks]
    return types.CallToolResult.model_validate({"content": content, "isError": result.is_error})


def _no_bare_json(block: ContentBlock) -> ContentBlock:
    """Put a label before a text that is a bare JSON value, such as `6`.

    Gemini's client parses a first text that is JSON as structured content, which must be an object,
    and fails the call on any other value.
    """
    if isinstance(block, TextBlock):
        with suppress(ValueError, RecursionError):
            if not isinstance(json.loads(block.text), dict):
                return TextBlock(f"Output:\n{block.text}")
    return block


def http_entry(url: str, token: str) -> dict[str, Any]:
    """Return the server's entry in `session/new` for agents that support HTTP."""
    header = {"name": "Authorization", "value": f"Bearer {token}"}
    return {"type": "http", "name": SERVER_NAME, "url": url, "headers": [header]}


def bridge_entry(url: str, token: str) -> dict[str, Any]:
    """Return the server's entry in `session/new` for agents that support only stdio."""
    env = [{"name": TOKEN_VARIABLE, "value": token}]
    if os.environ.get("PYTHONPATH"):
        # An agent need not pass its own environment to the server.
        env.append({"name": "PYTHONPATH", "value": os.environ["PYTHONPATH"]})
    return {
        "type": "stdio",
        "name": SERVER_NAME,
        "command": sys.executable,
        "args": ["-m", "acp_notebook.kernel.tools.server.bridge", url],
        "env": env,
    }
