"""Hostile updates hold the thread that draws them for a moment only, whatever they are made of.

The bound is several times what a slow machine needs, and a fraction of what each case took without
its limit: a second to minutes. `scripts/fuzz_renderers.py` has many more and tells how long.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest

from acp_notebook.protocol.v1.diff import diff_item
from acp_notebook.render.document import TurnDocument
from acp_notebook.render.record import record_bundle
from acp_notebook.session import updates as u
from acp_notebook.session.content import TextBlock
from acp_notebook.session.reducer import apply
from acp_notebook.session.state import SessionState

SECONDS = 0.8
CALL, TERMINAL = u.ToolCallId("c"), u.TerminalId("t")
Updates = list[u.SessionUpdate]


def call(*content: u.ToolContent, **parts: object) -> Updates:
    return [u.ToolCallUpdate(CALL, None, "t", "edit", "completed", content, **parts)]


def output(data: bytes) -> Updates:
    return [u.TerminalUpdate(TERMINAL, "c"), u.TerminalChunk(TERMINAL, data)]


def said(texts: list[str]) -> Updates:
    return [
        u.MessageChunk("agent", u.MessageId(str(number)), TextBlock(text))
        for number, text in enumerate(texts)
    ]


def v1_diff(old: str, new: str) -> u.DiffItem:
    return diff_item({"path": "/f", "oldText": old, "newText": new})


CASES: dict[str, Callable[[], Updates]] = {
    "one long message": lambda: said(["*[" * 100_000]),
    "many messages": lambda: said(["[" * 300] * 300),
    "texts of a tool": lambda: call(*[u.ContentItem(TextBlock("a\n" * 2_000))] * 50),
    "diffs": lambda: call(*(v1_diff("a\n" * 900, "b\na\n" * 450) for _ in range(40))),
    "a terminal again and again": lambda: output(b"x") + call(*[u.TerminalItem(TERMINAL)] * 10_000),
    "lines that scroll": lambda: output(b"\x1b[H" + b"\n" * 30_000),
    "a screen cleared again": lambda: output(b"\x1b[2J" * 8_000),
    "a long line overwritten": lambda: output(b"a" * 1_900 + b"\rb" * 100_000),
    "lines of one letter": lambda: output(b"a\n" * 190_000),
    "steps of a plan": lambda: [u.PlanUpdate(u.PlanId("p"), (u.PlanEntry("x"),) * 50_000)],
    "places": lambda: call(locations=(u.Location("/x", 1),) * 20_000),
    "a wide object": lambda: call(raw_input=dict.fromkeys(map(str, range(50_000)), "x")),
    "a long title": lambda: [u.ToolCallUpdate(CALL, "`" * 500_000, "`a" * 400_000, "x" * 99_999)],
}


@pytest.mark.parametrize("name", CASES)
def test_no_beat_takes_long(name: str) -> None:
    state = SessionState()
    document = TurnDocument(state, agent_name="a")
    for update in [u.StateUpdate("running"), *CASES[name]()]:
        document.note(apply(state, update))
    longest = 0.0
    is_first = True
    while is_first or document.is_behind:
        began = time.thread_time()
        document.ops()
        longest, is_first = max(longest, time.thread_time() - began), False
    document.finish("end_turn", None, 1.0)
    began = time.thread_time()
    document.ops()
    assert max(longest, time.thread_time() - began) < SECONDS


def test_a_plan_without_end_is_cut_with_the_number_of_the_rest() -> None:
    state = SessionState()
    apply(state, u.PlanUpdate(u.PlanId("p"), (u.PlanEntry("x"),) * 1_000))
    bundle = record_bundle(state, state.timeline, agent_name="a", stop_reason="end_turn")
    assert "… 700 more steps" in bundle["text/html"]
    assert "… 700 more steps" in bundle["text/markdown"]
    assert "… 700 more steps" in bundle["text/plain"]
