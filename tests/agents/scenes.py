"""What `stage_agent.py` plays: each scene is a list of steps, in the words of ACP v2.

A step is an update, or `asks`, `form`, `sleep`, `hold`, `end`, `fail`, `die`. Knows no client.
"""

from __future__ import annotations

import base64
import io
import re
from collections.abc import Iterable, Iterator
from typing import Any

from hostile import HOSTILE, MILLION

Step = dict[str, Any]

PROSE = """## What the numbers say

The mean is **4.2** and the spread *small*; see [the notes](https://example.org/notes)[^1].
Euler would say $e^{i\\pi} + 1 = 0$, at a price of $5, and:

$$
\\bar{x} = \\frac{1}{n} \\sum_{i=1}^{n} x_i
$$

| region | rows | share |
| --- | ---: | ---: |
| north | 120 | 48 % |
| south | 80 | 32 % |
| west | 50 | 20 % |

- [x] read the file
- [x] look for outliers
- [ ] write the report

1. First the *mean*,
2. then the spread.
   - with a remark below

> A quotation, which goes on for long enough to break somewhere in a narrow notebook.

```python
from statistics import fmean

def mean(values: list[float]) -> float | None:
    \"\"\"The mean, or None of nothing.\"\"\"
    return fmean(values) if values else None  # no division by zero
```

![a chart](https://example.org/chart.png)

[^1]: Which holds the **functions**.
"""

PATCH = """diff --git a/stats.py b/stats.py
--- a/stats.py
+++ b/stats.py
@@ -6,6 +6,8 @@ import math
 def mean(values):
-    total = sum(values)
-    return total / len(values)
+    if not values:
+        return None
+    total = math.fsum(values)
+    return total / len(values)
\x20
\x20
 def spread(values):
diff --git a/old_name.py b/new_name.py
similarity index 98%
rename from old_name.py
rename to new_name.py
--- a/old_name.py
+++ b/new_name.py
@@ -1,2 +1,2 @@
-COLOUR = "red"
+COLOUR = "green"
 SIZE = 12
diff --git a/logo.png b/logo.png
index 1234567..89abcde 100644
Binary files a/logo.png and b/logo.png differ
diff --git a/gone.py b/gone.py
deleted file mode 100644
--- a/gone.py
+++ /dev/null
@@ -1,2 +0,0 @@
-import this
-print("gone")
"""

ROWS = [
    {"region": region, "rows": 40 * number, "share": number / 7, "ok": number % 2 == 0}
    for number, region in enumerate(("north", "south", "east", "west", "centre"), start=1)
]
TREE = {
    "query": "SELECT * FROM sales",
    "columns": [
        {"name": name, "type": kind, "null": False}
        for name, kind in (("region", "text"), ("month", "date"), ("amount", "numeric"))
    ],
    "plan": {"cost": 12.5, "node": {"type": "Seq Scan", "rows": 250, "filter": None}},
    "notes": "the first line\nthe second line\n" + "and a long one " * 20,
}
OPTIONS = [
    {"optionId": "once", "name": "Allow", "kind": "allow_once"},
    {"optionId": "always", "name": "Always allow edits here", "kind": "allow_always"},
    {"optionId": "no", "name": "Reject", "kind": "reject_once"},
]
CONFIG_OPTIONS = [
    {
        "configId": "mode", "name": "Mode", "category": "mode", "type": "select",
        "description": "Whether it asks before it uses a tool", "currentValue": "ask",
        "options": [{"value": "ask", "name": "Ask first"}, {"value": "plan", "name": "Plan"}],
    },
    {
        "configId": "model", "name": "Model", "category": "model", "type": "select",
        "currentValue": "large",
        "options": [{"value": "small", "name": "Small"}, {"value": "large", "name": "Large"},
                    {"value": "refused", "name": "Not in your plan"}],
    },
]  # fmt: skip
SCHEMA = {
    "type": "object",
    "required": ["name"],
    "properties": {
        "name": {"type": "string", "title": "Name", "description": "How shall I call you?"},
        "drink": {"type": "string", "title": "Drink", "enum": ["tea", "coffee"]},
        "cups": {"type": "integer", "title": "Cups", "minimum": 1, "maximum": 9, "default": 2},
        "sugar": {"type": "boolean", "title": "With sugar"},
    },
}


