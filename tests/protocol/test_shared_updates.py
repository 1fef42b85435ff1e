"""What both versions read alike: every kind of update, its unknown variants and broken payloads."""

from __future__ import annotations

import pytest
import schema_witness
from hypothesis import given, settings
from hypothesis import strategies as st

from acp_notebook.protocol.fields import Malformed
from acp_notebook.protocol.v1.normalize import V1Reader
from acp_notebook.protocol.v2.normalize import V2Reader
from acp_notebook.session import updates as u
from acp_notebook.session.content import TextBlock, UnknownBlock
from acp_notebook.session.reducer import apply
from acp_notebook.session.state import EntryKey, SessionState

READERS = {1: V1Reader, 2: V2Reader}
both = pytest.mark.parametrize("version", [1, 2])
TEXT = {"type": "text", "text": "x"}


def read(version, kind, reader=None, /, **members):
    return (reader or READERS[version]()).update({"sessionUpdate": kind, **members})


def one(version, kind, /, **members):
    (found,) = read(version, kind, **members)
    return found


# ---------------------------------------------------------------- unknown and broken


@both
@pytest.mark.parametrize(
    "raw", [None, [], "x", 7, {}, {"sessionUpdate": None}, {"sessionUpdate": []}]
)
def test_an_update_without_a_name_is_a_violation(version, raw):
    (found,) = READERS[version]().update(raw)
    assert isinstance(found, u.Violation)
    assert found.raw == raw


@both
@pytest.mark.parametrize("kind", ["_x", "", "subagent_update"])
def test_an_update_of_an_unknown_name_is_kept_whole(version, kind):
    raw = {"sessionUpdate": kind, "deep": [{"a": None}]}
    assert READERS[version]().update(raw) == [u.UnknownUpdate(kind, raw)]


@both
def test_every_known_update_without_its_members_is_a_violation_or_a_patch_that_changes_nothing(
    version,
):
    needs_nothing = {"session_info_update"}
    for kind in schema_witness.update_kinds(version):
        found = one(version, kind)
        if kind in needs_nothing:
            assert found == u.SessionInfoUpdate()
        else:
            assert isinstance(found, u.Violation), kind
            assert (found.where, found.raw) == (kind, {"sessionUpdate": kind})
            assert found.reason


def nonsense(depth=2):
    return st.recursive(
        st.none() | st.booleans() | st.integers(-2, 2) | st.text(max_size=3) | st.floats(),
        lambda inner: (
            st.lists(inner, max_size=2)
            | st.dictionaries(
                st.sampled_from(["type", "text", "path", "content"]), inner, max_size=2
            )
        ),
        max_leaves=depth * 3,
    )


MEMBERS = [
    "messageId",
    "content",
    "toolCallId",
    "title",
    "kind",
    "status",
    "locations",
    "rawInput",
    "plan",
    "entries",
    "planId",
    "used",
    "size",
    "cost",
    "state",
    "stopReason",
    "error",
    "background",
    "terminalId",
    "output",
    "exitStatus",
    "capabilities",
    "data",
    "availableCommands",
    "configOptions",
    "currentModeId",
    "severity",
    "description",
    "compactionId",
    "summary",
    "_meta",
]


@both
@settings(deadline=None, max_examples=100)
@given(data=st.data())
def test_no_payload_of_a_known_update_ever_raises_and_none_is_lost(version, data):
    kinds = schema_witness.update_kinds(version)
    reader, state = READERS[version](), SessionState()
    for _ in range(3):
        kind = data.draw(st.sampled_from(kinds))
        raw = data.draw(st.dictionaries(st.sampled_from(MEMBERS), nonsense(), max_size=5))
        found = reader.update({**raw, "sessionUpdate": kind})
        assert len(found) == 1
        apply(state, found[0])


@both
def test_a_violation_costs_only_itself(version):
    reader, state = READERS[version](), SessionState()
    for content in (TEXT, {"type": "text"}, TEXT):
        for update in read(version, "agent_message_chunk", reader, messageId="m", content=content):
            apply(state, update)
    assert state.messages[EntryKey("agent", "m")].text == "xx"
    assert [violation.where for violation in state.violations] == ["agent_message_chunk"]


