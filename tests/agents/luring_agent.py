"""An agent that lures a reader into a consent: `python luring_agent.py`.

The text of the prompt says how; the answer that it gets is said.

    tall            a command whose dangerous end stands below much that is harmless
    swap FIFO       a harmless question; when the FIFO is written to, it is taken back, and another
                    one stands in its place

Plain standard library. Knows nothing of the client under test.
"""

from __future__ import annotations

from pathlib import Path

from plain_agent import SESSION, Frame, PlainAgent, chunk

OPTIONS = [
    {"optionId": "yes", "name": "Yes", "kind": "allow_once"},
    {"optionId": "no", "name": "No", "kind": "reject_once"},
]
HARMLESS = "\n".join(f"echo step {number}" for number in range(120))


class Luring(PlainAgent):
    def on_session_prompt(self, frame: Frame) -> None:
        word, _, rest = frame["params"]["prompt"][0]["text"].partition(" ")
        getattr(self, f"do_{word}")(rest)
        self.answer(frame, {"stopReason": "end_turn"})

    def ask(self, name: str, title: str, command: str) -> None:
        call = {"toolCallId": name, "title": title, "rawInput": {"command": command}}
        params = {"sessionId": SESSION, "toolCall": call, "options": OPTIONS}
        self.send(self.request(name, "session/request_permission", params))

    def say_answer(self, name: str) -> None:
        (answer,) = [each for each in self.read_answers(name) if each.get("id") == name]
        outcome = answer["result"]["outcome"].get("optionId")
        self.update(chunk(f"answer={outcome}"))

    def do_tall(self, _: str) -> None:
        self.ask("tall", "Show the steps", f"{HARMLESS}\nrm --everything")
        self.say_answer("tall")

    def do_swap(self, fifo: str) -> None:
        self.ask("harmless", "Look at one file", "ls")
        Path(fifo).read_text()
        params = {"requestId": "harmless"}
        self.send({"jsonrpc": "2.0", "method": "$/cancel_request", "params": params})
        self.ask("harmful", "Delete every file", "rm")
        self.say_answer("harmful")


Luring().run()
