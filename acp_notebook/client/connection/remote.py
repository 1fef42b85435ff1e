"""Agents at an address, over WebSocket or Streamable HTTP, by the official SDK's transports.

The SDK carries decoded messages; this module turns them into frames, and unreported failures into
reported ones: an undelivered request is answered with an error, and a connection that lost a part
ends as a whole, so that the next prompt reconnects instead of waiting forever. The SDK is imported
when the first address is used. Knows no ACP except the fields by which the SDK routes.
"""

from __future__ import annotations

import asyncio
import codecs
import contextlib
import json
import logging
from collections.abc import AsyncIterator, Callable, Mapping
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

from acp_notebook.client.agents.launch import public_address
from acp_notebook.client.connection.stdio_process import StderrTail
from acp_notebook.errors import AgentNotFound, UsageError
from acp_notebook.jsonrpc import INTERNAL_ERROR
from acp_notebook.jsonrpc.transport import DEFAULT_MAX_LINE_BYTES
from acp_notebook.protocol.routing import session_id_in

if TYPE_CHECKING:
    import httpx
    from acp._transport import Transport as SdkTransport

logger = logging.getLogger(__name__)

CONNECT_TIMEOUT_S: Final = 15.0
CLOSE_TIMEOUT_S: Final = 2.0
# How long the answers that an ended stream still brought may take to arrive, in seconds.
STREAM_GRACE_S: Final = 0.5
SESSION_HEADER: Final = "Acp-Session-Id"
BAD_REQUEST: Final = 400
TAKING_UP: Final = frozenset({"session/load", "session/resume"})

INSTALL = (
    "Agents at an address need more packages: pip install 'acp_notebook[remote]' "
    "and restart the kernel."
)

# Cookies by address: a load balancer recognizes a returning client by them.
_cookies: dict[str, Any] = {}


class RemoteAgent:
    """An agent at an address: an `Endpoint` without process and stderr."""

    pid = None
    on_unread: Callable[[int], None] | None = None
    """Never called: the system's buffers hide what the agent has read."""

    def __init__(self, address: str, transport: RemoteTransport) -> None:
        self.stderr = StderrTail()
        self.transport = transport
        self._address = address

    @classmethod
    async def connect(cls, address: str, headers: Mapping[str, str]) -> RemoteAgent:
        """Connect to an address; over HTTP the first message connects.

        Raises:
            AgentNotFound: No agent answers there.
            UsageError: The packages for addresses are not installed.
        """
        try:
            if urlsplit(address).scheme.lower() in {"ws", "wss"}:
                transport = await _connect_websocket(address, dict(headers))
            else:
                transport = _prepare_http(address, dict(headers))
        except ImportError:
            raise UsageError(INSTALL) from None
        return cls(address, transport)

    @property
    def status(self) -> str:
        """How the connection ended, in a few words; empty while it is open."""
        return self.transport.ending

    @property
    def ending(self) -> str:
        """How the connection ended, as a predicate that follows the agent's name."""
        return f"lost its connection ({self.status})"

    async def exited(self) -> None:
        """Wait until the connection has ended."""
        await self.transport.ended.wait()

    async def wait(self) -> None:
        """Wait until the connection has ended."""
        await self.exited()

    async def stop(self) -> None:
        """Close the connection."""
        await self.transport.aclose()

    def kill_now(self) -> None:
        """Do nothing: the system closes the sockets of this process."""


