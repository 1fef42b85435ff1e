"""A learner's agent, run as a process by the tests of stdin and stdout."""

from __future__ import annotations

import asyncio
import sys

from acp_notebook.agent_kit import Agent

agent = Agent("parrot")


@agent.prompt
async def reply(turn):
    print("a stray print", flush=True)
    child = await asyncio.create_subprocess_exec(sys.executable, "-c", "print('a child prints')")
    await child.wait()
    await turn.say(f"{turn.text}!")


agent.run()
