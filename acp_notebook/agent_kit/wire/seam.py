"""The interface of a protocol version on the agent's side. Knows no form of the wire."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Protocol, TypeAlias

from acp_notebook.agent_kit.permission import PermissionOption
from acp_notebook.agent_kit.updates import Update

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from acp_notebook.agent_kit.definition import Command
    from acp_notebook.agent_kit.session import Session
    from acp_notebook.jsonrpc import IncomingRequest, RpcError

Json: TypeAlias = dict[str, Any]


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


class UpdateWriter(Protocol):
    """Writes the updates of one session, in order; a writer may have state."""

    def write(self, update: Update) -> list[Json]:
        """Return the update in this version's form: none, one or several updates."""


class Wire(Protocol):
    """One protocol version as an agent speaks it."""

    @property
    def version(self) -> int:
        """The version number that `initialize` negotiates."""

    def answer_initialize(self, info: Json, accepts: Sequence[str], mcp: Sequence[str]) -> Json:
        """Return the result of `initialize`."""

    def has_forms(self, initialize: Mapping[str, Any]) -> bool:
        """Whether the client declared that it can show forms."""

    def methods(self) -> frozenset[str]:
        """Return the session methods of this version."""

    def describe_session(self, session: Session, commands: Sequence[Command]) -> Json:
        """Return what the answers to `session/new` and `session/resume` hold besides the id."""

    def updates_after_setup(self, commands: Sequence[Command]) -> list[Json]:
        """Return the updates to send right after those answers."""

    def describe_options(self, session: Session) -> list[Json]:
        """Return the config options with their values."""

    def writer(self, *, replays: bool = False) -> UpdateWriter:
        """Return a writer for one session; in a replay it also writes user messages."""

    def permission(self, session_id: str, question: Question) -> Json:
        """Return the params of `session/request_permission`."""

    def accept(self, request: IncomingRequest) -> None:
        """Report that the prompt is accepted, if this version has such a report."""

    def finish(self, request: IncomingRequest, stop_reason: str, error: RpcError | None) -> Update:
        """Answer the prompt if `accept` did not; return the update that ends the turn."""


class Question:
    """A permission request, independent of the protocol version."""

    def __init__(
        self,
        title: str,
        options: Sequence[PermissionOption],
        *,
        description: str | None,
        tool_call: Json,
        command: str | None,
        cwd: str,
    ) -> None:
        self.title = title
        self.options = options
        self.description = description
        self.tool_call = tool_call
        """The call that waits; without a tool only the id that v1 requires."""
        self.command = command
        self.cwd = cwd

    @property
    def has_tool(self) -> bool:
        """Whether the question is about an announced tool call."""
        return "title" in self.tool_call

    def described_options(self) -> list[Json]:
        """Return the options, which have the same form in both versions."""
        return [{"optionId": o.id, "name": o.name, "kind": o.kind} for o in self.options]
