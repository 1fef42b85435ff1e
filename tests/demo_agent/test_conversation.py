"""What the demo agent says. The raw client judges every message by the official schema."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path

import pytest
from wire_client import BOUND_S, WireClient

from acp_notebook.jsonrpc import ConnectionLost, RpcError, StreamTransport

ROOT = Path(__file__).parents[2]
COMMANDS = (
    "tour",
    "plan",
    "permission",
    "diff",
    "terminal",
    "slow",
    "long",
    "ask",
    "error",
    "crash",
    "help",
)


class TestReply:
    @pytest.mark.parametrize("greeting", ["Hello", "hi!", "Good morning, agent", "Hallo Welt"])
    async def test_a_greeting_is_returned(self, client, greeting):
        reply = await client.prompt(greeting)
        assert reply.text.startswith("Hello! I am the **demo agent**")
        assert reply.stop_reason == "end_turn"

    async def test_it_says_what_it_is_what_it_got_and_what_it_can_do(self, client):
        reply = await client.prompt("What is\nthe high score?")
        assert reply.text.startswith("I am the **demo agent**")
        assert "I have no model" in reply.text
        assert "> What is\n> the high score?" in reply.text
        assert all(f"- `/{name}`" in reply.text for name in COMMANDS)
        assert reply.of_kind("usage_update")

    async def test_the_same_prompt_gets_the_same_updates(self, connect):
        first, second = await connect(), await connect()
        assert (await first.prompt("Hm?")).updates == (await second.prompt("Hm?")).updates

    async def test_attached_blocks_are_named(self, client):
        reply = await client.prompt(
            [
                {"type": "text", "text": "Look"},
                {"type": "resource_link", "name": "data.csv", "uri": "file:///data.csv"},
                {
                    "type": "resource",
                    "resource": {"uri": "var:///df", "text": "a\nb\n", "mimeType": "text/plain"},
                },
                {"type": "resource", "resource": {"uri": "var:///`raw`\n", "blob": "aGk="}},
                {"type": "image", "data": "aGk=", "mimeType": "image/png"},
                {"type": "audio", "data": "aGk=", "mimeType": "audio/wav"},
                {"type": "resource"},
                {"type": "_new"},
            ]
        )
        assert reply.text.split("You attached:\n\n")[1].split("\n\n")[0].splitlines() == [
            "- a link to `data.csv`",
            "- the resource `var:///df`, 2 lines",
            "- the resource `var:///'raw' `",
            "- an image (`image/png`)",
            "- a sound (`audio/wav`)",
            "- a resource without content",
            "- something of the type `_new`",
        ]

    async def test_a_prompt_without_text_is_no_problem(self, client):
        image = {"type": "image", "data": "", "mimeType": "image/png"}
        assert "You sent no text." in (await client.prompt([image])).text

    async def test_a_long_text_is_quoted_in_part(self, client):
        assert f"> {'x' * 600}…" in (await client.prompt("x" * 5000)).text

    async def test_an_unknown_command_is_answered_with_those_there_are(self, client):
        reply = await client.prompt("/dance now")
        assert "no command `/dance`" in reply.text
        assert "- `/tour`" in reply.text

    async def test_help_lists_the_commands_that_the_session_told(self, client):
        reply = await client.prompt("/help")
        assert all(f"- `/{name}`" in reply.text for name in COMMANDS)
        assert "- `/long` *number of sections*: " in reply.text


class TestLong:
    @pytest.mark.parametrize(("argument", "sections"), [("", 20), ("3", 3), ("many", 20), ("0", 0)])
    async def test_it_has_as_many_sections_as_asked_for(self, client, argument, sections):
        reply = await client.prompt(f"/long {argument}")
        assert reply.text.count("\n## Section ") == sections
        assert reply.text.endswith(f"Those were {sections} sections.\n")

    async def test_all_pieces_are_one_message(self, client):
        reply = await client.prompt("/long 5")
        chunks = reply.of_kind("agent_message_chunk")
        assert len({chunk["messageId"] for chunk in chunks}) == 1
        assert len(chunks) > 100


class TestSlow:
    async def test_it_can_be_stopped_whatever_the_pace(self, client):
        turn = client.send_prompt("/slow")
        await client.update_after(0, lambda u: u["sessionUpdate"] == "agent_message_chunk")
        client.cancel()
        reply = await asyncio.wait_for(turn, BOUND_S)
        assert reply.stop_reason == "cancelled"
        assert reply.text.startswith("This ")

    async def test_it_comes_to_an_end(self, client):
        reply = await client.prompt("/slow 0.01")
        assert reply.text == "This … and now it is over.\n"


class TestError:
    async def test_the_turn_fails_and_the_session_goes_on(self, client, version):
        reply = await client.prompt("/error")
        if version == 1:
            assert isinstance(reply.error, RpcError)
            assert "asked to fail" in reply.error.message
        else:
            assert reply.stop_reason == "error"
            assert "asked to fail" in reply.error["message"]
        assert reply.text.startswith("I begin to answer")
        assert (await client.prompt("Hello")).stop_reason == "end_turn"


@pytest.mark.process
class TestCrash:
    async def test_the_process_ends_in_mid_turn_with_code_3_and_a_word_on_stderr(self, version):
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "acp_notebook.demo_agent",
            "--pace",
            "0",
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
        )
        client = WireClient(StreamTransport(process.stdout, process.stdin), version)
        await client.start()
        await client.new_session()
        crashed = client.send_prompt("/crash")
        await client.ended()
        if version == 1:
            assert isinstance((await crashed).error, ConnectionLost)
        else:
            crashed.cancel()
        await client.close()
        stderr = await asyncio.wait_for(process.stderr.read(), BOUND_S)
        assert b"fatal: asked to crash" in stderr
        assert await asyncio.wait_for(process.wait(), BOUND_S) == 3
        assert any(u["sessionUpdate"] == "agent_message_chunk" for u in client.updates)
        assert not any(u.get("state") == "idle" for u in client.updates)
