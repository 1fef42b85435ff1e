"""A small kit for the agent side of ACP: an agent in one notebook cell that speaks v2 and v1.

    agent = Agent("parrot")

    @agent.prompt
    async def reply(turn):
        await turn.say(f"You said: {turn.text}")

    agent.run()

Works with any ACP client. Knows no notebook and nothing of our own client.
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
