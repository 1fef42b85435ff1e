"""What each update does to the state; the rules of the foreground have a file of their own."""

from __future__ import annotations

import pytest

from acp_notebook.session import updates as u
from acp_notebook.session.changes import (
    EntryChanged,
    EntryRemoved,
    HeaderChanged,
    TerminalChanged,
    ViolationSeen,
)
from acp_notebook.session.content import ImageBlock, TextBlock
from acp_notebook.session.reducer import apply
from acp_notebook.session.state import EntryKey, SessionState, Usage

A, B, C, D = (TextBlock(letter) for letter in "ABCD")
CALL = EntryKey("tool_call", "c1")


def played(*updates, state=None):
    state = state or SessionState()
    for update in updates:
        apply(state, update)
    return state


def agent(*content, message_id="m1", **members):
    return u.MessageUpdate("agent", message_id, content, **members)


def chunk(block, message_id="m1", role="agent"):
    return u.MessageChunk(role, message_id, block)


def call(**members):
    return u.ToolCallUpdate("c1", **members)


def text_item(text):
    return u.ContentItem(TextBlock(text))


# ---------------------------------------------------------------- messages


def test_a_message_follows_upserts_and_chunks_step_by_step():
    steps = [
        (agent(A), "A"),
        (chunk(B), "AB"),
        (agent(C), "C"),
        (chunk(D), "CD"),
        (u.MessageUpdate("agent", "m1"), "CD"),
        (u.MessageUpdate("agent", "m1", None), ""),
        (chunk(B), "B"),
        (agent(), ""),
    ]
    state = SessionState()
    for update, text in steps:
        apply(state, update)
        assert state.messages[EntryKey("agent", "m1")].text == text


def test_a_chunk_of_a_new_id_starts_a_new_message_and_interleaved_ids_stay_apart():
    state = played(chunk(A), chunk(B, "m2"), chunk(C), chunk(D, "m2"))
    assert [message.text for message in state.messages.values()] == ["AC", "BD"]
    assert state.timeline == [EntryKey("agent", "m1"), EntryKey("agent", "m2")]


def test_roles_that_share_an_id_stay_apart():
    state = played(chunk(A), chunk(B, role="thought"), chunk(C, role="user"))
    assert {key.kind: message.text for key, message in state.messages.items()} == {
        "agent": "A",
        "thought": "B",
        "user": "C",
    }


def test_a_chunk_tells_the_view_only_what_came_behind():
    assert apply(SessionState(), chunk(A)) == [EntryChanged(EntryKey("agent", "m1"), appended=A)]


def test_blocks_that_are_not_text_are_kept_in_their_place():
    image = ImageBlock("AA==", "image/png")
    state = played(chunk(A), chunk(image), chunk(B))
    assert state.messages[EntryKey("agent", "m1")].content == [A, image, B]
    assert state.messages[EntryKey("agent", "m1")].text == "AB"


def test_meta_of_an_upsert_patches_by_key_keeps_when_omitted_and_clears_by_null():
    state = played(agent(meta={"a": 1, "b": 2}))
    meta = state.messages[EntryKey("agent", "m1")].meta
    apply(state, u.MessageUpdate("agent", "m1", meta={"b": None, "c": 3}))
    assert meta == {"a": 1, "c": 3}
    apply(state, agent())
    assert meta == {"a": 1, "c": 3}
    apply(state, u.MessageUpdate("agent", "m1", meta=None))
    assert meta == {}


# ---------------------------------------------------------------- tool calls


def test_the_first_update_of_an_unseen_id_creates_the_call_whatever_it_says():
    state = played(call(status="completed"))
    made = state.tool_calls["c1"]
    assert (made.status, made.title, made.kind, made.content) == ("completed", None, "other", [])
    assert state.timeline == [CALL]


def test_a_chunk_of_an_unseen_id_creates_the_call():
    state = played(u.ToolCallChunk("c1", text_item("out")))
    assert state.tool_calls["c1"].content == [text_item("out")]
    assert state.tool_calls["c1"].status == "pending"


def test_null_resets_every_member_of_a_tool_call_and_omission_keeps_it():
    state = played(
        call(
            name="bash",
            title="List",
            kind="execute",
            status="in_progress",
            content=(text_item("x"),),
            locations=(u.Location("/a", 3),),
            raw_input={"a": 1},
            raw_output=[1],
            can_cancel=True,
            meta={"m": 1},
        )
    )
    made = state.tool_calls["c1"]
    apply(state, call())
    assert (made.name, made.title, made.kind, made.status) == (
        "bash",
        "List",
        "execute",
        "in_progress",
    )
    assert (made.locations, made.raw_input) == ((u.Location("/a", 3),), {"a": 1})
    assert (made.raw_output, made.can_cancel, made.meta) == ([1], True, {"m": 1})
    apply(
        state,
        call(
            name=None,
            title=None,
            kind=None,
            status=None,
            content=None,
            locations=None,
            raw_input=None,
            raw_output=None,
            can_cancel=None,
            meta=None,
        ),
    )
    assert (made.name, made.title, made.kind, made.status) == (None, None, "other", "pending")
    assert (made.content, made.locations, made.raw_input) == ([], (), None)
    assert (made.raw_output, made.can_cancel, made.meta) == (None, False, {})


