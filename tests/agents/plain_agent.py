"""A minimal, correct ACP v1 agent in plain standard library, for `bad_agent.py` to spoil.

It holds the wire (JSON lines on stdio) and the shortest protocol that works. It does not know how
the agents built on it misbehave.
"""

from __future__ import annotations

import json
import sys
from collections import deque
from typing import Any

SESSION = "bad-session"

Frame = dict[str, Any]


class Refused(Exception):
    """A request is answered with this error."""

    def __init__(self, code: int, message: str, data: Any = None) -> None:
        super().__init__(message)
        self.error = {"code": code, "message": message}
        if data is not None:
            self.error["data"] = data


def text(words: Any) -> Frame:
    return {"type": "text", "text": words}


def chunk(words: Any, **more: Any) -> Frame:
    return {"sessionUpdate": "agent_message_chunk", "content": text(words), **more}


def tell(line: str) -> None:
    """Writes a line for people."""
    sys.stderr.write(line + "\n")
    sys.stderr.flush()


class PlainAgent:
    """A minimal, correct v1 agent; the bad ones change one thing each."""

    argument = ""

    def __init__(self) -> None:
        self._backlog: deque[Frame] = deque()

    # -- wire

    def raw(self, data: bytes) -> None:
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()

    def send(self, frame: Any) -> None:
        self.raw(json.dumps(frame).encode() + b"\n")

    def update(self, update: Any, **more: Any) -> None:
        params = {"sessionId": SESSION, "update": update, **more}
        self.send({"jsonrpc": "2.0", "method": "session/update", "params": params})

    def answer(self, request: Frame, result: Any) -> None:
        self.send({"jsonrpc": "2.0", "id": request["id"], "result": result})

    def request(self, request_id: Any, method: str, params: Any) -> Frame:
        return {"jsonrpc": "2.0", "id": request_id, "method": method, "params": params}

    def read(self) -> Any:
        line = sys.stdin.buffer.readline()
        return json.loads(line) if line else None

    def read_answers(self, *ids: Any) -> list[Frame]:
        """Waits until all these are answered; what else comes is kept for the main loop."""
        answers: list[Frame] = []
        while {*ids} - {answer.get("id") for answer in answers}:
            frame = self.read()
            if frame is None:
                break
            if isinstance(frame, list):
                answers.extend(frame)
            elif "method" in frame:
                self._backlog.append(frame)
            else:
                answers.append(frame)
        return answers

    def run(self) -> None:
        while (frame := self._backlog.popleft() if self._backlog else self.read()) is not None:
            if "method" in frame:
                self.receive(frame)
        self.at_end()

    def at_end(self) -> None:
        """Stdin was closed."""

    # -- protocol

    def receive(self, frame: Frame) -> None:
        name = frame["method"].replace("/", "_")
        try:
            getattr(self, f"on_{name}", self.refuse)(frame)
        except Refused as refusal:
            if "id" in frame:
                self.send({"jsonrpc": "2.0", "id": frame["id"], "error": refusal.error})

    def refuse(self, frame: Frame) -> None:
        raise Refused(-32601, "Method not found", {"method": frame["method"]})

    def on_initialize(self, frame: Frame) -> None:
        self.answer(frame, self.introduction())

    def introduction(self) -> Frame:
        return {
            "protocolVersion": 1,
            "agentInfo": {"name": "bad-agent", "version": "1.0.0"},
            "agentCapabilities": {},
        }

    def on_session_new(self, frame: Frame) -> None:
        self.answer(frame, {"sessionId": SESSION})

    def on_session_prompt(self, frame: Frame) -> None:
        self.update(chunk("hello"))
        self.answer(frame, {"stopReason": "end_turn"})

    def on_session_cancel(self, frame: Frame) -> None:
        """Turns here are over before a cancel can be read."""
