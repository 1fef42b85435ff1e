"""Everything the client sends, in every feature, is valid by the official schema of its version.

Each feature runs over a whole connection; what was heard on its other side is the witness. The
last tests make sure that no method of the schema is left out.
"""

from __future__ import annotations

import dataclasses

import pytest
import schema_witness
from memory_agent import LATER, SESSION, MemoryAgent, RefusedError
from watching import Person, until

from acp_notebook.client.host import Host, McpServer
from acp_notebook.errors import RequestFailed, UnsupportedByAgent, UsageError
from acp_notebook.protocol.dialect import ClientCapabilities
from acp_notebook.session.content import (
    AudioBlock,
    ImageBlock,
    ResourceBlock,
    ResourceLinkBlock,
    TextBlock,
)

# The withdrawn v1 call for `models`, which no schema has any more.
BEYOND_SCHEMA = {1: {"session/set_model"}, 2: set()}
SCHEMA = {"type": "object", "required": ["name"], "properties": {"name": {"type": "string"}}}
CALL = {"toolCallId": "call", "title": "Delete", "kind": "delete", "status": "pending"}
CHOICES = [
    {"optionId": "yes", "name": "Yes", "kind": "allow_once"},
    {"optionId": "no", "name": "No", "kind": "reject_once"},
]
BLOCKS = [
    TextBlock("words"),
    ImageBlock("AA==", "image/png", "file:///a.png"),
    AudioBlock("AA==", "audio/wav"),
    ResourceBlock("file:///a.txt", text="inside", mime_type="text/plain"),
    ResourceBlock("file:///a.bin", blob="AA=="),
    ResourceLinkBlock("file:///b.txt", "b.txt", "B", "a file", "text/plain", 3),
]


# ---------------------------------------------------------------- the check


def check_call(version, message, known_members=True):
    method, params = message["method"], message["params"]
    assert message["jsonrpc"] == "2.0"
    assert set(message) <= {"jsonrpc", "id", "method", "params"}
    if method in BEYOND_SCHEMA[version]:
        return
    side = "protocol" if method.startswith("$/") else "agent"
    name = schema_witness.params_name(version, method, side)
    schema_witness.check(version, name, params)
    assert ("id" in message) == (not name.endswith("Notification"))
    if known_members:
        assert set(params) <= schema_witness.properties(version, name)[0]


def check_answer(version, message, method):
    assert message["jsonrpc"] == "2.0"
    assert len({"result", "error"} & set(message)) == 1
    if "error" in message:
        schema_witness.check(version, "Error", message["error"])
        return
    request = schema_witness.params_name(version, method, "client")
    name = request.removesuffix("Request") + "Response"
    schema_witness.check(version, name, message["result"])
    assert set(message["result"]) <= schema_witness.properties(version, name)[0]


def check_sent(agent):
    """Fail unless everything that the client said so far is valid; the methods it called."""
    calls = set()
    answered = []
    for message in agent.heard:
        if "method" not in message:
            check_answer(agent.version, message, agent.asked[message["id"]])
            answered.append(message["id"])
            continue
        calls.add(message["method"])
        if message["method"] != "initialize":
            check_call(agent.version, message)
            continue
        # One request for both versions: valid for each, and with no member that neither knows.
        asked = [1, 2] if message["params"]["protocolVersion"] == 2 else [1]
        known = set()
        for version in asked:
            check_call(version, message, known_members=False)
            known |= schema_witness.properties(version, "InitializeRequest")[0]
        assert set(message["params"]) <= known
    assert sorted(answered) == sorted(agent.asked), "each request has exactly one answer"
    return calls


# ---------------------------------------------------------------- initialize


@pytest.mark.requirement("INIT-2", "INIT-5")
@pytest.mark.parametrize("protocol", [1, 2])
@pytest.mark.parametrize("serve", [(), ("read",), ("write",), ("terminal",), ("read", "write")])
def test_initialize_is_valid_with_each_offer(meet, protocol, serve):
    agent = MemoryAgent(1)
    meet(agent, protocol=protocol, serve=serve)
    check_sent(agent)
    offered = agent.heard[0]["params"]["clientCapabilities"]
    files = {"readTextFile": "read" in serve, "writeTextFile": "write" in serve}
    assert (offered["fs"], offered["terminal"]) == (files, "terminal" in serve)


