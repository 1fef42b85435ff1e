"""A client of the demo agent, in memory, over both protocol versions."""

from __future__ import annotations

import asyncio

import pytest
from wire_client import BOUND_S, WireClient

from acp_notebook.demo_agent import make_agent
from acp_notebook.jsonrpc import MemoryTransport


@pytest.fixture(params=[1, 2], ids=["v1", "v2"])
def version(request):
    return request.param


@pytest.fixture
async def connect(version):
    """Connect a client to a demo agent of its own: `client = await connect()`."""
    opened = []

    async def connect(*, forms=True):
        ours, theirs = MemoryTransport.pair()
        serving = asyncio.create_task(make_agent(pace_s=0).serve(theirs))
        client = WireClient(ours, version, forms=forms)
        opened.append((client, serving))
        await client.start()
        await client.new_session()
        return client

    yield connect
    for client, serving in opened:
        await client.close()
        await asyncio.wait_for(serving, BOUND_S)


@pytest.fixture
async def client(connect):
    return await connect()
