"""The agent side of ACP, small: write an agent in a notebook cell and speak v2 and v1 at once.

    agent = Agent("parrot")

    @agent.prompt
    async def reply(turn):
        await turn.say(f"You said: {turn.text}")

    agent.run()

Knows no notebook and no client of ours: what it says is for any ACP client.
"""

from acp_notebook.agent_kit.agent import Agent
from acp_notebook.agent_kit.definition import Command, Option
from acp_notebook.agent_kit.permission import ALLOW_OR_REJECT, PermissionOption
from acp_notebook.agent_kit.session import Session
from acp_notebook.agent_kit.tool import Terminal, Tool
from acp_notebook.agent_kit.tool_server import ToolAnswer, ToolServer
from acp_notebook.agent_kit.turn import Turn

__all__ = [
    "ALLOW_OR_REJECT",
    "Agent",
    "Command",
    "Option",
    "PermissionOption",
    "Session",
    "Terminal",
    "Tool",
    "ToolAnswer",
    "ToolServer",
    "Turn",
]