def test_initialize_is_valid_without_a_terminal_for_logins(meet, agent):
    meet(agent, "wss://somewhere.example/acp")
    check_sent(agent)
    params = agent.heard[0]["params"]
    assert "auth" not in params["clientCapabilities"]
    assert "auth" not in params["capabilities"]


def test_the_retry_for_version_1_alone_is_valid(meet):
    agent = MemoryAgent(1)

    def choke(params):
        if "capabilities" in params:
            raise RefusedError(-32602)
        return agent.introduction()

    agent.answers["initialize"] = choke
    meet(agent)
    check_sent(agent)
    assert [message["params"]["protocolVersion"] for message in agent.heard[:2]] == [2, 1]


def test_a_call_that_is_given_up_is_withdrawn(meet, agent):
    client = meet(agent)
    agent.answers["session/list"] = lambda _: LATER
    work = client.thread.submit(
        client.connection.request(client._facts.dialect.list_sessions("/", ""))
    )
    agent.until_heard("session/list")
    work.cancel()
    agent.until_heard("$/cancel_request")
    assert "$/cancel_request" in check_sent(agent)
    assert agent.heard[-1]["params"] == {"requestId": agent.heard[-2]["id"]}


# ---------------------------------------------------------------- sessions


def test_sessions_are_opened_listed_taken_up_closed_and_deleted(meet, agent):
    client = meet(agent)
    first = client.session
    client.new_session()
    client.list_sessions()
    client.list_sessions(everywhere=True)
    client.resume("old")
    client.resume("older", replay=False)
    client.delete_session("gone")
    first.close()
    calls = check_sent(agent)
    replayed = {"session/load"} if agent.version == 1 else set()
    expected = {"new", "list", "resume", "close", "delete"}
    assert calls >= {f"session/{name}" for name in expected} | replayed


def test_the_servers_of_the_surroundings_are_told_in_each_versions_form(meet, agent, host):
    stdio = {"type": "stdio", "name": "s", "command": "/bin/s", "args": ["a"], "env": []}
    http = {"type": "http", "name": "h", "url": "http://127.0.0.1:1/", "headers": []}

    async def released():
        pass

    class Offering(Host):
        def mcp_servers(self, client, live):
            return [McpServer(stdio, (), released), McpServer(http, ("secret",), released)]

    host(Offering())
    client = meet(agent)
    client.resume("old")
    client.resume("older", replay=False)
    check_sent(agent)
    told = [m["params"]["mcpServers"] for m in agent.heard if "mcpServers" in m.get("params", {})]
    plain = stdio if agent.version == 2 else {k: v for k, v in stdio.items() if k != "type"}
    assert told == [[plain, http]] * 3


def test_a_lost_session_is_taken_up_again(meet, agent):
    client = meet(agent)
    client.connection.kill_now()
    until(client.session, lambda state: not state.is_connected)
    agent.hold_prompts()
    turn = client.session.prompt("again", wait=False)
    agent.until_heard("session/prompt")
    agent.end_turn()
    turn.wait(20)
    assert "session/resume" in check_sent(agent)


# ---------------------------------------------------------------- prompts and cancel


@pytest.mark.requirement("PROMPT-1")
def test_a_prompt_is_valid_with_every_content(meet, agent):
    session = meet(agent).session
    assert session.prompt(BLOCKS).stop_reason == "end_turn"
    check_sent(agent)
    (sent,) = [m["params"]["prompt"] for m in agent.heard if m.get("method") == "session/prompt"]
    kinds = ["text", "image", "audio", "resource", "resource", "resource_link"]
    assert [block["type"] for block in sent] == kinds


@pytest.mark.requirement("PROMPT-2")
def test_the_fallbacks_for_an_agent_that_takes_little_are_valid(meet, agent):
    introduction = agent.introduction()
    if agent.version == 1:
        introduction["agentCapabilities"]["promptCapabilities"] = {}
    else:
        introduction["capabilities"]["session"]["prompt"] = None
    agent.answers["initialize"] = lambda _: introduction
    session = meet(agent).session
    session.prompt([BLOCKS[0], BLOCKS[1], *BLOCKS[3:]])
    with pytest.raises(UnsupportedByAgent):
        session.prompt([BLOCKS[2]])
    check_sent(agent)


