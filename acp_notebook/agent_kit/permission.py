"""The choices of a permission request. Plain data, no wire."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

PermissionKind: TypeAlias = Literal["allow_once", "allow_always", "reject_once", "reject_always"]


@dataclass(frozen=True, slots=True)
class PermissionOption:
    """One button: its label, and the kind of answer."""

    id: str
    name: str
    kind: PermissionKind

    @property
    def allows(self) -> bool:
        """Whether this option grants the permission."""
        return self.kind.startswith("allow")

    @property
    def remembers(self) -> bool:
        """Whether the answer also holds for later requests."""
        return self.kind.endswith("always")


ALLOW_OR_REJECT: Final = (
    PermissionOption("allow", "Allow", "allow_once"),
    PermissionOption("allow-always", "Always allow", "allow_always"),
    PermissionOption("reject", "Reject", "reject_once"),
)
