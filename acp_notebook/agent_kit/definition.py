"""An agent's declarations besides the reply: slash commands and options. Knows no wire."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Command:
    """A slash command: a prompt `/name argument` goes to a function of its own."""

    name: str
    description: str
    hint: str | None = None
    """What the argument is; `None` for a command without an argument."""


@dataclass(frozen=True, slots=True)
class Option:
    """A setting of a session: one of several choices, or a switch."""

    id: str
    name: str
    default: str | bool
    choices: Mapping[str, str] = field(default_factory=dict)
    """Labels by value. Empty for a switch, whose values are `True` and `False`."""
    description: str | None = None
    category: str | None = None
    """`mode`, `model`, `thought_level` or another; clients group by it."""

    def __post_init__(self) -> None:
        """Reject a default that is not one of the values."""
        if not self.takes(self.default):
            values = ", ".join(self.choices) or "True or False"
            raise ValueError(
                f"The default {self.default!r} of the option {self.id!r} is not one of: {values}."
            )

    def takes(self, value: object) -> bool:
        """Whether the option has this value."""
        return value in self.choices if self.choices else isinstance(value, bool)