class RemoteTransport:
    """A `Transport` over one of the SDK's transports."""

    def __init__(self, stream: SdkTransport, close_client: Callable[[], Any] | None = None) -> None:
        self.ended = asyncio.Event()
        self.ending = ""
        self._stream = stream
        self._close_client = close_client
        self._inbox: asyncio.Queue[bytes | None] = asyncio.Queue()
        self._outbox: asyncio.Queue[bytes] = asyncio.Queue()
        # our unanswered requests by id, with the session of each
        self._asked: dict[Any, str] = {}
        self.streams: dict[str, bool] = {}
        """Whether the stream of each session that had one is open."""
        # the agent's unanswered requests by id, with the session of each
        self._served: dict[Any, str] = {}
        self.session_header = ""
        """The session for the header of the current request; empty for none."""
        self._closing = asyncio.Lock()
        self._is_closed = False
        loop = asyncio.get_running_loop()
        self._tasks = [loop.create_task(self._read()), loop.create_task(self._write())]

    async def receive(self) -> bytes | None:
        """Wait for the next message; `None` once the connection has ended."""
        frame = None if self.ended.is_set() and self._inbox.empty() else await self._inbox.get()
        if frame is None:
            self._inbox.put_nowait(None)  # every later call has to find the end too
        return frame

    def send(self, frame: bytes) -> None:
        """Queue a message; after the end it is dropped."""
        if not self.ended.is_set():
            self._outbox.put_nowait(frame)

    async def drain(self) -> None:
        """Wait until the queue is delivered or the connection has ended."""
        over = asyncio.ensure_future(self.ended.wait())
        delivered = asyncio.ensure_future(self._outbox.join())
        await asyncio.wait({over, delivered}, return_when=asyncio.FIRST_COMPLETED)
        over.cancel()
        delivered.cancel()

    async def aclose(self) -> None:
        """Deliver the queue within `CLOSE_TIMEOUT_S` and close. May be called more than once."""
        async with self._closing:
            if not self._is_closed:
                await self._close()
                self._is_closed = True

    async def _close(self) -> None:
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self.drain(), CLOSE_TIMEOUT_S)
        self._lose("this client closed it")
        for task in self._tasks:
            task.cancel()
        # Each has a timeout of its own: a server that does not answer the closing handshake must
        # not keep the sockets open.
        for close in (self._stream.close, self._close_client):
            if close is not None:
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(close(), CLOSE_TIMEOUT_S)

    def _lose(self, reason: str) -> None:
        if not self.ended.is_set():
            self.ending = reason
            self.ended.set()
            self._inbox.put_nowait(None)

    async def _read(self) -> None:
        try:
            while (message := await self._stream.receive()) is not None:
                if isinstance(message, dict):
                    self._note_received(message)
                self._inbox.put_nowait(json.dumps(message).encode())
        except Exception as error:  # noqa: BLE001 - any error of the SDK ends the connection
            self._lose(_in_words(error))
        else:
            self._lose("the other side closed it")

    def _note_received(self, message: dict[str, Any]) -> None:
        if "method" not in message:
            self._asked.pop(message.get("id"), None)
        elif "id" in message and (session_id := session_id_in(message.get("params"))) is not None:
            self._served[message["id"]] = session_id

    def stream_ended(self, session_id: str) -> None:
        """Note that a session's stream ended while the connection is open (HTTP only).

        No message of the session would arrive any more, and the SDK does not report that.
        """
        self.streams[session_id] = False
        asyncio.get_running_loop().call_later(STREAM_GRACE_S, self._miss, session_id)

    def stream_began(self, session_id: str) -> None:
        """Note that a session's stream is open, or open again."""
        self.streams[session_id] = True

    def _miss(self, session_id: str) -> None:
        if self.streams.get(session_id) is False and session_id in self._asked.values():
            self._lose("the stream of the session was lost")

    async def _write(self) -> None:
        while True:
            frame = await self._outbox.get()
            message = json.loads(frame)
            try:
                # A list holds the answers to a batch; HTTP carries one message at a time.
                for part in message if isinstance(message, list) else [message]:
                    await self._deliver(part)
            finally:
                self._outbox.task_done()

    async def _deliver(self, message: dict[str, Any]) -> None:
        session_id: str | None = session_id_in(message.get("params"))
        if "method" not in message:
            session_id = self._served.pop(message.get("id"), None)
        elif "id" in message and session_id is not None:
            self._asked[message["id"]] = session_id
            self._miss(session_id)
            if message["method"] in TAKING_UP:
                self._open_stream(session_id)
        try:
            await self._send_with_header(message, session_id)
        except Exception as error:  # noqa: BLE001 - the SDK does not document its errors
            if hasattr(error, "status_code") and message.get("method") != "initialize":
                self._refused(message, _in_words(error))
            else:
                self._lose(_in_words(error))

    async def _send_with_header(self, message: dict[str, Any], session_id: str | None) -> None:
        """Send a message; after a `BAD_REQUEST`, send it again with the session in the header.

        The SDK sets the header for some methods only. Some servers require it for every message of
        a session, including answers; the SDK's own server rejects it for a session not yet known.
        """
        try:
            await self._stream.send(message)
        except Exception as error:
            if getattr(error, "status_code", None) != BAD_REQUEST or session_id is None:
                raise
            self.session_header = session_id
            try:
                await self._stream.send(message)
            finally:
                self.session_header = ""

    def _open_stream(self, session_id: str) -> None:
        # The SDK opens a session's stream when it receives a message that names the session, but
        # some servers send even the answer to `session/resume` on that stream only.
        opens = getattr(self._stream, "_open_stream", None)
        if opens is not None:
            opens(session_id=session_id)

    def _refused(self, message: dict[str, Any], reason: str) -> None:
        """Answer a request that the server rejected, while the connection stays open."""
        if "method" not in message or "id" not in message:
            logger.warning("A message was not taken by the agent's server: %s", reason)
            return
        self._asked.pop(message["id"], None)
        error = {"code": INTERNAL_ERROR, "message": f"The agent's server refused it: {reason}"}
        answer = {"jsonrpc": "2.0", "id": message["id"], "error": error}
        self._inbox.put_nowait(json.dumps(answer).encode())


