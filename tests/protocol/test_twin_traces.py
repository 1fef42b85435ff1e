"""The same story on a v1 and on a v2 wire leaves the same state, which is the one on file."""

from __future__ import annotations

import dataclasses
import json
import logging

import pytest
import schema_witness
from trace_player import (
    TracePlayer,
    _Names,
    lines_of,
    play,
    read_trace,
    snapshot,
    state_path,
    state_text,
    stories,
    versions_of,
)

from acp_notebook.client.live.live_session import LiveSession
from acp_notebook.protocol import elicitation, negotiate
from acp_notebook.protocol.content import read_block
from acp_notebook.protocol.dialect import ClientCapabilities, Implementation, SessionSetup
from acp_notebook.session.state import SessionState

TELLINGS = [(story, version) for story in stories() for version in versions_of(story)]
# Told on one wire only: what the other version cannot say.
V2_ONLY = {"clear-by-null", "held-prompt", "plan-removed", "replace-after-chunks", "terminal"}
# How many messages of a story the official schema does not allow, where a story is about such.
OFF_SCHEMA = {
    ("unknown-update", 1): 1,
    ("unknown-block", 1): 1,
    ("malformed-update", 1): 2,
    ("malformed-update", 2): 2,
}
# Stories that stop before the agent has answered.
UNFINISHED = {"agent-death", "questions-open"}
CLIENT = Implementation("acp_notebook", "1.0.0", "acp_notebook")
NEEDED = {
    "agent-death",
    "cancel",
    "clear-by-null",
    "commands-and-title",
    "diff",
    "elicitation-cancelled",
    "elicitation-form",
    "elicitation-page",
    "late-completion",
    "late-message",
    "malformed-update",
    "mode-change",
    "notices-and-compaction",
    "options-set",
    "permission-allowed",
    "permission-cancelled",
    "permission-rejected",
    "plain-answer",
    "plan",
    "plan-removed",
    "questions-open",
    "replace-after-chunks",
    "resume-with-replay",
    "resume-without-replay",
    "terminal",
    "thought",
    "tool-call-failure",
    "tool-call-success",
    "two-sessions",
    "unknown-block",
    "unknown-update",
    "usage",
}


def messages(story, version):
    return [
        (line["from"], line["message"]) for line in read_trace(story, version) if "message" in line
    ]


def test_every_story_is_there_and_told_on_both_wires_where_both_can():
    assert set(stories()) >= NEEDED
    assert {story for story in stories() if versions_of(story) == [2]} == V2_ONLY
    assert all(versions_of(story) == [1, 2] for story in set(stories()) - V2_ONLY)


@pytest.mark.parametrize("story", sorted(set(stories()) - V2_ONLY))
def test_both_versions_leave_the_same_state(story):
    assert snapshot(play(read_trace(story, 1))) == snapshot(play(read_trace(story, 2)))


@pytest.mark.parametrize(("story", "version"), TELLINGS)
def test_a_story_leaves_the_state_on_file(story, version):
    assert snapshot(play(read_trace(story, version))) == json.loads(state_path(story).read_text())


@pytest.mark.parametrize("story", stories())
def test_the_state_on_file_is_as_scripts_generate_traces_writes_it(story):
    assert state_path(story).read_text() == state_text(story)


@pytest.mark.parametrize(("story", "version"), TELLINGS)
def test_a_story_is_told_in_its_version_and_breaks_no_rule(story, version):
    player = TracePlayer()
    for line in read_trace(story, version):
        player.line(line)
    assert player.dialect.version == version
    assert story == "malformed-update" or all(not s.violations for s in player.states.values())
    assert player.unanswered == [] or story in UNFINISHED


@pytest.mark.parametrize(("story", "version"), TELLINGS)
def test_every_message_of_a_story_is_valid_by_the_official_schema(story, version):
    asked = {}
    faults = []
    for sender, message in messages(story, version):
        receiver = "agent" if sender == "client" else "client"
        if "method" in message:
            asked[sender, message.get("id")] = message["method"]
            name = schema_witness.params_name(version, message["method"], receiver)
            faults += schema_witness.faults(version, name, message["params"])[:1]
            continue
        method = asked[receiver, message["id"]]
        # The lifecycle page answers a v2 prompt with {}, which the schema does not know.
        if "result" in message and message["result"] != {}:
            name = schema_witness.params_name(version, method, sender)
            response = name.removesuffix("Request") + "Response"
            faults += schema_witness.faults(version, response, message["result"])[:1]
    assert len(faults) == OFF_SCHEMA.get((story, version), 0), faults