# steps


def text(words: str) -> Step:
    return {"type": "text", "text": words}


def say(words: str, message: str = "m1") -> Step:
    return {"sessionUpdate": "agent_message_chunk", "messageId": message, "content": text(words)}


def think(words: str, message: str = "t1") -> Step:
    return {"sessionUpdate": "agent_thought_chunk", "messageId": message, "content": text(words)}


def call(ident: str, **fields: Any) -> Step:
    return {"sessionUpdate": "tool_call_update", "toolCallId": ident, **fields}


def said(words: str) -> Step:
    return {"type": "content", "content": text(words)}


def terminal(ident: str, **fields: Any) -> Step:
    return {"sessionUpdate": "terminal_update", "terminalId": ident, **fields}


def output(ident: str, data: bytes) -> Step:
    encoded = base64.b64encode(data).decode()
    return {"sessionUpdate": "terminal_output_chunk", "terminalId": ident, "data": encoded}


def plan(ident: str, *entries: tuple[str, str, str]) -> Step:
    items = [{"content": c, "priority": p, "status": s} for c, p, s in entries]
    plan_ = {"type": "items", "planId": ident, "entries": items}
    return {"sessionUpdate": "plan_update", "plan": plan_}


def ask(
    title: str, subject: Step | None = None, options: list[Step] = OPTIONS, **more: Any
) -> Step:
    params = {"title": title, "options": options, **more}
    return {"asks": [params | ({"subject": subject} if subject else {})]}


def asks(*questions: Step) -> Step:
    return {"asks": [each for question in questions for each in question["asks"]]}


HOLD: Step = {"hold": True}
USAGE = {
    "sessionUpdate": "usage_update", "used": 53_000, "size": 200_000,
    "cost": {"amount": 0.045, "currency": "USD"},
}  # fmt: skip
TITLE = {"sessionUpdate": "session_info_update", "title": "Outliers in the sales"}


def picture() -> str:
    """A small chart as base64, drawn here: a test picture needs no file."""
    from PIL import Image, ImageDraw

    image = Image.new("RGB", (360, 140), "white")
    draw = ImageDraw.Draw(image)
    for number, height in enumerate((30, 80, 55, 110, 70, 95)):
        draw.rectangle((20 + 55 * number, 130 - height, 60 + 55 * number, 130), fill="#3572b0")
    data = io.BytesIO()
    image.save(data, "PNG")
    return base64.b64encode(data.getvalue()).decode()


# scenes


def prose(_: str) -> Iterator[Step]:
    yield from (TITLE, USAGE)
    yield think("**Reading** first, then the mean.\n\nThe second paragraph of a thought.")
    yield say(PROSE)


def still(_: str) -> Iterator[Step]:
    """Much of everything that looks the same live and in the record, and no end."""
    yield from (TITLE, USAGE)
    yield think("**Reading** first, then the mean, and more than fits into one line. " * 4)
    # Formulas are Jupyter's in the record, and footnotes come at the end.
    yield say(re.sub(r"\[\^1\].*?\$\$\n.*?\$\$|\[\^1\]:.*", "", PROSE, flags=re.DOTALL))
    yield from edited("e", "completed")
    yield ask("Run `make`?", {"type": "command", "command": "make", "cwd": "/home/me"})
    yield plan("p", ("Look", "high", "completed"), ("Find `it`", "low", "in_progress"))
    yield call("x", title="Run the tests", kind="execute", status="failed", rawInput={"a": 1},
               content=[said("AssertionError: 3 != 4")])  # fmt: skip
    yield {"sessionUpdate": "notice", "severity": "warning", "title": "Little room",
           "description": "Ask for `/compact`."}  # fmt: skip
    yield call("t", title="Show the table", kind="other", status="completed", rawOutput=ROWS)
    yield terminal("l", command="ls")
    yield output("l", b"a.py\r\nb.py\r\n")
    yield terminal("l", exitStatus={"exitCode": 0})
    yield say("So much for now.", "m2")
    yield HOLD


