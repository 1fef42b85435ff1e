"""JSON-RPC 2.0 messages: their types, parsing and serialization.

Pure. Knows no transport, no ACP, and not which request an answer belongs to.
Parsing is tolerant where that is safe; output is always valid JSON on one line.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

PARSE_ERROR: Final = -32700
INVALID_REQUEST: Final = -32600
METHOD_NOT_FOUND: Final = -32601
INVALID_PARAMS: Final = -32602
INTERNAL_ERROR: Final = -32603
REQUEST_CANCELLED: Final = -32800

NOT_JSON: Final = "not_json"
NOT_JSONRPC: Final = "not_jsonrpc"

NOISE_TEXT_LIMIT: Final = 2000
"""How many characters of a noisy line are kept; the line may be tens of megabytes long."""

BATCH_LIMIT: Final = 10_000
"""The most entries of a batch; reading each of half a million takes a second."""

RequestId: TypeAlias = int | str

_REQUEST_MEMBERS: Final = frozenset({"jsonrpc", "id", "method", "params", "_meta"})
_RESPONSE_MEMBERS: Final = frozenset({"jsonrpc", "id", "result", "error", "_meta"})
_REPLACEMENT_ESCAPE: Final = "\\ufffd"
_SURROGATE_ESCAPE: Final = re.compile(
    r"\\\\"
    r"|\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"
    r"|(?P<lone>\\u[dD][89a-fA-F][0-9a-fA-F]{2})"
)


class RpcError(Exception):
    """A JSON-RPC error: raised by a handler to send it, raised to a caller who receives it."""

    def __init__(self, code: int, message: str, data: object = None) -> None:
        super().__init__(code, message, data)
        self.code = code
        self.message = message
        self.data = data

    def __str__(self) -> str:
        return f"{self.message} ({self.code})"


@dataclass(frozen=True, slots=True)
class Request:
    """A call that expects exactly one answer."""

    id: RequestId
    method: str
    params: object = None


@dataclass(frozen=True, slots=True)
class Notification:
    """A call that gets no answer."""

    method: str
    params: object = None


@dataclass(frozen=True, slots=True)
class Response:
    """An answer: a result, or an error if `error` is set."""

    id: RequestId | None
    """`None` where the request's own id could not be read."""
    result: object = None
    error: RpcError | None = None


@dataclass(frozen=True, slots=True)
class Noise:
    """Received data that is no JSON-RPC message: a log line, control bytes, a broken frame."""

    kind: str
    text: str
    """For display only: decoded with replacement and cut to `NOISE_TEXT_LIMIT`."""


@dataclass(frozen=True, slots=True)
class Batch:
    """An array of messages that arrived as one frame."""

    entries: tuple[Message | Noise, ...]


Message: TypeAlias = Request | Notification | Response


def parse(frame: bytes) -> Message | Batch | Noise:
    """Read one frame. Never raises: what is no message is returned as `Noise`."""
    try:
        # Consoles on Windows may begin with a byte order mark.
        text = frame.decode("utf-8-sig")
        value: object = json.loads(_without_lone_surrogates(text), parse_constant=_no_number)
    except (ValueError, RecursionError):
        # ValueError: bad UTF-8, bad JSON, and huge integers. RecursionError: nesting.
        return Noise(NOT_JSON, shorten(frame.decode("utf-8", "replace")))
    if isinstance(value, list) and len(value) > BATCH_LIMIT:
        return Noise(NOT_JSONRPC, shorten(text))
    if isinstance(value, list):
        return Batch(tuple(_read_message(entry) for entry in value))
    return _read_message(value)


def dump(message: Message | Sequence[Response]) -> bytes:
    """Write a message, or the answers to a batch, as compact UTF-8 without a line end.

    NaN and the infinities, which JSON lacks, become `null`; lone surrogates become U+FFFD.

    Raises:
        TypeError: A value has no JSON form.
        ValueError: A value contains itself.
        RecursionError: The nesting is too deep to write.
    """
    if isinstance(message, Request | Notification | Response):
        value: object = _to_json(message)
    else:
        value = [_to_json(entry) for entry in message]
    try:
        text = _encode(value)
    except ValueError:
        text = _encode(_without_special_numbers(value, ()))
    try:
        return text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace").encode()


def shorten(text: str) -> str:
    """Cut a text to `NOISE_TEXT_LIMIT`, and append its original length if it was longer."""
    if len(text) <= NOISE_TEXT_LIMIT:
        return text
    return f"{text[:NOISE_TEXT_LIMIT]}… ({len(text)} characters in all)"


