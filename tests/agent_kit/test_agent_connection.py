"""What is served: versions, sessions, options, and what is refused."""

from __future__ import annotations

import asyncio

import pytest
from wire_client import BOUND_S, WireClient

from acp_notebook.agent_kit import Agent
from acp_notebook.jsonrpc import MemoryTransport, RpcError


async def error_of(awaitable):
    with pytest.raises(RpcError) as raised:
        await awaitable
    return raised.value


class TestInitialize:
    @pytest.mark.parametrize(
        ("spoken", "requested", "chosen"),
        [((1, 2), 1, 1), ((1, 2), 2, 2), ((1, 2), 7, 2), ((1,), 2, 1), ((2,), 3, 2)],
    )
    async def test_the_highest_version_at_or_below_the_request_is_chosen(
        self, connect, spoken, requested, chosen
    ):
        agent = Agent("x", protocols=spoken)
        client = await connect(agent, chosen, new_session=False)
        assert (await client.start(requested))["protocolVersion"] == chosen

    @pytest.mark.parametrize("version", [2], indirect=True)
    async def test_a_version_below_all_is_refused_with_what_is_spoken(self, connect):
        client = await connect(Agent("x", protocols=(2,)), new_session=False)
        refused = await error_of(client.start(1))
        assert (refused.code, refused.data) == (-32022, {"requested": 1, "supported": [2]})

    @pytest.mark.parametrize("wrong", ["2", None, True, 2.5])
    async def test_a_version_that_is_no_integer_is_refused(self, agent, connect, wrong):
        client = await connect(agent, new_session=False)
        refused = await error_of(client.call("initialize", protocolVersion=wrong))
        assert refused.code == -32602

    async def test_v2_tells_capabilities_by_presence(self, connect):
        client = await connect(Agent("x", accepts=["image"]), 2, new_session=False)
        result = await client.start()
        assert result["info"]["name"] == "x"
        assert result["capabilities"] == {"session": {"prompt": {"image": {}}}}

    async def test_v1_tells_capabilities_by_truth(self, connect):
        client = await connect(Agent("x", accepts=["image"]), 1, new_session=False)
        capabilities = (await client.start())["agentCapabilities"]
        prompt = {"image": True, "audio": False, "embeddedContext": False}
        assert capabilities["promptCapabilities"] == prompt
        assert capabilities["loadSession"] is True

    async def test_nothing_is_served_before_it(self, agent, version):
        ours, theirs = MemoryTransport.pair()
        serving = asyncio.create_task(agent.serve(theirs))
        client = WireClient(ours, version)
        assert (await error_of(client.new_session())).code == -32600
        await client.close()
        await asyncio.wait_for(serving, BOUND_S)


