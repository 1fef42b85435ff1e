"""The demo agent's declaration: its commands, its options and its reply. Knows no wire."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from acp_notebook.agent_kit import Agent, Turn
from acp_notebook.demo_agent import conversation, data, questions, work
from acp_notebook.version import __version__

DEFAULT_PACE_S: Final = 0.02
_COMMANDS: Final = (
    ("tour", "Shows everything once: thought, plan, tools, permission, diff", None, work.tour),
    ("describe", "Describes a variable of your notebook", "its name", data.describe),
    ("plan", "Shows a plan and works it off", None, work.plan),
    ("permission", "Asks your permission for a tool", None, questions.permission),
    ("diff", "Shows a change of a file and a new file", None, work.diff),
    ("terminal", "Shows a command running in a terminal", None, work.terminal),
    ("slow", "Talks for 30 seconds, for trying Stop", "seconds", conversation.slow),
    ("long", "Writes a long reply", "number of sections", conversation.long),
    ("ask", "Asks you to fill in a form", None, questions.ask),
    ("error", "Fails in the middle of its reply", None, conversation.error),
    ("crash", "Ends its own process, as a broken agent would", None, conversation.crash),
)


def make_agent(*, pace_s: float = DEFAULT_PACE_S, protocols: Iterable[int] = (1, 2)) -> Agent:
    """Make a new demo agent, without sessions.

    Args:
        pace_s: Seconds between two words; 0 does not wait.
        protocols: The supported protocol versions.
    """
    agent = Agent(
        "acp-notebook-demo",
        title="Demo agent",
        version=__version__,
        accepts=("image", "audio", "embedded_context"),
        mcp=("http", "stdio"),
        protocols=protocols,
        pace_s=pace_s,
    )
    agent.option(
        "mode",
        "Mode",
        category="mode",
        description="Whether it asks before it uses a tool",
        default="ask",
        choices={"ask": "Ask first", "trust": "Trust"},
    )
    for name, description, hint, reply in _COMMANDS:
        agent.command(name, description, hint=hint)(reply)
    _declare_replies(agent)
    return agent


def _declare_replies(agent: Agent) -> None:
    @agent.command("help", "Lists the commands")
    async def help_(turn: Turn) -> None:
        await turn.stream(conversation.help_text(agent.commands))

    @agent.prompt
    async def reply(turn: Turn) -> None:
        name = data.asked_about(turn.text) if turn.command is None else None
        if name is not None:
            await data.explore(turn, name)
            return
        await turn.stream(conversation.reply_text(turn, agent.commands))
        await turn.usage(used=1200 + 4 * len(turn.text), size=200_000, cost=0.0)
