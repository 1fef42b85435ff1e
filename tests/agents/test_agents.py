"""The agents on the SDKs do what their table says, seen raw on the wire."""

from __future__ import annotations

import base64
import shutil
import sys
from pathlib import Path

import pytest
from raw_driver import Driver, said, state, updates

HERE = Path(__file__).parent
SDK = HERE / "node_modules" / "@agentclientprotocol" / "sdk" / "package.json"
PYTHON_AGENT = (sys.executable, str(HERE / "sdk_agent.py"))
NODE_AGENT = ("node", str(HERE / "sdk_agent.mjs"))
node_v1 = pytest.param(NODE_AGENT, 1, id="node-v1")
node_v2 = pytest.param(NODE_AGENT, 2, id="node-v2")
python_v1 = pytest.param(PYTHON_AGENT, 1, id="python-v1")
every_agent = pytest.mark.parametrize(("command", "version"), [node_v1, node_v2, python_v1])
node_only = pytest.mark.parametrize(("command", "version"), [node_v1, node_v2])
v1_only = pytest.mark.parametrize(("command", "version"), [node_v1, python_v1])


def started(*command):
    """A driver of this agent; if the TypeScript agent cannot run, the test fails and says so."""
    if command[0] == "node" and not (SDK.exists() and shutil.which("node")):
        pytest.fail(
            "The TypeScript agent is not installed. "
            "It needs Node 20 or newer on PATH, and `npm ci` in tests/agents."
        )
    return Driver(*command)


class Shared:
    """Processes that tests share, each test in a session of its own: starting Node costs most."""

    def __init__(self):
        self._agents = {}

    def open(self, command, version):
        agent = self._agents.get((command, version))
        if agent is None:
            agent = self._agents[command, version] = started(*command)
            agent.initialize(version)
        agent.new_session()
        if version == 1:
            agent.until(lambda f: updates([f], "available_commands_update"))
        agent.seen.clear()
        return agent

    def close(self):
        for agent in self._agents.values():
            agent.process.kill()
            agent.close()


@pytest.fixture(scope="module")
def shared():
    shared = Shared()
    yield shared
    shared.close()


@pytest.fixture
def agent(shared, command, version):
    return shared.open(command, version)


@pytest.fixture
def node_agent(shared):
    return shared.open(NODE_AGENT, 2)


# ---------------------------------------------------------------- both SDK agents


@every_agent
def test_text_chunks_and_thoughts_are_sent_in_order(agent, version):
    assert agent.do(version, "[[say:one ]][[chunks:2:4]][[think:hm]]") == "end_turn"
    assert said(agent.seen) == "one 0 xx1 xx"
    assert updates(agent.seen, "agent_thought_chunk")[0]["content"]["text"] == "hm"


@every_agent
def test_a_tool_completes_and_another_fails(agent, version):
    agent.do(version, "[[tool]][[tool:fail]]")
    ends = [u["status"] for u in updates(agent.seen, "tool_call_update") if "status" in u]
    assert [e for e in ends if e in {"completed", "failed"}] == ["completed", "failed"]


@every_agent
def test_two_permissions_are_open_at_once_and_the_answers_are_told(agent, version):
    prompt = agent.prompt("[[permission:two]]")
    first, second = agent.request_from_agent(), agent.request_from_agent()
    agent.send(id=second["id"], result={"outcome": {"outcome": "selected", "optionId": "no-once"}})
    agent.send(id=first["id"], result={"outcome": {"outcome": "selected", "optionId": "yes-once"}})
    agent.finish(version, prompt)
    told = said(agent.seen)
    assert "permission call-1: selected yes-once" in told
    assert "permission call-2: selected no-once" in told


@every_agent
def test_a_cancel_ends_a_hanging_turn_as_cancelled(agent, version):
    prompt = agent.prompt("[[say:x]][[hang]]")
    agent.until(lambda f: said([f]) == "x")
    agent.notify("session/cancel", sessionId=agent.session)
    assert agent.finish(version, prompt) == "cancelled"


@every_agent
@pytest.mark.parametrize("reason", ["max_tokens", "refusal", "_custom"])
def test_the_stop_reason_is_the_one_asked_for(agent, version, reason):
    assert agent.do(version, f"[[stop:{reason}]]") == reason


