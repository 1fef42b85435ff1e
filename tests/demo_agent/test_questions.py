"""Where the demo agent needs its user. The raw client judges by the official schema."""

from __future__ import annotations

import pytest
from wire_client import choose, fill_in


class TestPermission:
    async def test_allowed_the_tool_runs(self, client, version):
        reply = await client.prompt("/permission")
        assert reply.tool("call_1")["status"] == "completed"
        assert "250 rows" in reply.text
        [question] = client.questions
        if version == 2:
            assert question.params["title"] == "Count the rows of sales.csv?"
            assert question.params["subject"]["toolCall"]["status"] == "pending"
        kinds = [option["kind"] for option in question.params["options"]]
        assert kinds == ["allow_once", "allow_always", "reject_once"]

    @pytest.mark.parametrize("answer", [choose("reject"), {"outcome": {"outcome": "cancelled"}}])
    async def test_refused_it_does_not_run(self, client, version, answer):
        client.answer_question = lambda _question: answer
        reply = await client.prompt("/permission")
        tool = reply.tool("call_1")
        assert tool["status"] == ("failed" if version == 1 else "cancelled")
        statuses = [update.get("status") for update in reply.updates]
        assert "in_progress" not in statuses
        assert "leave it alone" in reply.text
        assert reply.stop_reason == "end_turn"

    async def test_always_is_kept_as_the_mode_and_told(self, client):
        client.answer_question = lambda _question: choose("allow-always")
        reply = await client.prompt("/permission")
        [told] = reply.of_kind("config_option_update")
        assert told["configOptions"][0]["currentValue"] == "trust"
        await client.prompt("/permission")
        assert len(client.questions) == 1

    async def test_in_trust_mode_nothing_is_asked(self, client, version):
        typed = {"type": "id"} if version == 2 else {}
        await client.call(
            "session/set_config_option",
            sessionId=client.session_id,
            configId="mode",
            value="trust",
            **typed,
        )
        reply = await client.prompt("/permission")
        assert reply.tool("call_1")["status"] == "completed"
        assert client.questions == []


class TestForm:
    async def test_what_was_filled_in_is_repeated(self, client):
        client.answer_question = lambda _question: fill_in(name="Ada", drink="tea", cups=3)
        reply = await client.prompt("/ask")
        assert '"name": "Ada"' in reply.text
        assert '"cups": 3' in reply.text
        schema = client.questions[0].params["requestedSchema"]
        assert list(schema["properties"]) == ["name", "drink", "cups", "sugar"]

    async def test_declining_is_fine(self, client):
        client.answer_question = lambda _question: {"action": "decline"}
        assert "That is fine" in (await client.prompt("/ask")).text

    async def test_without_forms_it_says_so(self, connect):
        client = await connect(forms=False)
        assert "`elicitation.form`" in (await client.prompt("/ask")).text
        assert client.questions == []
