"""The demo agent's questions to its user: permission for a tool, and a form."""

from __future__ import annotations

import json
from typing import Any, Final

from acp_notebook.agent_kit import Tool, Turn

_FIELDS: Final[dict[str, dict[str, Any]]] = {
    "name": {
        "type": "string",
        "title": "Name",
        "description": "How shall I call you?",
        "minLength": 1,
        "maxLength": 40,
    },
    "drink": {
        "type": "string",
        "title": "Drink",
        "oneOf": [
            {"const": "tea", "title": "Tea"},
            {"const": "coffee", "title": "Coffee"},
            {"const": "water", "title": "Water"},
        ],
        "default": "tea",
    },
    "cups": {"type": "integer", "title": "Cups", "minimum": 1, "maximum": 9, "default": 2},
    "sugar": {"type": "boolean", "title": "With sugar", "default": False},
}


async def permission(turn: Turn) -> None:
    """Ask permission for a tool call, then run or cancel it."""
    await turn.stream("I would like to count the rows of a file, and I ask you first.\n")
    tool = await turn.tool(
        "Count the rows of sales.csv",
        kind="read",
        input={"path": f"{turn.session.cwd}/sales.csv"},
        locations=[f"{turn.session.cwd}/sales.csv"],
    )
    if await allowed(turn, tool, "It only reads. (It is a demonstration: no file is touched.)"):
        await tool.start()
        await turn.pause(10 * turn.pace_s)
        await tool.complete("250 rows", output={"rows": 250})
        await turn.stream("Thank you! There are **250 rows**, as there always are in this demo.\n")
    else:
        await tool.cancel("You did not allow it.")
        await turn.stream("All right, I leave it alone.\n")


async def allowed(turn: Turn, tool: Tool, description: str) -> bool:
    """Ask whether the tool call may run; an "always" sets the session's mode to `trust`."""
    if turn.session.options["mode"] == "trust":
        return True
    choice = await turn.ask(f"{tool.title}?", description=description, tool=tool)
    if choice is None or not choice.allows:
        return False
    if choice.remembers:
        await turn.set_option("mode", "trust")
    return True


async def ask(turn: Turn) -> None:
    """Ask the user to fill in a form."""
    if not turn.has_forms:
        await turn.stream(
            "I would show you a form, but your client did not say that it can show forms"
            " (`elicitation.form` in its capabilities).\n"
        )
        return
    answer = await turn.form("A few details, please", _FIELDS, required=["name", "drink"])
    if answer is None:
        await turn.stream("No form, then. That is fine.\n")
    else:
        shown = json.dumps(answer, indent=2, ensure_ascii=False)
        await turn.stream(f"Thank you! You filled in:\n\n```json\n{shown}\n```\n")
