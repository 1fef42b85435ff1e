"""The demo agent as a data explorer: it inspects a variable, asks, runs pandas code, and reports.

Rule-based and the same in every run: it reports the numbers that the code printed. It reaches the
variables through the notebook tools of the client, if the client has any. Knows no kernel.
"""

from __future__ import annotations

import json
import re
from typing import Any, Final

from acp_notebook.agent_kit import ToolServer, Turn
from acp_notebook.demo_agent.findings import FACTS_CODE, FIGURE_CODE, report
from acp_notebook.demo_agent.work import step_status

SERVER: Final = "notebook"
_ASKS: Final = re.compile(
    r"\b(describe|explore|odd|strange|unusual|outliers?|anomal\w+)\b", re.IGNORECASE
)
_MENTION: Final = re.compile(r"@([^\W\d]\w*(?:\.[^\W\d]\w*)*)")
_NAME: Final = re.compile(r"[^\W\d]\w*(?:\.[^\W\d]\w*)*")
_MARK: Final = "demo-facts:"
_STEPS: Final = ("Look at {0}", "Compute its numbers", "Draw them", "Report")


def asked_about(text: str) -> str | None:
    """Return the variable that a prompt asks to describe, or None for another prompt."""
    mention = _MENTION.search(text)
    return mention[1] if mention and _ASKS.search(text) else None


async def describe(turn: Turn) -> None:
    """Reply to `/describe NAME`."""
    name = turn.argument.lstrip("@")
    if _NAME.fullmatch(name):
        await explore(turn, name)
    else:
        await turn.stream("Which variable? Write its name, as in `/describe df`.\n")


async def explore(turn: Turn, name: str) -> None:
    """Describe a variable of the client's kernel."""
    if not turn.session.has_tools(SERVER):
        await turn.stream(
            f"To look at `{name}` I need the notebook's tools, and this session has none: the "
            "client handed over no MCP server. In acp_notebook, start me without `--no-tools`.\n"
        )
        return
    await turn.think(f"I look at `{name}` before I run anything.")
    await _show_plan(turn, name, done=0)
    async with turn.session.tools(SERVER) as notebook:
        description = await _look(turn, notebook, name)
        if description.startswith("pandas DataFrame"):
            await _work(turn, notebook, name)
            return
        await _show_plan(turn, name, done=1, dropped=True)
        if description:
            await turn.stream(
                f"`{name}` is no pandas DataFrame, so what you see above is all I can say. "
                "I have rules for frames only.\n"
            )


async def _look(turn: Turn, notebook: ToolServer, name: str) -> str:
    """Inspect a variable; return its description, which is empty if it does not exist."""
    tool = await turn.tool(f"Inspect {name}", kind="read", input={"name": name})
    await tool.start()
    answer = await notebook.call("inspect", name=name)
    if answer.failed:
        await tool.fail(answer.text)
        await turn.stream(f"I cannot look at `{name}`: {answer.text}\n")
        return ""
    await tool.complete(answer.text)
    return answer.text


async def _work(turn: Turn, notebook: ToolServer, name: str) -> None:
    await _show_plan(turn, name, done=1)
    await turn.stream("I compute its numbers next, in your kernel. You see the code first.\n")
    answer = await notebook.call("run_code", code=FACTS_CODE.format(name=name, mark=_MARK))
    turn.new_message()
    facts = _facts(answer.text)
    if facts is None:
        await _show_plan(turn, name, done=1, dropped=True)
        await turn.stream(f"\nThat did not work, so I have no numbers:\n\n{_quoted(answer.text)}\n")
        return
    await _show_plan(turn, name, done=2)
    drawn = await _draw(turn, notebook, name, facts)
    await _show_plan(turn, name, done=3)
    await turn.stream(report(name, facts, drawn))
    await _show_plan(turn, name, done=4)
    await turn.usage(used=2_000 + len(answer.text), size=200_000, cost=0.0)


async def _draw(turn: Turn, notebook: ToolServer, name: str, facts: dict[str, Any]) -> bool:
    columns = [column["name"] for column in facts["numbers"]][:6]
    if not columns:
        return False
    answer = await notebook.call("run_code", code=FIGURE_CODE.format(name=name, columns=columns))
    turn.new_message()
    if answer.failed:
        await turn.stream(f"\nThere is no figure:\n\n{_quoted(answer.text)}\n\n")
    return not answer.failed


def _facts(text: str) -> dict[str, Any] | None:
    printed = (line for line in text.splitlines() if line.startswith(_MARK))
    try:
        found = json.loads(next(printed, "").removeprefix(_MARK))
    except ValueError:
        return None
    return found if isinstance(found, dict) else None


def _quoted(text: str) -> str:
    return "\n".join(f"> {line}" for line in text.strip().splitlines()[-6:])


async def _show_plan(turn: Turn, name: str, *, done: int, dropped: bool = False) -> None:
    await turn.plan(
        (
            step.format(name),
            "cancelled" if dropped and number >= done else step_status(number, done),
        )
        for number, step in enumerate(_STEPS)
    )
