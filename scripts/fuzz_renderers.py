#!/usr/bin/env python
"""What hostile updates of a hundred kilobytes cost: the longest stretch of work, worst first.

Each kind of update carries repetitions that regular expressions, parsers and comparisons dislike;
`apply` takes it, the live view draws it in beats, the record and the console read it. Printed is
the longest single stretch in seconds of processor time, and of which step; `--lexers` tries every
highlighted language instead. A report for people: the bounds that must hold are in the tests.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from typing import Any

from acp_notebook.budget import Budget, TooCostly
from acp_notebook.protocol.v1.diff import diff_item
from acp_notebook.render.document import TurnDocument
from acp_notebook.render.parsing.code import LANGUAGES, SHORT_LINED, highlight
from acp_notebook.render.record import record_bundle
from acp_notebook.render.text.console import ConsoleText
from acp_notebook.session import updates as u
from acp_notebook.session.content import (
    ImageBlock,
    ResourceBlock,
    ResourceLinkBlock,
    TextBlock,
    UnknownBlock,
)
from acp_notebook.session.reducer import apply
from acp_notebook.session.state import SessionState
from acp_notebook.session.timings import Timings

UNITS = (
    *" \n\t\\\"'`#/*-_$%&@!?()[]{}<>|=+~^.,:;a0",
    *("a ", "a.", "a\n", "![", "*[", "[a](", "[a\n", "[^a]: b\n\n", "[a]: b\n\n", "- [ ] a\n"),
    *("$a$ ", "> ", "> a\n", "- ", "- a\n", "a\n\n", "    a\n\n", "| a |\n", "a|b\n-|-\n"),
    *("```\n", "```c\n", "\x1b[", "\x1b]", "\x1b[1m", "\x1b[999999999b", "\x1b[H", "\x1b[2J"),
    *("\x1b[99999;99999H", "\x08", "\x1b[38;5;1ma", "\x1bM", "\x1b[99999L", "x\r", "\u4e00"),
    *("\U0001f600", "\u202e", "\x00", "a\u0301", "<b>", "&amp;", "https://a ", "+a\n-b\n"),
    *("@@ -1 +1 @@\n", "diff --git a b\n"),
)
Case = tuple[str, Callable[[str], list[Any]]]


def nested(depth: int) -> Any:
    value: Any = {}
    for _ in range(depth):
        value = {"a": value} if depth % 2 else [value]
    return value


def call(**parts: Any) -> u.ToolCallUpdate:
    return u.ToolCallUpdate(u.ToolCallId("c"), "n", "t", "other", "completed", **parts)


def pieces(word: str, count: int) -> list[str]:
    size = max(1, len(word) // count)
    return [word[at : at + size] for at in range(0, len(word), size)]


CASES: tuple[Case, ...] = (
    ("message", lambda w: [u.MessageChunk("agent", u.MessageId("m"), TextBlock(w))]),
    (
        "messages",
        lambda w: [
            u.MessageChunk("agent", u.MessageId(f"m{n}"), TextBlock(p))
            for n, p in enumerate(pieces(w, 300))
        ],
    ),
    ("thought", lambda w: [u.MessageChunk("thought", u.MessageId("m"), TextBlock(w))]),
    ("title", lambda w: [u.ToolCallUpdate(u.ToolCallId("c"), w, w, w, w)]),
    ("tool text", lambda w: [call(content=(u.ContentItem(TextBlock(w)),))]),
    (
        "tool texts",
        lambda w: [call(content=tuple(u.ContentItem(TextBlock(p)) for p in pieces(w, 50)))],
    ),
    (
        "execute text",
        lambda w: [
            u.ToolCallUpdate(
                u.ToolCallId("c"),
                None,
                "t",
                "execute",
                "completed",
                content=(u.ContentItem(TextBlock("```\n" + w)),),
            )
        ],
    ),
    ("patch", lambda w: [call(content=(u.DiffItem((u.DiffChange("modify", "f"),), w),))]),
    (
        "hunk",
        lambda w: [
            call(
                content=(
                    u.DiffItem(
                        (),
                        "@@ -1,99999 +1,99999 @@\n"
                        + "".join(f"-{p}\n+{p[::-1]}\n" for p in pieces(w, 1500)),
                    ),
                )
            )
        ],
    ),
    ("two texts", lambda w: [call(content=(u.DiffItem((), None, w[:200_000], w[7:200_000]),))]),
    (
        "v1 diff",
        lambda w: [
            call(
                content=(
                    diff_item({"path": "/f", "oldText": w[:200_000], "newText": w[7:200_000]}),
                )
            )
        ],
    ),
    (
        "v1 diffs",
        lambda w: [
            call(
                content=tuple(
                    diff_item({"path": "/f", "oldText": p, "newText": p[::-1]})
                    for p in pieces(w, 40)
                )
            )
        ],
    ),
    (
        "terminal",
        lambda w: [
            u.TerminalUpdate(u.TerminalId("t"), "c"),
            u.TerminalChunk(u.TerminalId("t"), w.encode()),
        ],
    ),
    (
        "emulated",
        lambda w: [
            u.TerminalUpdate(u.TerminalId("t"), "c"),
            u.TerminalChunk(u.TerminalId("t"), b"\x1b[H" + w.encode()),
        ],
    ),
    (
        "plan",
        lambda w: [u.PlanUpdate(u.PlanId("p"), tuple(u.PlanEntry(p) for p in pieces(w, 100_000)))],
    ),
    ("plan of one", lambda w: [u.PlanUpdate(u.PlanId("p"), (u.PlanEntry(w, w, w),))]),
    ("notice", lambda w: [u.Notice(w, w, w)]),
    (
        "permission",
        lambda w: [u.PermissionRequested(u.PermissionId("q"), w, (u.PermissionOption("a", w),), w)],
    ),
    (
        "code to allow",
        lambda w: [
            u.PermissionRequested(u.PermissionId("q"), "t", (), None, u.CodeSubject(w, "java"))
        ],
    ),
    (
        "many options",
        lambda w: [
            u.PermissionRequested(
                u.PermissionId("q"),
                "t",
                tuple(u.PermissionOption(str(n), p) for n, p in enumerate(pieces(w, 20_000))),
            )
        ],
    ),
    (
        "wide object",
        lambda w: [call(raw_input={f"{n}{p}": p for n, p in enumerate(pieces(w, 50_000))})],
    ),
    ("wide list", lambda w: [call(raw_output=pieces(w, 100_000))]),
    ("rows", lambda w: [call(raw_output=[{"a": p} for p in pieces(w, 50_000)])]),
    ("nested", lambda _: [call(raw_output=nested(900))]),
    ("one value", lambda w: [call(raw_input={"a": w}, raw_output=w)]),
    ("unknown", lambda w: [u.UnknownUpdate(w, {w[:1000]: w})]),
    ("resource", lambda w: [call(content=(u.ContentItem(ResourceBlock(w, w, None, w)),))]),
    ("link", lambda w: [call(content=(u.ContentItem(ResourceLinkBlock(w, w, w, w, w, 1)),))]),
    ("image", lambda w: [call(content=(u.ContentItem(ImageBlock(w, "image/png", w)),))]),
    ("unknown block", lambda w: [call(content=(u.ContentItem(UnknownBlock(w, {"a": w})),))]),
    ("places", lambda w: [call(locations=tuple(u.Location(p, 1) for p in pieces(w, 20_000)))]),
    (
        "option",
        lambda w: [
            u.ConfigOptionsUpdate(
                tuple(
                    u.ConfigOption(
                        str(n), p, "select", p, "mode", p, tuple(u.ConfigValue(q, q) for q in "ab")
                    )
                    for n, p in enumerate(pieces(w, 5_000))
                )
            )
        ],
    ),
    ("session", lambda w: [u.SessionInfoUpdate(title=w)]),
    ("compaction", lambda w: [u.CompactionUpdate("k", w, (TextBlock(w),), w)]),
    ("loss", lambda w: [u.AgentLost(w, w)]),
)


def steps(make: Callable[[str], list[Any]], word: str) -> Iterator[tuple[str, float]]:
    """The steps of the agent thread, and the seconds of each."""

    def timed(name: str, work: Callable[[], Any]) -> Any:
        began = time.thread_time()
        found = work()
        measured.append((name, time.thread_time() - began))
        return found

    measured: list[tuple[str, float]] = []
    state = SessionState()
    prompt = u.PromptId("p")
    for update in (u.PromptSent(prompt, (TextBlock("hi"),)), u.StateUpdate("running")):
        apply(state, update)
    document = TurnDocument(state, agent_name="a", folder="/")
    console = ConsoleText(state, Timings())
    for update in timed("read", lambda: make(word)):
        changes = timed("apply", lambda update=update: apply(state, update))
        timed("note", lambda changes=changes: document.note(changes))
    timed("beat", document.ops)
    while document.is_behind:
        timed("beat", document.ops)
    timed("snapshot", document.snapshot)
    document.finish("end_turn", None, 1.0)
    timed("end", document.ops)
    keys = list(state.timeline)
    timed("record", lambda: record_bundle(state, keys, agent_name="a", stop_reason="end_turn"))
    timed("console", lambda: console.more(keys))
    yield from measured


def renderers(size: int, only: str) -> Iterator[tuple[float, str]]:
    for name, make in CASES:
        if only not in name:
            continue
        for unit in UNITS:
            word = (unit * (size // len(unit) + 1))[:size]
            worst: dict[str, float] = {}
            try:
                for step, seconds in steps(make, word):
                    worst[step] = max(seconds, worst.get(step, 0.0))
            except Exception as error:  # noqa: BLE001  # that is a finding too
                yield 1e9, f"{name:14} {unit!r:18} {error!r:.100}"
                continue
            for step, seconds in worst.items():
                yield seconds, f"{step:9} {name:14} {unit!r:18} {seconds:8.3f}"


def lexers(size: int, only: str) -> Iterator[tuple[float, str]]:
    for language in sorted(LANGUAGES | SHORT_LINED):
        for unit in UNITS if only in language else ():
            code = (unit * (size // len(unit) + 1))[:size]
            began = time.thread_time()
            try:
                highlight(code, language, Budget(60))
                end = "whole"
            except TooCostly:
                end = "given up"
            seconds = time.thread_time() - began
            yield seconds, f"{language:14} {unit!r:18} {seconds:8.3f} {end}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lexers", action="store_true", help="every highlighted language")
    parser.add_argument("--size", type=int, default=0, help="characters of a text")
    parser.add_argument("--only", default="", help="a part of the name of a kind, or of a language")
    parser.add_argument("--top", type=int, default=40)
    given = parser.parse_args()
    found = (
        lexers(given.size or 39_000, given.only)
        if given.lexers
        else renderers(given.size or 100_000, given.only)
    )
    for _, line in sorted(found, reverse=True)[: given.top]:
        print(line)


if __name__ == "__main__":
    main()