@every_agent
def test_an_error_answers_the_prompt_with_code_message_and_data(agent, version):
    error = agent.answer(agent.prompt("[[error:-32042:no credit]]"))["error"]
    assert (error["code"], error["message"]) == (-32042, "no credit")
    assert error["data"] == {"details": "details of: no credit"}


@every_agent
def test_stderr_and_exit_end_the_process_in_the_turn(command, version):
    with started(*command) as agent:
        agent.open(version)
        agent.prompt("[[say:x]][[stderr:5000]][[exit:7]]")
        agent.until(lambda f: said([f]) == "x")
        assert agent.close() == 7
        assert len(agent.stderr) >= 5000


@every_agent
def test_the_plan_changes_over_two_updates_and_usage_has_a_cost(agent, version):
    agent.do(version, "[[plan]][[usage]][[diff]][[image]]")
    plans = [u.get("plan", u) for u in updates(agent.seen, ["plan", "plan_update"][version - 1])]
    assert [p["entries"][0]["status"] for p in plans] == ["in_progress", "completed"]
    assert updates(agent.seen, "usage_update")[0]["cost"]["currency"] == "USD"
    assert updates(agent.seen, "agent_message_chunk")[-1]["content"]["type"] == "image"


@v1_only
def test_v1_offers_modes_commands_and_both_kinds_of_diff(command, version):
    with started(*command) as agent:
        assert agent.open(1)["modes"]["currentModeId"] == "ask"
        agent.until(lambda f: updates([f], "available_commands_update"))
        agent.do(version, "[[diff]]")
        changed, new = updates(agent.seen, "tool_call")[0]["content"]
        assert changed["oldText"] == "first\nsecond\n"
        assert new.get("oldText") is None


# ---------------------------------------------------------------- the TypeScript agent


@pytest.mark.parametrize(("flag", "asked", "got"), [("1", 2, 1), ("2", 2, 2)])
def test_the_protocol_flag_restricts_the_version(flag, asked, got):
    with started(*NODE_AGENT, "--protocol", flag) as agent:
        assert agent.initialize(asked)["result"]["protocolVersion"] == got


def test_an_agent_restricted_to_v2_refuses_v1_by_its_error_code():
    with started(*NODE_AGENT, "--protocol", "2") as agent:
        assert agent.initialize(1)["error"]["code"] == -32022


def test_v2_session_offers_config_options_and_commands():
    with started(*NODE_AGENT) as agent:
        answer = agent.open(2)
        assert [o["configId"] for o in answer["configOptions"]] == ["mode", "model", "verbose"]
        assert [c["name"] for c in answer["availableCommands"]] == ["plan", "shout"]


def test_v2_accepts_with_an_empty_object_then_inserts_then_runs(node_agent):
    node_agent.do(2, "[[say:x]]")
    answer, inserted, running = node_agent.seen[:3]
    assert answer["result"] == {}
    assert updates([inserted], "user_message")
    assert state(running) == "running"


def test_v2_order_late_runs_and_inserts_before_the_answer(node_agent):
    node_agent.do(2, "[[order:late]][[messageId]][[say:x]]")
    running, inserted, answer = node_agent.seen[:3]
    assert state(running) == "running"
    message_id = updates([inserted], "user_message_chunk")[0]["messageId"]
    assert answer["result"] == {"messageId": message_id}


def test_v2_permission_reports_requires_action_and_running_again(node_agent):
    prompt = node_agent.prompt("[[permission:command]]")
    request = node_agent.request_from_agent()
    assert request["params"]["subject"]["type"] == "command"
    assert state(node_agent.next()) == "requires_action"
    node_agent.send(id=request["id"], result={"outcome": {"outcome": "cancelled"}})
    assert state(node_agent.next()) == "running"
    assert node_agent.finish(2, prompt) == "end_turn"
    assert said(node_agent.seen) == "permission call-1: cancelled"