def test_what_came_from_the_agent_goes_back_as_it_came(meet, agent):
    client = meet(agent)
    agent.hold_prompts()
    turn = client.session.prompt("draw", wait=False)
    agent.until_heard("session/prompt")
    image = {"type": "image", "data": "AA==", "mimeType": "image/png", "_meta": {"k": 1}}
    chunk = {"sessionUpdate": "agent_message_chunk", "messageId": "m", "content": image}
    agent.tell(chunk)
    agent.end_turn()
    turn.wait(20)
    again = client.session.prompt(list(turn.images), wait=False)
    agent.until(lambda: sum(m.get("method") == "session/prompt" for m in agent.heard) == 2)
    agent.end_turn()
    again.wait(20)
    check_sent(agent)
    assert agent.heard[-1]["params"]["prompt"] == [image]


def test_a_cancel_is_valid_and_answers_what_is_open(meet, agent, host):
    host(Person())
    client = meet(agent)
    agent.hold_prompts()
    turn = client.session.prompt("wait", wait=False)
    agent.until_heard("session/prompt")
    asked = agent.begin("session/request_permission", permission(agent))
    form = agent.begin("elicitation/create", form_of())
    agent.settle()
    client.stop()
    assert agent.wait(asked)["result"] == {"outcome": {"outcome": "cancelled"}}
    assert agent.wait(form)["result"]["action"] in ("cancel", "decline")
    agent.end_turn("cancelled")
    turn.wait(20)
    assert "session/cancel" in check_sent(agent)


# ---------------------------------------------------------------- options and login


def test_options_and_modes_are_set_by_valid_calls(meet, agent):
    if agent.version == 1:
        models = {"currentModelId": "a", "availableModels": [{"modelId": "a", "name": "A"}]}
        agent.answers["session/new"] = lambda _: {
            "sessionId": SESSION,
            **agent.set_up(),
            "models": models,
        }
    session = meet(agent).session
    session.set_option("Size", "Large")
    session.set_option("loud", "on")
    expected = {"session/set_config_option"}
    if agent.version == 1:
        session.set_option("Mode", "ask")
        session.set_option("Model", "A")
        expected |= {"session/set_mode", "session/set_model"}
    with pytest.raises(UsageError):
        session.set_option("loud", "perhaps")
    assert check_sent(agent) >= expected
    values = [m["params"]["value"] for m in agent.heard if "value" in m.get("params", {})]
    assert values == ["large", True]


def test_a_refused_option_is_said_and_the_connection_goes_on(meet, agent):
    session = meet(agent).session

    def refuse(_):
        raise RefusedError(-32603, "Invalid Mode")

    agent.answers["session/set_config_option"] = refuse
    with pytest.raises(RequestFailed, match="Invalid Mode"):
        session.set_option("size", "large")
    assert [option.value for option in session.config_options if option.id == "size"] == ["small"]
    check_sent(agent)


def test_login_and_logout_are_valid_calls(meet, agent):
    def locked(_):
        raise RefusedError(-32000, "Authentication required")

    opening, agent.answers["session/new"] = agent.answers["session/new"], locked
    client = meet(agent)
    assert client.needs_login
    agent.answers["session/new"] = opening
    client.login()
    client.logout()
    expected = {"authenticate", "logout"} if agent.version == 1 else {"auth/login", "auth/logout"}
    assert check_sent(agent) >= expected


# ---------------------------------------------------------------- what the agent asks


def permission(agent, **more):
    if agent.version == 1:
        return {"sessionId": SESSION, "toolCall": CALL, "options": CHOICES, **more}
    subject = {"type": "tool_call", "toolCall": CALL}
    return {"sessionId": SESSION, "title": "May I?", "subject": subject, "options": CHOICES, **more}


def form_of(**more):
    form = {"mode": "form", "message": "Who are you?", "requestedSchema": SCHEMA}
    return {"sessionId": SESSION, **form, **more}


