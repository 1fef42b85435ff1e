"""A bounded recording of one agent's frames, in both directions and in wire order.

Knows JSON-RPC's outer members and where an update names its kind; displays nothing.
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
        self._lock = threading.Lock()

    def record(self, direction: Direction, data: bytes) -> None:
        """Add one frame, without the texts given to `redact`."""
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
        """Replace these texts in later frames, wherever they are a whole JSON string."""
        for secret in secrets:
            self._secrets += {
                json.dumps(secret, ensure_ascii=is_ascii).encode(errors="surrogatepass")
                for is_ascii in (True, False)
            }

    def frames(self, last: int | None = None) -> list[Frame]:
        """Return the kept frames, oldest first; with `last`, at most that many of the newest."""
        with self._lock:
            kept = list(self._frames)
        return kept if last is None else kept[-last:] if last > 0 else []
