"""What an author may say, and how it looks on both wires."""

from __future__ import annotations

import asyncio

import pytest
from wire_client import choose, fill_in, keep_waiting

from acp_notebook.agent_kit import PermissionOption
from acp_notebook.jsonrpc import RpcError


@pytest.fixture
def ask(agent, connect):
    """Let an author's function reply to one prompt."""

    async def ask(function, prompt="Hi", **how):
        agent.prompt(function)
        client = await connect(agent, **how)
        return client, await client.prompt(prompt)

    return ask


class TestReading:
    async def test_blocks_text_and_session_are_at_hand(self, ask, version):
        blocks = [
            {"type": "text", "text": "one"},
            {"type": "resource_link", "name": "f", "uri": "file:///f"},
            {"type": "text", "text": "two "},
        ]

        async def reply(turn):
            assert turn.blocks == blocks
            assert (turn.text, turn.argument, turn.command) == ("one\ntwo", "one\ntwo", None)
            turn.session.memory["seen"] = True
            await turn.say(f"{turn.session.cwd} v{turn.protocol_version}")

        _client, got = await ask(reply, blocks)
        assert got.text == f"/work v{version}"


class TestSpeaking:
    async def test_pieces_in_a_row_are_one_message_until_something_else_comes(self, ask):
        async def reply(turn):
            await turn.think("a")
            await turn.think("b")
            await turn.say("c")
            await turn.plan(["p"])
            await turn.say("d")
            await turn.tool("T")
            await turn.say("e")

        _client, got = await ask(reply)
        chunks = got.of_kind("agent_message_chunk", "agent_thought_chunk")
        a, b, c, d, e = (chunk["messageId"] for chunk in chunks)
        assert a == b
        assert c == d
        assert len({a, c, e}) == 3

    async def test_streaming_keeps_every_character_and_waits_between_words(self, ask):
        text = "  One two,\n\nthree   four.\n"
        waits = []

        async def reply(turn):
            pause = turn.pause

            async def note(seconds):
                waits.append(seconds)
                await pause(0)

            turn.pause = note
            await turn.stream(text, pace_s=0.5)
            await turn.stream("x y")

        _client, got = await ask(reply)
        assert got.text == f"{text}x y"
        assert waits == [0.5] * 5 + [0.0] * 2

    async def test_a_pause_waits(self, ask):
        async def reply(turn):
            await turn.pause(0.001)
            await turn.pause()

        _client, got = await ask(reply)
        assert got.stop_reason == "end_turn"

    async def test_other_blocks_can_be_said_too(self, ask):
        image = {"type": "image", "data": "aGk=", "mimeType": "image/png"}

        async def reply(turn):
            await turn.say(image)

        _client, got = await ask(reply)
        assert [chunk["content"] for chunk in got.of_kind("agent_message_chunk")] == [image]

    async def test_title_and_usage_are_told(self, ask):
        async def reply(turn):
            await turn.title("A title")
            await turn.usage(10, 100)
            await turn.usage(20, 100, cost=0.5, currency="EUR")

        _client, got = await ask(reply)
        assert got.of_kind("session_info_update")[-1]["title"] == "A title"
        first, second = got.of_kind("usage_update")
        assert "cost" not in first
        assert second["cost"] == {"amount": 0.5, "currency": "EUR"}


class TestPlan:
    async def test_entries_are_texts_pairs_or_mappings(self, ask, version):
        async def reply(turn):
            await turn.plan(
                [
                    "a",
                    ("b", "in_progress"),
                    {"content": "c", "priority": "high"},
                    ("d", "cancelled"),
                ]
            )

        _client, got = await ask(reply)
        [update] = got.of_kind("plan", "plan_update")
        plan = update if version == 1 else update["plan"]
        if version == 2:
            assert (plan["type"], plan["planId"]) == ("items", "plan")
        assert [(e["content"], e["priority"], e["status"]) for e in plan["entries"]] == [
            ("a", "medium", "pending"),
            ("b", "medium", "in_progress"),
            ("c", "high", "pending"),
            ("d", "medium", "pending" if version == 1 else "cancelled"),
        ]


