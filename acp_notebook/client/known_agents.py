"""Agents that can be started by name. Knows no process."""

from __future__ import annotations

import difflib
import sys

from acp_notebook.errors import AgentNotFound

BUNDLED = {"demo": (sys.executable, "-m", "acp_notebook.demo_agent")}


def command_of(name: str) -> tuple[str, ...]:
    """The command of a known agent.

    Raises:
        AgentNotFound: No agent of this name is known.
    """
    if name in BUNDLED:
        return BUNDLED[name]
    close = difflib.get_close_matches(name, BUNDLED, 1)
    meant = f" Did you mean {close[0]!r}?" if close else ""
    raise AgentNotFound(
        f"No agent named {name!r} is known.{meant} Known: {', '.join(BUNDLED)}. "
        f"Any other agent starts by its command: %acp start -- {name} ..."
    )