def thinking(_: str) -> Iterator[Step]:
    yield think("The user wants the mean. Let me look at the columns before I say anything")
    yield HOLD


def streaming(_: str) -> Iterator[Step]:
    yield from (TITLE, USAGE)
    yield think("Let me see.")
    yield say("First a paragraph that is finished.\n\nThen code that is not:\n\n```python\nimport ")
    yield say("pandas as pd\n\nframe = pd.read_csv(")
    yield HOLD


def tools(_: str) -> Iterator[Step]:
    yield call(
        "r",
        title="Read stats.py",
        kind="read",
        status="completed",
        name="Read",
        locations=[{"path": "stats.py", "line": 6}, {"path": "/etc/hosts"}],
        rawInput={"path": "stats.py", "limit": 40},
        content=[said("```python\nimport math\n```")],
    )
    yield say("Now the change.\n")
    yield from edited("e", "completed")
    yield call("s", title="Search for “mean(”", kind="search", status="completed", rawOutput=ROWS)
    yield call("f", title="Fetch the schema", kind="fetch", status="completed", rawOutput=TREE)
    yield call(
        "p",
        title="Draw the chart",
        kind="execute",
        status="completed",
        content=[
            {
                "type": "content",
                "content": {"type": "image", "data": picture(), "mimeType": "image/png"},
            }
        ],
    )
    yield call(
        "x",
        title="Run the tests",
        kind="execute",
        status="failed",
        rawInput={"command": "pytest -q"},
        content=[said("AssertionError: 3 != 4")],
    )
    yield call("d", title="Delete gone.py", kind="delete", status="cancelled")
    yield call("m", title="Move old_name.py", kind="move", status="pending")
    yield call("k", title="Think it over", kind="think", status="paused")
    yield call(
        "u",
        title="Something new",
        kind="_dream",
        status="_dozing",
        content=[{"type": "_hologram", "depth": 3}],
    )
    yield terminal("w", command="make -j4", cwd="/home/me/project")
    yield call(
        "w",
        title="Build",
        kind="execute",
        status="in_progress",
        content=[{"type": "terminal", "terminalId": "w"}],
    )
    yield output("w", b"[ 25%] \x1b[32mBuilding\x1b[0m a.o\r\n[ 50%] Building b.o\r\n")
    yield HOLD


def edited(ident: str, status: str) -> Iterator[Step]:
    changes = [
        {"operation": "modify", "path": "/home/me/project/stats.py", "fileType": "text"},
        {"operation": "move", "path": "/home/me/project/new_name.py",
         "oldPath": "/home/me/project/old_name.py"},
        {"operation": "modify", "path": "/home/me/project/logo.png", "fileType": "binary"},
        {"operation": "delete", "path": "/home/me/project/gone.py"},
        {"operation": "copy", "path": "/home/me/project/b.py", "oldPath": "/home/me/project/a.py"},
    ]  # fmt: skip
    diff = {"type": "diff", "changes": changes, "patch": {"format": "git_patch", "text": PATCH}}
    yield call(
        ident,
        title="Mend `mean` for an empty column",
        kind="edit",
        status=status,
        locations=[{"path": "stats.py", "line": 7}],
        content=[diff],
    )


def plans(_: str) -> Iterator[Step]:
    yield plan(
        "repair",
        ("Look at the data", "high", "completed"),
        ("Find the outliers", "high", "in_progress"),
        ("Ask the author, and wait for an answer that may take a while", "medium", "pending"),
        ("Rewrite everything", "low", "cancelled"),
        ("Dream", "medium", "_dreaming"),
    )
    yield plan("report", ("Write it", "medium", "completed"), ("Send it", "low", "completed"))
    yield {"sessionUpdate": "plan_update", "plan": {"type": "_mindmap", "planId": "m", "root": "x"}}
    yield HOLD


