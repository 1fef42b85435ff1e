"""Sessions that an agent keeps: listed to the end, taken up with their history, closed, deleted."""

from __future__ import annotations

import pytest
from memory_agent import SESSION, MemoryAgent, RefusedError

from acp_notebook.client.connection.session_calls import MAX_PAGES
from acp_notebook.errors import AgentError, RequestFailed, UnsupportedByAgent
from acp_notebook.session import updates as u

proves = pytest.mark.requirement
TEXT = {"type": "text", "text": "words"}


@pytest.fixture(params=[1, 2], ids=["v1", "v2"])
def agent(request):
    return MemoryAgent(request.param)


def listed(*ids, **more):
    return {"sessions": [{"sessionId": each, "cwd": "/a"} for each in ids], **more}


def calls(agent, method):
    return [message["params"] for message in agent.heard if message.get("method") == method]


def refuse(code, message="refused"):
    def answer(_):
        raise RefusedError(code, message)

    return answer


# listing


@proves("SESS-4")
def test_all_pages_are_read_and_each_is_asked_by_the_cursor_before(meet, agent, tmp_path):
    pages = iter([listed("a", "b", nextCursor="two"), listed("c", nextCursor=None)])
    agent.answers["session/list"] = lambda _: next(pages)
    listing = meet(agent, cwd=tmp_path).list_sessions()
    assert [each.id for each in listing.sessions] == ["a", "b", "c"]
    assert listing.warning is None
    folder = str(tmp_path)
    assert calls(agent, "session/list") == [{"cwd": folder}, {"cwd": folder, "cursor": "two"}]


@proves("SESS-4")
def test_a_listed_session_has_its_title_time_and_folder_and_a_broken_one_is_left_out(meet, agent):
    whole = {"sessionId": "a", "cwd": "/a", "title": "Plots", "updatedAt": "2026-01-02T03:04:05Z"}
    found = [whole, {"cwd": "/a"}, None, {"sessionId": "b", "title": 7}]
    agent.answers["session/list"] = lambda _: {"sessions": found}
    first, second = meet(agent).list_sessions(everywhere=True).sessions
    assert (first.id, first.cwd, first.title) == ("a", "/a", "Plots")
    assert first.updated_at == "2026-01-02T03:04:05Z"
    assert (second.id, second.cwd, second.title, second.updated_at) == ("b", "", None, None)
    assert calls(agent, "session/list") == [{}]


@proves("SESS-4")
def test_an_endless_list_is_cut_and_says_so(meet, agent):
    agent.answers["session/list"] = lambda _: listed("a", nextCursor="again")
    listing = meet(agent).list_sessions()
    assert listing.warning == "The agent repeats a page: the list ends there."
    assert len(calls(agent, "session/list")) == 2

    agent.answers["session/list"] = lambda given: listed(
        "a", nextCursor=f"{given.get('cursor', '')}x"
    )
    listing = meet(agent).list_sessions()
    assert len(listing.sessions) == MAX_PAGES
    assert listing.warning == f"The list is cut after {MAX_PAGES} pages."


@pytest.mark.parametrize("answer", [None, [], "none", {"sessions": None}, {"sessions": {}}])
def test_a_list_that_is_none_is_empty(meet, agent, answer):
    agent.answers["session/list"] = lambda _: answer
    assert meet(agent).list_sessions().sessions == ()


def test_an_agent_that_keeps_no_list_is_not_asked(meet):
    agent = MemoryAgent(1)
    agent.answers["initialize"] = lambda _: {"protocolVersion": 1, "agentCapabilities": {}}
    with pytest.raises(UnsupportedByAgent, match="%acp resume ID"):
        meet(agent).list_sessions()
    assert calls(agent, "session/list") == []


# taking one up


def story(agent):
    """One earlier turn, as it was told then and is told again."""
    message = {"content": TEXT}
    ids = [{"messageId": name} for name in ("user-1", "said-1", "thought-1")]
    call = {"toolCallId": "call-1", "title": "Look", "kind": "read", "status": "completed"}
    content = [{"type": "content", "content": TEXT}]
    kind = "tool_call" if agent.version == 1 else "tool_call_update"
    return [
        {"sessionUpdate": "user_message_chunk", **message, **ids[0]},
        {"sessionUpdate": "agent_thought_chunk", **message, **ids[2]},
        {"sessionUpdate": kind, **call, "content": content},
        {"sessionUpdate": "agent_message_chunk", **message, **ids[1]},
        {"sessionUpdate": "session_info_update", "title": "Plots"},
    ]


def told(state):
    messages = [(m.role, m.text) for m in state.messages.values()]
    tools = [(c.title, c.status, c.content) for c in state.tool_calls.values()]
    return [key.kind for key in state.timeline], messages, tools, state.title


