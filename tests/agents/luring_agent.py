"""An agent that lures a reader into a consent: `python luring_agent.py`.

The text of the prompt says how; the answer that it gets is said.

    tall            a command whose dangerous end stands below much that is harmless
    wide            the end of each line stands far to the right
    formula         formulas that are wider than the page, which cannot wrap
    swap FIFO       a harmless question; when the FIFO is written to, it is taken back, and another
                    one stands in its place

Plain standard library. Knows nothing of the client under test.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

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

    def ask(self, name: str, title: str, command: str, **more: Any) -> None:
        call = {"toolCallId": name, "title": title, "rawInput": {"command": command}, **more}
        params = {"sessionId": SESSION, "toolCall": call, "options": OPTIONS}
        self.send(self.request(name, "session/request_permission", params))

    def say_answer(self, name: str) -> None:
        (answer,) = [each for each in self.read_answers(name) if each.get("id") == name]
        outcome = answer["result"]["outcome"].get("optionId")
        self.update(chunk(f"answer={outcome}"))

    def do_tall(self, _: str) -> None:
        self.ask("tall", "Show the steps", f"{HARMLESS}\nrm --everything")
        self.say_answer("tall")

    def do_wide(self, _: str) -> None:
        line = "[" * 3_000 + "rm --everything"
        blocks = [
            {"type": "text", "text": f"```\n{line}\n```\n\n<https://example.org/{'a' * 3_000}>"},
            {"type": "text", "text": f"| a | b |\n| - | - |\n| {'c' * 900} | d |\n\n{line}"},
            {"type": "resource_link", "name": "n" * 900, "uri": f"file:///{'d' * 900}"},
            {"type": "audio", "data": "AAAA", "mimeType": "[" * 900},
        ]
        content = [{"type": "content", "content": block} for block in blocks]
        self.ask("wide", line, line, content=content)
        self.say_answer("wide")

    def do_formula(self, _: str) -> None:
        narrow = [
            f"$$\n{tex}\n$$" for tex in ("x", r"\frac{\sum_i x_i^2}{\sqrt{2}}", r"\int_0^1 y")
        ]
        texts = [*narrow, f"$$\n{'x + ' * 100}d\n$$", f"so ${'x' * 200}$ is"]
        content = [{"type": "content", "content": {"type": "text", "text": text}} for text in texts]
        self.ask("formula", "Run what the formula says", "run", content=content)
        self.say_answer("formula")

    def do_swap(self, fifo: str) -> None:
        self.ask("harmless", "Look at one file", "ls")
        Path(fifo).read_text()
        params = {"requestId": "harmless"}
        self.send({"jsonrpc": "2.0", "method": "$/cancel_request", "params": params})
        self.ask("harmful", "Delete every file", "rm")
        self.say_answer("harmful")


Luring().run()
