"""An agent as a process: stdin and stdout belong to the protocol, whatever else is printed."""

from __future__ import annotations

import asyncio
import os
import sys
import threading
from pathlib import Path

import pytest
from wire_client import BOUND_S, WireClient

from acp_notebook.agent_kit.stdio import StdioTransport
from acp_notebook.jsonrpc import StreamTransport

PARROT = Path(__file__).with_name("parrot.py")
ROOT = Path(__file__).parents[2]


async def test_prints_of_the_agent_and_its_children_go_to_stderr():
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        str(PARROT),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    client = WireClient(StreamTransport(process.stdout, process.stdin), 2)
    await client.start()
    await client.new_session()
    assert (await client.prompt("hello")).text == "hello!"
    await client.close()
    stderr = await asyncio.wait_for(process.stderr.read(), BOUND_S)
    assert b"a stray print" in stderr
    assert b"a child prints" in stderr
    assert await asyncio.wait_for(process.wait(), BOUND_S) == 0


class Pipes:
    """Both pipes of an agent; each end is closed once."""

    def __init__(self):
        agent_reads, client_writes = os.pipe()
        client_reads, agent_writes = os.pipe()
        self.open = {
            "agent reads": agent_reads,
            "client writes": client_writes,
            "client reads": client_reads,
            "agent writes": agent_writes,
        }
        self.transport = StdioTransport(agent_reads, agent_writes)

    def write(self, data):
        os.write(self.open["client writes"], data)

    def read(self):
        return os.read(self.open["client reads"], 100)

    def close(self, end):
        if end in self.open:
            os.close(self.open.pop(end))


@pytest.fixture
async def pipes():
    made = Pipes()
    yield made
    made.close("client writes")
    # The reading thread sees the end, and only then its descriptor may go.
    for thread in threading.enumerate():
        if thread.name == "acp-stdin":
            thread.join(BOUND_S)
    for end in list(made.open):
        made.close(end)


async def soon(awaitable):
    return await asyncio.wait_for(awaitable, BOUND_S)


async def test_lines_come_and_go(pipes):
    pipes.write(b"one\ntwo\nlast")
    assert await soon(pipes.transport.receive()) == b"one"
    assert await soon(pipes.transport.receive()) == b"two"
    pipes.transport.send(b"three")
    await pipes.transport.drain()
    assert pipes.read() == b"three\n"
    pipes.close("client writes")
    assert await soon(pipes.transport.receive()) == b"last"
    assert await soon(pipes.transport.receive()) is None
    assert await soon(pipes.transport.receive()) is None


async def test_closing_ends_a_waiting_receive(pipes):
    waiting = asyncio.create_task(pipes.transport.receive())
    await asyncio.sleep(0)
    await pipes.transport.aclose()
    assert await soon(waiting) is None


async def test_a_client_that_is_gone_is_an_end(pipes):
    pipes.close("client reads")
    pipes.transport.send(b"to nobody")
    assert await soon(pipes.transport.receive()) is None
