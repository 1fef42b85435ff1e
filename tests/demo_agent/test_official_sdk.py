"""The demo agent as a process, seen by the official Python SDK, which speaks v1."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path

import acp
from acp.schema import AllowedOutcome, RequestPermissionResponse

ROOT = Path(__file__).parents[2]
BOUND_S = 20


class Witness(acp.Client):
    """Takes everything, allows everything."""

    def __init__(self):
        self.updates = []
        self.asked = []

    async def session_update(self, session_id, update, **_kwargs):
        self.updates.append(update)

    async def request_permission(self, session_id, tool_call, options, **_kwargs):
        self.asked.append(tool_call.title)
        outcome = AllowedOutcome(outcome="selected", option_id=options[0].option_id)
        return RequestPermissionResponse(outcome=outcome)


async def test_the_sdk_takes_the_tour():
    witness = Witness()
    spawned = acp.spawn_agent_process(
        witness,
        sys.executable,
        "-m",
        "acp_notebook.demo_agent",
        "--pace",
        "0",
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    async with spawned as (agent, process):
        first = await agent.initialize(acp.PROTOCOL_VERSION)
        assert (first.protocol_version, first.agent_info.title) == (1, "Demo agent")
        session = await agent.new_session(cwd=str(ROOT), mcp_servers=[])
        prompt = agent.prompt(session.session_id, [acp.text_block("/tour")])
        ended = await asyncio.wait_for(prompt, BOUND_S)
    assert ended.stop_reason == "end_turn"
    assert witness.asked == ["Read sales.csv"]
    kinds = {update.session_update for update in witness.updates}
    assert kinds >= {
        "available_commands_update",
        "session_info_update",
        "agent_thought_chunk",
        "agent_message_chunk",
        "plan",
        "tool_call",
        "tool_call_update",
        "usage_update",
    }
    assert process.returncode == 0
