"""Agents for one story each that no other test agent tells: `python story_agent.py NAME`.

Each is right in everything but what its name says. `V2Agent` speaks version 2; the others version
1, as the plain agent they are made of.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent / "agents"))

from plain_agent import Frame, PlainAgent, Refused, chunk, tell

LIFETIME_S = 120  # what a broken test leaves behind ends by itself
OPTIONS = [
    {"optionId": "yes", "name": "Yes", "kind": "allow_once"},
    {"optionId": "no", "name": "No", "kind": "reject_once"},
]
CALL = {"toolCallId": "call", "title": "Delete the results", "kind": "delete", "status": "pending"}
SLEEPER = [sys.executable, "-c", f"import time; time.sleep({LIFETIME_S})"]


class V1Agent(PlainAgent):
    """Keeps the prompt it works on in `prompt`."""

    prompt: Frame

    def on_session_prompt(self, frame: Frame) -> None:
        self.prompt = frame
        self.begin()

    def begin(self) -> None:
        """What happens at a prompt."""

    def ask(self, request_id: Any, **more: Any) -> None:
        params = {"sessionId": "bad-session", "toolCall": CALL, "options": OPTIONS, **more}
        self.send(self.request(request_id, "session/request_permission", params))

    def end(self, stop_reason: str = "end_turn") -> None:
        self.answer(self.prompt, {"stopReason": stop_reason})

    def fail(self, code: int, message: str) -> None:
        error = {"code": code, "message": message}
        self.send({"jsonrpc": "2.0", "id": self.prompt["id"], "error": error})


class V2Agent(V1Agent):
    """The same in version 2. A prompt is accepted, echoed and worked on."""

    messages = 0

    def introduction(self) -> Frame:
        info = {"name": "story-agent", "version": "1.0.0"}
        return {"protocolVersion": 2, "info": info, "capabilities": {"session": {}}}

    def on_session_prompt(self, frame: Frame) -> None:
        self.prompt = frame
        self.answer(frame, {})
        self.messages += 1
        content = frame["params"]["prompt"]
        message_id = f"user-{self.messages}"
        self.update({"sessionUpdate": "user_message", "messageId": message_id, "content": content})
        self.state("running")
        self.begin()

    def state(self, state: str, **more: Any) -> None:
        self.update({"sessionUpdate": "state_update", "state": state, **more})

    def ask(self, request_id: Any, **more: Any) -> None:
        subject = {"type": "tool_call", "toolCall": CALL}
        params = {"title": "May I?", "subject": subject, "options": OPTIONS, **more}
        params = {"sessionId": "bad-session", **params}
        self.send(self.request(request_id, "session/request_permission", params))

    def end(self, stop_reason: str = "end_turn") -> None:
        self.state("idle", stopReason=stop_reason)

    def say(self, words: str, message_id: str = "said") -> None:
        self.update(chunk(words, messageId=message_id))


class AbortError(V1Agent):
    """Answers a cancelled prompt with an error."""

    def begin(self) -> None:
        self.update(chunk("working"))

    def on_session_cancel(self, frame: Frame) -> None:
        self.fail(-32603, "AbortError: This operation was aborted")


class AbortErrorV2(V2Agent):
    """Hangs before it accepts; answers -32800 to a cancelled prompt. The next prompt asks."""

    def on_session_prompt(self, frame: Frame) -> None:
        if self.messages:
            super().on_session_prompt(frame)
            return
        self.messages = 1
        self.prompt = frame
        self.update({"sessionUpdate": "session_info_update", "title": "Not accepted yet"})

    def on_session_cancel(self, frame: Frame) -> None:
        self.fail(-32800, "Request cancelled")

    def begin(self) -> None:
        self.ask("q")
        answers = self.read_answers("q")
        self.say(f"outcome: {answers[0]['result']['outcome']}")
        self.end()


class AsksLate:
    """Asks for permission only after the cancel, and tells what it was answered."""

    def begin(self) -> None:
        self.update(chunk("working", messageId="m"))

    def on_session_cancel(self, frame: Frame) -> None:
        self.ask("late")
        answers = self.read_answers("late")
        self.update(chunk(f" outcome: {answers[0]['result']['outcome']['outcome']}", messageId="m"))
        self.end("cancelled")


class AsksLateV1(AsksLate, V1Agent):
    pass


class AsksLateV2(AsksLate, V2Agent):
    pass


class RefusesWhileBusy(V2Agent):
    """Version 2, but takes no second prompt while it works: each turn waits for a cancel."""

    is_busy = False

    def on_session_prompt(self, frame: Frame) -> None:
        if self.is_busy:
            raise Refused(-32600, "Prompt already in progress")
        self.is_busy = "[[wait]]" in str(frame["params"]["prompt"])
        super().on_session_prompt(frame)

    def begin(self) -> None:
        self.say(f"turn {self.messages}", f"m{self.messages}")
        if not self.is_busy:
            self.end()

    def on_session_cancel(self, frame: Frame) -> None:
        self.is_busy = False
        self.end("cancelled")


class EndsAfterEachTurn(V1Agent):
    """A process per turn: it leaves as soon as the turn is answered."""

    def begin(self) -> None:
        self.update(chunk(f"turn of {os.getpid()}"))
        self.end()
        sys.exit(0)


class LeavesAChild(V1Agent):
    """Is killed in mid-turn, while a child of it keeps its stdout and stderr open."""

    def begin(self) -> None:
        child = subprocess.Popen(SLEEPER)
        self.update(chunk(f"{child.pid}"))
        tell("killed by the system")
        os.kill(os.getpid(), signal.SIGKILL)


class ClosesStdout(V1Agent):
    """Closes its stdout in mid-turn and lives on."""

    def begin(self) -> None:
        self.update(chunk("my last words"))
        os.close(1)
        time.sleep(LIFETIME_S)


class ClosesStdoutWhenIdle(V1Agent):
    """Closes its stdout after the turn and lives on."""

    def begin(self) -> None:
        self.update(chunk(f"turn of {os.getpid()}"))
        self.end()
        os.close(1)
        time.sleep(LIFETIME_S)


class ClosesStdin(V1Agent):
    """Closes its stdin at the first prompt, or at once (argument "first"), and lives on."""

    def on_initialize(self, frame: Frame) -> None:
        if self.argument == "first":
            self.begin()
        super().on_initialize(frame)

    def begin(self) -> None:
        tell("my ears hurt")
        os.close(0)
        time.sleep(LIFETIME_S)


class ReadsNothing(V1Agent):
    """Stops reading after the answer about its session, and ends at no wish."""

    def on_session_new(self, frame: Frame) -> None:
        super().on_session_new(frame)
        time.sleep(LIFETIME_S)


class LeavesDaemons(V1Agent):
    """Tells the pids of a child in a session of its own and of a daemon; "die" ends it."""

    def begin(self) -> None:
        child = subprocess.Popen(SLEEPER, start_new_session=True)
        reading, writing = os.pipe()
        if os.fork() == 0:
            os.setsid()
            daemon = subprocess.Popen(SLEEPER)
            os.write(writing, b"%d" % daemon.pid)
            os._exit(0)
        os.wait()
        self.update(chunk(f"{child.pid} {os.read(reading, 20).decode()}"))
        if self.argument == "die":
            os._exit(1)
        self.end()


class ExitsWhenTold(V1Agent):
    """Exits at the prompt "exit", hangs at "hang" until cancelled, else says the prompt."""

    def begin(self) -> None:
        words = self.prompt["params"]["prompt"][0]["text"]
        if words == "exit":
            sys.exit(1)
        if self.argument == "usage" and words == "hello":
            self.update({"sessionUpdate": "usage_update", "used": 53, "size": 200})
            self.update({"sessionUpdate": "session_info_update", "title": "Greetings"})
        if words != "hang":
            self.update(chunk(words))
            self.end()

    def on_session_cancel(self, frame: Frame) -> None:
        self.end("cancelled")


class Floods(V1Agent):
    """Writes without end, and asks for nothing."""

    def begin(self) -> None:
        words = "x" * 100_000
        while True:
            self.update(chunk(words))


class OnlyLoads(V1Agent):
    """Can only tell a session again, before or (second word) after the answer. "exit" exits."""

    def introduction(self) -> Frame:
        # It boasts of a method that it has not.
        able = {"loadSession": True, "sessionCapabilities": {"resume": {}}}
        return {**super().introduction(), "agentCapabilities": able}

    session = ""

    def update(self, update: Any, **more: Any) -> None:
        super().update(update, sessionId=self.session, **more)

    def on_session_new(self, frame: Frame) -> None:
        self.session = "second" if Path(self.argument).exists() else "first"
        self.answer(frame, {"sessionId": self.session})

    def on_session_load(self, frame: Frame) -> None:
        self.session = frame["params"]["sessionId"]
        is_late = sys.argv[3:] == ["late"]
        if is_late:
            self.answer(frame, {})
        for words in Path(self.argument).read_text().splitlines():
            self.update({**chunk(words), "sessionUpdate": "user_message_chunk"})
            self.update(chunk(f"heard {words}"))
        self.update({"sessionUpdate": "session_info_update", "title": "Told again"})
        if not is_late:
            self.answer(frame, {})

    def begin(self) -> None:
        words = self.prompt["params"]["prompt"][0]["text"]
        with Path(self.argument).open("a") as memory:
            memory.write(f"{words}\n")
        if words == "exit":
            sys.exit(1)
        self.update(chunk(f"remembered: {Path(self.argument).read_text().split()}"))
        self.end()


class NoSessions(V2Agent):
    def introduction(self) -> Frame:
        return {**super().introduction(), "capabilities": {}}


class NoSessionId(V1Agent):
    def on_session_new(self, frame: Frame) -> None:
        self.answer(frame, {"modes": None})


class ChildSession(V1Agent):
    """Asks in the name of a session that the client never opened."""

    def begin(self) -> None:
        other = {"sessionId": "child", "update": chunk("words of the child session")}
        self.send({"jsonrpc": "2.0", "method": "session/update", "params": other})
        self.ask("from-the-child", sessionId="child")
        answers = self.read_answers("from-the-child")
        self.update(chunk(f"outcome: {answers[0]['result']['outcome']['outcome']}"))
        self.end()


class OnlyOnce(V1Agent):
    """Starts once. The next process (a file tells) does what the second word says."""

    def run(self) -> None:
        marker = Path(self.argument)
        if marker.exists():
            if sys.argv[3] == "exit":
                tell("no second time")
                sys.exit(7)
            if sys.argv[3] == "hang":
                marker.with_suffix(".hangs").touch()
                time.sleep(LIFETIME_S)
        marker.touch()
        super().run()

    def begin(self) -> None:
        self.update(chunk("hello"))
        tell("that was all")
        sys.exit(1)


class GoesOnWhileAsking(V1Agent):
    """Goes on with a tool while the question about it is open."""

    def begin(self) -> None:
        self.update({"sessionUpdate": "tool_call", **CALL})
        self.ask("q")
        going = {"toolCallId": "call", "status": "in_progress", "title": "Another title"}
        self.update({"sessionUpdate": "tool_call_update", **going})
        self.update(chunk("asked"))

    def on_session_cancel(self, frame: Frame) -> None:
        self.end("cancelled")


class EarlyAndNoisy(V1Agent):
    """Updates for other sessions, more than any client may keep, before the session is there."""

    def on_session_new(self, frame: Frame) -> None:
        for number in range(3_000):
            params = {"sessionId": f"unknown-{number}", "update": chunk("lost")}
            self.send({"jsonrpc": "2.0", "method": "session/update", "params": params})
        self.update({"sessionUpdate": "session_info_update", "title": "Early"})
        super().on_session_new(frame)


class WorksByItself(V2Agent):
    """Goes on after the turn, as when something in the background has ended; asks, and tells."""

    def begin(self) -> None:
        self.say("the turn")
        self.end()
        self.state("running")
        self.say("by itself", "later")
        self.ask("q")
        answers = self.read_answers("q")
        self.say(f", outcome: {answers[0]['result']['outcome']['outcome']}", "later")
        self.end()


class WorksByItselfV1(V1Agent):
    """The same in version 1, which has no word for that state."""

    def begin(self) -> None:
        self.update(chunk("the turn", messageId="said"))
        self.end()
        self.ask("q")
        answers = self.read_answers("q")
        words = f"by itself, outcome: {answers[0]['result']['outcome']['outcome']}"
        self.update(chunk(words, messageId="later"))


STORIES: dict[str, type[PlainAgent]] = {
    "abort-error": AbortError,
    "abort-error-v2": AbortErrorV2,
    "asks-late": AsksLateV1,
    "asks-late-v2": AsksLateV2,
    "refuses-while-busy": RefusesWhileBusy,
    "ends-after-each-turn": EndsAfterEachTurn,
    "leaves-a-child": LeavesAChild,
    "closes-stdout": ClosesStdout,
    "closes-stdout-when-idle": ClosesStdoutWhenIdle,
    "closes-stdin": ClosesStdin,
    "reads-nothing": ReadsNothing,
    "leaves-daemons": LeavesDaemons,
    "exits-when-told": ExitsWhenTold,
    "floods": Floods,
    "only-loads": OnlyLoads,
    "no-sessions": NoSessions,
    "no-session-id": NoSessionId,
    "child-session": ChildSession,
    "only-once": OnlyOnce,
    "goes-on-while-asking": GoesOnWhileAsking,
    "early-and-noisy": EarlyAndNoisy,
    "works-by-itself": WorksByItselfV1,
    "works-by-itself-v2": WorksByItself,
}


if __name__ == "__main__":
    agent = STORIES[sys.argv[1]]()
    agent.argument = sys.argv[2] if len(sys.argv) > 2 else ""
    agent.run()
