"""How to start or reach an agent: by a command or an address. Starts nothing."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from acp_notebook.protocol.negotiate import LATEST

_ADDRESS = re.compile(r"(wss?|https?)://", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Launch:
    """How to start or reach an agent; `name` is the user's name for the agent.

    With an `address` there is no command, and every connection sends `headers`. `serve` names what
    this client serves: `read`, `write`, `terminal`.
    """

    name: str
    command: tuple[str, ...]
    cwd: str
    env: dict[str, str] = field(default_factory=dict)
    protocol: int = LATEST
    address: str = ""
    headers: dict[str, str] = field(default_factory=dict, repr=False)
    serve: frozenset[str] = frozenset()
    directories: tuple[str, ...] = ()
    """Further folders for the sessions, absolute."""

    @property
    def advice(self) -> str:
        """The advice for an agent that does not start."""
        if self.address:
            shown = public_address(self.address)
            return f"Check the address, and that an agent is served there: {shown}"
        return f"To see what it says, run it in a terminal: {shlex.join(self.command)}"

    @property
    def comeback(self) -> str:
        """How a lost agent comes back."""
        return f"Your next prompt {'connects' if self.address else 'starts it'} again."


def is_address(name: str) -> bool:
    """Whether a name is an agent's address."""
    return _ADDRESS.match(name) is not None


def public_address(address: str) -> str:
    """Return the address without user part and query, which may hold a secret."""
    parts = urlsplit(address)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"