def test_v2_permission_can_be_withdrawn(node_agent):
    prompt = node_agent.prompt("[[permission:withdraw]]")
    withdrawn = node_agent.request_from_agent("$/cancel_request")["params"]["requestId"]
    node_agent.send(id=withdrawn, error={"code": -32800, "message": "Request cancelled"})
    node_agent.finish(2, prompt)
    assert said(node_agent.seen) == "permission call-1: error -32800"


def test_v2_terminal_bytes_split_a_character_and_an_escape_sequence(node_agent):
    node_agent.do(2, "[[terminal]]")
    chunks = updates(node_agent.seen, "terminal_output_chunk")
    data = [base64.b64decode(chunk["data"]) for chunk in chunks]
    with pytest.raises(UnicodeDecodeError):
        data[1].decode()
    assert b"".join(data[1:]).decode() == "€\n\x1b[31mred\x1b[0m\n"


def test_v2_replace_sends_every_form_of_a_message(node_agent):
    node_agent.do(2, "[[replace]]")
    wholes = updates(node_agent.seen, "agent_message")
    assert ["content" in whole for whole in wholes] == [True, True, False, True]
    assert wholes[-1]["content"] is None
    assert said(node_agent.seen) == "BD"


def test_v2_late_completion_comes_between_cancel_and_idle(node_agent):
    prompt = node_agent.prompt("[[cancel-late]]")
    node_agent.until(lambda f: updates([f], "tool_call_update"))
    node_agent.notify("session/cancel", sessionId=node_agent.session)
    assert node_agent.finish(2, prompt) == "cancelled"
    assert updates(node_agent.seen, "tool_call_update")[-1]["status"] == "completed"


def test_v2_prompt_during_work_joins_it_and_there_is_one_idle(node_agent):
    first = node_agent.prompt("[[permission]]")
    request = node_agent.request_from_agent()
    second = node_agent.prompt("[[say:second]]")
    node_agent.until(lambda f: len(updates([f], "user_message")) == 1)
    node_agent.send(id=request["id"], result={"outcome": {"outcome": "cancelled"}})
    assert node_agent.finish(2, first) == "end_turn"
    answers = [f["id"] for f in node_agent.seen if "result" in f]
    assert answers == [first, second]
    assert said(node_agent.seen).endswith("second")
    assert [state(f) for f in node_agent.seen if updates([f], "state_update")].count("idle") == 1


def test_v2_error_stop_carries_the_error(node_agent):
    assert node_agent.do(2, "[[stop:error]]") == "error"
    assert node_agent.seen[-1]["params"]["update"]["error"]["code"] == -32603


@node_only
def test_unknown_updates_and_blocks_are_sent(agent, version):
    agent.do(version, "[[unknown]]")
    assert updates(agent.seen, "_test_update")
    types = {u["content"]["type"] for u in updates(agent.seen, "agent_message_chunk")}
    assert "_hologram" in types


@node_only
def test_background_work_reports_after_the_end_of_the_turn(agent, version):
    agent.do(version, "[[background]]")
    ended = len(agent.seen)
    agent.until(lambda f: said([f]) == "the background work is done")
    assert updates(agent.seen[ended:], "tool_call_update")[0]["status"] == "completed"


@node_only
def test_a_new_process_resumes_a_kept_session_with_its_history(command, version, tmp_path):
    command = [*command, "--state", str(tmp_path)]
    with started(*command) as agent:
        agent.open(version)
        agent.do(version, "[[say:remember]]")
        session = agent.session
    method, more = [("load", {}), ("resume", {"replayFrom": {"type": "start"}})][version - 1]
    with started(*command) as agent:
        agent.initialize(version)
        listed = agent.call("session/list")["result"]["sessions"]
        assert [s["sessionId"] for s in listed] == [session]
        setup = {"sessionId": session, "cwd": "/tmp", "mcpServers": [], **more}
        assert "result" in agent.call(f"session/{method}", **setup)
        assert said(agent.seen) == "remember"


@pytest.mark.parametrize(("value", "code"), [("large", None), ("refused", -32603), ("x", -32602)])
def test_v2_config_option_is_set_or_refused(node_agent, value, code):
    options = {"configId": "model", "type": "id", "value": value}
    answer = node_agent.call("session/set_config_option", sessionId=node_agent.session, **options)
    assert answer.get("error", {}).get("code") == code