async def _connect_websocket(address: str, headers: dict[str, str]) -> RemoteTransport:
    from acp._cookies import MemoryAcpCookieStore
    from acp.ws import create_websocket_stream
    from websockets.exceptions import WebSocketException

    cookies = _cookies.setdefault(address, MemoryAcpCookieStore())
    try:
        async with asyncio.timeout(CONNECT_TIMEOUT_S):
            stream = await create_websocket_stream(address, headers=headers, cookie_store=cookies)
    except (OSError, WebSocketException, ValueError) as error:
        raise AgentNotFound(
            f"No agent answers at {public_address(address)}: {_in_words(error)}. "
            "Check the address, and that an agent is served there over WebSocket."
        ) from None
    # The SDK keeps the library's message limit of 1 MiB, above which the connection would end;
    # images are longer than that.
    protocol: Any = getattr(getattr(stream, "_ws", None), "protocol", None)
    if hasattr(protocol, "max_message_size"):
        protocol.max_message_size = DEFAULT_MAX_LINE_BYTES
    return RemoteTransport(stream)


def _prepare_http(address: str, headers: dict[str, str]) -> RemoteTransport:
    import httpx
    from acp.http import create_http_stream

    async def name_session(request: httpx.Request) -> None:
        if request.method == "POST" and transport.session_header:
            request.headers[SESSION_HEADER] = transport.session_header

    async def look(response: httpx.Response) -> None:
        if "text/event-stream" not in response.headers.get("Content-Type", ""):
            return
        session_id = response.request.headers.get(SESSION_HEADER)
        on_end = None
        if session_id is not None:
            transport.stream_began(session_id)
            on_end = lambda: transport.stream_ended(session_id)  # noqa: E731 - one of two values
        assert isinstance(response.stream, httpx.AsyncByteStream)
        response.stream = _event_stream(response.stream, on_end)

    client = httpx.AsyncClient(
        http2=True,
        # A stream may be silent for hours, and each session has one.
        timeout=httpx.Timeout(None, connect=CONNECT_TIMEOUT_S),
        limits=httpx.Limits(max_connections=None),
        headers={"Accept-Encoding": "identity"},
        cookies=_cookies.setdefault(address, httpx.Cookies()),
        event_hooks={"request": [name_session], "response": [look]},
    )
    stream = create_http_stream(address, client=client, headers=headers)
    transport = RemoteTransport(stream, client.aclose)
    return transport


def _event_stream(
    inner: httpx.AsyncByteStream, on_end: Callable[[], None] | None
) -> httpx.AsyncByteStream:
    import httpx

    class EventStream(httpx.AsyncByteStream):
        """A stream of events, split between characters: the SDK decodes each piece separately."""

        async def __aiter__(self) -> AsyncIterator[bytes]:
            decoder = codecs.getincrementaldecoder("utf-8")("replace")
            async for data in inner:
                if text := decoder.decode(data):
                    yield text.encode()

        async def aclose(self) -> None:
            await inner.aclose()
            if on_end is not None:
                on_end()

    return EventStream()


def _in_words(error: BaseException) -> str:
    return str(error) or type(error).__name__