def permission(_: str) -> Iterator[Step]:
    yield think("I had better ask.")
    yield say("I would like to change one function.\n")
    (edit,) = edited("e", "pending")
    yield ask(
        "Change stats.py and two other files?",
        {"type": "tool_call", "toolCall": edit},
        description="It mends `mean` for an **empty** column.",
    )
    yield call("e", status="completed")
    yield say("Thank you, it is done.", "m2")


def permissions(_: str) -> Iterator[Step]:
    odd = [{"optionId": "maybe", "name": "Perhaps later", "kind": "_maybe"}, *OPTIONS[2:]]
    yield terminal("b", command="make", cwd="/home/me/project")
    yield call(
        "b",
        title="Build and install",
        kind="execute",
        status="pending",
        content=[{"type": "terminal", "terminalId": "b"}],
    )
    yield output("b", b"ready to install\r\n")
    yield asks(
        ask("Run this command?", {
            "type": "command", "command": "rm -rf build \u202etxt.exe && make install",
            "cwd": "/home/me/project"}),
        ask("Build and install?", {"type": "tool_call", "toolCall": call("b")}),
        ask("And this?", {"type": "_ritual", "candles": 3}, odd),
    )  # fmt: skip
    yield call("b", status="cancelled")
    yield say("All three are answered.")


def terminals(_: str) -> Iterator[Step]:
    yield terminal("a", command="docker pull everything", cwd="/home/me")
    yield call(
        "a",
        title="Pull the images",
        kind="execute",
        status="in_progress",
        content=[{"type": "terminal", "terminalId": "a"}],
    )
    yield output("a", b"\x1b[1mlayer one\x1b[0m  10%\r\nlayer two  10%\r\n")
    yield output("a", b"\x1b[2A\x1b[2Klayer one \x1b[32mdone\x1b[0m\r\n\x1b[2Klayer two  70%\r\n")
    yield output(
        "a", b"\x1b[1A\x1b[2Klayer two \x1b[32mdone\x1b[0m\r\n\x1b[7m all there \x1b[0m\r\n"
    )
    yield terminal("a", exitStatus={"exitCode": 0})
    yield call("a", status="completed")
    yield terminal("k", command="palette")
    shades = (16, 21, 52, 94, 130, 190, 208, 231, 244)
    yield output("k", b" ".join(b"\x1b[38;5;%dmshade %d\x1b[0m" % (n, n) for n in shades) + b"\r\n")
    yield output("k", b"\x1b[38;2;255;255;0mtrue yellow\x1b[0m \x1b[38;2;0;0;90mnavy\x1b[0m\r\n")
    yield terminal("k", exitStatus={"exitCode": 0})
    yield terminal("l", command="seq 1000")
    yield output("l", b"".join(b"line %d\r\n" % number for number in range(1_000)))
    yield terminal("l", exitStatus={"signal": "SIGKILL"})
    yield say("Done.")


def asides(_: str) -> Iterator[Step]:
    yield {"sessionUpdate": "notice", "severity": "info", "title": "A newer model is there"}
    yield {
        "sessionUpdate": "notice",
        "severity": "warning",
        "title": "Little room is left",
        "description": "Ask for `/compact`.",
    }
    yield {"sessionUpdate": "notice", "severity": "error", "title": "A tool server is gone"}
    yield {
        "sessionUpdate": "compaction_update",
        "compactionId": "c",
        "status": "completed",
        "summary": [text("We talked about **outliers**.")],
    }
    yield {"sessionUpdate": "compaction_update", "compactionId": "d", "status": "in_progress"}
    yield {"sessionUpdate": "_weather", "sky": "blue", "wind": {"from": "west", "force": 3}}
    yield {"sessionUpdate": "tool_call_update", "toolCallId": 5}
    yield say("So much for what stands beside.")
    yield HOLD


