"""An agent that asks its client what the prompt says: `python requesting_agent.py [2]`.

The prompt is JSON: a list of steps, each a list of `[method, params]` that are sent at once. In the
params "$TERM" is the terminal that was made last, and the sessionId is filled in. The answer is a
JSON list with one `result` or `error` for each request. `after/turn` and `after/stop` ask for one
thing more when the prompt was answered, or a cancel has come. With "2" it speaks version 2.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent / "agents"))

from plain_agent import Frame, PlainAgent, chunk

NOTIFICATIONS = {"session/update"}
LATER = {"after/turn", "after/stop"}


class AskingAgent(PlainAgent):
    """Speaks version 1."""

    sessions = 0
    requests = 100

    def __init__(self) -> None:
        super().__init__()
        self.later: dict[str, list[Any]] = {}

    def introduction(self) -> Frame:
        answer = super().introduction()
        capabilities = {"sessionCapabilities": {"close": {}}}
        return {**answer, "agentCapabilities": capabilities}

    def on_initialize(self, frame: Frame) -> None:
        self.capabilities = frame["params"].get("clientCapabilities")
        super().on_initialize(frame)

    def on_session_new(self, frame: Frame) -> None:
        self.sessions += 1
        self.answer(frame, {"sessionId": f"asking-{self.sessions}"})

    def on_session_close(self, frame: Frame) -> None:
        self.answer(frame, {})

    def on_session_prompt(self, frame: Frame) -> None:
        session_id = frame["params"]["sessionId"]
        self.begin(frame, session_id)
        answers, terminal = [], ""
        for step in json.loads(frame["params"]["prompt"][0]["text"]):
            ids = []
            for method, params in step:
                written = json.dumps({"sessionId": session_id, **params})
                filled = json.loads(written.replace('"$TERM"', json.dumps(terminal)))
                if method in LATER:
                    self.later[method] = filled["ask"]
                elif method in NOTIFICATIONS:
                    self.send({"jsonrpc": "2.0", "method": method, "params": filled})
                else:
                    self.requests += 1
                    ids.append(self.requests)
                    self.send(self.request(self.requests, method, filled))
            found = {answer["id"]: answer for answer in self.read_answers(*ids)}
            for request_id in ids:
                answer = found[request_id]
                answers.append({key: answer[key] for key in ("result", "error") if key in answer})
                result = answer.get("result")
                terminal = (result or {}).get("terminalId", terminal)
        params = {"sessionId": session_id, "update": self.said(json.dumps(answers))}
        self.send({"jsonrpc": "2.0", "method": "session/update", "params": params})
        self.finish(frame, session_id)
        self.ask_later("after/turn", session_id)

    def on_session_cancel(self, frame: Frame) -> None:
        self.ask_later("after/stop", frame["params"]["sessionId"])

    def ask_later(self, when: str, session_id: str) -> None:
        if when in self.later:
            method, params = self.later.pop(when)
            self.requests += 1
            asked = {"sessionId": session_id, **params}
            self.send(self.request(self.requests, method, asked))

    def begin(self, frame: Frame, session_id: str) -> None:
        """The work begins."""

    def said(self, words: str) -> Frame:
        return chunk(words)

    def finish(self, frame: Frame, session_id: str) -> None:
        self.answer(frame, {"stopReason": "end_turn"})


class AskingV2Agent(AskingAgent):
    """The same in version 2."""

    def introduction(self) -> Frame:
        info = {"name": "asking-agent", "version": "1.0.0"}
        return {"protocolVersion": 2, "info": info, "capabilities": {"session": {}}}

    def begin(self, frame: Frame, session_id: str) -> None:
        self.answer(frame, {})
        self.state(session_id, state="running")

    def said(self, words: str) -> Frame:
        return chunk(words, messageId="m1")

    def finish(self, frame: Frame, session_id: str) -> None:
        self.state(session_id, state="idle", stopReason="end_turn")

    def state(self, session_id: str, **members: str) -> None:
        update = {"sessionUpdate": "state_update", **members}
        params = {"sessionId": session_id, "update": update}
        self.send({"jsonrpc": "2.0", "method": "session/update", "params": params})


if __name__ == "__main__":
    (AskingV2Agent if "2" in sys.argv[1:] else AskingAgent)().run()
