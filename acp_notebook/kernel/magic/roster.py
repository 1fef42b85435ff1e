"""The agents of this notebook by label, and the present one. Knows no magic.

`%acp start` adds agents. Those that Python code started (`acp_notebook.start`) are known too, by a
name of their own, but none of them is ever the present one.
"""

from __future__ import annotations

import itertools
import weakref
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from acp_notebook.errors import UsageError, suggestion

if TYPE_CHECKING:
    from acp_notebook.client.agent import Agent


class Roster:
    """Agents in order of use; the last one is the present one."""

    def __init__(self) -> None:
        self._agents: dict[str, Agent] = {}
        self._others: weakref.WeakValueDictionary[str, Agent] = weakref.WeakValueDictionary()

    def __iter__(self) -> Iterator[Agent]:
        return iter(list(self._agents.values()))

    def __len__(self) -> int:
        return len(self._agents)

    @property
    def others(self) -> dict[str, Agent]:
        """The running agents that Python code started, by name: their label, or it and a number."""
        from acp_notebook.client.ending import running_agents

        running = [agent for agent in running_agents() if agent not in self._agents.values()]
        known = {agent: name for name, agent in self._others.items() if name not in self._agents}
        names = {agent: known[agent] for agent in running if agent in known}
        for agent in running:
            if agent not in names:
                names[agent] = self._free_name(agent.label, names.values())
        self._others = weakref.WeakValueDictionary({name: agent for agent, name in names.items()})
        return {names[agent]: agent for agent in running}

    def _free_name(self, label: str, taken: Iterable[str]) -> str:
        names = itertools.chain([label], (f"{label}-{number}" for number in itertools.count(2)))
        return next(name for name in names if name not in self._agents and name not in taken)

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
        """Return the agent with a label, or the present one.

        An agent of `%acp start` becomes the present one.

        Raises:
            UsageError: There is no such agent.
        """
        if label is None and self._agents:
            return next(reversed(self._agents.values()))
        if label in self._agents:
            agent = self._agents[label] = self._agents.pop(label)
            return agent
        others = self.others
        if label in others:
            return others[label]
        if label is None and others:
            raise UsageError(
                f"Python code started {_listed(others)}: say which one you mean by its name, or "
                "start one here: %acp start demo"
            )
        if label is None or not (self._agents or others):
            raise UsageError("No agent is running. Start one: %acp start demo")
        running = [*self._agents, *others]
        meant = suggestion(label, running)
        raise UsageError(f"There is no agent called {label!r}.{meant} Running: {_listed(running)}.")

    def quit(self, agents: Iterable[Agent]) -> list[str]:
        """End agents, all at the same time; return the labels of those that had to be killed."""
        from acp_notebook.client.ending import end_all

        ending = list(agents)
        for agent in ending:
            if self._agents.get(agent.label) is agent:
                del self._agents[agent.label]
        return end_all(ending)


def _listed(names: Iterable[str], most: int = 12) -> str:
    names = list(names)
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more