def test_title_and_kind_that_change_later_are_the_ones_that_count():
    state = played(call(title="Tool", kind="other"), call(title="Read a.py", kind="read"))
    assert state.tool_calls["c1"].title == "Read a.py"
    assert state.tool_calls["c1"].kind == "read"


def test_content_replaces_what_chunks_added_and_later_chunks_add_to_it():
    state = played(
        u.ToolCallChunk("c1", text_item("1")),
        u.ToolCallChunk("c1", text_item("2")),
        call(content=(text_item("3"),)),
        u.ToolCallChunk("c1", text_item("4")),
    )
    assert state.tool_calls["c1"].content == [text_item("3"), text_item("4")]
    apply(state, call(content=()))
    assert state.tool_calls["c1"].content == []


@pytest.mark.parametrize(
    ("status", "is_finished"),
    [
        ("pending", False),
        ("in_progress", False),
        ("paused", False),
        ("_odd", False),
        ("completed", True),
        ("failed", True),
        ("cancelled", True),
    ],
)
def test_a_status_that_is_unknown_counts_as_still_going_on(status, is_finished):
    assert played(call(status=status)).tool_calls["c1"].is_finished is is_finished


# ---------------------------------------------------------------- terminals


def test_terminal_chunks_append_bytes_and_a_snapshot_replaces_them():
    state = played(
        u.TerminalChunk("t1", b"\xe2\x82"),
        u.TerminalChunk("t1", b"\xac"),
    )
    assert state.terminals["t1"].output.decode() == "€"
    apply(state, u.TerminalUpdate("t1", output=b"new"))
    apply(state, u.TerminalChunk("t1", b"er"))
    assert state.terminals["t1"].output == b"newer"
    apply(state, u.TerminalUpdate("t1", output=None))
    assert state.terminals["t1"].output == b""


def test_a_terminal_chunk_tells_the_view_only_the_new_bytes():
    assert apply(SessionState(), u.TerminalChunk("t1", b"x")) == [
        TerminalChanged("t1", appended=b"x")
    ]


def test_a_terminal_keeps_what_an_update_omits_and_clears_what_is_null():
    state = played(
        u.TerminalUpdate("t1", command="ls", cwd="/a", size=(80, 24), can_cancel=True),
        u.TerminalUpdate("t1", exit_status=u.ExitStatus(0)),
    )
    terminal = state.terminals["t1"]
    assert (terminal.command, terminal.cwd, terminal.size) == ("ls", "/a", (80, 24))
    assert (terminal.exit_status, terminal.can_cancel) == (u.ExitStatus(0), True)
    apply(state, u.TerminalUpdate("t1", None, None, exit_status=None, size=None, can_cancel=None))
    assert (terminal.command, terminal.cwd, terminal.size) == (None, None, None)
    assert (terminal.exit_status, terminal.can_cancel) == (None, False)


@pytest.mark.parametrize("reference_first", [True, False])
def test_a_terminal_finds_its_tool_call_in_either_order(reference_first):
    reference = call(content=(u.TerminalItem("t1"),))
    output = u.TerminalChunk("t1", b"x")
    state = played(*([reference, output] if reference_first else [output, reference]))
    assert state.terminal_owners["t1"] == ["c1"]
    assert state.tool_calls["c1"].terminal_ids == ["t1"]


def test_replaced_content_gives_a_terminal_up_and_repeated_references_count_once():
    state = played(
        u.ToolCallChunk("c1", u.TerminalItem("t1")),
        u.ToolCallChunk("c1", u.TerminalItem("t1")),
    )
    assert state.terminal_owners["t1"] == ["c1"]
    apply(state, call(content=(u.TerminalItem("t2"),)))
    assert state.terminal_owners == {"t1": [], "t2": ["c1"]}


# ---------------------------------------------------------------- plan, usage and the rest


def test_plans_live_side_by_side_and_each_update_replaces_its_own_whole():
    one, two = u.PlanEntry("one"), u.PlanEntry("two", "high", "completed")
    state = played(
        u.PlanUpdate("p1", (one, two)), u.PlanUpdate("p2", (one,)), u.PlanUpdate("p1", (two,))
    )
    assert state.plans["p1"].entries == (two,)
    assert state.plans["p2"].entries == (one,)
    assert state.timeline == [EntryKey("plan", "p1"), EntryKey("plan", "p2")]


def test_a_plan_of_an_unknown_type_is_kept_whole():
    state = played(u.PlanUpdate("p1", None, "_mindmap", {"planId": "p1", "x": 1}))
    assert (state.plans["p1"].type, state.plans["p1"].entries) == ("_mindmap", None)
    assert state.plans["p1"].raw == {"planId": "p1", "x": 1}


def test_a_plan_that_is_taken_back_leaves_the_timeline_and_an_unknown_one_changes_nothing():
    state = played(chunk(A), u.PlanUpdate("p1", ()), chunk(B, "m2"))
    assert apply(state, u.PlanRemoved("p1")) == [EntryRemoved(EntryKey("plan", "p1"))]
    assert [key.id for key in state.timeline] == ["m1", "m2"]
    assert apply(state, u.PlanRemoved("p1")) == []


