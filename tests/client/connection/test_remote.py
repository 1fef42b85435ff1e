"""Agents at an address: the same client over WebSocket and Streamable HTTP, lost and found again.

Most tests go through a proxy that can cut every connection. The servers are those of the official
SDKs, on loopback.
"""

from __future__ import annotations

import contextlib
import json
import os
import socket
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from watching import (
    NODE_AGENT,
    answer,
    frames,
    needs_node,
    permission_answers,
    poll,
    until,
    until_asked,
)

import acp_notebook as acp
from acp_notebook.client.agents.launching import default_label
from acp_notebook.client.connection import remote
from acp_notebook.errors import AgentError, AgentNotFound, UsageError

proves = pytest.mark.requirement
SERVER = [sys.executable, str(Path(__file__).parents[1] / "remote_server.py")]


def serve(command):
    """Start a server, which prints its port."""
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    server = subprocess.Popen(command, stdout=subprocess.PIPE, env=environment)
    line = server.stdout.readline()
    assert line, "the server did not start"
    return server, int(line)


@pytest.fixture(scope="module")
def python_port():
    server, port = serve(SERVER)
    yield port
    server.kill()
    server.communicate()


@pytest.fixture(scope="module")
def node_port(official_sdk):
    server, port = serve([*NODE_AGENT, "--http"])
    yield port
    server.kill()
    server.communicate()


class Proxy:
    """Passes bytes to a port until it is cut; after that it passes new connections again."""

    def __init__(self, port):
        self._target = port
        self._sockets = []
        self._threads = []
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        self._run(self._accept)

    def _run(self, work, *arguments):
        self._threads.append(threading.Thread(target=work, args=arguments))
        self._threads[-1].start()

    def _accept(self):
        while True:
            try:
                near, _ = self._listener.accept()
            except OSError:
                return
            far = socket.create_connection(("127.0.0.1", self._target))
            self._sockets += [near, far]
            self._run(self._pass, near, far)
            self._run(self._pass, far, near)

    def _pass(self, source, sink):
        try:
            while data := source.recv(65536):
                sink.sendall(data)
        except OSError:
            pass
        for end in (source, sink):
            self._end(end)

    def _end(self, end):
        with contextlib.suppress(OSError):
            end.shutdown(socket.SHUT_RDWR)

    def cut(self):
        """End every connection that there is."""
        for end in self._sockets:
            self._end(end)

    def close(self):
        self._end(self._listener)
        self.cut()
        for thread in self._threads:
            thread.join()
        for end in [self._listener, *self._sockets]:
            end.close()


@pytest.fixture
def proxy(python_port):
    proxy = Proxy(python_port)
    yield proxy
    proxy.close()


@pytest.fixture
def connect():
    """`acp.start` for an address."""
    agents = []

    def connect(address, **options):
        agents.append(acp.start(address, **options))
        return agents[-1]

    yield connect
    for agent in agents:
        agent.quit()
        assert not agent.is_running


@pytest.fixture(params=["ws", "http"])
def agent(request, proxy, connect):
    """The SDK's agent behind the proxy, over each transport."""
    return connect(f"{request.param}://127.0.0.1:{proxy.port}/acp")


# a conversation


@proves("WIRE-10")
def test_a_turn_goes_over_the_wire_and_back(agent):
    assert (agent.protocol_version, agent.info.name, agent.pid) == (1, "sdk-test-agent-py", None)
    turn = agent.session.prompt("[[think:hm]][[say:hello € there]][[tool]]")
    assert (turn.text, turn.thoughts, turn.stop_reason) == ("hello € there", "hm", "end_turn")
    assert [call.status for call in turn.tool_calls] == ["completed"]
    assert agent.stderr == ""


@proves("WIRE-10")
def test_chunks_keep_their_order(agent):
    turn = agent.session.prompt("[[chunks:200:6]]")
    assert turn.text == "".join(f"{index} ".ljust(6, "x")[:6] for index in range(200))


@proves("WIRE-10")
def test_a_question_is_answered_over_it(agent, person):
    turn = agent.session.prompt("[[permission]]", wait=False)
    (asked,) = until_asked(agent.session)
    answer(agent.session, asked, "yes-always")
    assert turn.wait().text == "permission call-1: selected yes-always"
    assert len(permission_answers(agent.session)) == 1


@proves("WIRE-10")
def test_a_cancel_reaches_it(agent):
    turn = agent.session.prompt("[[say:begun]][[hang]]", wait=False)
    until(agent.session, lambda state: any("begun" in m.text for m in state.messages.values()))
    turn.cancel()
    assert turn.wait().stop_reason == "cancelled"


@proves("WIRE-10")
def test_two_sessions_share_the_connection(agent):
    first, second = agent.session, agent.new_session()
    turns = [each.prompt("[[chunks:20]]", wait=False) for each in (first, second)]
    assert [turn.wait().stop_reason for turn in turns] == ["end_turn", "end_turn"]
    assert first.id != second.id


