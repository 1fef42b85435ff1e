"""A v1 agent for prompts with context: `python helpful_agent.py [rich]`.

It answers with code, offers a command and an option, and says how many blocks it got. `rich` takes
pictures and embedded context; else it takes neither.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "agents"))

from plain_agent import SESSION, Frame, PlainAgent, chunk

ANSWER = """You divided by zero. This is the mended cell:

```python
x = 1
```

To see it run:

```bash
python x.py
```
"""


class HelpfulAgent(PlainAgent):
    prompts = 0

    def introduction(self) -> Frame:
        takes = {"image": True, "embeddedContext": True} if "rich" in sys.argv else {}
        return {
            **super().introduction(),
            "agentCapabilities": {
                "promptCapabilities": takes,
                "sessionCapabilities": {"list": {}},
            },
        }

    def on_session_new(self, frame: Frame) -> None:
        modes = {
            "currentModeId": "careful",
            "availableModes": [
                {"id": "careful", "name": "Careful"},
                {"id": "quick", "name": "Quick"},
            ],
        }
        self.answer(frame, {"sessionId": SESSION, "modes": modes})
        commands = [
            {"name": "review", "description": "Look at it again", "input": {"hint": "what"}},
            {"name": "report", "description": "Write a report"},
        ]
        update = {"sessionUpdate": "available_commands_update", "availableCommands": commands}
        self.update(update)

    def on_session_list(self, frame: Frame) -> None:
        sessions = [{"sessionId": "sess-old", "cwd": str(Path.cwd()), "title": "Yesterday"}]
        self.answer(frame, {"sessions": sessions})

    def on_session_prompt(self, frame: Frame) -> None:
        blocks = frame["params"]["prompt"]
        self.prompts += 1
        words = blocks[0]["text"]
        if words.startswith("refuse"):
            self.answer(frame, {"stopReason": "refusal"})
            return
        self.update(chunk(f"{len(blocks)} blocks in prompt {self.prompts}. "))
        if "failed" in words or "code" in words:
            self.update(chunk(ANSWER))
        self.answer(frame, {"stopReason": "end_turn"})


HelpfulAgent().run()
