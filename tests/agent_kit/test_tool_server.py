"""An agent's way to the MCP servers that its client hands over, at a real server."""

from __future__ import annotations

import asyncio

import pytest
from wire_client import BOUND_S, WireClient

from acp_notebook.agent_kit import Agent
from acp_notebook.agent_kit.tool_server import connect
from acp_notebook.jsonrpc import MemoryTransport
from acp_notebook.kernel.tools.results import ToolResult, text_result
from acp_notebook.kernel.tools.server.tool_server import ToolServer, bridge_entry, http_entry
from acp_notebook.session.content import ImageBlock, TextBlock


class Echo:
    def listed(self):
        schema = {"type": "object"}
        return [{"name": "echo", "description": "Says it again.", "inputSchema": schema}]

    async def call(self, caller, name, arguments):
        if name != "echo":
            return text_result("no such tool", is_error=True)
        blocks = (TextBlock(f"{caller} said {arguments['text']}"), ImageBlock("aGk=", "image/png"))
        return ToolResult(blocks)


@pytest.fixture
def server():
    server = ToolServer(Echo())
    yield server
    server.close().result(BOUND_S)


@pytest.mark.parametrize("write", [http_entry, bridge_entry], ids=["http", "stdio"])
async def test_tools_are_listed_and_called_over_each_transport(server, write):
    entry = write(server.url, server.register("the agent"))
    async with connect(entry) as tools:
        assert tools.tools == {"echo": "Says it again."}
        answer = await tools.call("echo", text="hi")
        assert answer.text == "the agent said hi"
        assert answer.blocks[1] == {"type": "image", "data": "aGk=", "mimeType": "image/png"}
        assert not answer.failed
        assert (await tools.call("dance")).failed


async def test_an_entry_of_version_1_without_a_type_is_stdio(server):
    entry = bridge_entry(server.url, server.register("the agent"))
    del entry["type"]
    async with connect(entry) as tools:
        assert "echo" in tools.tools


async def test_a_transport_that_the_kit_lacks_is_said_to_be_so():
    with pytest.raises(ValueError, match="speaks 'sse'; the kit has http, stdio"):
        async with connect({"type": "sse", "url": "http://x"}):
            pass


@pytest.mark.parametrize("version", [1, 2])
async def test_an_agent_says_how_it_reaches_servers_and_finds_one_by_name(server, version):
    agent = Agent("with-tools", mcp=["http", "stdio"])

    @agent.prompt
    async def reply(turn):
        assert turn.session.has_tools("notebook")
        assert not turn.session.has_tools("other")
        async with turn.session.tools("notebook") as tools:
            await turn.say((await tools.call("echo", text=turn.text)).text)
        with pytest.raises(LookupError, match=r"no MCP server other\. There are: notebook"):
            async with turn.session.tools("other"):
                pass

    ours, theirs = MemoryTransport.pair()
    serving = asyncio.create_task(agent.serve(theirs))
    client = WireClient(ours, version)
    answer = await client.start()
    offered = answer["capabilities"]["session"] if version == 2 else answer["agentCapabilities"]
    assert offered["mcp" if version == 2 else "mcpCapabilities"]["http"] in ({}, True)
    await client.new_session(servers=[http_entry(server.url, server.register("the agent"))])
    heard = await client.prompt("hi")
    assert heard.error is None
    assert heard.text == "the agent said hi"
    await client.close()
    await asyncio.wait_for(serving, BOUND_S)


def test_an_unknown_transport_is_refused_when_the_agent_is_made():
    with pytest.raises(ValueError, match="It may have: http, stdio"):
        Agent("odd", mcp=["pigeon"])
