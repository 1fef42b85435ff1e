"""The server on the wire: the official client gets in, others do not, and nothing stays."""

from __future__ import annotations

import os
import socket
import sys

import httpx2
import pytest
from tools_bench import BOUND_S, Hands, entry_of, mcp_over_http, mcp_over_stdio

import acp_notebook as acp
from acp_notebook.client.host import current_host
from acp_notebook.kernel.tools.server.tool_server import TOKEN_VARIABLE, ToolServer, bridge_entry

BUILT_IN = ["list_variables", "inspect", "run_code", "read_cells", "propose_cell"]
PING = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
ACCEPT = {"Accept": "application/json, text/event-stream"}


def token_of(entry):
    return entry["headers"][0]["value"].removeprefix("Bearer ")


def listens(port):
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def status(entry, **headers):
    own = {header["name"]: header["value"] for header in entry["headers"]}
    with httpx2.Client(trust_env=False) as client:
        return client.post(entry["url"], json=PING, headers=ACCEPT | own | headers).status_code


@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_the_official_client_lists_and_calls_over_http(session, space, turn, mode):
    hands = Hands(lambda: mcp_over_http(entry_of(session), mode))
    space["answer"] = 42
    assert hands.names() == BUILT_IN
    assert hands.text("list_variables") == "answer: int, 42"
    hands.close()


def test_the_official_client_lists_and_calls_through_the_bridge(session, space, turn):
    entry = entry_of(session)
    bridge = bridge_entry(entry["url"], token_of(entry))
    hands = Hands(lambda: mcp_over_stdio(bridge))
    space["answer"] = 42
    assert hands.names() == BUILT_IN
    assert hands.text("run_code", code="answer + 1") == "43"
    hands.close()


def test_the_bridge_has_its_token_in_the_environment_and_not_in_its_arguments():
    entry = bridge_entry("http://127.0.0.1:1/mcp", "the-token")
    assert entry["command"] == sys.executable
    assert "the-token" not in " ".join(entry["args"])
    assert {"name": TOKEN_VARIABLE, "value": "the-token"} in entry["env"]


def test_a_wrong_token_or_none_gets_401(session):
    entry = entry_of(session)
    assert status(entry, Authorization="Bearer wrong") == 401
    assert status(entry, Authorization="") == 401
    assert status(entry, Authorization=f"Basic {token_of(entry)}") == 401


def test_a_foreign_host_or_a_page_gets_403_even_with_the_token(session):
    entry = entry_of(session)
    assert status(entry, Host="evil.example") == 403
    assert status(entry, Host="127.0.0.1:1") == 403
    assert status(entry, Origin="http://evil.example") == 403
    assert status(entry, Origin="null") == 403


def test_a_new_offer_to_a_session_ends_the_token_before_it(session):
    before = entry_of(session)
    after = entry_of(session)
    assert token_of(before) != token_of(after)
    assert status(before) == 401
    assert status(after) != 401


def test_an_mcp_session_is_closed_to_another_callers_token(agent, session):
    own, other = entry_of(session), entry_of(agent.new_session())

    def ask(verb, entry, mcp_session="", /, **message):
        given = ACCEPT | {"mcp-session-id": mcp_session} if mcp_session else ACCEPT
        with httpx2.Client(trust_env=False, headers=given) as client:
            headers = {header["name"]: header["value"] for header in entry["headers"]}
            body = {"jsonrpc": "2.0", **message} if message else None
            return client.request(verb, entry["url"], json=body, headers=headers)

    client = {"name": "x", "version": "1"}
    params = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client}
    opened = ask("POST", own, id=1, method="initialize", params=params)
    mcp_session = opened.headers["mcp-session-id"]
    listing = {"id": 2, "method": "tools/list"}
    assert ask("POST", other, mcp_session, **listing).status_code == 404
    assert ask("DELETE", other, mcp_session).status_code == 404
    assert ask("POST", own, mcp_session, **listing).status_code == 200


def test_a_session_that_has_ended_takes_its_token_with_it_and_no_other(agent, session):
    other, ended = agent.new_session(), entry_of(session)
    entry = entry_of(other)
    agent.thread.call(lambda: agent._session_ended(session.live))
    agent.thread.call(lambda: None)
    assert status(ended) == 401
    assert status(entry) != 401


