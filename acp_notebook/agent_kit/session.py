"""A session of an agent: its directory, option values and history. Knows no wire."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

from acp_notebook.agent_kit.definition import Option
from acp_notebook.agent_kit.tool_server import ToolServer, connect
from acp_notebook.agent_kit.updates import Update

TITLE_LIMIT = 60


class Session:
    """A session's data, kept until the agent's process ends."""

    def __init__(self, session_id: str, cwd: str, options: Sequence[Option]) -> None:
        self.id = session_id
        self.cwd = cwd
        self.title: str | None = None
        self.mcp_servers: list[Any] = []
        self.memory: dict[str, Any] = {}
        """For the author: whatever the agent has to remember from turn to turn."""
        self._options = {option.id: option for option in options}
        self._values = {option.id: option.default for option in options}
        self.history: list[Update] = []
        """The updates from which a client can rebuild the session."""
        self._counts: Counter[str] = Counter()

    @property
    def options(self) -> dict[str, str | bool]:
        """The option values by option id."""
        return dict(self._values)

    @asynccontextmanager
    async def tools(self, name: str | None = None) -> AsyncIterator[ToolServer]:
        """Connect to an MCP server that the client passed; for an `async with` block.

        Args:
            name: The server's name; by default the first server.

        Raises:
            LookupError: The client passed no such server.
            ValueError: The server's transport is neither http nor stdio.
        """
        entries = [entry for entry in self.mcp_servers if isinstance(entry, dict)]
        for entry in entries:
            if name is None or entry.get("name") == name:
                async with connect(entry) as server:
                    yield server
                return
        known = ", ".join(str(entry.get("name")) for entry in entries) or "none"
        raise LookupError(f"The client handed over no MCP server {name or ''}. There are: {known}.")

    def has_tools(self, name: str) -> bool:
        """Whether the client passed an MCP server of this name."""
        return any(isinstance(e, dict) and e.get("name") == name for e in self.mcp_servers)

    def set_option(self, option_id: str, value: object) -> None:
        """Set an option.

        Raises:
            ValueError: There is no such option, or the option has no such value.
        """
        option = self._options.get(option_id)
        if option is None:
            known = ", ".join(self._options) or "none"
            raise ValueError(f"There is no option {option_id!r}. Known options: {known}.")
        if not option.takes(value):
            values = ", ".join(option.choices) or "true, false"
            raise ValueError(f"{value!r} is no value of {option_id!r}. Its values: {values}.")
        self._values[option_id] = value if isinstance(value, bool) else str(value)

    def new_id(self, kind: str) -> str:
        """Return an id that is new in this session; every run yields the same sequence."""
        self._counts[kind] += 1
        return f"{kind}_{self._counts[kind]}"

    def described_options(self) -> list[dict[str, Any]]:
        """Return the options with their values, under v2's names."""
        return [_described(option, self._values[option.id]) for option in self._options.values()]


def _described(option: Option, value: str | bool) -> dict[str, Any]:
    described: dict[str, Any] = {"configId": option.id, "name": option.name}
    if option.description is not None:
        described["description"] = option.description
    if option.category is not None:
        described["category"] = option.category
    if option.choices:
        choices = [{"value": key, "name": label} for key, label in option.choices.items()]
        return {**described, "type": "select", "currentValue": value, "options": choices}
    return {**described, "type": "boolean", "currentValue": value}
