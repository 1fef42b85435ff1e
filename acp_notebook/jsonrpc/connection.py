"""A JSON-RPC 2.0 peer over a transport. Knows no ACP, no threads and no processes.

The rules:

1. Everything received is dispatched synchronously, in receive order, by the task that runs
   `Connection.run`. No task is made per message, so nothing can overtake anything.
2. Every request received gets exactly one answer; every request sent is settled exactly once,
   at the latest with `ConnectionLost`.
3. What cannot be understood is reported as noise and never answered, so that two confused peers
   cannot answer each other forever. The one exception is the empty batch, as JSON-RPC demands.
4. A callback may raise: the error is logged, a request is answered with it, and reading goes on.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable
from typing import Final, TypeAlias

from acp_notebook.jsonrpc.messages import (
    INTERNAL_ERROR,
    INVALID_REQUEST,
    REQUEST_CANCELLED,
    Batch,
    Message,
    Noise,
    Notification,
    Request,
    RequestId,
    Response,
    RpcError,
    describe,
    dump,
    parse,
    read_id,
)
from acp_notebook.jsonrpc.transport import Oversized, Transport

logger = logging.getLogger(__name__)

CANCEL_REQUEST: Final = "$/cancel_request"
OVERSIZED: Final = "oversized"
LOOP_TURN_S: Final = 0.01
UNKNOWN_RESPONSE: Final = "unknown_response"

ResponseCallback: TypeAlias = Callable[[Response], None]
NotificationCallback: TypeAlias = Callable[[str, object], None]
NoiseCallback: TypeAlias = Callable[[str, str], None]


class ConnectionLost(RpcError):
    """The connection ended before the answer came, or before the call was made."""

    def __init__(self, message: str = "The connection closed before the answer came.") -> None:
        super().__init__(INTERNAL_ERROR, message)


class IncomingRequest:
    """A request from the peer; it is answered once, now or later."""

    on_cancel: Callable[[], None] | None = None
    """Called when the peer withdraws the request, before the automatic `REQUEST_CANCELLED`."""

    def __init__(
        self, request: Request, answer: Callable[[IncomingRequest, Response], bool]
    ) -> None:
        self.id = request.id
        self.method = request.method
        self.params = request.params
        self._answer = answer
        self._answered = False

    @property
    def answered(self) -> bool:
        """Whether the request has been answered."""
        return self._answered

    def respond(self, result: object) -> bool:
        """Answer with a result; `False` if already answered or the connection has ended.

        A result that has no JSON form is logged, and the peer gets an internal error instead.
        """
        return self._settle(Response(self.id, result))

    def fail(self, code: int, message: str, data: object = None) -> bool:
        """Answer with an error; `False` if already answered or the connection has ended."""
        return self._settle(Response(self.id, error=RpcError(code, message, data)))

    def _settle(self, response: Response) -> bool:
        if self._answered:
            return False
        self._answered = True
        return self._answer(self, response)


class _BatchAnswers:
    """Collects the answers to one batch and sends them as one array after the last one."""

    def __init__(self, expected: int, send: Callable[[bytes], None]) -> None:
        self._missing = expected
        self._send = send
        self._frames: list[bytes] = []

    def add(self, frame: bytes) -> None:
        self._frames.append(frame)
        self._missing -= 1
        if not self._missing:
            self._send(b"[" + b",".join(self._frames) + b"]")


class Connection:
    """One side of a JSON-RPC connection. Belongs to the event loop that runs `run`.

    Args:
        transport: Carries the frames.
        on_request: Called with each request, which may be answered later; raising `RpcError`
            answers it at once.
        on_notification: Called with the method and params of each notification.
        on_noise: Called with kind and text of what was received and is no message.
    """

    def __init__(
        self,
        transport: Transport,
        *,
        on_request: Callable[[IncomingRequest], None],
        on_notification: NotificationCallback,
        on_noise: NoiseCallback,
    ) -> None:
        self._transport = transport
        self._on_request = on_request
        self._on_notification = on_notification
        self._on_noise = on_noise
        # Ids start at 1: some peers treat the id 0 as a missing id.
        self._last_id = 0
        self._pending: dict[RequestId, ResponseCallback] = {}
        self._incoming: dict[RequestId, IncomingRequest] = {}
        self._ended = False

    @property
    def ended(self) -> bool:
        """Whether the connection has ended: nothing more is sent or settled."""
        return self._ended

    def send_request(self, method: str, params: object, on_response: ResponseCallback) -> RequestId:
        """Send a request; `on_response` is called once, synchronously, in receive order.

        Raises:
            ConnectionLost: The connection has ended; `on_response` is not called.
            TypeError: The params have no JSON form (also `ValueError`, `RecursionError`).
        """
        if self._ended:
            raise ConnectionLost("The connection is closed, so nothing can be asked on it.")
        request_id = self._last_id + 1
        frame = dump(Request(request_id, method, params))
        self._last_id = request_id
        self._pending[request_id] = on_response
        self._transport.send(frame)
        return request_id

    async def request(self, method: str, params: object = None) -> object:
        """Send a request and wait for its result. Cancelling the wait withdraws the request.

        Raises:
            RpcError: The peer answered with an error.
            ConnectionLost: The connection ended first.
        """
        answer: asyncio.Future[Response] = asyncio.get_running_loop().create_future()

        def settle(response: Response) -> None:
            # A late answer to a cancelled wait is dropped here.
            if not answer.done():
                answer.set_result(response)

        request_id = self.send_request(method, params, settle)
        try:
            response = await answer
        except asyncio.CancelledError:
            self.cancel_request(request_id)
            raise
        if response.error is not None:
            raise response.error
        return response.result

    def cancel_request(self, request_id: RequestId) -> None:
        """Ask the peer to cancel a request (`$/cancel_request`); its answer settles the call."""
        if request_id in self._pending:
            self.notify(CANCEL_REQUEST, {"requestId": request_id})

    def notify(self, method: str, params: object = None) -> None:
        """Send a notification; it is dropped once the connection has ended.

        Raises:
            TypeError: The params have no JSON form (also `ValueError`, `RecursionError`).
        """
        frame = dump(Notification(method, params))
        if not self._ended:
            self._transport.send(frame)

    async def drain(self) -> None:
        """Wait until the transport can take more."""
        await self._transport.drain()

    async def run(self) -> None:
        """Read and dispatch until the end, then settle every pending call."""
        try:
            began = time.monotonic()
            while (frame := await self._transport.receive()) is not None:
                self._receive(frame)
                # Lines of one read come without a turn of the loop, which others wait for.
                if time.monotonic() - began >= LOOP_TURN_S:
                    await asyncio.sleep(0)
                    began = time.monotonic()
        finally:
            self._end()

    async def aclose(self) -> None:
        """Close the transport and settle every pending call. May be called more than once."""
        self._end()
        await self._transport.aclose()

    def _end(self) -> None:
        self._ended = True
        for request_id in list(self._pending):
            self._settle(Response(request_id, error=ConnectionLost()))
        self._incoming.clear()

    def _receive(self, frame: bytes | Oversized) -> None:
        if isinstance(frame, Oversized):
            self._report(
                Noise(OVERSIZED, f"A message of {frame.size} bytes was dropped: too long.")
            )
            return
        received = parse(frame)
        if isinstance(received, Batch):
            self._dispatch_batch(received)
        else:
            self._dispatch(received, self._transport.send)

    def _dispatch_batch(self, batch: Batch) -> None:
        if not batch.entries:
            error = RpcError(INVALID_REQUEST, "A batch must hold at least one message.")
            self._transport.send(dump(Response(None, error=error)))
            return
        expected = sum(isinstance(entry, Request) for entry in batch.entries)
        answers = _BatchAnswers(expected, self._transport.send)
        for entry in batch.entries:
            self._dispatch(entry, answers.add)

    def _dispatch(self, received: Message | Noise, send: Callable[[bytes], None]) -> None:
        match received:
            case Noise():
                self._report(received)
            case Response():
                self._settle(received)
            case Request():
                self._serve(received, send)
            case _ if received.method == CANCEL_REQUEST:
                self._withdraw(received.params)
            case _:
                self._call(self._on_notification, received.method, received.params)

    def _serve(self, request: Request, send: Callable[[bytes], None]) -> None:
        def answer(incoming: IncomingRequest, response: Response) -> bool:
            # A peer may reuse an id too early; then only the newer request is kept under it.
            if self._incoming.get(incoming.id) is incoming:
                del self._incoming[incoming.id]
            if self._ended:
                return False
            send(_dump_answer(response))
            return True

        incoming = IncomingRequest(request, answer)
        self._incoming[incoming.id] = incoming
        try:
            self._on_request(incoming)
        except RpcError as error:
            incoming.fail(error.code, error.message, error.data)
        except Exception:
            logger.exception("The request %r could not be served.", request.method)
            incoming.fail(INTERNAL_ERROR, "Internal error: the request could not be served.")

    def _withdraw(self, params: object) -> None:
        request_id = read_id(params.get("requestId")) if isinstance(params, dict) else None
        incoming = None if request_id is None else self._incoming.get(request_id)
        if incoming is None:
            return
        if incoming.on_cancel is not None:
            self._call(incoming.on_cancel)
        incoming.fail(REQUEST_CANCELLED, "The request was cancelled.")

    def _settle(self, response: Response) -> None:
        on_response = None if response.id is None else self._pending.pop(response.id, None)
        if on_response is None:
            self._report(Noise(UNKNOWN_RESPONSE, describe(response)))
        else:
            self._call(on_response, response)

    def _report(self, noise: Noise) -> None:
        self._call(self._on_noise, noise.kind, noise.text)

    def _call(self, callback: Callable[..., None], *args: object) -> None:
        try:
            callback(*args)
        except Exception:
            logger.exception("A callback of the connection failed; reading goes on.")


def _dump_answer(response: Response) -> bytes:
    try:
        return dump(response)
    except (TypeError, ValueError, RecursionError):
        logger.exception("The answer to request %r has no JSON form.", response.id)
        error = RpcError(INTERNAL_ERROR, "Internal error: the answer could not be written as JSON.")
        return dump(Response(response.id, error=error))
