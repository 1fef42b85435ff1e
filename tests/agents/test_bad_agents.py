"""The bad agents misbehave as their table says, seen raw on the wire."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import psutil
import pytest
from raw_driver import BOUND_SECONDS, Driver, said, state, updates

HERE = Path(__file__).parent


def bad(*arguments):
    return Driver(sys.executable, str(HERE / "bad_agent.py"), *arguments)


def test_exits_at_once_leaves_a_code_and_a_line():
    with bad("exits-at-once") as agent:
        assert agent.close() == 3
        assert agent.stderr == b"cannot find the configuration file\n"


def test_banner_is_a_correct_agent_behind_the_noise():
    with bad("banner") as agent:
        agent.open(1)
        assert agent.do(1, "hi") == "end_turn"
        assert any(b"\xff\xfe" in line for line in agent.noise)


def test_silent_answers_nothing_and_reports_progress_on_stderr():
    with bad("silent") as agent:
        agent.start("initialize", protocolVersion=1)
        assert agent.close() == 0
        assert agent.seen == []
        assert agent.stderr.count(b"\n") == 3


@pytest.mark.parametrize(("name", "version"), [("version-7", 7), ("says-2-speaks-1", 2)])
def test_the_version_answered_is_the_wrong_one(name, version):
    with bad(name) as agent:
        result = agent.initialize(2)["result"]
        assert result["protocolVersion"] == version
        assert "capabilities" not in result


def test_dies_mid_turn_after_three_chunks():
    with bad("dies-mid-turn") as agent:
        agent.open(1)
        agent.prompt("hi")
        agent.until(lambda f: said([f]) == "three ")
        assert agent.close() == 1
        assert agent.stderr == b"fatal: out of credits\n"


def test_stderr_flood_comes_before_the_answer():
    with bad("stderr-flood") as agent:
        assert "result" in agent.initialize(1)
        agent.close()
        assert len(agent.stderr) >= 2_000_000


@pytest.mark.parametrize("words", ["a message", "a tool"])
def test_huge_line_is_one_line_of_twenty_megabytes(words):
    with bad("huge-line") as agent:
        agent.open(1)
        agent.do(1, words)
        assert max(len(json.dumps(f)) for f in agent.seen) > 20_000_000


def test_ignores_eof_lives_on_with_its_child():
    with bad("ignores-eof", "stubborn") as agent:
        pids = agent.initialize(1)["result"]["_meta"]["test-agents"]
        os.killpg(agent.process.pid, signal.SIGTERM)
        agent.new_session()  # answered after the signal, so it was ignored
        agent.process.stdin.close()
        with pytest.raises(subprocess.TimeoutExpired):
            agent.process.wait(0.3)
        assert psutil.Process(pids["childPid"]).status() != psutil.STATUS_ZOMBIE
        os.killpg(agent.process.pid, signal.SIGKILL)
        assert agent.process.wait(BOUND_SECONDS) == -signal.SIGKILL


def test_ignores_cancel_goes_on_and_never_answers():
    with bad("ignores-cancel") as agent:
        agent.open(1)
        prompt = agent.prompt("hi")
        agent.notify("session/cancel", sessionId=agent.session)
        agent.until(lambda f: updates([f], "tool_call"))
        assert agent.close() == 0
        assert prompt not in [f.get("id") for f in agent.seen]


def test_malformed_tells_how_each_request_was_answered():
    with bad("malformed") as agent:
        agent.open(1)
        prompt = agent.prompt("hi")
        for request_id in ("batch", 0, "unknown", "empty", "no-kind", "no-params"):
            agent.send(id=request_id, error={"code": -32601, "message": "no"})
        assert agent.finish(1, prompt) == "end_turn"
        final = updates(agent.seen[-2:-1])[0]["content"]["text"]
        assert final.count("-32601") == 6
        assert [] in agent.seen


def test_session_new_fails_with_data():
    with bad("error-in-session-new") as agent:
        agent.initialize(1)
        error = agent.call("session/new", cwd="/tmp", mcpServers=[])["error"]
        assert "resets" in error["data"]["details"]


def test_auth_is_required_until_authenticate():
    with bad("auth-required") as agent:
        agent.initialize(1)
        assert agent.call("session/new")["error"]["code"] == -32000
        agent.call("authenticate", methodId="login")
        assert "result" in agent.call("session/new")


def test_v1_strict_chokes_for_good_and_a_new_process_works():
    with bad("v1-strict") as agent:
        assert agent.initialize(2)["error"]["code"] == -32602
        assert agent.initialize(1)["error"]["code"] == -32602
    with bad("v1-strict") as agent:
        assert agent.open(1)["sessionId"]


def test_unsupported_version_names_what_it_supports():
    with bad("unsupported-version") as agent:
        assert agent.initialize(2)["error"]["data"] == {"requested": 2, "supported": [1]}


def test_late_updates_come_before_the_session_and_after_the_turn():
    with bad("late-updates") as agent:
        agent.open(1)
        assert len(updates(agent.seen)) == 2
        agent.do(1, "hi")
        agent.until(lambda f: updates([f], "tool_call_update"))
        assert said(agent.seen) == "on time"


def test_never_announced_asks_first_and_reports_later():
    with bad("never-announced") as agent:
        agent.open(1)
        prompt = agent.prompt("hi")
        request = agent.request_from_agent()
        agent.send(id=request["id"], result={"outcome": {"outcome": "cancelled"}})
        agent.finish(1, prompt)
        assert said(agent.seen) == 'outcome: {"outcome": {"outcome": "cancelled"}}'


def test_v2_sloppy_answers_null_and_is_idle_more_than_once():
    with bad("v2-sloppy") as agent:
        agent.open(2)
        prompt = agent.prompt("hi")
        agent.until(lambda f: said([f]) == " again")
        states = [state(f) for f in agent.seen if updates([f], "state_update")]
        assert states == ["idle", "_compacting", "idle", "idle"]
        assert {"jsonrpc": "2.0", "id": prompt, "result": None} in agent.seen