@proves("SESS-5")
@pytest.mark.parametrize("is_late", [False, True], ids=["before-the-answer", "after-the-answer"])
def test_a_replay_rebuilds_the_same_state(meet, agent, is_late):
    client = meet(agent)
    for update in story(agent):
        agent.tell(update)
    agent.settle()
    method = "session/load" if agent.version == 1 else "session/resume"

    def replay(_):
        for update in story(agent):
            if is_late:  # some agents answer first and replay afterwards
                client.thread.loop.call_soon(agent._tell, update, "old")
            else:
                agent._tell(update, "old")
        return agent.set_up()

    agent.answers[method] = replay
    again = client.resume("old")
    agent.settle()
    assert told(again.live.state) == told(client.find_session(SESSION).live.state)
    assert again.state == "idle"
    assert again.title == "Plots"
    assert again.live.state.owners == dict.fromkeys(again.live.state.timeline)
    assert [option.id for option in again.config_options][-2:] == ["size", "loud"]


@proves("SESS-5")
def test_a_session_that_is_open_is_not_told_twice(meet, agent):
    client = meet(agent)
    first = client.resume("old")
    client.new_session()
    assert client.resume("old") is first
    assert client.session is first
    methods = ("session/load", "session/resume")
    assert sum(len(calls(agent, method)) for method in methods) == 1


@proves("SESS-5")
def test_without_a_replay_nothing_is_asked_to_be_told(meet, agent):
    client = meet(agent)
    client.resume("old", replay=False)
    (params,) = calls(agent, "session/resume")
    assert "replayFrom" not in params
    assert calls(agent, "session/load") == []


@proves("SESS-3")
def test_updates_during_the_set_up_are_not_overwritten_by_its_answer(meet, agent):
    commands = [{"name": "plan", "description": "Makes a plan"}]

    def answer(_):
        update = {"sessionUpdate": "available_commands_update", "availableCommands": commands}
        agent._tell(update)
        agent._tell({"sessionUpdate": "session_info_update", "title": "Early"})
        return {"sessionId": SESSION, **agent.set_up(), "availableCommands": None}

    agent.answers["session/new"] = answer
    session = meet(agent).session
    assert [command.name for command in session.commands] == ["plan"]
    assert session.title == "Early"


@pytest.mark.parametrize(
    ("code", "message"),
    [
        (-32002, "Resource not found"),
        (-32602, "Unknown sessionId"),
        (-32602, 'Session "x" not found'),
        (-32603, ""),
        (-32603, "service failure"),
    ],
)
def test_a_session_that_is_gone_is_said_with_the_ways_out_and_not_asked_for_again(
    meet, agent, code, message
):
    agent.answers["session/load"] = agent.answers["session/resume"] = refuse(code, message)
    client = meet(agent)
    with pytest.raises(AgentError) as caught:
        client.resume("dead")
    assert "The session dead could not be taken up" in str(caught.value)
    assert "%acp sessions lists those there are; %acp new opens a new one." in str(caught.value)
    assert [session.id for session in client.sessions] == [SESSION]
    assert client.session.prompt("go on").stop_reason == "end_turn"
    methods = ("session/load", "session/resume")
    assert sum(len(calls(agent, method)) for method in methods) == 1


def test_what_an_agent_cannot_do_is_said_and_not_sent(meet):
    agent = MemoryAgent(1)
    agent.answers["initialize"] = lambda _: {"protocolVersion": 1, "agentCapabilities": {}}
    client = meet(agent)
    for attempt in (
        lambda: client.resume("old"),
        lambda: client.delete_session("old"),
        client.session.close,
    ):
        with pytest.raises(UnsupportedByAgent):
            attempt()
    assert {message["method"] for message in agent.heard} == {"initialize", "session/new"}


def test_what_is_advertised_and_not_there_is_said(meet, agent):
    for method in ("session/resume", "session/load", "session/close"):
        agent.answers[method] = refuse(-32601, "Method not found")
    client = meet(agent)
    with pytest.raises(AgentError, match=r"could not be taken up: .*Method not found"):
        client.resume("old")
    with pytest.raises(RequestFailed, match="Method not found"):
        client.session.close()
    assert client.session.prompt("go on").stop_reason == "end_turn"


# closing and deleting


@proves("SESS-6")
def test_a_session_that_the_agent_does_not_know_counts_as_closed_and_deleted(meet, agent):
    agent.answers["session/close"] = agent.answers["session/delete"] = refuse(-32002)
    client = meet(agent)
    client.session.close()
    client.delete_session("old")
    assert client.sessions == []


@proves("SESS-6")
def test_any_other_refusal_is_said_and_the_session_stays(meet, agent):
    agent.answers["session/close"] = agent.answers["session/delete"] = refuse(-32603, "busy")
    client = meet(agent)
    with pytest.raises(RequestFailed, match="busy"):
        client.session.close()
    with pytest.raises(RequestFailed, match="busy"):
        client.delete_session(SESSION)
    assert [session.id for session in client.sessions] == [SESSION]


@proves("SESS-6")
def test_what_is_told_of_a_closed_session_disturbs_no_other(meet, agent):
    names = iter(["one", "two"])
    agent.answers["session/new"] = lambda _: {"sessionId": next(names)}
    client = meet(agent)
    first = client.session
    second = client.new_session()
    first.close()
    late = {"sessionUpdate": "agent_message_chunk", "messageId": "m", "content": TEXT}
    agent.tell(late, "one")
    agent.tell(late, "two")
    agent.tell({"sessionUpdate": "session_info_update", "title": "Two"}, "two")
    assert agent.wait(agent.begin("_settle", {}))["error"]["code"] == -32601
    assert [message.text for message in second.live.state.messages.values()] == ["words"]
    assert first.live.state.messages == {}
    assert client.sessions == [second]


