"""Agents and clients for the tests of the kit: in memory, over both protocol versions."""

from __future__ import annotations

import asyncio

import pytest
from wire_client import BOUND_S, WireClient

from acp_notebook.agent_kit import Agent
from acp_notebook.jsonrpc import MemoryTransport


@pytest.fixture(params=[1, 2], ids=["v1", "v2"])
def version(request):
    return request.param


@pytest.fixture
def agent():
    return Agent("tester", version="1.2", title="The tester")


@pytest.fixture
async def connect(version):
    """Connect a client to an agent: `client = await connect(agent)`."""
    opened = []

    async def connect(agent, version=version, *, new_session=True, forms=True):
        ours, theirs = MemoryTransport.pair()
        serving = asyncio.create_task(agent.serve(theirs))
        client = WireClient(ours, version, forms=forms)
        opened.append((client, serving))
        await client.start()
        if new_session:
            await client.new_session()
        return client

    yield connect
    for client, serving in opened:
        await client.close()
        await asyncio.wait_for(serving, BOUND_S)