class TestSessions:
    async def test_unknown_methods_are_refused_by_name(self, agent, connect):
        client = await connect(agent)
        for method in ("session/fork", "_vendor/thing", "auth/login"):
            refused = await error_of(client.call(method))
            assert refused.code == -32601
            assert method in refused.message

    async def test_load_is_a_method_of_v1_only(self, agent, connect):
        client = await connect(agent, 2)
        load = client.call("session/load", sessionId=client.session_id, cwd="/work", mcpServers=[])
        assert (await error_of(load)).code == -32601

    async def test_unknown_notifications_are_ignored(self, agent, connect):
        client = await connect(agent)
        client.connection.notify("_vendor/status", {"x": 1})
        client.connection.notify("session/cancel", {"sessionId": "nowhere"})
        client.connection.notify("session/cancel", None)
        client.cancel()
        assert (await client.prompt("hi")).stop_reason == "end_turn"

    async def test_commands_are_told_in_the_answer_or_by_an_update(self, agent, connect, version):
        async def nothing(_turn):
            pass

        agent.command("plan", "Plans")(nothing)
        agent.command("find", "Finds", hint="what")(nothing)
        client = await connect(agent, new_session=False)
        result = await client.new_session()
        if version == 1:
            update = await client.update_after(0, lambda _update: True)
            assert update["availableCommands"] == [
                {"name": "plan", "description": "Plans"},
                {"name": "find", "description": "Finds", "input": {"hint": "what"}},
            ]
            return
        assert [command["name"] for command in result["availableCommands"]] == ["plan", "find"]
        assert result["availableCommands"][1]["input"] == {"type": "text", "hint": "what"}
        assert client.updates == []

    @pytest.mark.parametrize("cwd", ["relative", "~/x", "", None, 5])
    async def test_cwd_must_be_absolute(self, agent, connect, cwd):
        client = await connect(agent, new_session=False)
        refused = await error_of(client.call("session/new", cwd=cwd, mcpServers=[]))
        assert (refused.code, "absolute" in refused.message) == (-32602, True)

    async def test_sessions_are_listed_with_title_and_filtered_by_folder(self, agent, connect):
        client = await connect(agent)
        await client.prompt("What is\n this? " + "x" * 100)
        first = client.session_id
        await client.new_session(cwd="/elsewhere")
        listed = (await client.call("session/list"))["sessions"]
        assert [entry["cwd"] for entry in listed] == ["/work", "/elsewhere"]
        assert listed[0]["title"].startswith("What is this? xxx")
        assert len(listed[0]["title"]) == 60
        [found] = (await client.call("session/list", cwd="/work"))["sessions"]
        assert found["sessionId"] == first

    async def test_an_unknown_session_is_not_found(self, agent, connect):
        client = await connect(agent)
        params = {"sessionId": "gone", "cwd": "/work", "mcpServers": []}
        for call in (
            client.call("session/resume", **params),
            client.call("session/close", sessionId="gone"),
            client.call("session/prompt", sessionId="gone", prompt=[]),
            client.call("session/set_config_option", sessionId="gone", configId="x", value="y"),
        ):
            refused = await error_of(call)
            assert (refused.code, refused.data) == (-32002, {"sessionId": "gone"})

    async def test_a_closed_session_takes_no_prompt_until_it_is_resumed(self, agent, connect):
        client = await connect(agent)
        await client.call("session/close", sessionId=client.session_id)
        assert (await client.prompt("hi")).error.code == -32002
        await client.call("session/resume", sessionId=client.session_id, cwd="/work", mcpServers=[])
        assert (await client.prompt("hi")).stop_reason == "end_turn"

    @pytest.mark.parametrize("prompt", [None, "text", ["text"], {"type": "text"}])
    async def test_a_prompt_must_be_a_list_of_blocks(self, agent, connect, prompt):
        client = await connect(agent)
        call = client.call("session/prompt", sessionId=client.session_id, prompt=prompt)
        assert (await error_of(call)).code == -32602

    async def test_what_is_no_message_is_logged_and_costs_nothing(self, agent, connect, caplog):
        client = await connect(agent)
        client.connection._transport.send(b"what is this?")
        assert (await client.prompt("hi")).stop_reason == "end_turn"
        assert "what is this?" in caplog.text


