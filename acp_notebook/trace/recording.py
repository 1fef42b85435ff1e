"""A bounded record of the frames of one agent, both directions, in wire order.

Knows JSON-RPC's outer members, to name a frame; knows no ACP and shows nothing itself.
"""

from __future__ import annotations

import json
import threading
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Literal

Direction = Literal["sent", "received"]

MAX_FRAMES = 20_000
MAX_BYTES = 32 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Frame:
    """One frame; `at_s` counts from the start of the recording."""

    at_s: float
    direction: Direction
    data: bytes

    @property
    def message(self) -> Any:
        """The frame as JSON, or its text where it is none."""
        try:
            return json.loads(self.data)
        except (ValueError, RecursionError):
            return self.data.decode(errors="replace")

    @property
    def label(self) -> str:
        """A few words that name the message: its method, update kind or answered id."""
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
    """Keeps the last frames; older ones make room, by count and by size.

    `record` is called on the connection's thread; `frames` may be called from any.
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._started = clock()
        self._frames: deque[Frame] = deque()
        self._bytes = 0
        self._secrets: list[bytes] = []
        self._lock = threading.Lock()

    def record(self, direction: Direction, data: bytes) -> None:
        """Keep one frame."""
        for secret in self._secrets:
            data = data.replace(secret, b'"(hidden)"')
        frame = Frame(self._clock() - self._started, direction, data)
        with self._lock:
            self._frames.append(frame)
            self._bytes += len(data)
            while len(self._frames) > MAX_FRAMES or (
                self._bytes > MAX_BYTES and len(self._frames) > 1
            ):
                self._bytes -= len(self._frames.popleft().data)

    def redact(self, secrets: Iterable[str]) -> None:
        """Keep these texts out of the frames to come, where they stand as JSON strings."""
        for secret in secrets:
            self._secrets += {
                json.dumps(secret, ensure_ascii=is_ascii).encode(errors="surrogatepass")
                for is_ascii in (True, False)
            }

    def frames(self, last: int | None = None) -> list[Frame]:
        """The frames kept, oldest first; with `last` only so many."""
        with self._lock:
            kept = list(self._frames)
        return kept if last is None else kept[-last:] if last > 0 else []
