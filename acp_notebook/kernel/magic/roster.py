"""The agents of this notebook by label, and the present one. Knows no magic."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from acp_notebook.errors import UsageError, suggestion

if TYPE_CHECKING:
    from acp_notebook.client.agent import Agent


class Roster:
    """Agents in order of use; the last one is the present one."""

    def __init__(self) -> None:
        self._agents: dict[str, Agent] = {}

    def __iter__(self) -> Iterator[Agent]:
        return iter(list(self._agents.values()))

    def __len__(self) -> int:
        return len(self._agents)

    def free_label(self, label: str) -> None:
        """Check that a label is free.

        Raises:
            UsageError: An agent with this label runs.
        """
        if label in self._agents:
            raise UsageError(
                f"An agent called {label!r} is already here. End it with %acp quit {label}, "
                f"or start another one beside it with --as OTHER."
            )

    def add(self, agent: Agent) -> None:
        """Add an agent, which becomes the present one."""
        self._agents[agent.label] = agent

    def find(self, label: str | None = None) -> Agent:
        """Return the agent with a label, which becomes the present one, or the present agent.

        Raises:
            UsageError: There is no such agent.
        """
        if not self._agents:
            raise UsageError("No agent is running. Start one: %acp start demo")
        if label is None:
            return next(reversed(self._agents.values()))
        if label not in self._agents:
            meant = suggestion(label, self._agents)
            raise UsageError(
                f"There is no agent called {label!r}.{meant} Running: {', '.join(self._agents)}."
            )
        agent = self._agents[label] = self._agents.pop(label)
        return agent

    def quit(self, agent: Agent) -> None:
        """End an agent."""
        self._agents.pop(agent.label, None)
        agent.quit()

    def quit_all(self) -> list[str]:
        """End all agents; return their labels."""
        labels = list(self._agents)
        for agent in self:
            self.quit(agent)
        return labels
