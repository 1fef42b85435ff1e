"""An agent that wants a login: `python login_agent.py WAYS [v2] [OPTION...]`.

WAYS is a comma-separated list of `agent`, `second`, `terminal`, `odd` (a type that nobody knows),
or `none`. It counts as logged in while the file named by LOGIN_TOKEN is there. Options:

    form        the agent's own way asks for a code by a form, outside of any session
    lax         sessions open without a login; prompts do not
    logout      it offers a logout (v1; in v2 every agent with ways does)
    --login     not an agent: asks for a code on its terminal and makes the token

The code is `sesame`. Plain standard library; knows nothing of the client under test.
"""

from __future__ import annotations

import getpass
import os
import sys
from pathlib import Path
from typing import Any

from plain_agent import Frame, PlainAgent, Refused, chunk

CODE = "sesame"
TOKEN = Path(os.environ.get("LOGIN_TOKEN", "no-token-file"))


def log_in_here() -> None:
    """What the agent's program does in a terminal."""
    if not sys.stdin.isatty() or not sys.stdout.isatty():
        sys.exit("this needs a terminal")
    name = input(f"{os.environ.get('LOGIN_GREETING', 'Welcome')}. Your name: ")
    for _ in range(3):
        if getpass.getpass("Code: ") == CODE:
            TOKEN.write_text(name, encoding="utf-8")
            print("\x1b[32mThat is right.\x1b[0m")
            return
        print("That is wrong.")
    sys.exit(3)


class Wanting(PlainAgent):
    def __init__(self, ways: list[str], options: set[str]) -> None:
        super().__init__()
        self.ways = ways
        self.options = options
        self.is_v2 = "v2" in options
        self.turns = 0

    def introduction(self) -> Frame:
        ways = [self.way(name) for name in self.ways if name != "none"]
        if self.is_v2:
            info = {"name": "login-agent", "version": "1.0.0"}
            capabilities = {"session": {}}
            return {
                "protocolVersion": 2,
                "info": info,
                "capabilities": capabilities,
                "authMethods": ways,
            }
        capabilities = {"loadSession": False, "sessionCapabilities": {"resume": {}}}
        if "logout" in self.options:
            capabilities["auth"] = {"logout": {}}
        return {
            **super().introduction(),
            "agentCapabilities": capabilities,
            "authMethods": ways,
        }

    def way(self, name: str) -> Frame:
        key = "methodId" if self.is_v2 else "id"
        if name == "terminal":
            env = {"LOGIN_GREETING": "Good day"}
            pairs = [{"name": k, "value": v} for k, v in env.items()]
            return {
                key: "in-terminal",
                "type": "terminal",
                "name": "Type a code",
                "description": "Asks for a name and a code.",
                "args": ["--login"],
                "env": pairs if self.is_v2 else env,
            }
        if name == "odd":
            return {key: "by-device", "type": "_device", "name": "By device"}
        named = {key: f"by-{name}", "name": f"Log in by {name}"}
        return {**named, "type": "agent"} if self.is_v2 else named

    def check(self) -> None:
        if not TOKEN.exists():
            raise Refused(-32000, "Authentication required")

    def log_in(self, frame: Frame) -> None:
        if "form" in self.options:
            schema = {
                "type": "object",
                "required": ["code"],
                "properties": {"code": {"type": "string", "title": "Access code"}},
            }
            params = {"mode": "form", "message": "The code, please", "requestedSchema": schema}
            asked = {"requestId": frame["id"], **params}
            self.send(self.request("code", "elicitation/create", asked))
            (answer,) = self.read_answers("code")
            if answer.get("result", {}).get("content") != {"code": CODE}:
                raise Refused(-32603, "Wrong code")
        TOKEN.write_text("agent", encoding="utf-8")
        self.answer(frame, {})

    def log_out(self, frame: Frame) -> None:
        TOKEN.unlink(missing_ok=True)
        self.answer(frame, {})

    def on_authenticate(self, frame: Frame) -> None:
        if self.is_v2:
            self.refuse(frame)
        self.log_in(frame)

    def on_auth_login(self, frame: Frame) -> None:
        if not self.is_v2:
            self.refuse(frame)
        self.log_in(frame)

    def on_logout(self, frame: Frame) -> None:
        self.log_out(frame)

    def on_auth_logout(self, frame: Frame) -> None:
        self.log_out(frame)

    def on_session_new(self, frame: Frame) -> None:
        if "lax" not in self.options:
            self.check()
        super().on_session_new(frame)

    def on_session_resume(self, frame: Frame) -> None:
        self.check()
        self.answer(frame, {})

    def on_session_prompt(self, frame: Frame) -> None:
        self.check()
        text: Any = frame["params"]["prompt"][0]["text"]
        if not self.is_v2:
            self.update(chunk(f"heard: {text}"))
            self.answer(frame, {"stopReason": "end_turn"})
            return
        self.turns += 1
        self.answer(frame, {})
        user = {"sessionUpdate": "user_message", "messageId": f"user-{self.turns}"}
        self.update({**user, "content": frame["params"]["prompt"]})
        self.update({"sessionUpdate": "state_update", "state": "running"})
        self.update(chunk(f"heard: {text}", messageId=f"agent-{self.turns}"))
        self.update({"sessionUpdate": "state_update", "state": "idle", "stopReason": "end_turn"})


if __name__ == "__main__":
    if "--login" in sys.argv:
        log_in_here()
    else:
        Wanting(sys.argv[1].split(","), {*sys.argv[2:]}).run()