class TestAsking:
    def asking(self, seen, **how):
        async def reply(turn):
            tool = (
                await turn.tool("Run it", kind="execute", input={"n": 1})
                if how.pop("tool", False)
                else None
            )
            seen.append(await turn.ask("May I?", tool=tool, **how))

        return reply

    async def ask_with(self, agent, connect, answer, **how):
        seen = []
        agent.prompt(self.asking(seen, **how))
        client = await connect(agent)
        client.answer_question = answer
        reply = await client.prompt("Hi")
        assert client.questions[0].method == "session/request_permission"
        return seen, client.questions[0].params, reply

    async def test_the_chosen_option_comes_back(self, agent, connect):
        seen, params, _reply = await self.ask_with(
            agent, connect, lambda _q: choose("allow-always")
        )
        assert (seen[0].id, seen[0].allows, seen[0].remembers) == ("allow-always", True, True)
        assert [o["kind"] for o in params["options"]] == [
            "allow_once",
            "allow_always",
            "reject_once",
        ]

    @pytest.mark.parametrize(
        "answer",
        [
            {"outcome": {"outcome": "cancelled"}},
            {"outcome": {"outcome": "_later", "optionId": "allow"}},
            {"outcome": "selected"},
            {},
            [],
            choose("not an option"),
        ],
    )
    async def test_whatever_is_no_known_choice_is_none(self, agent, connect, answer):
        seen, _params, _reply = await self.ask_with(agent, connect, lambda _q: answer)
        assert seen == [None]

    async def test_an_error_of_the_client_ends_the_turn_as_failed(self, agent, connect, caplog):
        def refuse(_request):
            raise RpcError(-32601, "No such method.")

        seen, _params, reply = await self.ask_with(agent, connect, refuse)
        assert seen == []
        assert reply.error is not None

    async def test_v2_shows_that_the_work_waits(self, agent, connect):
        agent.prompt(self.asking([]))
        client = await connect(agent, 2)
        reply = await client.prompt("Hi")
        states = [u["state"] for u in reply.of_kind("state_update")]
        assert states == ["running", "requires_action", "running", "idle"]

    async def test_the_tool_is_the_subject(self, agent, connect, version):
        _seen, params, _reply = await self.ask_with(
            agent, connect, lambda _q: choose("allow"), tool=True, description="It is quick."
        )
        call = {
            "toolCallId": "call_1",
            "title": "Run it",
            "kind": "execute",
            "status": "pending",
            "rawInput": {"n": 1},
            "content": [],
        }
        if version == 1:
            assert params["toolCall"] == call
        else:
            assert (params["title"], params["description"]) == ("May I?", "It is quick.")
            assert params["subject"] == {"type": "tool_call", "toolCall": call}

    @pytest.mark.parametrize("tool", [True, False])
    async def test_a_command_is_shown_as_one(self, agent, connect, version, tool):
        _seen, params, _reply = await self.ask_with(
            agent, connect, lambda _q: choose("allow"), command="make all", tool=tool
        )
        if version == 1:
            assert params["toolCall"]["rawInput"] == {"command": "make all"}
            assert params["toolCall"]["kind"] == "execute"
        else:
            subject = {"type": "command", "command": "make all", "cwd": "/work"}
            assert params["subject"] == {**subject, **({"toolCallId": "call_1"} if tool else {})}

    @pytest.mark.parametrize("description", ["Because.", None])
    async def test_without_a_tool_v1_gets_a_call_made_of_the_question(
        self, agent, connect, description
    ):
        agent.prompt(self.asking([], description=description))
        client = await connect(agent, 1)
        await client.prompt("Hi")
        call = client.questions[0].params["toolCall"]
        assert call["title"] == "May I?"
        texts = [item["content"]["text"] for item in call["content"]]
        assert texts == ([] if description is None else [description])

    async def test_two_questions_at_once_wait_until_both_are_answered(self, agent, connect):
        @agent.prompt
        async def ask_twice(turn):
            await asyncio.gather(turn.ask("One?"), turn.ask("Two?", [OWN]))

        client = await connect(agent, 2)
        client.answer_question = keep_waiting
        running = client.send_prompt("Hi")
        await client.question(2)
        for question in client.questions:
            question.respond(choose(question.params["options"][0]["optionId"]))
        reply = await running
        states = [u["state"] for u in reply.of_kind("state_update")]
        assert states == ["running", "requires_action", "running", "idle"]


OWN = PermissionOption("mine", "My own", "reject_always")


FIELDS = {"name": {"type": "string"}, "age": {"type": "integer"}}


class TestForms:
    async def test_values_come_back_by_name(self, ask):
        seen = []

        async def reply(turn):
            seen.append(await turn.form("Who?", FIELDS, required=["name"]))
            seen.append(await turn.form("Who?", {}))

        client, _reply = await ask(reply)
        assert seen == [fill_in()["content"]] * 2
        schema = client.questions[0].params["requestedSchema"]
        assert schema == {"type": "object", "properties": FIELDS, "required": ["name"]}

    @pytest.mark.parametrize(
        ("answer", "value"),
        [({"action": "decline"}, None), ({"action": "cancel"}, None), ({"action": "accept"}, {})],
    )
    async def test_declining_gives_none(self, agent, connect, answer, value):
        seen = []

        @agent.prompt
        async def reply(turn):
            seen.append(await turn.form("Who?", FIELDS))

        client = await connect(agent)
        client.answer_question = lambda _question: answer
        await client.prompt("Hi")
        assert seen == [value]

    async def test_without_forms_the_author_is_told_to_look_first(self, ask):
        async def reply(turn):
            assert not turn.has_forms
            with pytest.raises(RuntimeError, match="has_forms"):
                await turn.form("Who?", FIELDS)

        client, got = await ask(reply, forms=False)
        assert got.stop_reason == "end_turn"
        assert client.questions == []