def test_a_session_that_has_ended_runs_nothing_more(hands, session, space):
    assert hands.text("run_code", code="1 + 1") == "2"
    caller = next(each for each in current_host().tools._callers if each.live is session.live)
    session.agent.thread.call(caller.leave)
    for tool, given in (("run_code", {"code": "late = 1"}), ("list_variables", {})):
        assert "The session has ended" in hands.text(tool, **given)
    assert "late" not in space


def test_the_token_is_in_no_recording_error_or_repr(agent, session):
    tokens = list(current_host().tools._server._callers)
    frames = b"\n".join(frame.data for frame in agent.recording.frames())
    assert b"session/new" in frames
    assert b"Bearer (hidden)" in frames
    place = agent.thread.call(lambda: agent._setup_for(session.live))
    said = repr([place, agent.launch, session, agent]) + agent.stderr
    assert not [token for token in tokens if token.encode() in frames or token in said]


def test_what_an_agent_says_back_has_no_token_in_it(agent, session):
    connection = session.live.connection
    secret = "Zt0ken-that-nobody-may-read"
    agent.thread.call(lambda: connection.redact([secret]))
    turn = session.prompt(f"Say it: {secret}")
    assert "(hidden)" in turn.text
    assert secret not in turn.text


class NoTools:
    def listed(self):
        return []


def test_nothing_listens_after_close_whether_anybody_came_or_not():
    server = ToolServer(NoTools())
    assert listens(server.port)
    server.register("somebody")
    server.close().result(BOUND_S)
    assert not listens(server.port)
    server.close().result(BOUND_S)


@pytest.mark.skipif(os.name != "posix", reason="the limit of `select` is another one there")
def test_a_kernel_with_more_than_1024_open_files_is_served(many_files):
    server = ToolServer(None)
    assert min(each.fileno() for each in (server._socket, server._wake_reader)) > 1023
    with httpx2.Client(trust_env=False) as client:
        answer = client.post(server.url, json=PING, headers=ACCEPT)
    assert answer.status_code == 401
    server.close().result(BOUND_S)


@pytest.fixture
def many_files():
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = 2048
    if hard != resource.RLIM_INFINITY and hard < wanted:
        pytest.skip("This system allows no more than 1,024 open files.")
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, wanted), hard))
    reader, writer = os.pipe()
    files = [reader, writer, *(os.dup(reader) for _ in range(1100))]
    yield
    for each in files:
        os.close(each)
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_nothing_listens_when_the_last_agent_has_quit(notebook, space, host_without_tools):
    first, second = acp.start("demo"), acp.start("demo", label="other")
    hands = Hands(lambda: mcp_over_http(entry_of(first.session)))
    assert hands.names() == BUILT_IN
    server = notebook.tools._server
    port = server.port
    hands.close()
    first.quit()
    assert listens(port)
    second.quit()
    assert not listens(port)
    assert notebook.tools._server is None
    server._thread.join(BOUND_S)  # it ends just after it has said that the port is closed
    assert not server._thread.is_alive()


def test_without_tools_the_agent_is_told_of_none(notebook, host_without_tools):
    agent = acp.start("demo", tools=False)
    try:
        assert agent.thread.call(lambda: agent._setup_for(agent.session.live)).mcp_servers == ()
        assert notebook.tools._server is None
        turn = agent.session.prompt("describe @df")
        assert "--no-tools" in turn.text
    finally:
        agent.quit()


@pytest.mark.parametrize("protocol", [1, 2])
def test_the_entry_is_written_as_each_version_wants_it(notebook, protocol, host_without_tools):
    agent = acp.start("demo", protocol=protocol)
    try:
        new = next(
            frame.message["params"]
            for frame in agent.recording.frames()
            if frame.label == "session/new"
        )
        (entry,) = new["mcpServers"]
        assert entry["type"] == "http"
        assert entry["name"] == "notebook"
        assert entry["url"].startswith("http://127.0.0.1:")
        assert entry["headers"] == [{"name": "Authorization", "value": "Bearer (hidden)"}]
    finally:
        agent.quit()
