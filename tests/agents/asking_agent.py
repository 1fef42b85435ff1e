"""An agent that asks by forms and pages: `python asking_agent.py [v2]`.

The text of the prompt says what it asks; whatever it gets is said as JSON. Plain standard library,
so that it can also ask what no SDK would send. Knows nothing of the client under test.

    everything      a form with a field of every kind
    secret          a form with a password, of which only the length is said
    page URL        a page
    raw JSON        these params, with the session's id
    child           a form of a session that the client does not know
    request         a form that belongs to the prompt's own request, not to a session (v1)
    withdraw        a form that is taken back by `$/cancel_request`
    hang            a form, and then nothing until the turn is cancelled; one more form after that
    die             a form, and then its process ends
"""

from __future__ import annotations

import json
import sys
from typing import Any

from plain_agent import SESSION, Frame, PlainAgent, chunk

SIDES = [{"const": "l", "title": "Left"}, {"const": "r", "title": "Right", "description": "Best"}]
EVERYTHING = {
    "type": "object",
    "title": "All kinds of fields",
    "required": ["name", "mail", "age"],
    "properties": {
        "name": {"type": "string", "title": "Name", "minLength": 2, "description": "As you like"},
        "mail": {"type": "string", "title": "E-mail", "format": "email"},
        "site": {"type": "string", "title": "Home page", "format": "uri"},
        "day": {"type": "string", "title": "Day", "format": "date"},
        "at": {"type": "string", "title": "Moment", "format": "date-time"},
        "age": {"type": "integer", "title": "Age", "minimum": 0, "maximum": 150},
        "share": {"type": "number", "title": "Share", "maximum": 1, "default": 0.5},
        "sure": {"type": "boolean", "title": "Sure", "default": True},
        "side": {"type": "string", "title": "Side", "oneOf": SIDES, "default": "r"},
        "month": {"type": "string", "title": "Month", "enum": [f"M{n}" for n in range(1, 13)]},
        "pets": {
            "type": "array",
            "title": "Pets",
            "items": {"anyOf": [{"const": "c", "title": "Cat"}, {"const": "d", "title": "Dog"}]},
            "default": ["c"],
            "maxItems": 1,
        },
        "odd": {"type": "_map", "title": "Place"},
    },
}
SECRET = {
    "type": "object",
    "required": ["password"],
    "properties": {
        "user": {"type": "string", "title": "User"},
        "password": {"type": "string", "title": "Password"},
    },
}
SMALL = {"type": "object", "properties": {"word": {"type": "string", "title": "Word"}}}


class Asking(PlainAgent):
    turns = 0

    def introduction(self) -> Frame:
        if self.argument != "v2":
            return super().introduction()
        info = {"name": "asking-agent", "version": "1.0.0"}
        return {"protocolVersion": 2, "info": info, "capabilities": {"session": {}}}

    def on_session_prompt(self, frame: Frame) -> None:
        if self.argument == "v2":
            self.turns += 1
            self.answer(frame, {})
            user = {"sessionUpdate": "user_message", "messageId": f"user-{self.turns}"}
            self.update({**user, "content": frame["params"]["prompt"]})
            self.update({"sessionUpdate": "state_update", "state": "running"})
        word, _, rest = frame["params"]["prompt"][0]["text"].partition(" ")
        reason = getattr(self, f"do_{word}")(rest, frame) or "end_turn"
        if self.argument == "v2":
            self.update({"sessionUpdate": "state_update", "state": "idle", "stopReason": reason})
        else:
            self.answer(frame, {"stopReason": reason})

    def on_session_cancel(self, frame: Frame) -> None:
        """Seen where it matters."""

    def ask(self, request_id: Any, **params: Any) -> None:
        self.send(self.request(request_id, "elicitation/create", params))

    def say(self, *request_ids: Any) -> None:
        answers = {answer["id"]: answer for answer in self.read_answers(*request_ids)}
        found = [answers[i].get("result", answers[i].get("error")) for i in request_ids]
        words = json.dumps(found[0] if len(found) == 1 else found, sort_keys=True)
        self.update(chunk(f"answer: {words}", messageId=f"agent-{self.turns}"))

    def form(self, request_id: Any, schema: Frame, message: str = "Details, please") -> None:
        self.ask(
            request_id, sessionId=SESSION, mode="form", message=message, requestedSchema=schema
        )

    def do_everything(self, _: str, frame: Frame) -> None:
        self.form(0, EVERYTHING)
        self.say(0)

    def do_secret(self, _: str, frame: Frame) -> None:
        self.form("s", SECRET)
        (answer,) = self.read_answers("s")
        words = f"{answer['result']['action']}: {len(answer['result']['content']['password'])}"
        self.update(chunk(words, messageId=f"agent-{self.turns}"))

    def do_page(self, url: str, frame: Frame) -> None:
        asked = {"mode": "url", "message": "Look there", "elicitationId": "p-1", "url": url}
        self.ask("p", sessionId=SESSION, **asked)
        self.say("p")
        for page in ("nobody-knows-this", "p-1"):
            params = {"elicitationId": page}
            self.send({"jsonrpc": "2.0", "method": "elicitation/complete", "params": params})

    def do_raw(self, text: str, frame: Frame) -> None:
        self.ask("r", **{"sessionId": SESSION, **json.loads(text)})
        self.say("r")

    def do_child(self, _: str, frame: Frame) -> None:
        params = {"mode": "form", "message": "From a child", "requestedSchema": SMALL}
        self.ask("c", sessionId="child-session", **params)
        self.say("c")

    def do_request(self, _: str, frame: Frame) -> None:
        params = {"mode": "form", "message": "For this request", "requestedSchema": SMALL}
        self.ask("q", requestId=frame["id"], **params)
        self.say("q")

    def do_withdraw(self, _: str, frame: Frame) -> None:
        self.form("w", SMALL)
        params = {"requestId": "w"}
        self.send({"jsonrpc": "2.0", "method": "$/cancel_request", "params": params})
        self.say("w")

    def do_hang(self, _: str, frame: Frame) -> str:
        self.form("h1", SMALL)
        self.read_answers("h1")
        self.form("h2", SMALL)
        self.say("h2")
        return "cancelled"

    def do_die(self, _: str, frame: Frame) -> None:
        self.form("d", SMALL)
        self.read_answers("never")


if __name__ == "__main__":
    agent = Asking()
    agent.argument = sys.argv[1] if len(sys.argv) > 1 else ""
    agent.run()
