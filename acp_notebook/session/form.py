"""A form of the agent: fields, choices, and the rules of their values. Knows no wire and no view.

A form is flat, with one value per field. A field of an unknown type is kept whole, never an input.
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
# Splits `apiToken` into two words; `shipping` must not match `pin`.
_WORDS = re.compile(r"(?<=[a-z])(?=[A-Z])|[_\s-]+")


@dataclass(frozen=True, slots=True)
class Choice:
    """A choice of a field."""

    value: str
    title: str
    description: str | None = None


@dataclass(frozen=True, slots=True)
class FormField:
    """A field; `rules` are the JSON Schema keywords for its value."""

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
        """The format of a text: email, uri, date, date-time, or an unknown one."""
        found = self.rules.get("format")
        return found if isinstance(found, str) else None

    @property
    def is_secret(self) -> bool:
        """Whether the input is a secret, by the field's name, title or format."""
        if self.kind != "text":
            return False
        words = " ".join([*_WORDS.split(self.name), self.title, self.format or ""])
        return self.raw.get("writeOnly") is True or bool(_SECRET.search(words))

    def title_of(self, value: object) -> str:
        """Return the title of a value for the user."""
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
        """Return the values with secrets hidden, for everything that is kept."""
        secret = {item.name for item in self.fields if item.is_secret}
        return {
            name: HIDDEN if name in secret and value else value for name, value in values.items()
        }

    def secrets(self, values: Json) -> list[str]:
        """Return the secret values, which nothing may keep."""
        found = (values.get(item.name) for item in self.fields if item.is_secret)
        return [value for value in found if isinstance(value, str) and value]


@dataclass(frozen=True, slots=True)
class UrlRequest:
    """A url for the user to open; `url_id` is the agent's id of the request."""

    url_id: str
    url: str
