"""A v2 agent that plays scenes: `python stage_agent.py [SECONDS]`. The prompt names the scene.

The scenes are in `scenes.py`, with what each step means. SECONDS is the pause between two chunks of
a reply, for measurements (0). With STAGE_LOG in the environment it notes there when it said its
first chunk, when it got an answer and when it was done. Knows nothing of the client.
"""

from __future__ import annotations

import json
import os
import sys
import time
from typing import Any

from plain_agent import SESSION, Frame, PlainAgent, tell
from scenes import CONFIG_OPTIONS, Step, steps_of


class Ended(Exception):
    """The turn is over, with these members of its `idle`."""

    def __init__(self, **idle: Any) -> None:
        super().__init__()
        self.idle = idle


class Stage(PlainAgent):
    turns = 0
    said = 0
    requests = 0

    def __init__(self, pause_s: float) -> None:
        super().__init__()
        self.pause_s = pause_s
        self.due = 0.0
        self.options = json.loads(json.dumps(CONFIG_OPTIONS))

    def introduction(self) -> Frame:
        info = {"name": "stage-agent", "title": "Stage", "version": "1.0.0"}
        return {"protocolVersion": 2, "info": info, "capabilities": {"session": {"prompt": {}}}}

    def on_session_new(self, frame: Frame) -> None:
        self.answer(frame, {"sessionId": SESSION, "configOptions": self.options})

    def on_session_set_config_option(self, frame: Frame) -> None:
        params = frame["params"]
        if params["value"] == "refused":
            error = {"code": -32603, "message": "This model is not in your plan"}
            self.send({"jsonrpc": "2.0", "id": frame["id"], "error": error})
            return
        for option in self.options:
            if option["configId"] == params["configId"]:
                option["currentValue"] = params["value"]
        self.answer(frame, {"configOptions": self.options})

    def on_session_prompt(self, frame: Frame) -> None:
        self.turns += 1
        self.answer(frame, {})
        prompt = frame["params"]["prompt"]
        user = {"sessionUpdate": "user_message", "messageId": f"user-{self.turns}"}
        self.update({**user, "content": prompt})
        self.state("running")
        try:
            for step in steps_of(prompt[0]["text"]):
                self.play(step)
            self.log("done")
            self.state("idle", stopReason="end_turn")
        except Ended as end:
            self.state("idle", **end.idle)

    def log(self, event: str) -> None:
        """Notes the time of an event, in milliseconds as browsers count them."""
        if path := os.environ.get("STAGE_LOG"):
            with open(path, "a") as file:  # noqa: PTH123 - nothing but a file
                file.write(json.dumps({"event": event, "ms": time.time() * 1000}) + "\n")

    def state(self, name: str, **members: Any) -> None:
        self.update({"sessionUpdate": "state_update", "state": name, **members})

    def play(self, step: Step) -> None:
        if "sessionUpdate" in step:
            self.tell(self.in_this_turn(step))
        elif "asks" in step:
            self.ask("session/request_permission", step["asks"])
        elif "form" in step:
            self.ask("elicitation/create", [step["form"]])
        elif "sleep" in step:
            time.sleep(step["sleep"])
        elif "hold" in step:
            self.hold(is_deaf=step["hold"] == "deaf")
        else:
            self.end(step)

    def end(self, step: Step) -> None:
        if "die" in step:
            tell(step["die"])
            os._exit(3)
        if "fail" in step:
            raise Ended(stopReason="error", error=step["fail"])
        raise Ended(stopReason=step["end"])

    def tell(self, update: Step) -> None:
        if update["sessionUpdate"] == "agent_message_chunk":
            if self.said != self.turns:
                self.log("first")
                self.said = self.turns
            if self.pause_s:
                self.wait()
        self.update(update)

    def wait(self) -> None:
        """Keeps the pace on the whole, however late a single chunk is."""
        now = time.monotonic()
        self.due = max(self.due + self.pause_s, now - 0.05)
        if self.due > now:
            time.sleep(self.due - now)

    def in_this_turn(self, step: Step) -> Step:
        """The same names mean other things in the next turn."""
        named = json.dumps(step)
        for key in ("messageId", "toolCallId", "terminalId", "planId", "compactionId"):
            named = named.replace(f'"{key}": "', f'"{key}": "{self.turns}-')
        found: Step = json.loads(named)
        return found

    def ask(self, method: str, questions: list[Step]) -> None:
        ids = []
        for question in questions:
            self.requests += 1
            ids.append(f"ask-{self.requests}")
            params = {"sessionId": SESSION, **self.in_this_turn(question)}
            self.send(self.request(ids[-1], method, params))
        self.state("requires_action")
        answers = self.read_answers(*ids)
        self.log("answered")
        self.state("running")
        for answer in answers:
            result = answer.get("result", {})
            outcome = result.get("outcome", {}).get("outcome", result.get("action"))
            if outcome in {"cancelled", "cancel"}:
                raise Ended(stopReason="cancelled")

    def hold(self, *, is_deaf: bool) -> None:
        """Wait until the turn is cancelled; serve everything else."""
        while (frame := self.read()) is not None:
            if frame.get("method") != "session/cancel":
                self.receive(frame)
            elif not is_deaf:
                raise Ended(stopReason="cancelled")
        sys.exit()

    def on_session_cancel(self, frame: Frame) -> None:
        """Seen where it matters."""


if __name__ == "__main__":
    Stage(float(sys.argv[1]) if len(sys.argv) > 1 else 0).run()
