"""What differs between the protocol versions, seen from an agent: the seam, not the forms."""

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
"""What a prompt may hold besides text and links: the author's word and the wire's."""


def has_member(value: object, *path: str) -> bool:
    """Whether the nested member is there and not null, whatever the client sent."""
    for name in path:
        value = value.get(name) if isinstance(value, dict) else None
    return value is not None


class UpdateWriter(Protocol):
    """Writes the updates of one session, in order; it may need to remember earlier ones."""

    def write(self, update: Update) -> list[Json]:
        """The update in this version's form: none, one or several."""


class Wire(Protocol):
    """One protocol version as an agent speaks it."""

    @property
    def version(self) -> int:
        """The number that `initialize` negotiates."""

    def answer_initialize(self, info: Json, accepts: Sequence[str], mcp: Sequence[str]) -> Json:
        """The result of `initialize`."""

    def has_forms(self, initialize: Mapping[str, Any]) -> bool:
        """Whether the client said it can show forms."""

    def methods(self) -> frozenset[str]:
        """The session methods that this version has besides `initialize`."""

    def describe_session(self, session: Session, commands: Sequence[Command]) -> Json:
        """What the answers to `session/new` and `session/resume` hold besides the id."""

    def updates_after_setup(self, commands: Sequence[Command]) -> list[Json]:
        """What is sent right after those answers."""

    def describe_options(self, session: Session) -> list[Json]:
        """The config options with their values."""

    def writer(self, *, replays: bool = False) -> UpdateWriter:
        """A writer for one session; a replay also shows what the client said."""

    def permission(self, session_id: str, question: Question) -> Json:
        """The params of `session/request_permission`."""

    def accept(self, request: IncomingRequest) -> None:
        """Say that the prompt is accepted, if this version says so."""

    def finish(self, request: IncomingRequest, stop_reason: str, error: RpcError | None) -> Update:
        """Answer the prompt if that is still to be done; return the update that ends the turn."""


class Question:
    """A permission request before a version writes it."""

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
        """The call that waits; without a tool only an id, which v1 cannot do without."""
        self.command = command
        self.cwd = cwd

    @property
    def has_tool(self) -> bool:
        """Whether the question is about a tool call that was announced."""
        return "title" in self.tool_call

    def described_options(self) -> list[Json]:
        """The options, which look the same in both versions."""
        return [{"optionId": o.id, "name": o.name, "kind": o.kind} for o in self.options]
