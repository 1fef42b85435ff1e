"""A v1 agent that asks at a chosen time: `python asking_at_times.py`.

A prompt's first word says when: `now` (in the turn), `later FILE` (in the turn, once the file is
there), `after` (behind the turn's end). As an argument, `early` speaks and asks in the same write
as the answer to `session/new`. What was answered stands in the next message.
"""

from __future__ import annotations

import json
import sys
import threading
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent / "agents"))

from plain_agent import Frame, PlainAgent, chunk

OPTIONS = [
    {"optionId": "yes", "name": "Yes", "kind": "allow_once"},
    {"optionId": "no", "name": "No", "kind": "reject_once"},
]


class AskingAgent(PlainAgent):
    sessions = 0
    asked = 0

    def on_session_new(self, frame: Frame) -> None:
        self.sessions += 1
        session = f"session-{self.sessions}"
        answer = {"jsonrpc": "2.0", "id": frame["id"], "result": {"sessionId": session}}
        frames = [answer]
        if "early" in sys.argv:
            welcome = {"sessionId": session, "update": chunk("Welcome before you ask.")}
            frames.append({"jsonrpc": "2.0", "method": "session/update", "params": welcome})
            frames.append(self._question(session, "Trust this folder?"))
        self.raw(b"".join(json.dumps(each).encode() + b"\n" for each in frames))

    def on_session_close(self, frame: Frame) -> None:
        self.answer(frame, {})

    def introduction(self) -> Frame:
        offered = {"sessionCapabilities": {"close": {}}}
        return {**super().introduction(), "agentCapabilities": offered}

    def _question(self, session: str, title: str) -> Frame:
        self.asked += 1
        call = {"toolCallId": f"call-{self.asked}", "title": title}
        params = {"sessionId": session, "toolCall": call, "options": OPTIONS}
        return self.request(f"asked-{self.asked}", "session/request_permission", params)

    def on_session_prompt(self, frame: Frame) -> None:
        session = frame["params"]["sessionId"]
        words = frame["params"]["prompt"][0]["text"].split()
        if words[0] == "later":
            self.update(chunk("working. "), sessionId=session)
            while not Path(words[1]).exists():
                threading.Event().wait(0.01)
        if words[0] in {"now", "later"}:
            self.send(self._question(session, "May I?"))
            self._report(session, f"asked-{self.asked}")
        else:
            self.update(chunk("hello"), sessionId=session)
        self.answer(frame, {"stopReason": "end_turn"})
        if words[0] == "after":
            self.send(self._question(session, "And now?"))

    def _report(self, session: str, request_id: str) -> None:
        answers = {answer["id"]: answer for answer in self.read_answers(request_id)}
        outcome: Any = answers[request_id]["result"]["outcome"]
        self.update(chunk(f"answer={outcome.get('optionId')}"), sessionId=session)


if __name__ == "__main__":
    AskingAgent().run()
