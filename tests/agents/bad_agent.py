"""Agents that behave badly, one per name: `python bad_agent.py NAME [ARGUMENT]`.

Plain standard library and raw JSON lines, because no SDK would send most of this. Every agent is
a minimal ACP v1 agent that is right in all but one thing (`v2-sloppy`: a v2 agent). The table of
names is in README.md. It knows nothing of the client under test.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from typing import Any, ClassVar

from plain_agent import SESSION, Frame, PlainAgent, Refused, chunk, tell, text

HUGE = 20_000_000
FLOOD = 2_000_000
LIFETIME_SECONDS = 300  # an agent or child that a broken test left behind ends by itself
CHUNKS_AFTER_CANCEL = 22
OPTIONS = [
    {"optionId": "yes", "name": "Yes", "kind": "allow_once"},
    {"optionId": "no", "name": "No", "kind": "reject_once"},
]
NOISE = (
    b"Loaded cached credentials.\n",
    b"\x1b[2J\xff\xfe\n",
    b"\r\n\n",
    b'{"level": "info", "message": "JSON, but not JSON-RPC"}\n',
    b'42\n"text"\nnull\n{"jsonrpc": "2.0", \n',
)


class ExitsAtOnce(PlainAgent):
    def run(self) -> None:
        tell("cannot find the configuration file")
        sys.exit(3)


class Banner(PlainAgent):
    """Noise before, between and after the frames; lines end with CRLF."""

    def run(self) -> None:
        self.raw(b"".join(NOISE))
        super().run()

    def send(self, frame: Any) -> None:
        self.raw(json.dumps(frame).encode() + b"\r\n" + b"".join(NOISE))


class Silent(PlainAgent):
    def on_initialize(self, frame: Frame) -> None:
        for step in range(1, 4):
            tell(f"fetching package {step} of 3")


class VersionSeven(PlainAgent):
    def introduction(self) -> Frame:
        return {**super().introduction(), "protocolVersion": 7}


class UnsupportedVersion(PlainAgent):
    """Answers -32022 when asked for v2, as a strict v1 agent of the newer schema does."""

    def on_initialize(self, frame: Frame) -> None:
        requested = frame["params"].get("protocolVersion")
        if requested != 1:
            data = {"requested": requested, "supported": [1]}
            raise Refused(-32022, "Unsupported protocol version", data)
        super().on_initialize(frame)


class DiesMidTurn(PlainAgent):
    def on_session_prompt(self, frame: Frame) -> None:
        for words in ("one ", "two ", "three "):
            self.update(chunk(words))
        if self.argument == "zero":
            sys.exit(0)
        tell("fatal: out of credits")
        sys.exit(1)


class StderrFlood(PlainAgent):
    def on_initialize(self, frame: Frame) -> None:
        line = b"a warning that nobody needs, again and again\n"
        sys.stderr.buffer.write(line * (FLOOD // len(line) + 1))
        sys.stderr.buffer.flush()
        super().on_initialize(frame)


class HugeLine(PlainAgent):
    """One line of 20 MB (or ARGUMENT bytes): a message, or tool output if the prompt says tool."""

    def on_session_prompt(self, frame: Frame) -> None:
        words = "x" * int(self.argument or HUGE)
        if "tool" in json.dumps(frame["params"]):
            call = {"toolCallId": "huge", "title": "cat", "status": "completed"}
            content = [{"type": "content", "content": text(words)}]
            self.update({"sessionUpdate": "tool_call", **call, "content": content})
        else:
            self.update(chunk(words))
        super().on_session_prompt(frame)


class IgnoresEof(PlainAgent):
    """Does not end with stdin and has a child; `stubborn`: both ignore SIGTERM as well."""

    def run(self) -> None:
        stubborn = self.argument == "stubborn"
        if stubborn:
            signal.signal(signal.SIGTERM, signal.SIG_IGN)  # inherited by the child
        wait = f"import time; time.sleep({LIFETIME_SECONDS})"
        self._child = subprocess.Popen([sys.executable, "-c", wait])
        tell(f"child {self._child.pid}")
        super().run()

    def introduction(self) -> Frame:
        pids = {"pid": os.getpid(), "childPid": self._child.pid}
        return {**super().introduction(), "_meta": {"test-agents": pids}}

    def at_end(self) -> None:
        time.sleep(LIFETIME_SECONDS)


class IgnoresCancel(PlainAgent):
    """Hangs; after a cancel it sends more than before, and never answers the prompt."""

    def on_session_prompt(self, frame: Frame) -> None:
        self.update(chunk("working"))

    def on_session_cancel(self, frame: Frame) -> None:
        for index in range(CHUNKS_AFTER_CANCEL):
            self.update(chunk(f" more {index}"))
        call = {"toolCallId": "after-cancel", "title": "A new tool", "status": "in_progress"}
        self.update({"sessionUpdate": "tool_call", **call})


class Malformed(PlainAgent):
    """Wrong types among good updates, requests with odd ids; tells at the end what was answered."""

    BAD: ClassVar[tuple[Any, ...]] = (
        {"sessionUpdate": "agent_message_chunk", "content": "a string"},
        {"sessionUpdate": "agent_message_chunk", "content": text(7)},
        {"sessionUpdate": "agent_message_chunk"},
        {"sessionUpdate": "agent_message_chunk", "content": None, "messageId": {}},
        {"sessionUpdate": "tool_call", "title": "a call without an id"},
        {"sessionUpdate": "tool_call", "toolCallId": 5, "title": ["not", "text"]},
        {"sessionUpdate": "tool_call_update", "toolCallId": "t", "locations": "here"},
        {"sessionUpdate": "tool_call_update", "toolCallId": "t", "content": [1, None, "x"]},
        {"sessionUpdate": "plan", "entries": {"content": "not a list"}},
        {"sessionUpdate": "plan", "entries": [None, {"content": 1, "status": []}]},
        {"sessionUpdate": "usage_update", "used": "many", "size": -1, "cost": "free"},
        {"sessionUpdate": "available_commands_update", "availableCommands": 1},
        {"sessionUpdate": "_unknown_update", "value": 1},
        {"sessionUpdate": None},
        {"sessionUpdate": ["a", "list"]},
        {},
        [],
        None,
        "update",
    )

    BAD_PARAMS: ClassVar[tuple[Any, ...]] = (
        None,
        [],
        {"update": chunk("lost")},
        {"sessionId": 5, "update": chunk("lost")},
    )

    def on_session_prompt(self, frame: Frame) -> None:
        self.update({"sessionUpdate": "tool_call", "toolCallId": "t", "title": "A good tool"})
        for index, bad in enumerate(self.BAD):
            self.update(bad)
            self.update(chunk(f"good {index} "))
        for params in self.BAD_PARAMS:
            self.send({"jsonrpc": "2.0", "method": "session/update", "params": params})
        self.send({"jsonrpc": "2.0", "method": "_vendor/status", "params": {"x": 1}})
        self.send({"jsonrpc": "2.0", "id": "nobody-asked", "result": {}})
        expected = self._send_requests()
        answers = {json.dumps(a.get("id")): a for a in self.read_answers(*expected)}
        self.update({"sessionUpdate": "tool_call_update", "toolCallId": "t", "status": "completed"})
        self.update(chunk("answers: " + json.dumps(answers, sort_keys=True)))
        self.answer(frame, {"stopReason": "end_turn"})

    def _send_requests(self) -> list[Any]:
        """Sends requests that all want an answer; returns their ids."""
        self.send([])  # its answer has no id, so nobody waits for it
        update = {"sessionId": SESSION, "update": chunk("from a batch ")}
        notification = {"jsonrpc": "2.0", "method": "session/update", "params": update}
        self.send([notification, self.request("batch", "_x/in_a_batch", {})])
        self.send(self.request(0, "_x/unknown", {}))
        self.send(self.request("unknown", "no_such/method", None))
        ask = "session/request_permission"
        call = {"toolCallId": "t"}
        no_kind = [{"optionId": "same", "name": "Neutral"}, {"optionId": "same", "name": "Again"}]
        nothing: list[Frame] = []
        for request_id, options in (("empty", nothing), ("no-kind", no_kind)):
            params = {"sessionId": SESSION, "toolCall": call, "options": options}
            self.send(self.request(request_id, ask, params))
        self.send(self.request("no-params", ask, {}))
        return ["batch", 0, "unknown", "empty", "no-kind", "no-params"]


class ErrorInSessionNew(PlainAgent):
    def on_session_new(self, frame: Frame) -> None:
        data = {"details": "usage limit reached; resets 18:00"}
        raise Refused(-32603, "Internal error", data)


class AuthRequired(PlainAgent):
    """-32000 until `authenticate` is called with `login`."""

    _authenticated = False

    def introduction(self) -> Frame:
        methods = [{"id": "login", "name": "Log in", "description": "Opens nothing; just call it."}]
        return {**super().introduction(), "authMethods": methods}

    def on_authenticate(self, frame: Frame) -> None:
        if frame["params"].get("methodId") != "login":
            raise Refused(-32602, "Unknown method")
        self._authenticated = True
        self.answer(frame, {})

    def on_session_new(self, frame: Frame) -> None:
        if not self._authenticated:
            raise Refused(-32000, "Authentication required")
        super().on_session_new(frame)


class V1Strict(PlainAgent):
    """Chokes on an `initialize` with anything of v2; after that only a new process helps."""

    _choked = False

    def receive(self, frame: Frame) -> None:
        params = frame.get("params") or {}
        strange = {"info", "capabilities"} & params.keys() or params.get("protocolVersion") != 1
        if frame["method"] == "initialize" and strange:
            self._choked = True
            if self.argument == "exit":
                tell("panic: unknown field in initialize")
                sys.exit(101)
        super().receive(frame)

    def on_initialize(self, frame: Frame) -> None:
        if self._choked:
            raise Refused(-32602, "Invalid params", {"details": "unknown field `info`"})
        super().on_initialize(frame)


class Says2Speaks1(PlainAgent):
    def introduction(self) -> Frame:
        return {**super().introduction(), "protocolVersion": 2}


class LateUpdates(PlainAgent):
    """Updates before the answer to `session/new`, and after the answer to the prompt."""

    def on_session_new(self, frame: Frame) -> None:
        commands = [{"name": "early", "description": "Came before the session"}]
        self.update({"sessionUpdate": "available_commands_update", "availableCommands": commands})
        self.update({"sessionUpdate": "session_info_update", "title": "An early title"})
        super().on_session_new(frame)

    def on_session_prompt(self, frame: Frame) -> None:
        self.update(chunk("on ", messageId="m1"))
        call = {"toolCallId": "late", "title": "A slow tool", "status": "in_progress"}
        self.update({"sessionUpdate": "tool_call", **call})
        self.answer(frame, {"stopReason": "end_turn"})
        self.update(chunk("time", messageId="m1"))
        self.update(
            {"sessionUpdate": "tool_call_update", "toolCallId": "late", "status": "completed"}
        )


class NeverAnnounced(PlainAgent):
    """Asks for a tool call that no update named; its update comes after the answer."""

    def on_session_prompt(self, frame: Frame) -> None:
        call = {"toolCallId": "unseen", "title": "Delete the results", "kind": "delete"}
        params = {"sessionId": SESSION, "toolCall": call, "options": OPTIONS}
        self.send(self.request(0, "session/request_permission", params))
        answers = self.read_answers(0)
        outcome = json.dumps(answers[0].get("result")) if answers else "none"
        self.update(
            {"sessionUpdate": "tool_call_update", "toolCallId": "unseen", "status": "completed"}
        )
        self.update(chunk(f"outcome: {outcome}"))
        self.answer(frame, {"stopReason": "end_turn"})


class V2Sloppy(PlainAgent):
    """v2 with a null answer, an idle of older work, an unknown state, and idle told twice."""

    def introduction(self) -> Frame:
        info = {"name": "bad-agent", "version": "1.0.0"}
        return {"protocolVersion": 2, "info": info, "capabilities": {"session": {}}}

    def state(self, state: str, **more: Any) -> None:
        self.update({"sessionUpdate": "state_update", "state": state, **more})

    def on_session_prompt(self, frame: Frame) -> None:
        self.state("idle", stopReason="end_turn")
        self.answer(frame, None)
        content = frame["params"]["prompt"]
        self.update({"sessionUpdate": "user_message", "messageId": "u1", "content": content})
        self.state("_compacting")
        self.update(chunk("hello", messageId="m1"))
        for _ in range(2):
            self.state("idle", stopReason="end_turn")
        self.update(chunk(" again", messageId="m1"))


AGENTS: dict[str, type[PlainAgent]] = {
    "exits-at-once": ExitsAtOnce,
    "banner": Banner,
    "silent": Silent,
    "version-7": VersionSeven,
    "unsupported-version": UnsupportedVersion,
    "dies-mid-turn": DiesMidTurn,
    "stderr-flood": StderrFlood,
    "huge-line": HugeLine,
    "ignores-eof": IgnoresEof,
    "ignores-cancel": IgnoresCancel,
    "malformed": Malformed,
    "error-in-session-new": ErrorInSessionNew,
    "auth-required": AuthRequired,
    "v1-strict": V1Strict,
    "says-2-speaks-1": Says2Speaks1,
    "late-updates": LateUpdates,
    "never-announced": NeverAnnounced,
    "v2-sloppy": V2Sloppy,
}


def main() -> None:
    if len(sys.argv) < 2 or sys.argv[1] not in AGENTS:
        sys.exit("usage: bad_agent.py NAME [ARGUMENT]; names: " + " ".join(AGENTS))
    agent = AGENTS[sys.argv[1]]()
    agent.argument = sys.argv[2] if len(sys.argv) > 2 else ""
    with contextlib.suppress(BrokenPipeError, KeyboardInterrupt):
        agent.run()


if __name__ == "__main__":
    main()
