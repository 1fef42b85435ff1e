"""What holds for every sequence of updates, and that a long session costs no more per update."""

from __future__ import annotations

import copy
import itertools
import sys
import tracemalloc
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from acp_notebook.session import reducer
from acp_notebook.session import updates as u
from acp_notebook.session.content import START, Content, ImageBlock, TextBlock, UnknownBlock
from acp_notebook.session.reducer import apply
from acp_notebook.session.selection import Selection
from acp_notebook.session.state import EntryKey, SessionState

BOUNDED = settings(deadline=None, max_examples=50)
IDS = st.sampled_from(["a", "b", "c"])
ROLES = st.sampled_from(["user", "agent", "thought"])
BLOCKS = st.one_of(
    st.builds(TextBlock, st.text(max_size=8)),
    st.just(ImageBlock("AA==", "image/png")),
    st.just(UnknownBlock("_x", {"type": "_x"})),
)
EMPTY = TextBlock("")
NOTED = st.just(TextBlock("for you", {"type": "text", "text": "for you", "annotations": {"x": 1}}))
META = st.one_of(
    st.just(u.UNSET),
    st.none(),
    st.dictionaries(st.sampled_from("kl"), st.one_of(st.none(), st.integers()), max_size=2),
)


def patch(values):
    return st.one_of(st.just(u.UNSET), st.none(), values)


def tuples(values):
    return st.lists(values, max_size=3).map(tuple)


ITEMS = st.one_of(
    st.builds(u.ContentItem, BLOCKS),
    st.builds(u.TerminalItem, IDS),
    st.just(u.DiffItem((u.DiffChange("add", "/a"),))),
)
UPDATES = st.one_of(
    st.builds(u.MessageUpdate, ROLES, IDS, patch(tuples(BLOCKS)), META),
    st.builds(u.MessageChunk, ROLES, IDS, BLOCKS),
    st.builds(
        u.ToolCallUpdate,
        IDS,
        title=patch(st.text(max_size=4)),
        status=patch(st.sampled_from(["pending", "completed", "_odd"])),
        content=patch(tuples(ITEMS)),
        meta=META,
    ),
    st.builds(u.ToolCallChunk, IDS, ITEMS),
    st.builds(u.TerminalUpdate, IDS, output=patch(st.binary(max_size=4))),
    st.builds(u.TerminalChunk, IDS, st.binary(max_size=4)),
    st.builds(u.PlanUpdate, IDS, tuples(st.builds(u.PlanEntry, st.text(max_size=4)))),
    st.builds(u.PlanRemoved, IDS),
    st.builds(u.UsageUpdate, st.integers(0, 9), st.integers(0, 9), patch(st.just(u.Cost(1, "X")))),
    st.builds(
        u.StateUpdate,
        st.sampled_from(["running", "requires_action", "idle", "_odd"]),
        st.sampled_from([None, "end_turn", "cancelled"]),
    ),
    st.just(u.CancelSent()),
    st.just(u.AgentLost("gone")),
    st.just(u.SessionOpened()),
    st.builds(u.CompactionChunk, IDS, BLOCKS),
    st.just(u.UnknownUpdate("_x", {})),
)
HISTORIES = st.lists(UPDATES, max_size=25)


def played(updates, state=None):
    state = state or SessionState()
    for update in updates:
        apply(state, update)
    return state


@BOUNDED
@given(HISTORIES, ROLES, IDS, st.lists(BLOCKS, max_size=4), tuples(BLOCKS))
def test_a_snapshot_after_chunks_equals_the_snapshot_alone(history, role, name, chunks, content):
    snapshot = u.MessageUpdate(role, name, content)
    touch = u.MessageUpdate(role, name)
    state = played([*history, touch])
    alone = played([snapshot], copy.deepcopy(state))
    after = played([*[u.MessageChunk(role, name, block) for block in chunks], snapshot], state)
    assert after == alone


@BOUNDED
@given(HISTORIES, IDS, st.lists(ITEMS, max_size=4), tuples(ITEMS))
def test_tool_content_after_chunks_equals_the_content_alone(history, name, chunks, content):
    snapshot = u.ToolCallUpdate(name, content=content)
    alone = played([*history, snapshot]).tool_calls[name]
    after = played([*history, *[u.ToolCallChunk(name, item) for item in chunks], snapshot])
    assert after.tool_calls[name] == alone
    claimed = {key for key, owners in after.terminal_owners.items() if name in owners}
    assert claimed == set(alone.terminal_ids)


@BOUNDED
@given(HISTORIES, IDS, st.lists(st.binary(max_size=4), max_size=4), st.binary(max_size=6))
def test_a_terminal_snapshot_after_chunks_equals_the_snapshot_alone(history, name, chunks, output):
    snapshot = u.TerminalUpdate(name, output=output)
    alone = played([*history, snapshot]).terminals[name]
    after = played([*history, *[u.TerminalChunk(name, data) for data in chunks], snapshot])
    assert after.terminals[name] == alone