# ---------------------------------------------------------------- kinds


@both
@pytest.mark.parametrize("role", ["user", "agent"])
def test_a_chunk_of_an_unknown_kind_of_block_is_kept_whole(version, role):
    block = {"type": "_hologram", "x": [1]}
    found = one(version, f"{role}_message_chunk", messageId="m", content=block)
    assert found == u.MessageChunk(role, "m", UnknownBlock("_hologram", block))


@both
def test_a_tool_call_is_read_with_all_its_members(version):
    found = one(
        version,
        "tool_call_update",
        toolCallId="c1",
        name="bash",
        title="List",
        kind="execute",
        status="completed",
        content=[
            {"type": "content", "content": TEXT},
            {"type": "terminal", "terminalId": "t1"},
            {"type": "_chart", "points": [1]},
        ],
        locations=[{"path": "/a", "line": 3}, {"path": "out.txt", "line": 0}, {"line": 1}],
        rawInput={"a": 1},
        rawOutput="done",
        _meta={"m": 1},
    )
    assert found == u.ToolCallUpdate(
        "c1",
        "bash",
        "List",
        "execute",
        "completed",
        (
            u.ContentItem(TextBlock("x")),
            u.TerminalItem("t1"),
            u.UnknownItem("_chart", {"type": "_chart", "points": [1]}),
        ),
        (u.Location("/a", 3), u.Location("out.txt")),
        {"a": 1},
        "done",
        meta={"m": 1},
    )


@both
def test_unknown_kinds_and_statuses_of_a_tool_call_are_kept_as_they_are(version):
    found = one(version, "tool_call_update", toolCallId="c", kind="_paint", status="_odd")
    assert (found.kind, found.status) == ("_paint", "_odd")


@both
def test_a_broken_content_item_costs_only_itself_and_a_broken_list_counts_as_not_given(version):
    items = [{"type": "content", "content": {"type": "text"}}, {"type": "terminal"}, 7, None]
    found = one(
        version,
        "tool_call_update",
        toolCallId="c",
        content=[*items, {"type": "content", "content": TEXT}],
        locations="x",
    )
    assert found.content == (u.ContentItem(TextBlock("x")),)
    assert found.locations is u.UNSET


@both
def test_usage_reads_an_omitted_cost_as_kept_and_null_as_cleared(version):
    assert one(version, "usage_update", used=1, size=2) == u.UsageUpdate(1, 2)
    assert one(version, "usage_update", used=1, size=2, cost=None).cost is None
    cost = {"amount": 1, "currency": "EUR"}
    assert one(version, "usage_update", used=1, size=2, cost=cost).cost == u.Cost(1.0, "EUR")
    for broken in ({}, {"amount": "1", "currency": "EUR"}, {"amount": True, "currency": "EUR"}, 3):
        assert one(version, "usage_update", used=1, size=2, cost=broken).cost is u.UNSET


@both
@pytest.mark.parametrize("amount", [10**400, -(10**400), True, "1", None])
def test_a_sum_beyond_all_numbers_counts_as_not_given(version, amount):
    cost = {"amount": amount, "currency": "USD"}
    assert one(version, "usage_update", used=1, size=2, cost=cost) == u.UsageUpdate(1, 2)


@both
def test_usage_that_makes_no_sense_is_read_all_the_same(version):
    assert one(version, "usage_update", used=10, size=0) == u.UsageUpdate(10, 0)
    assert isinstance(one(version, "usage_update", used="10", size=0), u.Violation)


@both
def test_commands_are_read_and_an_unknown_kind_of_input_is_plain_text(version):
    found = one(
        version,
        "available_commands_update",
        availableCommands=[
            {"name": "plan", "description": "Plan", "input": {"type": "text", "hint": "what"}},
            {"name": "odd", "description": "Odd", "input": {"type": "_picker"}},
            {"name": "bare"},
            {"description": "no name"},
        ],
    )
    assert found.commands == (
        u.Command("plan", "Plan", "what"),
        u.Command("odd", "Odd", ""),
        u.Command("bare", ""),
    )
    assert one(version, "available_commands_update", availableCommands=[]).commands == ()


