"""Turns for the tests of views: one that has everything, and random ones."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from hypothesis import strategies as st

from acp_notebook.session import updates as u
from acp_notebook.session.content import (
    AudioBlock,
    ImageBlock,
    ResourceBlock,
    ResourceLinkBlock,
    TextBlock,
    UnknownBlock,
)

PIXEL = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJg"
)


def turn_with_everything(word: str = "word") -> list[u.SessionUpdate]:
    """Every kind of entry; `word` is in every text that an agent can write."""
    text = TextBlock(f"{word}\n\n**bold** {word}")
    blocks = (
        text,
        ImageBlock(PIXEL, "image/png", word),
        ImageBlock(word, word, word),
        AudioBlock("AAAA", word),
        ResourceLinkBlock(word, word, word, word, word, 12),
        ResourceBlock(word, word, None, word),
        ResourceBlock(word, None, "AAAA", word),
        UnknownBlock(word, {"type": word, word: word}),
    )
    options = tuple(
        u.PermissionOption(f"{word}{kind}", f"{word} {kind}", kind)
        for kind in ("allow_once", "allow_always", "reject_once", word)
    )
    prompt, queued = u.PromptId("p1"), u.PromptId("p2")
    call, other, terminal = u.ToolCallId("c1"), u.ToolCallId("c2"), u.TerminalId("t1")
    question, second, third = (u.PermissionId(name) for name in ("q1", "q2", "q3"))
    change = u.DiffChange(word, word, word, word, word)
    plan = (u.PlanEntry(word, "high", "completed"), u.PlanEntry(word, word, word))
    return [
        u.PromptSent(prompt, blocks),
        u.StateUpdate("running"),
        u.MessageChunk("user", u.MessageId("m0"), text),
        u.MessageChunk("thought", u.MessageId("m1"), text),
        *(u.MessageChunk("agent", u.MessageId("m2"), block) for block in blocks),
        u.PlanUpdate(u.PlanId("a"), plan),
        u.PlanUpdate(u.PlanId("b"), None, word, {word: word}),
        u.TerminalUpdate(terminal, word, word),
        u.TerminalChunk(terminal, word.encode("utf-8", "replace") + b"\r\n\x1b[31mred"),
        u.TerminalUpdate(u.TerminalId("t2"), word, word, exit_status=u.ExitStatus(None, word)),
        u.ToolCallUpdate(
            call, word, word, word, word,
            content=(
                *(u.ContentItem(block) for block in blocks),
                u.DiffItem((change,), patch=f"--- {word}\n@@ -1 +1 @@\n-{word}\n+{word}"),
                u.DiffItem((change,), old_text=word, new_text=f"{word}\n{word}"),
                u.TerminalItem(terminal),
                u.TerminalItem(u.TerminalId(word)),
                u.UnknownItem(word, {word: word}),
            ),
            locations=(u.Location(word, 3),),
            raw_input={word: f"{word}\n{word}", "n": 1},
            raw_output=word,
        ),
        u.ToolCallUpdate(other, None, word, "read", "completed", raw_input=[word], raw_output={}),
        u.PermissionRequested(question, word, options, word, u.ToolCallSubject(call)),
        u.PermissionRequested(second, word, options, word, u.CommandSubject(word, word)),
        u.PermissionRequested(third, word, options, word, u.UnknownSubject(word, {word: word})),
        u.PermissionSettled(second, f"{word}allow_always", word),
        u.Notice(word, word, word),
        u.CompactionUpdate("k", word, (text,), word),
        u.UnknownUpdate(word, {word: word}),
        u.Violation(word, word, {word: word}),
        u.UsageUpdate(50, 200, u.Cost(1.0, word)),
        u.SessionInfoUpdate(title=word),
        u.PromptQueued(queued, blocks),
        u.AgentLost(word, f"{word}\n{word}"),
    ]  # fmt: skip


def _ids(kind: Any, names: str) -> Any:
    return st.sampled_from([kind(name) for name in names])


TEXT = st.sampled_from(
    ["a ", "**b** ", "\n\n", "- c\n", "```\n", "x" * 900, "[r]", "[r]: http://x\n"]
)
BLOCK = TEXT.map(TextBlock) | st.just(ImageBlock(PIXEL, "image/png"))
ROLE: st.SearchStrategy[u.Role] = st.sampled_from(["agent", "thought"])
MESSAGE, CALL, TERMINAL = (
    _ids(u.MessageId, "mn"), _ids(u.ToolCallId, "cd"), _ids(u.TerminalId, "tv")
)  # fmt: skip
ITEM = st.one_of(
    BLOCK.map(u.ContentItem),
    TERMINAL.map(u.TerminalItem),
    st.just(u.DiffItem((u.DiffChange("modify", "f"),), old_text="a", new_text="b")),
)
ITEMS = st.lists(ITEM, max_size=3).map(tuple)
DATA = st.sampled_from([b"one\n", b"two\r", b"\xe2\x82", b"\xac", b"\x1b[31m", b"y\n" * 420])
UPDATE: st.SearchStrategy[u.SessionUpdate] = st.one_of(
    st.builds(u.MessageChunk, ROLE, MESSAGE, BLOCK),
    st.builds(u.MessageChunk, ROLE, MESSAGE, BLOCK),
    st.builds(u.MessageUpdate, ROLE, MESSAGE, st.lists(BLOCK, max_size=2).map(tuple)),
    st.builds(u.MessageUpdate, ROLE, MESSAGE, meta=st.just({"k": 1})),
    st.builds(u.ToolCallUpdate, CALL, title=TEXT, content=ITEMS),
    st.builds(u.ToolCallUpdate, CALL, status=st.sampled_from(["in_progress", "failed", None])),
    st.builds(u.ToolCallChunk, CALL, ITEM),
    st.builds(u.TerminalUpdate, TERMINAL, output=DATA),
    st.builds(u.TerminalUpdate, TERMINAL, command=TEXT),
    st.builds(u.TerminalChunk, TERMINAL, DATA),
    st.builds(u.TerminalChunk, TERMINAL, DATA),
    st.builds(u.PlanUpdate, _ids(u.PlanId, "ab"), st.just((u.PlanEntry("x"),))),
    st.builds(u.PlanRemoved, _ids(u.PlanId, "ab")),
    st.builds(u.StateUpdate, st.sampled_from(["running", "requires_action", "idle"])),
    st.builds(u.Notice, st.just("info"), TEXT),
    st.builds(u.CompactionChunk, st.just("k"), BLOCK),
    st.just(u.CancelSent()),
    st.builds(u.UsageUpdate, st.integers(0, 9), st.just(9)),
)
TURNS: st.SearchStrategy[Iterable[u.SessionUpdate]] = st.lists(UPDATE, max_size=40)
