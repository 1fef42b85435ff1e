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
from acp_notebook.session.content import ContentBlock, ResourceLinkBlock, TextBlock, UnknownBlock
from acp_notebook.session.elicitation import ElicitationId, ElicitationRequested
from acp_notebook.session.form import Choice, Form, FormField
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


def blocks(count: int) -> tuple[ContentBlock, ...]:
    return (ResourceLinkBlock("x", "x"),) * count + (UnknownBlock("x", {"type": "x"}),) * count


def between(count: int) -> tuple[ContentBlock, ...]:
    return (TextBlock("[a]\n\n[a]: http://x"), ResourceLinkBlock("x", "x")) * count


def asks(*fields: FormField) -> Updates:
    return [ElicitationRequested(ElicitationId("e"), "m", Form(fields), None)]


def choices(count: int) -> tuple[Choice, ...]:
    return tuple(Choice(str(number), "x") for number in range(count))


def asks_about(call: u.ToolCallUpdate) -> Updates:
    options = (u.PermissionOption("y", "Y", "allow_once"),)
    subject = u.ToolCallSubject(CALL)
    return [call, u.PermissionRequested(u.PermissionId("p"), "t", options, subject=subject)]


def nested(depth: int, inner: object) -> object:
    for _ in range(depth):
        inner = [inner]
    return inner


def patch_of(files: int) -> u.DiffItem:
    changes = tuple(u.DiffChange("add", f"y{number}/x") for number in range(files))
    patch = "".join(f"diff --git a/{number}/x b/{number}/x\n" for number in range(files))
    return u.DiffItem(changes, patch)


def cleared(terminals: int) -> Updates:
    data = b"\x1b[2J\x1b[H" * 2_000
    return [u.TerminalChunk(u.TerminalId(str(number)), data) for number in range(terminals)]


def many_calls(text: str, count: int) -> Updates:
    content = (u.ContentItem(TextBlock(text)),)
    return [
        u.ToolCallUpdate(u.ToolCallId(str(number)), title="t", status="completed", content=content)
        for number in range(count)
    ]


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
    "blocks of a message": lambda: [
        u.MessageUpdate("agent", u.MessageId("m"), blocks(8_000)),
        u.MessageUpdate("thought", u.MessageId("m"), between(8_000)),
    ],
    "blocks of the user": lambda: [u.MessageUpdate("user", u.MessageId("m"), blocks(20_000))],
    "blocks of a compaction": lambda: [
        u.CompactionUpdate(u.CompactionId("c"), "completed", blocks(20_000))
    ],
    "fields of a form": lambda: asks(*(FormField(str(n), "text", "x") for n in range(20_000))),
    "options of a form": lambda: asks(FormField("f", "choice", "x", choices=choices(60_000))),
    "chosen options": lambda: asks(
        FormField("f", "choices", "x", choices=choices(20_000), default=[*map(str, range(20_000))])
    ),
    "an input that is deep": lambda: asks_about(
        u.ToolCallUpdate(CALL, title="t", raw_input=nested(300, [1] * 100_000))
    ),
    "an input of many values": lambda: asks_about(
        u.ToolCallUpdate(CALL, title="t", raw_input={str(n): [n] for n in range(50_000)})
    ),
    "blank lines to allow": lambda: [
        u.PermissionRequested(u.PermissionId("p"), "\n\n\n\n\na" * 100_000, ())
    ],
    "files of a diff": lambda: call(patch_of(8_000)),
    "files that are named": lambda: call(u.DiffItem((u.DiffChange("add", "x"),) * 28_000)),
    "calls at the end": lambda: many_calls("*[" * 1_500, 100),
    "terminals": lambda: cleared(30),
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
    while document.is_behind:
        began = time.thread_time()
        document.ops()
        longest = max(longest, time.thread_time() - began)
    assert longest < SECONDS


@pytest.mark.parametrize("name", ["calls at the end", "terminals"])
def test_a_burst_with_the_end_of_the_turn_is_drawn_in_beats(name: str) -> None:
    state = SessionState()
    document = TurnDocument(state, agent_name="a")
    for update in [u.StateUpdate("running"), *CASES[name]()]:
        document.note(apply(state, update))
    document.finish("end_turn", None, 1.0)
    found, beats, longest = [], 0, 0.0
    while beats == 0 or document.is_behind:
        began = time.thread_time()
        found += document.ops()
        longest, beats = max(longest, time.thread_time() - began), beats + 1
    assert longest < SECONDS
    assert beats > 1
    assert sum(each["op"] == "put" for each in found) == len(document.keys)
    assert document.ops() == []


