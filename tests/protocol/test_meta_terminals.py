"""Terminals of a v1 agent's own, told in `_meta`: the same state as v2's terminal updates give."""

from __future__ import annotations

import pytest

from acp_notebook.protocol.v1.normalize import V1Reader
from acp_notebook.session import updates as u
from acp_notebook.session.reducer import apply
from acp_notebook.session.state import EntryKey, SessionState

proves = pytest.mark.requirement
SHOWN = {"content": [{"type": "terminal", "terminalId": "c1"}]}
INFO = {"terminal_info": {"terminal_id": "c1", "cwd": "/work"}}


def output(data, key="terminal_output_delta", terminal_id="c1"):
    return {key: {"terminal_id": terminal_id, "data": data}}


def ended(exit_code=0, signal=None):
    return {"terminal_exit": {"terminal_id": "c1", "exit_code": exit_code, "signal": signal}}


@pytest.fixture
def play():
    """Feeds tool call updates of the call c1; returns the state."""
    reader, state = V1Reader(), SessionState()

    def play(*steps):
        for meta, members in steps:
            raw = {"toolCallId": "c1", "_meta": meta, **members}
            kind = "tool_call" if "title" in members else "tool_call_update"
            for update in reader.update({"sessionUpdate": kind, **raw}):
                apply(state, update)
        return state

    return play


@proves("TOOL-7")
@pytest.mark.parametrize("key", ["terminal_output", "terminal_output_delta"])
def test_the_output_in_meta_fills_the_terminal_that_the_call_shows(play, key):
    start = {"title": "ls", "rawInput": {"command": "ls -l"}, **SHOWN}
    state = play((INFO, start), (output("a\n", key), {}), (output("€\n", key), {}), (ended(3), {}))
    terminal = state.terminals["c1"]
    assert terminal.output.decode() == "a\n€\n"
    assert (terminal.command, terminal.cwd) == ("ls -l", "/work")
    assert terminal.exit_status == u.ExitStatus(3, None)
    assert state.tool_calls["c1"].terminal_ids == ["c1"]
    assert state.terminal_owners["c1"] == ["c1"]


@proves("TOOL-7")
def test_an_agent_that_knows_deltas_means_everything_by_the_other_word(play):
    whole = "terminal_output"
    state = play(
        (INFO, {"title": "ls", **SHOWN}),
        (output("one\n", whole), {}),
        (output("two\n"), {}),
        (output("(cut)\nthree\n", whole), {}),
        (output("four\n"), {}),
    )
    assert state.terminals["c1"].output.decode() == "(cut)\nthree\nfour\n"


@proves("TOOL-7")
def test_everything_may_come_in_one_update(play):
    meta = {**INFO, **output("done\n"), **ended(None, "SIGTERM")}
    terminal = play((meta, {"title": "run", **SHOWN})).terminals["c1"]
    assert bytes(terminal.output) == b"done\n"
    assert terminal.exit_status == u.ExitStatus(None, "SIGTERM")


def test_output_for_a_call_without_a_terminal_gives_it_one_once(play):
    state = play(({}, {"title": "read"}), (output("1"), {}), (output("2"), {}))
    assert state.tool_calls["c1"].terminal_ids == ["c1"]
    assert bytes(state.terminals["c1"].output) == b"12"


def test_the_terminal_may_have_another_id_than_the_call(play):
    content = [{"type": "terminal", "terminalId": "t9"}]
    state = play((output("x", terminal_id="t9"), {"title": "run", "content": content}))
    assert state.tool_calls["c1"].terminal_ids == ["t9"]
    assert bytes(state.terminals["t9"].output) == b"x"


def test_without_an_id_the_call_itself_names_the_terminal(play):
    assert bytes(play(({"terminal_output": {"data": "x"}}, SHOWN)).terminals["c1"].output) == b"x"


def test_a_command_in_words_is_joined(play):
    state = play((INFO, {"title": "run", "rawInput": {"command": ["echo", "a b"]}, **SHOWN}))
    assert state.terminals["c1"].command == "echo 'a b'"


@pytest.mark.parametrize(
    "meta",
    [
        None,
        [],
        {"terminal_info": "no object"},
        {"terminal_output": {"terminal_id": 3}},
        {"terminal_output_delta": {"data": None}},
        {"other": {"terminal_id": "c1"}},
    ],
)
def test_what_cannot_be_read_is_left_alone(play, meta):
    state = play((meta, {"title": "run"}))
    assert state.violations == []
    assert state.terminals == {}
    assert state.timeline == [EntryKey("tool_call", "c1")]


@pytest.mark.parametrize("exit_code", ["0", None, True])
def test_an_unreadable_exit_code_is_an_end_nobody_knows(play, exit_code):
    assert play((ended(exit_code), SHOWN)).terminals["c1"].exit_status == u.ExitStatus()


def test_a_lone_surrogate_in_the_output_breaks_nothing(play):
    assert bytes(play((output("a\ud800b"), SHOWN)).terminals["c1"].output) == b"a?b"


@proves("TOOL-7")
def test_a_permission_request_may_carry_it_too():
    reader, state = V1Reader(), SessionState()
    call = {"toolCallId": "c1", "_meta": output("asked\n"), **SHOWN}
    params = {"options": [{"optionId": "y", "name": "Yes"}], "toolCall": call}
    for update in reader.permission_asked(u.PermissionId("1"), params):
        apply(state, update)
    assert bytes(state.terminals["c1"].output) == b"asked\n"
