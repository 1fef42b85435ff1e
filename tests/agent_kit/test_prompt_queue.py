"""The order of a turn: accepted, running, idle; stopping, failing and waiting prompts."""

from __future__ import annotations

import asyncio

import pytest
from wire_client import BOUND_S, keep_waiting

from acp_notebook.jsonrpc import RpcError


def gate(agent):
    """An agent whose turns begin to speak and then wait until they are let go."""
    opened = asyncio.Event()

    @agent.prompt
    async def reply(turn):
        await turn.say(f"begin {turn.text}.")
        await opened.wait()
        await turn.say(f"end {turn.text}.")

    return opened


def begins(update):
    return text_of(update).startswith("begin")


def text_of(update):
    is_chunk = update["sessionUpdate"] == "agent_message_chunk"
    return update["content"]["text"] if is_chunk else ""


class TestOrder:
    async def test_v2_echoes_the_prompt_runs_and_ends_idle(self, agent, connect):
        @agent.prompt
        async def reply(turn):
            await turn.say("Hello.")

        client = await connect(agent, 2)
        got = await client.prompt("Hi")
        assert got.kinds == [
            "user_message",
            "running",
            "session_info_update",
            "agent_message_chunk",
            "idle",
        ]
        assert got.updates[0]["content"] == [{"type": "text", "text": "Hi"}]
        assert got.updates[-1]["stopReason"] == "end_turn"

    async def test_v1_answers_the_prompt_at_its_end_and_tells_no_states(self, agent, connect):
        @agent.prompt
        async def reply(turn):
            await turn.say("Hello.")

        client = await connect(agent, 1)
        got = await client.prompt("Hi")
        assert got.kinds == ["session_info_update", "agent_message_chunk"]
        assert got.stop_reason == "end_turn"

    async def test_an_author_may_set_the_stop_reason(self, agent, connect):
        @agent.prompt
        async def reply(turn):
            turn.stop_reason = "refusal"

        client = await connect(agent)
        assert (await client.prompt("Hi")).stop_reason == "refusal"

    async def test_a_stop_reason_of_the_author_s_own_is_end_turn_in_v1(
        self, agent, connect, version
    ):
        @agent.prompt
        async def reply(turn):
            turn.stop_reason = "_tired"

        client = await connect(agent, 1)
        assert (await client.prompt("Hi")).stop_reason == "end_turn"

    async def test_a_prompt_without_text_names_no_session(self, agent, connect):
        client = await connect(agent)
        reply = await client.prompt([{"type": "image", "data": "", "mimeType": "image/png"}])
        assert reply.of_kind("session_info_update") == []


class TestFailing:
    async def failing(self, agent, connect, failure):
        @agent.prompt
        async def reply(turn):
            tool = await turn.tool("Divide")
            await tool.start()
            raise failure

        client = await connect(agent)
        return client, await client.prompt("Hi")

    def code_and_message(self, reply):
        error = reply.error
        if isinstance(error, RpcError):
            return error.code, error.message
        assert reply.stop_reason == "error"
        return error["code"], error["message"]

    async def test_a_failure_is_told_and_logged_and_the_session_goes_on(
        self, agent, connect, caplog
    ):
        client, reply = await self.failing(agent, connect, ZeroDivisionError("by zero"))
        assert self.code_and_message(reply) == (-32603, "ZeroDivisionError: by zero")
        assert reply.tool("call_1")["status"] == "failed"
        assert "by zero" in caplog.text
        agent.prompt(_fine)
        assert (await client.prompt("again")).stop_reason == "end_turn"

    async def test_an_error_of_the_author_s_choice_is_told_as_it_is(self, agent, connect, caplog):
        _client, reply = await self.failing(agent, connect, RpcError(-32000, "Log in first."))
        assert self.code_and_message(reply) == (-32000, "Log in first.")


async def _fine(turn):
    await turn.say("fine")


