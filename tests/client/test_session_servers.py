"""The servers that a session brings along are released with it, however it ends, and no others."""

from __future__ import annotations

import concurrent.futures
import json

import pytest
from memory_agent import SESSION, MemoryAgent, RefusedError

from acp_notebook.client.agent_thread import shared_thread
from acp_notebook.client.host import Host, McpServer
from acp_notebook.errors import AgentError

BOUND_S = 20.0


class Offering(Host):
    """Offers each set-up of a session a server of its own, and notes which are in use."""

    def __init__(self):
        self.count = 0
        self.used = []

    def mcp_servers(self, agent, live):
        self.count += 1
        name = f"server-{self.count}"
        self.used.append(name)
        entry = {"type": "http", "name": name, "url": "http://127.0.0.1:1/mcp", "headers": []}
        return [McpServer(entry, (secret_of(self.count),), lambda: self._release(name))]

    async def _release(self, name):
        self.used.remove(name)


@pytest.fixture
def offering(host):
    return host(Offering())


@pytest.fixture(params=[1, 2], ids=["v1", "v2"])
def agent(request):
    return MemoryAgent(request.param)


def secret_of(number):
    return f"k7Qz-Xw{number}_4vN9bTfLr2Jd8HsYpMc3GaE"


def in_use(offering):
    shared_thread().call(lambda: None)  # what is being released now is released then
    return shared_thread().call(lambda: list(offering.used))


def refuse(_):
    raise RefusedError(-32603)


def test_a_closed_or_deleted_session_gives_its_server_back_and_others_keep_theirs(
    meet, agent, offering
):
    client = meet(agent)
    ids = iter(["second", "third"])
    agent.answers["session/new"] = lambda _: {"sessionId": next(ids), **agent.set_up()}
    second = client.new_session()
    client.new_session()
    assert in_use(offering) == ["server-1", "server-2", "server-3"]
    second.close()
    assert in_use(offering) == ["server-1", "server-3"]
    client.delete_session("third")
    assert in_use(offering) == ["server-1"]


def test_a_session_that_is_not_opened_gives_its_server_back(meet, agent, offering):
    client = meet(agent)
    for method in ("session/new", "session/resume", "session/load"):
        agent.answers[method] = refuse
    with pytest.raises(AgentError):
        client.new_session()
    with pytest.raises(AgentError):
        client.resume("old")
    assert in_use(offering) == ["server-1"]


def test_an_id_that_is_given_again_replaces_the_session_that_had_it(meet, agent, offering):
    client = meet(agent)
    client.new_session()
    assert in_use(offering) == ["server-2"]
    (session,) = client.sessions
    session.close()
    assert (in_use(offering), client.sessions) == ([], [])


@pytest.mark.parametrize("remembers", [True, False])
def test_a_lost_session_gives_its_server_back_and_has_another_when_it_is_back(
    meet, agent, offering, remembers
):
    client = meet(agent)
    lost = concurrent.futures.Future()
    live = client.session.live

    def note(_changes):
        if not live.state.is_connected and not lost.done():
            lost.set_result(None)

    client.thread.call(lambda: live.subscribe(note))
    shared_thread().submit(agent._far.aclose()).result(BOUND_S)
    lost.result(BOUND_S)
    assert in_use(offering) == []
    if not remembers:
        agent.answers["session/resume"] = agent.answers["session/load"] = refuse
    turn = client.session.prompt("again", timeout=BOUND_S)
    assert turn.stop_reason == "end_turn"
    assert in_use(offering) == [f"server-{offering.count}"]
    client.quit()
    assert in_use(offering) == []
    assert SESSION in {session.id for session in client.sessions}


def test_what_an_agent_says_of_its_server_in_pieces_stands_whole_in_no_record(
    meet, agent, offering
):
    client = meet(agent)
    agent.hold_prompts()
    turn = client.session.prompt("say it", wait=False)
    agent.until_heard("session/prompt")
    secret = secret_of(1)
    for piece in ("It is ", *secret, " indeed."):
        for kind in ("agent_message_chunk", "agent_thought_chunk"):
            content = {"type": "text", "text": piece}
            agent.tell({"sessionUpdate": kind, "messageId": kind, "content": content})
    agent.end_turn()
    turn.wait(BOUND_S)
    assert turn.text == f"It is {secret[:11]}(hidden) indeed."
    frames = [frame.message for frame in client.recording.frames()]
    updates = [
        each["params"]["update"] for each in frames if each.get("method") == "session/update"
    ]
    told = "".join(each["content"]["text"] for each in updates if "chunk" in each["sessionUpdate"])
    assert turn.to_markdown().count("(hidden)") == told.count("(hidden)") == 2
    assert secret[12:] not in turn.to_markdown() + told


def test_what_is_no_message_is_redacted_too(meet, agent, offering):
    client = meet(agent)
    secret = secret_of(1)
    update = {"sessionUpdate": "x", "said": secret}
    nothing = {"method": "session/update", "params": {"sessionId": SESSION, "update": update}}
    lone = {"jsonrpc": "2.0", "id": 1, **nothing}
    agent.send_bytes(*(json.dumps(each).encode() for each in (nothing, lone, [nothing], secret)))
    agent.send_bytes(b'{"method": "session/update", ' + secret.encode())
    turn = client.session.prompt("go on")
    frames = b"".join(frame.data for frame in client.recording.frames())
    told = [*client.noise, turn.to_markdown(), frames.decode()]
    assert len(told) > 2
    assert "(hidden)" in told[0]
    assert not [text for text in told if secret[:12] in text]