@proves("WIRE-1")
def test_a_message_of_megabytes_passes(agent):
    turn = agent.session.prompt("[[big:3000000]]")
    assert turn.stop_reason == "end_turn"
    assert turn.text == "é" * 1_500_000


@proves("WIRE-10")
def test_an_error_is_the_agents_own(agent):
    turn = agent.session.prompt("[[error:-32050:no luck]]")
    assert turn.error == "no luck: details of: no luck (code -32050)"
    assert agent.session.prompt("[[say:go on]]").text == "go on"


# lost and found


@proves("WIRE-7")
@proves("WIRE-10")
def test_a_lost_connection_ends_the_turn_and_the_next_prompt_takes_the_session_up(agent, proxy):
    session_id, session = agent.session.id, agent.session
    turn = session.prompt("[[say:begun]][[hang]]", wait=False)
    until(session, lambda state: any("begun" in m.text for m in state.messages.values()))
    proxy.cut()
    turn.wait()
    assert "lost its connection" in turn.error
    assert "Your next prompt connects again." in turn.error
    assert session.state == "disconnected"
    again = session.prompt("[[say:back]]")
    assert (again.text, again.stop_reason) == ("back", "end_turn")
    assert again.notices == []
    assert session.id == session_id
    assert [message["method"] for message in frames(agent, "sent")[:2]] == [
        "initialize",
        "session/resume",
    ]


@proves("WIRE-10")
def test_a_server_that_is_gone_fails_the_prompt_and_may_come_back(agent, proxy):
    proxy.close()
    until(agent.session, lambda state: not state.is_connected)
    turn = agent.session.prompt("[[say:nobody]]")
    assert turn.stop_reason is None
    assert "127.0.0.1" in turn.error


def test_quit_closes_the_connection_once_and_for_all(agent):
    agent.quit()
    agent.quit()
    assert not agent.is_running
    with pytest.raises(UsageError, match="was ended"):
        agent.session.prompt("hi")


def test_a_session_whose_stream_alone_is_lost_does_not_hang(connect, python_port):
    """Over HTTP a session has a stream of its own, whose end the SDK does not tell."""
    agent = connect(f"http://127.0.0.1:{python_port}/acp")
    turn = agent.session.prompt("[[say:begun]][[hang]]", wait=False)
    until(agent.session, lambda state: any("begun" in m.text for m in state.messages.values()))
    transport = agent.connection.endpoint.transport
    # The words may come by the connection's own stream, before the session's is open.
    assert poll(lambda: transport.streams.get(agent.session.id))
    agent.thread.call(lambda: transport.stream_ended(agent.session.id))
    assert "the stream of the session was lost" in turn.wait().error


# addresses


@pytest.mark.parametrize("scheme", ["ws", "http"])
def test_nobody_there_is_said_with_the_address(connect, scheme):
    with socket.create_server(("127.0.0.1", 0)) as free:
        address = f"{scheme}://127.0.0.1:{free.getsockname()[1]}/acp"
    with pytest.raises(AgentError, match="Check the address") as caught:
        connect(address.replace("//", "//user:secret@") + "?token=secret")
    assert address in str(caught.value)
    assert "secret" not in str(caught.value)
    assert isinstance(caught.value, AgentNotFound) == (scheme == "ws")


@pytest.mark.parametrize("scheme", ["ws", "http"])
def test_headers_go_with_the_connection(connect, python_port, scheme):
    headers = {"Authorization": "Bearer secret"}
    agent = connect(f"{scheme}://127.0.0.1:{python_port}/acp", headers=headers)
    assert json.loads(agent.session.prompt("[[who]]").text)["authorization"] == "Bearer secret"
    assert "secret" not in repr(agent.launch)


def test_a_missing_package_is_named_with_the_command_that_brings_it(connect, monkeypatch):
    for module in ("acp.ws", "acp.http"):
        monkeypatch.setitem(sys.modules, module, None)
    for scheme in ("ws", "https"):
        with pytest.raises(UsageError, match=r"pip install 'acp_notebook\[remote\]'"):
            connect(f"{scheme}://127.0.0.1:1/acp")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"name": "ws:///acp"}, "names no host"),
        ({"name": "ws://host/acp", "env": {"A": "b"}}, "its own environment"),
        ({"command": ["true"], "headers": {"A": "b"}}, "Headers are for an agent at an address"),
    ],
)
def test_what_makes_no_sense_is_refused_before_anything_is_opened(arguments, words):
    with pytest.raises(UsageError, match=words):
        acp.start(**arguments)


def test_an_address_is_called_by_its_host_and_shows_no_secret():
    assert default_label("wss://user:secret@host:99/acp?token=x", None) == "host:99"