@BOUNDED
@given(HISTORIES, ROLES, IDS)
def test_omitting_every_field_changes_nothing_that_exists(history, role, name):
    updates = [
        u.MessageUpdate(role, name),
        u.ToolCallUpdate(name),
        u.TerminalUpdate(name),
        u.SessionInfoUpdate(),
    ]
    state = played([*history, *updates])
    before = copy.deepcopy(state)
    assert played(updates, state) == before


@BOUNDED
@given(HISTORIES)
def test_every_update_that_is_repeated_as_a_whole_changes_nothing_more(history):
    whole = [update for update in history if isinstance(update, (u.MessageUpdate, u.PlanUpdate))]
    state = played(history)
    for update in whole[-1:]:
        apply(state, update)
        before = copy.deepcopy(state)
        assert played([update], state) == before


@BOUNDED
@given(st.text(max_size=60), st.lists(st.integers(0, 60), max_size=6))
def test_chunk_borders_never_matter_to_the_text(text, cuts):
    borders = sorted({0, len(text), *(cut for cut in cuts if cut < len(text))})
    pieces = [text[start:end] for start, end in itertools.pairwise(borders)]
    state = played([u.MessageChunk("agent", "m", TextBlock(piece)) for piece in pieces])
    shown = state.messages[EntryKey("agent", "m")].text if pieces else ""
    assert shown == text


@BOUNDED
@given(st.lists(BLOCKS | NOTED, max_size=12), st.data())
def test_chunk_borders_in_plain_text_never_matter_to_the_content(blocks, data):
    chunks = []
    for block in blocks:
        cut = data.draw(st.integers(0, len(block.text))) if isinstance(block, TextBlock) else 0
        plain = isinstance(block, TextBlock) and not block.raw
        halves = [TextBlock(block.text[:cut]), TextBlock(block.text[cut:])] if plain else [block]
        chunks += halves
    whole, grown, read = Content(blocks), Content(), []
    place = START
    for chunk in chunks:
        grown.append(chunk)
        if data.draw(st.booleans()):
            read += grown.since(place)
            place = grown.end
            assert grown.text_until(place) == grown.text
    read += grown.since(place)
    assert (grown, grown.text, len(grown)) == (whole, whole.text, len(whole))
    assert [block.raw for block in grown] == [block.raw for block in whole]
    again = Content()
    for _, block in read:
        again.append(block)
    assert [b for b in again if b != EMPTY] == [b for b in whole if b != EMPTY]
    assert {number for number, _ in read} <= set(range(len(whole)))
    assert not list(grown.since(grown.end))


@BOUNDED
@given(st.text(max_size=30), st.lists(st.integers(0, 90), max_size=6))
def test_chunk_borders_never_matter_to_terminal_bytes(text, cuts):
    data = text.encode("utf-8", "surrogatepass")
    borders = sorted({0, len(data), *(cut for cut in cuts if cut < len(data))})
    state = SessionState()
    for start, end in itertools.pairwise(borders):
        apply(state, u.TerminalChunk("t", data[start:end]))
    assert (state.terminals["t"].output if data else b"") == data


@BOUNDED
@given(HISTORIES)
def test_the_timeline_holds_every_entry_once_and_each_has_its_record(history):
    state = played(history)
    assert len(set(state.timeline)) == len(state.timeline)
    for key in state.timeline:
        assert state.entry(key) is not None, key
        assert key in state.owners


# ---------------------------------------------------------------- cost


def lines_run_by(function):
    """How many lines of the session package ran: a measure that no clock disturbs."""
    count = 0
    home = str(Path(reducer.__file__).parent)

    def local(_frame, event, _arg):
        nonlocal count
        count += event == "line"
        return local

    before = sys.gettrace()
    # Only its own frames: others (a garbage collector's callback) come when they like.
    sys.settrace(lambda frame, *_: local if frame.f_code.co_filename.startswith(home) else None)
    try:
        function()
    finally:
        sys.settrace(before)
    return count


def session_of(turns):
    state = SessionState()
    for number in range(turns):
        name = f"{number}"
        played(
            [
                u.PromptSent(f"p{name}", (TextBlock("x"),)),
                u.PromptAccepted(f"p{name}"),
                u.MessageUpdate("user", f"u{name}", (TextBlock("x"),)),
                u.StateUpdate("running"),
                u.MessageChunk("agent", f"m{name}", TextBlock("x")),
                u.ToolCallUpdate(f"c{name}", status="completed"),
                u.TerminalChunk(f"t{name}", b"x"),
                u.PermissionRequested(name, "?", (u.PermissionOption("y", "Yes"),)),
                u.PermissionSettled(name, "y", "you"),
                u.StateUpdate("idle", "end_turn"),
            ],
            state,
        )
    return state


