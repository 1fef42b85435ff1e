"""The interface of a protocol version on the agent's side. Knows no form of the wire."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeAlias

from acp_notebook.agent_kit.permission import PermissionOption
from acp_notebook.agent_kit.updates import Update

if TYPE_CHECKING:
    from collections.abc import Sequence

    from acp_notebook.agent_kit.definition import Command
    from acp_notebook.agent_kit.session import Session
    from acp_notebook.jsonrpc import IncomingRequest, RpcError

Json: TypeAlias = dict[str, Any]
UpdateWriter: TypeAlias = Callable[[Update], list[Json]]
"""Writes the updates of one session, in order, each as none, one or several of a version's form."""

CAPABILITY_NAMES: Final = {
    "image": "image",
    "audio": "audio",
    "embedded_context": "embeddedContext",
}
"""What a prompt may hold besides text and links: wire names by the kit's names."""


def has_member(value: object, *path: str) -> bool:
    """Whether the nested member exists and is not null; `value` may have any form."""
    for name in path:
        value = value.get(name) if isinstance(value, dict) else None
    return value is not None


class Wire(Protocol):
    """One protocol version as an agent speaks it."""

    version: int
    """The version number that `initialize` negotiates."""
    methods: frozenset[str]
    """The session methods of this version."""
    client_member: str
    """The member of `initialize` with the client's capabilities."""

    def answer_initialize(self, info: Json, accepts: Sequence[str], mcp: Sequence[str]) -> Json:
        """Return the result of `initialize`."""

    def setup(self, session: Session, commands: Sequence[Command]) -> tuple[Json, list[Json]]:
        """Return what the answer to a setup holds besides the id, and the updates after it."""

    def options(self, options: Sequence[Json]) -> list[Json]:
        """Return config options with their values in this version's form."""

    def writer(self, *, replays: bool = False) -> UpdateWriter:
        """Return a writer for one session; in a replay it also writes user messages."""

    def permission(self, session_id: str, question: Question) -> Json:
        """Return the params of `session/request_permission`."""

    def accept(self, request: IncomingRequest) -> None:
        """Report that the prompt is accepted, if this version has such a report."""

    def finish(self, request: IncomingRequest, stop_reason: str, error: RpcError | None) -> Update:
        """Answer the prompt if `accept` did not; return the update that ends the turn."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A permission request, independent of the protocol version."""

    title: str
    options: Sequence[PermissionOption]
    description: str | None
    tool_call: Json
    """The call that waits; without a tool only the id that v1 requires."""
    command: str | None
    cwd: str

    @property
    def has_tool(self) -> bool:
        """Whether the question is about an announced tool call."""
        return "title" in self.tool_call

    def described_options(self) -> list[Json]:
        """Return the options, which have the same form in both versions."""
        return [{"optionId": o.id, "name": o.name, "kind": o.kind} for o in self.options]