def test_answers_to_permissions_are_valid(meet, agent):
    session = meet(agent, permissions="allow").session
    asked = "session/request_permission"
    selected = agent.wait(agent.begin(asked, permission(agent)))["result"]["outcome"]
    assert selected == {"outcome": "selected", "optionId": "yes"}
    session.permissions = "reject"
    selected = agent.wait(agent.begin(asked, permission(agent)))["result"]["outcome"]
    assert selected == {"outcome": "selected", "optionId": "no"}
    only_yes = permission(agent, options=CHOICES[:1])
    assert agent.wait(agent.begin(asked, only_yes))["result"]["outcome"]["outcome"] == "cancelled"
    assert agent.wait(agent.begin(asked, permission(agent, options=[])))["error"]["code"] == -32602
    check_sent(agent)


def test_a_withdrawn_request_is_answered_by_its_error_code(meet, agent, host):
    host(Person())
    meet(agent)
    asked = agent.begin("session/request_permission", permission(agent))
    agent.send({"method": "$/cancel_request", "params": {"requestId": asked}})
    assert agent.wait(asked)["error"]["code"] == -32800
    check_sent(agent)


def test_answers_to_forms_and_pages_are_valid(meet, agent):
    answers = iter([{"name": "Ann"}, {}])
    client = meet(agent, elicit=lambda _: next(answers))
    page = {"mode": "url", "message": "Look", "elicitationId": "p", "url": "https://a.example/"}
    created = "elicitation/create"
    accepted = agent.wait(agent.begin(created, form_of()))["result"]
    assert accepted == {"action": "accept", "content": {"name": "Ann"}}
    assert agent.ask(created, **page)["result"] == {"action": "accept"}
    agent.send({"method": "elicitation/complete", "params": {"elicitationId": "p"}})
    client.elicit = None
    assert agent.wait(agent.begin(created, form_of()))["result"] == {"action": "decline"}
    broken = form_of(requestedSchema={"type": "array"})
    assert agent.wait(agent.begin(created, broken))["error"]["code"] == -32602
    unknown = form_of(mode="voice")
    assert agent.wait(agent.begin(created, unknown))["error"]["code"] == -32602
    check_sent(agent)


def test_a_form_outside_of_sessions_is_answered(meet, agent):
    def locked(_):
        raise RefusedError(-32000, "Authentication required")

    agent.answers["session/new"] = locked
    client = meet(agent, elicit=lambda _: {"name": "Ann"})
    login = "authenticate" if agent.version == 1 else "auth/login"
    agent.answers[login] = lambda _: LATER
    work = client.thread.submit(client.connection.request(client._facts.dialect.login("key")))
    agent.until_heard(login)
    request_id = next(m["id"] for m in agent.heard if m.get("method") == login)
    asked = {"mode": "form", "message": "Code?", "requestedSchema": SCHEMA, "requestId": request_id}
    answer = agent.wait(agent.begin("elicitation/create", asked))
    assert answer["result"] == {"action": "accept", "content": {"name": "Ann"}}
    agent.send({"id": request_id, "result": {}})
    assert work.result(20) == {}
    check_sent(agent)


def test_answers_about_files_are_valid(meet, tmp_path):
    agent = MemoryAgent(1)
    agent.hold_prompts()
    meet(agent, cwd=tmp_path, serve=("read", "write")).session.prompt("work", wait=False)
    agent.until_heard("session/prompt")
    path = str(tmp_path / "a.txt")
    assert agent.ask("fs/write_text_file", path=path, content="one\ntwo\n")["result"] == {}
    read = agent.ask("fs/read_text_file", path=path, line=2, limit=1)
    assert read["result"] == {"content": "two\n"}
    assert agent.ask("fs/read_text_file", path=f"{path}.no")["error"]["code"] == -32002
    assert "error" in agent.ask("fs/read_text_file", path="/etc/hostname")
    assert agent.ask("fs/read_text_file")["error"]["code"] == -32602
    check_sent(agent)