class TestStopping:
    async def test_the_turn_ends_cancelled_with_its_tools(self, agent, connect, version):
        @agent.prompt
        async def reply(turn):
            await turn.tool("Look")
            done = await turn.tool("Done")
            await done.complete()
            await asyncio.Event().wait()

        client = await connect(agent)
        turn = client.send_prompt("Hi")
        await client.update_after(0, lambda u: u.get("status") == "completed")
        client.cancel()
        client.cancel()
        ended = await asyncio.wait_for(turn, BOUND_S)
        assert ended.stop_reason == "cancelled"
        assert ended.tool("call_1")["status"] == ("failed" if version == 1 else "cancelled")
        assert ended.tool("call_2")["status"] == "completed"

    async def test_a_stop_right_behind_the_prompt_ends_its_turn_before_it_began(
        self, agent, connect, version
    ):
        @agent.prompt
        async def reply(turn):
            await turn.say("begin")

        client = await connect(agent)
        answer = asyncio.get_running_loop().create_future()
        blocks = [{"type": "text", "text": "Hi"}]
        params = {"sessionId": client.session_id, "prompt": blocks}
        client.connection.send_request("session/prompt", params, answer.set_result)
        client.cancel()  # is read together with the prompt
        ended = (await asyncio.wait_for(answer, BOUND_S)).result
        if version == 2:
            ended = await client.update_after(0, lambda u: u.get("state") == "idle")
        assert ended["stopReason"] == "cancelled"
        assert not any(text_of(update) for update in client.updates)
        assert (await client.prompt("Again")).text == "begin"

    async def test_what_an_author_says_while_being_stopped_comes_before_the_end(
        self, agent, connect
    ):
        @agent.prompt
        async def reply(turn):
            try:
                await turn.say("begin")
                await asyncio.Event().wait()
            finally:
                assert turn.cancelled
                await turn.say("bye")

        client = await connect(agent)
        turn = client.send_prompt("Hi")
        await client.update_after(0, begins)
        client.cancel()
        ended = await asyncio.wait_for(turn, BOUND_S)
        assert (ended.text, ended.stop_reason) == ("beginbye", "cancelled")

    @pytest.mark.parametrize("swallow", [True, False], ids=["swallowed", "turned into an error"])
    async def test_whatever_the_author_makes_of_the_stop_it_is_no_failure(
        self, agent, connect, swallow, caplog
    ):
        @agent.prompt
        async def reply(turn):
            try:
                await turn.say("begin")
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                if not swallow:
                    raise RuntimeError("aborted") from None

        client = await connect(agent)
        turn = client.send_prompt("Hi")
        await client.update_after(0, begins)
        client.cancel()
        ended = await asyncio.wait_for(turn, BOUND_S)
        assert (ended.stop_reason, ended.error) == ("cancelled", None)
        assert caplog.text == ""

    async def test_an_open_question_is_withdrawn(self, agent, connect):
        @agent.prompt
        async def reply(turn):
            await turn.ask("May I?")

        client = await connect(agent)
        client.answer_question = keep_waiting
        turn = client.send_prompt("Hi")
        await client.question()
        client.cancel()
        assert (await asyncio.wait_for(turn, BOUND_S)).stop_reason == "cancelled"
        assert client.questions[0].answered

    async def test_closing_the_session_stops_its_turn(self, agent, connect):
        gate(agent)
        client = await connect(agent)
        turn = client.send_prompt("Hi")
        await client.update_after(0, begins)
        await client.call("session/close", sessionId=client.session_id)
        assert (await asyncio.wait_for(turn, BOUND_S)).stop_reason == "cancelled"

    async def test_a_client_that_goes_stops_everything(self, agent, connect):
        stopped = asyncio.Event()

        @agent.prompt
        async def reply(turn):
            try:
                await turn.say("begin")
                await asyncio.Event().wait()
            finally:
                stopped.set()

        client = await connect(agent)
        turn = client.send_prompt("Hi")
        await client.update_after(0, begins)
        turn.cancel()
        await client.close()
        await asyncio.wait_for(stopped.wait(), BOUND_S)

    async def test_a_v1_prompt_may_be_cancelled_as_a_request(self, agent, connect):
        gate(agent)
        client = await connect(agent, 1)
        turn = client.send_prompt("Hi")
        await client.update_after(0, begins)
        client.connection.cancel_request(max(client.connection._pending))
        assert (await asyncio.wait_for(turn, BOUND_S)).error.code == -32800


class TestWaitingPrompts:
    async def test_a_second_prompt_waits_for_the_first(self, agent, connect):
        opened = gate(agent)
        client = await connect(agent)
        first = client.send_prompt("one")
        await client.update_after(0, begins)
        second = client.send_prompt("two")
        await client.call("session/list")
        opened.set()
        await asyncio.wait_for(first, BOUND_S)
        await asyncio.wait_for(second, BOUND_S)
        await client.update_after(0, lambda u: text_of(u) == "end two.")
        said = [u["content"]["text"] for u in client.updates if "chunk" in u["sessionUpdate"]]
        assert said == ["begin one.", "end one.", "begin two.", "end two."]

    async def test_stopping_drops_the_prompts_that_wait(self, agent, connect):
        gate(agent)
        client = await connect(agent)
        first = client.send_prompt("one")
        await client.update_after(0, begins)
        second = client.send_prompt("two")
        await client.call("session/list")
        client.cancel()
        assert (await asyncio.wait_for(first, BOUND_S)).stop_reason == "cancelled"
        assert (await asyncio.wait_for(second, BOUND_S)).error.code == -32800

    async def test_a_prompt_that_waits_may_be_withdrawn(self, agent, connect):
        opened = gate(agent)
        client = await connect(agent)
        first = client.send_prompt("one")
        await client.update_after(0, begins)
        second = client.send_prompt("two")
        await client.call("session/list")
        waiting = sorted(client.connection._pending)
        client.connection.cancel_request(waiting[-1])
        assert (await asyncio.wait_for(second, BOUND_S)).error.code == -32800
        opened.set()
        assert (await asyncio.wait_for(first, BOUND_S)).stop_reason == "end_turn"