class TestResume:
    @pytest.fixture
    def talker(self, agent):
        @agent.prompt
        async def reply(turn):
            await turn.think("hm")
            tool = await turn.tool("Look", kind="read")
            await tool.output("found")
            await tool.complete()
            await turn.say("One")
            await turn.say(", two")

        return agent

    def replay(self, client, version, method="session/resume"):
        params = {"sessionId": client.session_id, "cwd": "/work", "mcpServers": []}
        if version == 2:
            params["replayFrom"] = {"type": "start"}
        else:
            method = "session/load"
        return client.call(method, **params)

    async def test_another_client_is_shown_what_was_said(self, talker, connect, version):
        first = await connect(talker)
        live = await first.prompt("Hello")
        second = await connect(talker, new_session=False)
        second.session_id = first.session_id
        await self.replay(second, version)
        shown = [u for u in second.updates if u["sessionUpdate"] != "available_commands_update"]
        said = [u for u in live.updates if u["sessionUpdate"] != "state_update"]
        if version == 1:
            text = {"type": "text", "text": "Hello"}
            chunk = {"sessionUpdate": "user_message_chunk", "messageId": "message_1"}
            said.insert(0, {**chunk, "content": text})
        assert shown == said
        assert (await second.prompt("again")).text == "One, two"

    async def test_a_session_that_is_open_is_replayed_and_goes_on(self, talker, connect, version):
        client = await connect(talker)
        await client.prompt("Hello")
        await self.replay(client, version)
        assert (await client.prompt("again")).text == "One, two"

    async def test_without_replay_nothing_is_shown(self, talker, connect):
        client = await connect(talker)
        await client.prompt("Hello")
        before = len(client.updates)
        await client.call("session/resume", sessionId=client.session_id, cwd="/work", mcpServers=[])
        assert client.updates[before:] == []

    @pytest.mark.parametrize("start", [{"type": "message"}, "start", {}])
    async def test_an_unknown_start_is_refused(self, talker, connect, start):
        client = await connect(talker, 2)
        call = client.call(
            "session/resume", sessionId=client.session_id, cwd="/work", replayFrom=start
        )
        assert (await error_of(call)).code == -32602


class TestConfigOptions:
    @pytest.fixture
    def chooser(self, agent):
        agent.option(
            "tone",
            "Tone",
            default="calm",
            choices={"calm": "Calm", "loud": "Loud"},
            description="How it speaks",
            category="mode",
        )
        agent.option("short", "Short answers", default=False)

        @agent.prompt
        async def reply(turn):
            await turn.say(str(turn.session.options))
            await turn.set_option("tone", "calm")

        return agent

    def set_option(self, client, name, value, kind="id"):
        typed = {"type": kind} if client.version == 2 or kind == "boolean" else {}
        return client.call(
            "session/set_config_option",
            sessionId=client.session_id,
            configId=name,
            value=value,
            **typed,
        )

    async def test_options_are_told_set_and_read_in_a_turn(self, chooser, connect, version):
        client = await connect(chooser, new_session=False)
        [tone, *_rest] = (await client.new_session())["configOptions"]
        assert (tone["id" if version == 1 else "configId"], tone["currentValue"]) == (
            "tone",
            "calm",
        )
        answer = await self.set_option(client, "tone", "loud")
        assert answer["configOptions"][0]["currentValue"] == "loud"
        reply = await client.prompt("?")
        assert reply.text == "{'tone': 'loud', 'short': False}"
        [changed] = reply.of_kind("config_option_update")
        assert changed["configOptions"][0]["currentValue"] == "calm"

    async def test_switches_are_set_with_truth_values(self, chooser, connect):
        client = await connect(chooser, 2)
        answer = await self.set_option(client, "short", value=True, kind="boolean")
        assert answer["configOptions"][1]["currentValue"] is True

    async def test_v1_hides_switches_from_clients_that_do_not_know_them(self, chooser, connect):
        client = await connect(chooser, 1, new_session=False)
        assert len((await client.new_session())["configOptions"]) == 1
        knows = {"session": {"configOptions": {"boolean": {}}}}
        await client.call("initialize", protocolVersion=1, clientCapabilities=knows)
        assert len((await client.new_session())["configOptions"]) == 2

    @pytest.mark.parametrize(
        ("name", "value", "word"),
        [
            ("pitch", "high", "tone, short"),
            ("tone", "silent", "calm, loud"),
            ("short", "x", "true"),
        ],
    )
    async def test_unknown_options_and_values_are_refused(
        self, chooser, connect, name, value, word
    ):
        client = await connect(chooser)
        refused = await error_of(self.set_option(client, name, value))
        assert (refused.code, word in refused.message) == (-32602, True)