def form(_: str) -> Iterator[Step]:
    yield {"form": {"mode": "form", "message": "A few details, please", "requestedSchema": SCHEMA}}
    yield say("Thank you.")


def page(_: str) -> Iterator[Step]:
    address = "https://example.org/grant?scope=read&client=stage"
    question = {"mode": "url", "elicitationId": "grant", "url": address}
    yield {"form": {**question, "message": "Please let me read the calendar"}}
    yield say("Thank you.")


def failed(_: str) -> Iterator[Step]:
    yield say("I begin to answer, and then")
    yield {
        "fail": {
            "code": -32603,
            "message": "The model is overloaded",
            "data": {"retryAfter": 30, "provider": "example"},
        }
    }


def dead(_: str) -> Iterator[Step]:
    yield say("I begin to answer, and then my process ends")
    yield {
        "die": 'Traceback (most recent call last):\n  File "agent.py", line 1\nRuntimeError: no\n'
    }


def ended(reason: str) -> Iterator[Step]:
    yield say("This is as far as I go.")
    yield {"end": reason}


def silent(_: str) -> Iterator[Step]:
    return iter(())


def stubborn(_: str) -> Iterator[Step]:
    yield say("I do not listen.")
    yield {"hold": "deaf"}


def many(argument: str) -> Iterator[Step]:
    """So many tool calls: `COUNT`, or `COUNT hold`."""
    count, _, hold = argument.partition(" ")
    for number in range(int(count)):
        yield call(
            f"n{number}",
            title=f"Step {number}",
            kind="read",
            status="completed",
            rawInput={"path": f"file-{number}.txt"},
            content=[said(f"content {number}")],
        )
    yield say("That was a lot.")
    if hold:
        yield HOLD