@both
def test_session_info_has_three_states(version):
    assert one(version, "session_info_update", title=None, updatedAt="t") == u.SessionInfoUpdate(
        None, "t"
    )
    assert one(version, "session_info_update", title=3, _meta={"a": 1}) == u.SessionInfoUpdate(
        meta={"a": 1}
    )


@both
def test_notices_and_compactions_are_read(version):
    assert one(version, "notice", title="t") == u.Notice("info", "t")
    assert one(version, "notice", severity="_loud", title="t", description="d") == u.Notice(
        "_loud", "t", "d"
    )
    found = one(version, "compaction_update", compactionId="k", status="completed", summary=[TEXT])
    assert found == u.CompactionUpdate("k", "completed", (TextBlock("x"),))
    assert one(version, "compaction_update", compactionId="k", status="_x", error=None) == (
        u.CompactionUpdate("k", "_x", error=None)
    )
    assert one(version, "compaction_summary_chunk", compactionId="k", content=TEXT) == (
        u.CompactionChunk("k", TextBlock("x"))
    )


@both
def test_config_options_keep_the_agents_order_its_groups_and_unknown_types(version):
    id_key, group_key = {1: ("id", "group"), 2: ("configId", "groupId")}[version]
    options = [
        {
            id_key: "model",
            "name": "Model",
            "type": "select",
            "category": "model",
            "currentValue": "a",
            "options": [
                {group_key: "g", "name": "Fast", "options": [{"value": "a", "name": "A"}]},
                {group_key: "h", "options": [{"value": "b"}, {"name": "broken"}]},
                {"value": "c", "name": "C", "description": "the c"},
                7,
            ],
        },
        {id_key: "v", "name": "Verbose", "type": "boolean", "currentValue": False},
        {id_key: "o", "name": "Odd", "type": "_dial", "currentValue": 7},
        {"name": "no id"},
    ]
    found = one(version, "config_option_update", configOptions=options).options
    assert found == (
        u.ConfigOption(
            "model",
            "Model",
            "select",
            "a",
            "model",
            None,
            (
                u.ConfigValue("a", "A", None, "Fast"),
                u.ConfigValue("b", "b", None, "h"),
                u.ConfigValue("c", "C", "the c"),
            ),
        ),
        u.ConfigOption("v", "Verbose", "boolean", False),
        u.ConfigOption("o", "Odd", "_dial", None),
    )


# ---------------------------------------------------------------- permissions


def asked(version, options, **members):
    params = {"title": "Run?", "toolCall": {"toolCallId": "c", "title": "Run?"}, **members}
    return READERS[version]().permission_asked("1", {**params, "options": options})[-1]


@both
def test_options_keep_the_agents_order_labels_and_unknown_kinds(version):
    options = [
        {"optionId": "a", "name": "Yes, all", "kind": "allow_always"},
        {"optionId": "b", "name": "Odd", "kind": "_other"},
        {"optionId": "b"},
        {"optionId": "", "name": "Empty"},
    ]
    found = READERS[version]().permission_asked(
        "1", {"title": "Run?", "toolCall": {"toolCallId": "c"}, "options": options}
    )
    request = next(update for update in found if isinstance(update, u.PermissionRequested))
    assert request.options == (
        u.PermissionOption("a", "Yes, all", "allow_always"),
        u.PermissionOption("b", "Odd", "_other"),
        u.PermissionOption("b", "b", ""),
        u.PermissionOption("", "Empty", ""),
    )


@both
@pytest.mark.parametrize("options", [[], [{"name": "no id"}], None, "x"])
def test_a_request_without_an_option_to_choose_is_malformed(version, options):
    with pytest.raises(Malformed):
        asked(version, options)
