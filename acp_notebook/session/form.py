"""A form that an agent asks its user to fill in: fields, choices, and the rules of their values.

Flat by definition: one field per value. A field of a type we do not know is kept whole and never
shown as an input. Knows no wire and no view.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

Json = Mapping[str, Any]
FieldKind = Literal["text", "number", "integer", "boolean", "choice", "choices", "unknown"]

HIDDEN = "••••"
_SECRET = re.compile(
    r"passw|passphrase|passcode|secret|credential|token|api[\s_-]?key|private[\s_-]?key|\bpin\b"
    r"|\botp\b|one[\s-]?time|(access|login|security|verification|auth\w*) code",
    re.IGNORECASE,
)
# `apiToken` is two words; `pin` in `shipping` is none.
_WORDS = re.compile(r"(?<=[a-z])(?=[A-Z])|[_\s-]+")


@dataclass(frozen=True, slots=True)
class Choice:
    """One value that can be chosen."""

    value: str
    title: str
    description: str | None = None


@dataclass(frozen=True, slots=True)
class FormField:
    """One field. `rules` are the JSON Schema keywords that its value must obey."""

    name: str
    kind: FieldKind
    title: str
    description: str | None = None
    is_required: bool = False
    default: Any = None
    choices: tuple[Choice, ...] = ()
    rules: Json = field(default_factory=dict)
    raw: Json = field(default_factory=dict, compare=False, repr=False)

    @property
    def format(self) -> str | None:
        """The format of a text: email, uri, date, date-time, or one we do not know."""
        found = self.rules.get("format")
        return found if isinstance(found, str) else None

    @property
    def is_secret(self) -> bool:
        """Whether what is typed here should be seen by nobody else."""
        if self.kind != "text":
            return False
        said = " ".join([*_WORDS.split(self.name), self.title, self.format or ""])
        return self.raw.get("writeOnly") is True or bool(_SECRET.search(said))

    def title_of(self, value: object) -> str:
        """What the user reads for a value."""
        for choice in self.choices:
            if choice.value == value:
                return choice.title
        return str(value)


@dataclass(frozen=True, slots=True)
class Form:
    """A flat form."""

    fields: tuple[FormField, ...]
    title: str | None = None
    description: str | None = None

    def masked(self, values: Json) -> dict[str, Any]:
        """The values without the secret ones, for whatever is kept."""
        secret = {item.name for item in self.fields if item.is_secret}
        return {
            name: HIDDEN if name in secret and value else value for name, value in values.items()
        }

    def secrets(self, values: Json) -> list[str]:
        """The values that nothing may keep."""
        found = (values.get(item.name) for item in self.fields if item.is_secret)
        return [value for value in found if isinstance(value, str) and value]


@dataclass(frozen=True, slots=True)
class UrlRequest:
    """An address that the user shall open; `url_id` is the agent's id for it."""

    url_id: str
    url: str