NEXT_TURN = {
    "prompt sent": u.PromptSent("new", (TextBlock("x"),)),
    "prompt accepted": u.PromptAccepted("new", "new"),
    "user message": u.MessageUpdate("user", "new", (TextBlock("x"),)),
    "running": u.StateUpdate("running"),
    "chunk of a new message": u.MessageChunk("agent", "new", TextBlock("x")),
    "chunk of that message": u.MessageChunk("agent", "new", TextBlock("y")),
    "new tool call": u.ToolCallUpdate("new", title="t", content=(u.TerminalItem("new"),)),
    "chunk of that call": u.ToolCallChunk("new", u.ContentItem(TextBlock("x"))),
    "terminal output": u.TerminalChunk("new", b"x"),
    "more terminal output": u.TerminalChunk("new", b"x"),
    "plan": u.PlanUpdate("new", (u.PlanEntry("x"),)),
    "usage": u.UsageUpdate(1, 2),
    "permission": u.PermissionRequested("new", "?", (u.PermissionOption("y", "Yes"),)),
    "answer": u.PermissionSettled("new", "y", "you"),
    "idle": u.StateUpdate("idle", "end_turn"),
}


def costs_of_a_turn_after(turns):
    state = session_of(turns)
    return {
        name: lines_run_by(lambda update=update: apply(state, update))
        for name, update in NEXT_TURN.items()
    }


def test_an_update_costs_the_same_in_a_long_session_as_in_a_short_one():
    short, long = costs_of_a_turn_after(2), costs_of_a_turn_after(400)
    assert min(short.values()) > 0
    assert long == short


def costs_beside_open_questions(count):
    state = SessionState()
    for number in range(count):
        apply(state, u.ToolCallUpdate(f"c{number}", title="t"))
        about = u.ToolCallSubject(f"c{number}")
        apply(state, u.PermissionRequested(f"{number}", "?", (), subject=about))
    seen = Selection(state, lambda _: False)

    def answer(number):
        return seen.select(apply(state, u.PermissionSettled(f"{number}", "y", "you")))

    def look():
        key = EntryKey("permission", "3")
        return state.has_questions, state.is_open_question(key), list(state.asked.about("c3")), key

    return [lines_run_by(lambda: answer(1)), lines_run_by(lambda: answer(2)), lines_run_by(look)]


def test_an_answer_costs_the_same_beside_many_open_questions():
    assert costs_beside_open_questions(500) == costs_beside_open_questions(5)


@BOUNDED
@given(st.lists(st.one_of(st.none(), IDS), max_size=8), st.lists(st.integers(0, 8)), st.booleans())
def test_the_open_questions_are_those_without_an_answer(about, answered, is_lost):
    state = SessionState()
    for number, call in enumerate(about):
        subject = None if call is None else u.ToolCallSubject(call)
        apply(state, u.PermissionRequested(f"{number}", "?", (), subject=subject))
    for number in answered:
        if number < len(about):
            apply(state, u.PermissionSettled(f"{number}", "y", "you"))
    if is_lost:
        apply(state, u.AgentLost("gone"))
    unanswered = [each for each in state.permissions.values() if each.is_open]
    assert state.open_permissions == unanswered
    assert state.has_questions == bool(unanswered)
    for call in "abc":
        ours = [key for key in state.asked if about[int(key.id)] == call]
        assert list(state.asked.about(call)) == ours


@pytest.mark.parametrize("count", [1, 1000])
def test_a_chunk_of_a_long_message_makes_one_change_that_holds_only_the_chunk(count):
    state = played([u.MessageChunk("agent", "m", TextBlock("x"))] * count)
    (change,) = apply(state, u.MessageChunk("agent", "m", TextBlock("new")))
    assert change.appended == TextBlock("new")


def test_a_message_in_small_chunks_costs_hardly_more_memory_than_its_text():
    state, chunks = SessionState(), 20_000
    tracemalloc.start()
    for number in range(chunks):
        block = TextBlock(f"{number:05}", {"type": "text", "text": f"{number:05}"})
        apply(state, u.MessageChunk("agent", "m", block))
    cost, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(state.messages[EntryKey("agent", "m")].text) == 5 * chunks
    assert cost < 2 * 5 * chunks


def test_a_chunk_of_a_long_message_is_read_without_the_rest():
    content = Content([TextBlock("x" * 1000)])
    for _ in range(1000):
        place = content.end
        content.append(TextBlock("abc"))
        assert list(content.since(place)) == [(0, TextBlock("abc"))]
    assert len(content._pieces) <= 12