@pytest.mark.parametrize(("story", "version"), TELLINGS)
def test_what_the_client_says_in_a_story_is_what_the_dialect_writes(story, version):
    player = TracePlayer()
    asked = {}
    modes = {message.get("params", {}).get("mode") for _, message in messages(story, version)}
    offer = ClientCapabilities(forms="form" in modes, urls="url" in modes)
    for line in read_trace(story, version):
        player.line(line)
        message = line.get("message", {})
        if line["from"] == "agent":
            asked[message.get("id")] = message.get("method")
        elif "method" not in message:
            written = written_answer(player.dialect, asked[message["id"]], message["result"])
            assert message["result"] == written
        elif message["method"] == "initialize":
            written = negotiate.initialize(CLIENT, served=offer)
            assert (message["method"], message["params"]) == written
        else:
            written = written_call(player, message["method"], message["params"])
            assert (message["method"], message["params"]) == written


def written_call(player, method, params):
    """The call that the dialect writes for what a call of a story says."""
    dialect, session_id = player.dialect, params.get("sessionId")
    match method:
        case "session/new":
            return dialect.new_session(SessionSetup(params["cwd"]))
        case "session/load" | "session/resume":
            replay = method == "session/load" or "replayFrom" in params
            offered = player.negotiated.capabilities
            return dialect.resume(session_id, SessionSetup(params["cwd"]), offered, replay=replay)
        case "session/prompt":
            return dialect.prompt(session_id, [read_block(block) for block in params["prompt"]])
        case "session/set_mode" | "session/set_config_option":
            option = player.sessions[session_id].option(method, params)
            value = params.get("value", params.get("modeId"))
            return dialect.set_option(session_id, option, value)
    assert method == "session/cancel"
    return dialect.cancel(session_id)


def written_answer(dialect, method, result):
    """The answer that is written for what an answer of a story says."""
    if method == elicitation.CREATE:
        return elicitation.answer(result["action"], result.get("content"))
    return dialect.permission_outcome(result["outcome"].get("optionId"))


# ---------------------------------------------------------------- what one story is about


@pytest.mark.parametrize("version", [1, 2])
@pytest.mark.parametrize("session_id", ["sess_1", "sess_2"])
def test_a_session_among_others_is_as_it_would_be_alone(version, session_id):
    lines = read_trace("two-sessions", version)
    alone = lines_of(lines, session_id)
    assert len(lines) > len(alone)
    told = play(lines)
    assert list(told) == ["sess_1", "sess_2"]
    assert {session_id: told[session_id]} == play(alone)


def malformed_messages(version):
    """Where the broken updates of their story are, and what each says."""
    lines = read_trace("malformed-update", version)
    broken = [line for line in lines if not is_valid_update(version, line["message"])]
    return lines, broken


def is_valid_update(version, message):
    if message.get("method") != "session/update":
        return True
    name = schema_witness.params_name(version, "session/update", "client")
    return schema_witness.is_valid(version, name, message["params"])


@pytest.mark.parametrize("version", [1, 2])
def test_a_malformed_update_costs_only_itself(version):
    lines, broken = malformed_messages(version)
    (state,) = play(lines).values()
    (spared,) = play([line for line in lines if line not in broken]).values()
    assert len(state.violations) == len(broken) == 2
    assert state.messages == spared.messages
    assert state.tool_calls == spared.tool_calls
    assert state.prompts == spared.prompts
    assert [key for key in state.timeline if key.kind != "violation"] == spared.timeline


@pytest.mark.parametrize("version", [1, 2])
def test_a_malformed_update_is_logged_once(version, caplog):
    caplog.set_level(logging.WARNING)
    lines, broken = malformed_messages(version)
    player = TracePlayer()
    player.line(lines[0])
    player.line(lines[1])
    # Its connection is for what it sends, and it sends nothing here.
    session = LiveSession(None, player.dialect)
    for line in lines:
        if line["message"].get("method") == "session/update":
            session.receive(line["message"]["params"]["update"])
    where = [line["message"]["params"]["update"]["sessionUpdate"] for line in broken]
    told = [record.getMessage() for record in caplog.records]
    assert len(told) == len(where)
    assert all(f": {name}: " in text for name, text in zip(where, told, strict=True))


# ---------------------------------------------------------------- the snapshot itself


def test_a_snapshot_tells_every_member_that_equality_looks_at():
    told = {field.name for field in dataclasses.fields(SessionState) if field.compare}
    full = SessionState(**dict.fromkeys(told, "not the default"))
    assert set(_Names().encode(full)) == told


def test_a_snapshot_names_ids_by_order_and_keeps_what_the_agent_said():
    text = json.dumps(snapshot(play(read_trace("tool-call-success", 2))))
    assert "message-1" in text
    assert "tool_call-1" in text
    assert "call_001" not in text
    assert snapshot(play(read_trace("tool-call-success", 2))) != snapshot(
        play(read_trace("tool-call-failure", 2))
    )