def huge(megabytes: str) -> Iterator[Step]:
    row = "0123456789 abcdefghij " * 50
    rows = row + "\n"
    size = int(megabytes or 10) * 1_000_000
    yield call("h", title="A very long output", kind="execute", status="in_progress")
    yield call(
        "h", content=[said(rows * (size // len(rows)))], rawOutput={"log": row * (size // len(row))}
    )
    yield call("h", status="completed")
    yield say("That was long.")


def reply(argument: str) -> Iterator[Step]:
    """A reply of so many characters in so many chunks: `SIZE CHUNKS`."""
    size, chunks = (int(part) for part in argument.split())
    body = reply_text(size)
    step = -(-size // chunks)
    for start in range(0, size, step):
        yield say(body[start : start + step])


def tell(words: str) -> Iterator[Step]:
    """Words in capitals, when the page had the time to make ready."""
    yield {"sleep": 0.8}
    yield say(words.upper())
    yield {"sleep": 0.3}


def question(_: str) -> Iterator[Step]:
    yield ask("May I?")


def reply_text(size: int) -> str:
    """Markdown as agents write it, of so many characters."""
    section = PROSE.replace("[^1]: Which holds the **functions**.\n", "").replace("[^1]", "")
    return (section * (size // len(section) + 1))[:size]


def hostile(name: str) -> Iterator[Step]:
    word = MILLION if name == "million" else HOSTILE[name]
    yield from everything(word)


def everything(word: str) -> Iterator[Step]:
    """One word in every text field that an agent has."""
    blocks: list[Step] = [
        text(word),
        {"type": "image", "data": word, "mimeType": word, "uri": word},
        {"type": "image", "data": "AAAA", "mimeType": "image/svg+xml"},
        {"type": "audio", "data": word, "mimeType": word},
        {
            "type": "resource_link",
            "uri": word,
            "name": word,
            "title": word,
            "description": word,
            "mimeType": word,
        },
        {"type": "resource", "resource": {"uri": word, "text": word, "mimeType": word}},
        {"type": word, word[:500]: word},
    ]
    change = {"operation": word, "path": word, "oldPath": word, "fileType": word}
    yield {"sessionUpdate": "session_info_update", "title": word}
    yield {
        "sessionUpdate": "usage_update",
        "used": 1,
        "size": 9,
        "cost": {"amount": 1, "currency": word},
    }
    yield {
        "sessionUpdate": "config_option_update",
        "configOptions": [
            {
                "configId": word,
                "name": word,
                "category": "mode",
                "type": "select",
                "description": word,
                "currentValue": word,
                "options": [
                    {"value": word, "name": word, "description": word},
                    {"value": "other", "name": word},
                ],
            }
        ],
    }
    yield think(word)
    for block in blocks:
        yield {"sessionUpdate": "agent_message_chunk", "messageId": word, "content": block}
    yield plan(word, (word, word, word), (word, "high", "completed"))
    yield {"sessionUpdate": "plan_update", "plan": {"type": word, "planId": "b", word[:500]: word}}
    yield terminal("t", command=word, cwd=word)
    yield output(
        "t", word.encode("utf-8", "replace") + b"\r\n\x1b[31m" + word.encode("utf-8", "replace")
    )
    yield output("t", b"\x1b[H\x1b]8;;javascript:alert(1)\x1b\\link\x1b]8;;\x1b\\")
    yield terminal("t", exitStatus={"signal": word})
    yield call(
        "c",
        name=word,
        title=word,
        kind=word,
        status=word,
        locations=[{"path": word, "line": 3}],
        rawInput={word[:500]: word, "n": f"{word}\n{word}"},
        rawOutput=[{word[:500]: [word, {"x": word}]}, word],
        content=[
            *({"type": "content", "content": block} for block in blocks),
            {
                "type": "diff",
                "changes": [change],
                "patch": {
                    "format": "git_patch",
                    "text": f"--- {word}\n@@ -1 +1 @@ {word}\n-{word}\n+{word} x",
                },
            },
            {"type": "terminal", "terminalId": "t"},
            {"type": word, "x": word},
        ],
    )
    yield {"sessionUpdate": "notice", "severity": word, "title": word, "description": word}
    yield {
        "sessionUpdate": "compaction_update",
        "compactionId": "k",
        "status": word,
        "summary": [text(word)],
        "error": word,
    }
    yield {"sessionUpdate": word, "x": word}
    yield {"sessionUpdate": "state_update", "state": word}
    yield {"sessionUpdate": "state_update", "state": "running"}
    options = [
        {"optionId": f"{word}{number}", "name": word, "kind": kind}
        for number, kind in enumerate(("allow_once", "allow_always", word))
    ]
    yield asks(
        ask(word, {"type": "tool_call", "toolCall": call("c")}, options, description=word),
        ask(word, {"type": "command", "command": word, "cwd": word}, options),
        ask(word, {"type": word, "x": word}, options),
    )
    yield {
        "form": {
            "mode": "form",
            "message": word,
            "requestedSchema": {
                "type": "object",
                "title": word,
                "description": word,
                "properties": {
                    word[:200]: {
                        "type": "string",
                        "title": word,
                        "description": word,
                        "default": word,
                    },
                    "one": {"type": "string", "title": word, "enum": [word, "b"]},
                    "odd": {"type": word, "title": word},
                },
            },
        }
    }
    yield {"fail": {"code": 1, "message": word, "data": {word[:500]: word}}}


SCENES = {
    scene.__name__: scene
    for scene in (
        prose, still, thinking, streaming, tools, plans, permission, permissions, terminals,
        asides, form, page, failed, dead, ended, silent, stubborn, many, huge, reply, tell,
        question, hostile,
    )
}  # fmt: skip


def steps_of(prompt: str) -> Iterable[Step]:
    """The steps that a prompt asks for: `SCENE`, or `SCENE ARGUMENT`."""
    name, _, argument = prompt.strip().partition(" ")
    return SCENES[name](argument) if name in SCENES else [say(f"There is no scene {name}.")]