def test_usage_keeps_an_omitted_cost_and_clears_it_by_null():
    cost = u.Cost(0.5, "EUR")
    state = played(u.UsageUpdate(1, 10, cost), u.UsageUpdate(2, 10))
    assert state.usage == Usage(2, 10, cost)
    apply(state, u.UsageUpdate(3, 10, None))
    assert state.usage == Usage(3, 10, None)


@pytest.mark.parametrize(
    ("used", "size", "fraction"),
    [(5, 10, 0.5), (0, 10, 0.0), (10, 10, 1.0), (10, 0, None), (11, 10, None), (-1, 10, None)],
)
def test_usage_that_makes_no_sense_has_no_fraction(used, size, fraction):
    assert Usage(used, size).fraction == fraction


def test_commands_and_options_are_replaced_as_whole_lists():
    command, option = u.Command("plan", "Plan"), u.ConfigOption("m", "Model", "select", "a")
    state = played(u.CommandsUpdate((command,)), u.ConfigOptionsUpdate((option,)))
    assert (state.commands, state.config_options) == ((command,), (option,))
    played(u.CommandsUpdate(()), u.ConfigOptionsUpdate(()), state=state)
    assert (state.commands, state.config_options) == ((), ())


def test_session_info_keeps_what_is_omitted_and_clears_what_is_null():
    state = played(u.SessionInfoUpdate("Title", "2026-01-01", {"a": 1}), u.SessionInfoUpdate())
    assert (state.title, state.updated_at, state.meta) == ("Title", "2026-01-01", {"a": 1})
    apply(state, u.SessionInfoUpdate(None, None, None))
    assert (state.title, state.updated_at, state.meta) == (None, None, {})


def test_a_compaction_takes_chunks_and_a_later_summary_replaces_them():
    state = played(
        u.CompactionChunk("k1", A),
        u.CompactionUpdate("k1", "in_progress"),
        u.CompactionChunk("k1", B),
    )
    assert state.compactions["k1"].summary == [TextBlock("AB")]
    apply(state, u.CompactionUpdate("k1", "failed", (C,), "too long"))
    compaction = state.compactions["k1"]
    assert (compaction.status, compaction.summary, compaction.error) == ("failed", [C], "too long")
    assert state.timeline == [EntryKey("compaction", "k1")]


@pytest.mark.parametrize(
    ("kind", "update"),
    [
        ("notice", u.Notice("info", "hello")),
        ("unknown", u.UnknownUpdate("_x", {"sessionUpdate": "_x"})),
        ("violation", u.Violation("plan", "entries must be an array")),
    ],
)
def test_what_stands_for_itself_gets_an_entry_each_time_in_arrival_order(kind, update):
    state = played(chunk(A), update, update, chunk(B, "m2"))
    asides = [key for key in state.timeline if key.kind == kind]
    assert [key.kind for key in state.timeline] == ["agent", kind, kind, "agent"]
    assert [state.asides[key] for key in asides] == [update, update]


def test_a_violation_is_kept_on_the_session_and_told_to_the_view_once():
    state, violation = SessionState(), u.Violation("plan", "broken")
    changes = apply(state, violation)
    assert changes.count(ViolationSeen(violation)) == 1
    assert state.violations == [violation]


# ---------------------------------------------------------------- whose turn an entry belongs to


def turn(prompt_id, message_id):
    return [
        u.PromptSent(prompt_id, (A,)),
        u.PromptAccepted(prompt_id),
        u.MessageUpdate("user", message_id, (A,)),
        u.StateUpdate("running"),
    ]


def test_entries_belong_to_the_prompt_at_work_and_after_its_end_to_the_last_one():
    state = played(
        chunk(A, "m0"),
        *turn("p1", "u1"),
        chunk(A, "m1"),
        u.StateUpdate("idle", "end_turn"),
        call(status="completed"),
        *turn("p2", "u2"),
        chunk(A, "m2"),
    )
    assert [key.id for key in state.entries_of("p1")] == ["u1", "m1", "c1"]
    assert [key.id for key in state.entries_of("p2")] == ["u2", "m2"]
    assert state.owners[EntryKey("agent", "m0")] is None


def test_the_user_message_of_a_prompt_that_waits_belongs_to_that_prompt():
    state = played(
        *turn("p1", "u1"),
        u.PromptSent("p2", (B,)),
        u.MessageUpdate("user", "u2", (B,)),
        chunk(A, "m1"),
    )
    assert [key.id for key in state.entries_of("p2")] == ["u2"]
    assert [key.id for key in state.entries_of("p1")] == ["u1", "m1"]


def test_header_changes_are_told_for_what_stands_in_the_header():
    state = SessionState()
    for update in (
        u.UsageUpdate(1, 2),
        u.CommandsUpdate(()),
        u.ConfigOptionsUpdate(()),
        u.SessionInfoUpdate("t"),
    ):
        assert apply(state, update) == [HeaderChanged()]
