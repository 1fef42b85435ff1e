"""A raw JSON-RPC driver for the test agents: a subprocess, and the frames in the order they came.

Standard library only, so that what it shows is the wire and not somebody's reading of it. It is
for testing the agents; the client under test has its own connection.
"""

from __future__ import annotations

import json
import queue
import subprocess
import threading
from typing import Any, Self

BOUND_SECONDS = 20
CLIENT_INFO = {"name": "driver", "version": "1.0.0"}

Frame = dict[str, Any]


class Driver:
    """One agent process. Frames that no caller took are in `seen`, in order."""

    def __init__(self, *command: str) -> None:
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
        self.seen: list[Frame] = []
        self.noise: list[bytes] = []
        self.stderr = b""
        self.session = ""
        self._frames: queue.Queue[Frame | None] = queue.Queue()
        self._last_id = 0
        self._threads = [threading.Thread(target=f) for f in (self._read_stdout, self._read_stderr)]
        for thread in self._threads:
            thread.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.close()

    def _read_stdout(self) -> None:
        for line in self.process.stdout:
            try:
                frame = json.loads(line)
            except ValueError:
                frame = None
            if isinstance(frame, list) or (isinstance(frame, dict) and "jsonrpc" in frame):
                self._frames.put(frame)
            else:
                self.noise.append(line)
        self._frames.put(None)

    def _read_stderr(self) -> None:
        while data := self.process.stderr.read1():
            self.stderr += data

    def close(self) -> int:
        """Closes stdin and returns the exit code, once all output is read."""
        self.process.stdin.close()
        code = self.process.wait(BOUND_SECONDS)
        for thread in self._threads:
            thread.join(BOUND_SECONDS)
        self.process.stdout.close()
        self.process.stderr.close()
        return code

    def send(self, **frame: Any) -> None:
        self.process.stdin.write(json.dumps({"jsonrpc": "2.0", **frame}).encode() + b"\n")
        self.process.stdin.flush()

    def start(self, method: str, **params: Any) -> int:
        self._last_id += 1
        self.send(id=self._last_id, method=method, params=params)
        return self._last_id

    def notify(self, method: str, **params: Any) -> None:
        self.send(method=method, params=params)

    def next(self) -> Any:
        """The next frame; an agent that is gone or silent is an error."""
        frame = self._frames.get(timeout=BOUND_SECONDS)
        if frame is None:
            raise EOFError(f"the agent ended; stderr: {self.stderr.decode(errors='replace')}")
        self.seen.append(frame)
        return frame

    def until(self, wanted: Any) -> Frame:
        """Reads until a frame for which `wanted(frame)` holds."""
        while not wanted(frame := self.next()):
            pass
        return frame

    def answer(self, request_id: int) -> Frame:
        return self.until(
            lambda f: isinstance(f, dict) and f.get("id") == request_id and "method" not in f
        )

    def call(self, method: str, **params: Any) -> Frame:
        return self.answer(self.start(method, **params))

    def request_from_agent(self, method: str = "session/request_permission") -> Frame:
        return self.until(lambda f: isinstance(f, dict) and f.get("method") == method)

    def initialize(self, version: int) -> Frame:
        both: dict[int, Frame] = {
            1: {"clientInfo": CLIENT_INFO, "clientCapabilities": {}},
            2: {"info": CLIENT_INFO, "capabilities": {}},
        }
        return self.call("initialize", protocolVersion=version, **both[version])

    def new_session(self) -> Frame:
        """Makes a session, the current one from now on; returns the answer."""
        answer = self.call("session/new", cwd="/tmp", mcpServers=[])["result"]
        self.session = answer["sessionId"]
        return answer

    def open(self, version: int) -> Frame:
        """Initializes and makes a session; returns the answer to `session/new`."""
        self.initialize(version)
        return self.new_session()

    def prompt(self, words: str) -> int:
        blocks = [{"type": "text", "text": words}]
        return self.start("session/prompt", sessionId=self.session, prompt=blocks)

    def finish(self, version: int, prompt: int) -> str | None:
        """Reads to the end of the turn and returns its stop reason."""
        if version == 1:
            return self.answer(prompt)["result"]["stopReason"]
        idle = self.until(lambda f: updates([f], "state_update") and state(f) == "idle")
        return idle["params"]["update"].get("stopReason")

    def do(self, version: int, words: str) -> str | None:
        """Prompts, and reads to the end of the turn."""
        return self.finish(version, self.prompt(words))


def updates(frames: list[Frame], kind: str | None = None) -> list[Any]:
    """The `update` of each `session/update` among the frames, of one kind if named."""
    found = [
        frame["params"]["update"]
        for frame in frames
        if isinstance(frame, dict) and frame.get("method") == "session/update"
    ]
    return [u for u in found if kind is None or u.get("sessionUpdate") == kind]


def state(frame: Frame) -> str:
    return frame["params"]["update"]["state"]


def said(frames: list[Frame]) -> str:
    """What the agent's message chunks add up to."""
    chunks = updates(frames, "agent_message_chunk")
    return "".join(chunk["content"].get("text", "") for chunk in chunks)