def test_an_ordinary_turn_that_ends_in_one_burst_stays_formatted() -> None:
    state = SessionState()
    document = TurnDocument(state, agent_name="a")
    for update in many_calls("- **bold** and `code` and [a link](http://x)\n" * 20, 200):
        document.note(apply(state, update))
    document.finish("end_turn", None, 1.0)
    found = [*document.ops()]
    while document.is_behind:
        found += document.ops()
    html = "".join(str(each.get("html")) for each in found)
    assert html.count("<strong>") == 200 * 20
    assert "too costly" not in html


def seconds_of_record(updates: Updates) -> tuple[float, dict[str, str]]:
    state = SessionState()
    for update in updates:
        apply(state, update)
    began = time.thread_time()
    bundle = record_bundle(state, state.timeline, agent_name="a", stop_reason="end_turn")
    return time.thread_time() - began, bundle


def test_blocks_of_a_message_are_sent_once_each() -> None:
    state = SessionState()
    document = TurnDocument(state, agent_name="a")
    blocks = between(3_000)
    document.note(apply(state, u.MessageUpdate("agent", u.MessageId("m"), blocks)))
    found = [*document.ops()]
    while document.is_behind:
        found += document.ops()
    html = "".join(str(each.get("html")) for each in found)
    assert html.count("acp-part") == 3_000
    assert html.count("<a ") == 3_000


def test_what_is_left_out_is_counted() -> None:
    state = SessionState()
    for update in RECORDS["blocks of the user"]() + RECORDS["texts of a tool"]():
        apply(state, update)
    document = TurnDocument(state, state.timeline, agent_name="a")
    html = "".join(str(each.get("html")) for each in document.ops())
    bundle = record_bundle(state, state.timeline, agent_name="a", stop_reason="end_turn")
    assert html.count("acp-chip") == 100
    assert "… 39,900 more attachments not shown" in html
    assert "… 39,000 more parts of a tool call not shown" in bundle["text/html"]
    assert "… 39,000 more parts of the call" in bundle["text/markdown"]


RECORDS: dict[str, Callable[[], Updates]] = {
    "texts of a tool": lambda: call(*[u.ContentItem(TextBlock("a"))] * 40_000),
    "diffs of a tool": lambda: call(*(u.DiffItem((), "+a") for _ in range(40_000))),
    "unknown parts of a tool": lambda: call(*[u.UnknownItem("x", {"type": "x"})] * 100_000),
    "blocks of a message": lambda: [u.MessageUpdate("agent", u.MessageId("m"), blocks(40_000))],
    "blocks of the user": CASES["blocks of the user"],
    "blocks of a compaction": CASES["blocks of a compaction"],
    "files of a diff": CASES["files of a diff"],
    "an input that is deep": CASES["an input that is deep"],
}


@pytest.mark.parametrize("name", RECORDS)
def test_no_part_of_a_record_takes_long(name: str) -> None:
    # Wide, for a busy machine; `test_what_is_left_out_is_counted` holds the bounds themselves.
    assert seconds_of_record(RECORDS[name]())[0] < 4 * SECONDS


def test_costly_texts_of_a_record_share_one_time() -> None:
    texts = ["*[" * 7_000 for _ in range(60)]
    seconds, bundle = seconds_of_record(said(texts))
    assert seconds < 8
    assert "too costly" in bundle["text/html"]


def test_ordinary_texts_of_a_record_are_formatted_beside_costly_ones() -> None:
    texts = ["- **bold** and `code` and [a link](http://x)\n" * 20] * 100
    html = seconds_of_record(said(["*[" * 20_000] * 3 + texts))[1]["text/html"]
    assert html.count("<strong") == 20 * 100


def test_a_plan_without_end_is_cut_with_the_number_of_the_rest() -> None:
    state = SessionState()
    apply(state, u.PlanUpdate(u.PlanId("p"), (u.PlanEntry("x"),) * 1_000))
    bundle = record_bundle(state, state.timeline, agent_name="a", stop_reason="end_turn")
    assert "… 700 more steps" in bundle["text/html"]
    assert "… 700 more steps" in bundle["text/markdown"]
    assert "… 700 more steps" in bundle["text/plain"]