# titles and options


@proves("SESS-7")
def test_a_title_comes_and_goes(meet, agent):
    session = meet(agent).session
    titles = [{"title": "Plots"}, {"updatedAt": "2026-01-02T03:04:05Z"}, {"title": None}]
    seen = []
    for patch in titles:
        agent.tell({"sessionUpdate": "session_info_update", **patch})
        agent.settle()
        seen.append(session.title)
    assert seen == ["Plots", "Plots", None]


@proves("CONF-3")
def test_the_withdrawn_models_are_an_option_that_gives_way_to_a_real_one(meet):
    agent = MemoryAgent(1)
    models = {
        "currentModelId": "big",
        "availableModels": [{"modelId": "big", "name": "Big"}, {"modelId": "old"}, {}],
    }
    agent.answers["session/new"] = lambda _: {"sessionId": SESSION, "models": models}
    session = meet(agent).session
    (option,) = session.config_options
    assert (option.name, option.value, option.category) == ("Model", "big", "model")
    assert option.choices == (u.ConfigValue("big", "Big"), u.ConfigValue("old", "old"))
    session.set_option("Model", "old")
    assert calls(agent, "session/set_model") == [{"sessionId": SESSION, "modelId": "old"}]
    assert [option.value for option in session.config_options] == ["old"]

    real = {
        "id": "m", "name": "Model", "category": "model", "type": "select", "currentValue": "big",
        "options": [{"value": "big", "name": "Big"}],
    }  # fmt: skip
    agent.tell({"sessionUpdate": "config_option_update", "configOptions": [real]})
    agent.settle()
    assert [option.id for option in session.config_options] == ["m"]


@proves("CONF-3")
def test_a_model_that_is_refused_keeps_its_value(meet):
    agent = MemoryAgent(1)
    found = [{"modelId": "big", "name": "Big"}, {"modelId": "old", "name": "Old"}]
    models = {"currentModelId": "big", "availableModels": found}
    agent.answers["session/new"] = lambda _: {"sessionId": SESSION, "models": models}
    agent.answers["session/set_model"] = refuse(-32601, "Method not found")
    session = meet(agent).session
    with pytest.raises(RequestFailed, match="Method not found"):
        session.set_option("Model", "Old")
    assert [option.value for option in session.config_options] == ["big"]


@proves("CONF-2")
def test_an_option_that_is_refused_keeps_its_value(meet, agent):
    agent.answers["session/set_config_option"] = refuse(-32603, "Invalid Mode")
    session = meet(agent).session
    with pytest.raises(RequestFailed, match="Invalid Mode"):
        session.set_option("size", "large")
    assert {option.id: option.value for option in session.config_options}["size"] == "small"


@proves("CONF-2")
@pytest.mark.parametrize(
    "echo",
    [
        [],
        [{"sessionUpdate": "current_mode_update", "currentModeId": "go"}],
        [{"sessionUpdate": "config_option_update", "configOptions": []}],
    ],
    ids=["not at all", "as a mode", "as options"],
)
def test_a_mode_that_is_set_stands_however_the_agent_tells_it(meet, echo):
    agent = MemoryAgent(1)
    modes = [{"id": "ask", "name": "Ask"}, {"id": "go", "name": "Go"}]
    found = {"modes": {"currentModeId": "ask", "availableModes": modes}}
    agent.answers["session/new"] = lambda _: {"sessionId": SESSION, **found}

    def set_mode(_):
        for update in echo:
            agent._tell(update)
        return {}

    agent.answers["session/set_mode"] = set_mode
    session = meet(agent).session
    session.set_option("Mode", "Go")
    assert [(option.category, option.value) for option in session.config_options] == [
        ("mode", "go")
    ]


# where a session works


def with_directories(agent):
    introduction = agent.introduction()
    if agent.version == 1:
        offered = introduction["agentCapabilities"]["sessionCapabilities"]
    else:
        offered = introduction["capabilities"]["session"]
    offered["additionalDirectories"] = {}
    agent.answers["initialize"] = lambda _: introduction
    return agent


@proves("SESS-1")
def test_further_folders_are_sent_absolute_and_whole_at_each_resume(
    meet, agent, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    client = meet(with_directories(agent), directories=["a", tmp_path / "b"])
    client.resume("old")
    method = "session/load" if agent.version == 1 else "session/resume"
    folders = [str(tmp_path / "a"), str(tmp_path / "b")]
    for call in (*calls(agent, "session/new"), *calls(agent, method)):
        assert call["additionalDirectories"] == folders
        assert call["cwd"] == str(tmp_path)


@proves("SESS-1")
def test_further_folders_are_not_sent_to_an_agent_that_takes_one(meet, agent):
    with pytest.raises(UnsupportedByAgent, match="works in one folder"):
        meet(agent, directories=["a"])
    assert calls(agent, "session/new") == []