@proves("INIT-5")
def test_no_login_in_a_terminal_is_offered_to_an_agent_elsewhere(connect, python_port):
    agent = connect(f"ws://127.0.0.1:{python_port}/acp")
    assert "auth" not in frames(agent, "sent")[0]["params"]["clientCapabilities"]


def test_importing_the_client_imports_no_transport_of_the_sdk():
    code = "import sys, acp_notebook.client.agent; print([m in sys.modules for m in NAMES])"
    code = code.replace(
        "NAMES", "('acp', 'httpx', 'websockets', 'acp_notebook.client.connection.remote')"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == str([False] * 4)


# the other official SDK's server, which also speaks version 2


@needs_node
@proves("WIRE-10")
@pytest.mark.parametrize("protocol", [1, 2])
def test_the_typescript_server_is_served_in_both_versions(connect, node_port, person, protocol):
    agent = connect(f"http://127.0.0.1:{node_port}/acp", protocol=protocol)
    assert agent.protocol_version == protocol
    assert agent.session.prompt("[[say:hello € there]]").text == "hello € there"
    turn = agent.session.prompt("[[permission]]", wait=False)
    (asked,) = until_asked(agent.session)
    answer(agent.session, asked, "no-once")
    assert turn.wait().text == "permission call-1: selected no-once"


@needs_node
@proves("WIRE-10")
@pytest.mark.parametrize("protocol", [1, 2])
def test_a_session_on_the_typescript_server_is_taken_up_again(connect, node_port, protocol):
    proxy = Proxy(node_port)
    agent = connect(f"http://127.0.0.1:{proxy.port}/acp", protocol=protocol)
    session_id = agent.session.id
    proxy.cut()
    until(agent.session, lambda state: not state.is_connected)
    turn = agent.session.prompt("[[say:back]]")
    assert (turn.text, agent.session.id, turn.notices) == ("back", session_id, [])
    agent.quit()
    proxy.close()


# the adapter, without a server


@pytest.mark.parametrize("size", [1, 2, 3])
async def test_events_are_cut_at_whole_characters(size):
    import httpx

    data = 'data: "é€𝄞"\n\n'.encode() + b"\xff"

    class Pieces(httpx.AsyncByteStream):
        async def __aiter__(self):
            for start in range(0, len(data), size):
                yield data[start : start + size]

    pieces = [piece async for piece in remote._event_stream(Pieces(), None)]
    assert "".join(piece.decode() for piece in pieces) == 'data: "é€𝄞"\n\n\ufffd'


class Refusing:
    """A stream of the SDK's kind that refuses what it is sent."""

    def __init__(self, error):
        self.error = error
        self.sent = []

    async def send(self, message):
        self.sent.append(message)
        raise self.error

    async def receive(self):
        import asyncio

        await asyncio.Event().wait()

    async def close(self):
        pass


class Status(RuntimeError):
    status_code = 404


async def test_a_refused_request_is_answered_with_the_reason_and_the_connection_stands():
    transport = remote.RemoteTransport(Refusing(Status("HTTP 404: POST session/prompt failed")))
    transport.send(b'{"jsonrpc":"2.0","id":7,"method":"session/prompt","params":{"sessionId":"s"}}')
    frame = json.loads(await transport.receive())
    assert frame["id"] == 7
    assert "HTTP 404" in frame["error"]["message"]
    assert not transport.ended.is_set()
    await transport.aclose()


@pytest.mark.parametrize(
    "message",
    [{"method": "session/cancel", "params": {"sessionId": "s"}}, {"id": 0, "result": {}}],
)
async def test_a_refused_message_that_wants_no_answer_is_only_logged(message, caplog):
    transport = remote.RemoteTransport(Refusing(Status("HTTP 404: gone")))
    transport.send(json.dumps(message).encode())
    await transport.drain()
    assert "HTTP 404: gone" in caplog.text
    assert not transport.ended.is_set()
    await transport.aclose()


async def test_a_connection_that_fails_under_a_message_is_over():
    transport = remote.RemoteTransport(Refusing(ConnectionError("broken")))
    transport.send(b'{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"s"}}')
    assert await transport.receive() is None
    assert await transport.receive() is None
    assert transport.ending == "broken"
    transport.send(b"{}")  # too late, like any
    await transport.drain()
    await transport.aclose()


async def test_the_answers_to_a_batch_go_one_by_one():
    stream = Refusing(ConnectionError("broken"))
    stream.send = lambda message: stream.sent.append(message) or _nothing()
    transport = remote.RemoteTransport(stream)
    transport.send(b'[{"id":1,"result":{}},{"id":2,"result":{}}]')
    await transport.drain()
    assert [message["id"] for message in stream.sent] == [1, 2]
    await transport.aclose()


async def _nothing():
    pass