@pytest.mark.process
def test_answers_about_commands_are_valid(meet, tmp_path):
    agent = MemoryAgent(1)
    agent.hold_prompts()
    meet(agent, cwd=tmp_path, serve=("terminal",)).session.prompt("work", wait=False)
    agent.until_heard("session/prompt")
    made = agent.ask("terminal/create", command="sh", args=["-c", "echo out; exec sleep 60"])
    terminal = made["result"]["terminalId"]
    running = agent.ask("terminal/output", terminalId=terminal)["result"]
    assert running.get("exitStatus") is None
    assert agent.ask("terminal/kill", terminalId=terminal)["result"] == {}
    ended = agent.ask("terminal/wait_for_exit", terminalId=terminal)["result"]
    assert {"exitCode", "signal"} & set(ended)
    told = agent.ask("terminal/output", terminalId=terminal)["result"]
    assert told["exitStatus"] is not None
    assert agent.ask("terminal/release", terminalId=terminal)["result"] == {}
    assert "error" in agent.ask("terminal/output", terminalId=terminal)
    assert "error" in agent.ask("terminal/create", command="no-such-program", args=["x"])
    check_sent(agent)


def test_what_is_not_served_or_not_known_is_refused(meet, agent):
    meet(agent)
    for method in ("fs/read_text_file", "terminal/create", "_vendor/thing", "session/prompt"):
        assert agent.ask(method, path="/etc/hostname")["error"]["code"] == -32601
    agent.send({"method": "_vendor/told", "params": {}})
    agent.settle()
    check_sent(agent)


def test_one_piece_of_work_is_cancelled_by_a_valid_call(meet):
    agent = MemoryAgent(2)
    session = meet(agent).session
    offer = {"capabilities": {"cancel": {}}}
    agent.tell({"sessionUpdate": "tool_call_update", "toolCallId": "c1", **offer})
    terminal = {"type": "terminal", "terminalId": "t1"}
    update = {"sessionUpdate": "tool_call_update", "toolCallId": "c2", "content": [terminal]}
    agent.tell(update)
    agent.tell({"sessionUpdate": "terminal_update", "terminalId": "t1", **offer})
    agent.settle()
    session.cancel_tool_call("c1")
    session.cancel_tool_call("c2")
    assert check_sent(agent) >= {"tool_call/cancel", "terminal/cancel"}


# ---------------------------------------------------------------- nothing is left out

SENT = {
    "initialize", "session/new", "session/list", "session/resume", "session/close",
    "session/delete", "session/prompt", "session/cancel", "session/set_config_option",
    "$/cancel_request",
}  # fmt: skip
SENT_IN = {
    1: SENT | {"authenticate", "logout", "session/load", "session/set_mode"},
    2: SENT | {"auth/login", "auth/logout", "tool_call/cancel", "terminal/cancel"},
}
ANSWERED = {"session/request_permission", "elicitation/create"}
MACHINE = {
    "fs/read_text_file", "fs/write_text_file", "terminal/create", "terminal/output",
    "terminal/wait_for_exit", "terminal/kill", "terminal/release",
}  # fmt: skip


def methods(version, side, *, with_answer):
    return {
        schema["x-method"]
        for name, schema in schema_witness.definitions(version).items()
        if schema.get("x-side") == side and name.endswith("Request") == with_answer
        if not name.endswith("Response")
    }


@pytest.mark.parametrize("version", [1, 2])
def test_every_method_of_the_schema_is_sent_in_a_test_of_this_file(version):
    known = methods(version, "agent", with_answer=True) | methods(
        version, "agent", with_answer=False
    )
    known |= methods(version, "protocol", with_answer=False)
    assert known == SENT_IN[version]


@pytest.mark.parametrize("version", [1, 2])
def test_every_request_of_the_schema_is_answered_in_a_test_of_this_file(version):
    assert methods(version, "client", with_answer=True) == ANSWERED | (
        MACHINE if version == 1 else set()
    )


def test_the_check_sees_a_wrong_message():
    wrong = {"jsonrpc": "2.0", "id": 1, "method": "session/cancel", "params": {"sessionId": "s"}}
    with pytest.raises(AssertionError):
        check_call(2, wrong)
    with pytest.raises(AssertionError):
        check_call(2, {**wrong, "method": "session/new", "params": {"cwd": 1}})
    with pytest.raises(AssertionError):
        check_answer(1, {"jsonrpc": "2.0", "result": {}}, "session/request_permission")


def test_an_offer_holds_nothing_that_no_test_asks_for():
    assert {field.name for field in dataclasses.fields(ClientCapabilities)} == {
        "read_files", "write_files", "terminals", "forms", "urls", "terminal_login",
    }  # fmt: skip