def describe(message: Message) -> str:
    """Return the message as text for a log, cut to `NOISE_TEXT_LIMIT`. Never raises."""
    return shorten(_for_showing(_to_json(message)))


def _encode(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def _no_number(_constant: str) -> None:
    """Read the NaN of Python agents as `null`, which agents in other languages send."""


def _without_lone_surrogates(text: str) -> str:
    # The substring test spares the usual frame, which has no such escape, the regex.
    if "\\ud" not in text and "\\uD" not in text:
        return text
    return _SURROGATE_ESCAPE.sub(
        lambda match: _REPLACEMENT_ESCAPE if match["lone"] else match[0], text
    )


def _without_special_numbers(value: object, parents: tuple[int, ...]) -> object:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if not isinstance(value, dict | list | tuple):
        return value
    if id(value) in parents:
        raise ValueError("A value that contains itself has no JSON form.")
    inner = (*parents, id(value))
    if isinstance(value, dict):
        return {key: _without_special_numbers(item, inner) for key, item in value.items()}
    return [_without_special_numbers(item, inner) for item in value]


def _to_json(message: Message) -> dict[str, object]:
    value: dict[str, object] = {"jsonrpc": "2.0"}
    if isinstance(message, Response):
        value["id"] = message.id
        if message.error is None:
            value["result"] = message.result
        else:
            value["error"] = _error_to_json(message.error)
        return value
    if isinstance(message, Request):
        value["id"] = message.id
    value["method"] = message.method
    if message.params is not None:
        value["params"] = message.params
    return value


def _error_to_json(error: RpcError) -> dict[str, object]:
    value: dict[str, object] = {"code": error.code, "message": error.message}
    if error.data is not None:
        value["data"] = error.data
    return value


def _read_message(value: object) -> Message | Noise:
    if isinstance(value, dict):
        message = _read_object(value)
        if message is not None:
            return message
    return Noise(NOT_JSONRPC, shorten(_for_showing(value)))


def _for_showing(value: object) -> str:
    try:
        return json.dumps(value, ensure_ascii=False)
    except RecursionError:
        # What could be parsed may be too deep to write: the stack is a few calls deeper here.
        return "(too deeply nested to show)"


def _read_object(value: dict[str, object]) -> Message | None:
    is_call = "method" in value
    if not _is_jsonrpc(value, _REQUEST_MEMBERS if is_call else _RESPONSE_MEMBERS):
        return None
    return _read_call(value) if is_call else _read_response(value)


def _is_jsonrpc(value: dict[str, object], members: frozenset[str]) -> bool:
    """Whether the object is a JSON-RPC message.

    The `jsonrpc` member may be missing, but then only members of JSON-RPC are allowed: a
    structured log line often has `id`, `method` or `result` too, and must not settle a call.
    """
    if "jsonrpc" in value:
        return value["jsonrpc"] == "2.0"
    return value.keys() <= members


def _read_call(value: dict[str, object]) -> Message | None:
    method, params = value["method"], value.get("params")
    if not isinstance(method, str):
        return None
    # Some serializers write `"id": null` for a notification.
    if value.get("id") is None:
        return Notification(method, params)
    request_id = read_id(value["id"])
    return None if request_id is None else Request(request_id, method, params)


def _read_response(value: dict[str, object]) -> Message | None:
    raw_id = value.get("id")
    response_id = read_id(raw_id)
    if raw_id is not None and response_id is None:
        return None
    error = value.get("error")
    if error is not None:
        return Response(response_id, error=_read_error(error))
    if "result" not in value or "id" not in value:
        return None
    return Response(response_id, value["result"])


def read_id(value: object) -> RequestId | None:
    """Return the value as a request id, or `None` if it is none. A boolean is none."""
    if isinstance(value, int | str) and not isinstance(value, bool):
        return value
    return None


def _read_error(value: object) -> RpcError:
    """Read an error leniently: whatever its form, the call must be settled as failed."""
    if not isinstance(value, dict):
        return RpcError(INTERNAL_ERROR, "The peer answered with an error of no known form.", value)
    code, message = value.get("code"), value.get("message")
    if not isinstance(code, int) or isinstance(code, bool):
        code = INTERNAL_ERROR
    if not isinstance(message, str):
        message = "The peer gave no message with its error."
    return RpcError(code, message, value.get("data"))
