"""A bounded recording of one agent's frames, in both directions and in wire order.

Knows JSON-RPC's outer members and where an update names its kind; displays nothing.
"""

from __future__ import annotations

import json
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

Direction = Literal["sent", "received"]

MAX_FRAMES = 20_000
MAX_BYTES = 32 * 1024 * 1024

T = TypeVar("T")


@dataclass(slots=True)
class Frame:
    """One frame; `at_s` is in seconds since the start of the recording."""

    at_s: float
    direction: Direction
    data: bytes

    @property
    def message(self) -> Any:
        """The frame as JSON, or its text if it is not JSON."""
        try:
            return json.loads(self.data)
        except (ValueError, RecursionError):
            return self.data.decode(errors="replace")

    @property
    def label(self) -> str:
        """A short name for the message: its method, update kind or answered id."""
        message = self.message
        if isinstance(message, list):
            return f"batch of {len(message)}"
        if not isinstance(message, dict):
            return "noise"
        if not isinstance(message.get("method"), str):
            outcome = "error" if "error" in message else "result"
            return f"{outcome} of request {message.get('id')}"
        params = message.get("params")
        update = params.get("update") if isinstance(params, dict) else None
        kind = update.get("sessionUpdate") if isinstance(update, dict) else None
        return f"{message['method']} {kind}" if isinstance(kind, str) else message["method"]


class Recording:
    """Keeps the last `MAX_FRAMES` frames and `MAX_BYTES` bytes; older frames are dropped.

    `record` is called on the connection's thread; `frames` may be called from any thread.
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._started = clock()
        self._frames: deque[Frame] = deque()
        self._bytes = 0
        self._secrets: list[bytes] = []
        self._received: Frame | None = None
        self._handled: Frame | None = None
        self._lock = threading.Lock()

    def record(self, direction: Direction, data: bytes) -> None:
        """Add one frame, without the texts given to `redact`."""
        for secret in self._secrets:
            data = data.replace(secret, b'"(hidden)"')
        frame = Frame(self._clock() - self._started, direction, data)
        if direction == "received":
            self._received = frame
        with self._lock:
            self._frames.append(frame)
            self._bytes += len(data)
            while len(self._frames) > MAX_FRAMES or (
                self._bytes > MAX_BYTES and len(self._frames) > 1
            ):
                self._bytes -= len(self._frames.popleft().data)

    def redact(self, secrets: Iterable[str]) -> None:
        """Replace these texts in later frames, wherever they are a whole JSON string."""
        for secret in secrets:
            self._secrets += {
                json.dumps(secret, ensure_ascii=is_ascii).encode(errors="surrogatepass")
                for is_ascii in (True, False)
            }

    @contextmanager
    def handling(self) -> Iterator[None]:
        """While the frame that was received last is handled: `amend` is about it."""
        before, self._handled = self._handled, self._received
        try:
            yield
        finally:
            self._handled = before

    def later(self, handle: Callable[[T], None]) -> Callable[[T], None]:
        """Return a function that goes on handling the present frame at a later time."""
        frame = self._handled

        def handled(value: T) -> None:
            before, self._handled = self._handled, frame
            try:
                handle(value)
            finally:
                self._handled = before

        return handled

    def amend(self, texts: Mapping[str, str]) -> None:
        """Replace whole strings in the frame that is being handled, if there is one.

        A frame that has none of them, since they were read in another form, is not kept.
        """
        frame = self._handled
        if frame is None:
            return
        try:
            message, found = _replaced(frame.message, texts)
        except RecursionError:
            found = False
        data = json.dumps(message).encode() if found else b'"(hidden)"'
        with self._lock:
            if any(kept is frame for kept in reversed(self._frames)):
                self._bytes += len(data) - len(frame.data)
            frame.data = data

    def frames(self, last: int | None = None) -> list[Frame]:
        """Return the kept frames, oldest first; with `last`, at most that many of the newest."""
        with self._lock:
            kept = list(self._frames)
        return kept if last is None else kept[-last:] if last > 0 else []


def _replaced(node: Any, texts: Mapping[str, str]) -> tuple[Any, bool]:
    """Return JSON with other strings, and whether any of them was there."""
    if isinstance(node, str):
        return texts.get(node, node), node in texts
    if isinstance(node, list):
        pairs = [_replaced(item, texts) for item in node]
        return [item for item, _ in pairs], any(found for _, found in pairs)
    if not isinstance(node, dict):
        return node, False
    items = [(_replaced(key, texts), _replaced(value, texts)) for key, value in node.items()]
    return (
        {key: value for (key, _), (value, _) in items},
        any(is_key or is_value for (_, is_key), (_, is_value) in items),
    )
