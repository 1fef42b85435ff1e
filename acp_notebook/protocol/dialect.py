"""The interface of a protocol version, and its version-free data. Knows neither version.

A `Dialect` writes calls and makes `Reader`s; a `Reader` turns one session's messages, in receive
order, into session updates. Nobody outside `protocol` compares versions.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

from acp_notebook.protocol.client_calls import ClientCalls
from acp_notebook.protocol.fields import Json, given
from acp_notebook.session import updates as u
from acp_notebook.session.content import ContentBlock
from acp_notebook.session.elicitation import ElicitationId, ElicitationSettled

Updates = list[u.SessionUpdate]


class Call(NamedTuple):
    """A method with its params, ready for JSON-RPC."""

    method: str
    params: dict[str, Any]


@dataclass(frozen=True, slots=True)
class SessionSetup:
    """A session's folders, absolute (SESS-1), and MCP servers, in v2's form with a `type`."""

    cwd: str
    mcp_servers: tuple[Json, ...] = field(default=(), repr=False)
    directories: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ClientCapabilities:
    """What this client serves and advertises (INIT-5); files and terminals are v1's only."""

    read_files: bool = False
    write_files: bool = False
    terminals: bool = False
    forms: bool = False
    urls: bool = False
    terminal_login: bool = False


@dataclass(frozen=True, slots=True)
class Implementation:
    """The name and version of a client or an agent."""

    name: str
    version: str
    title: str | None = None

    @property
    def label(self) -> str:
        """The name to show."""
        return self.title or self.name


@dataclass(frozen=True, slots=True)
class Capabilities:
    """The agent's capabilities (INIT-4: absent or null is unsupported)."""

    sessions: bool = True
    image: bool = False
    audio: bool = False
    embedded_context: bool = False
    mcp_http: bool = False
    mcp_sse: bool = False
    mcp_stdio: bool = False
    list_sessions: bool = False
    resume: bool = False
    replay: bool = False
    close: bool = False
    delete: bool = False
    additional_directories: bool = False
    logout: bool = False


@dataclass(frozen=True, slots=True)
class ListedSession:
    """A session in the agent's list."""

    id: str
    cwd: str
    title: str | None = None
    updated_at: str | None = None


class SessionPage(NamedTuple):
    """A page of the agent's sessions; `next_cursor` is None on the last one."""

    sessions: tuple[ListedSession, ...]
    next_cursor: str | None


@dataclass(frozen=True, slots=True)
class AuthMethod:
    """A login method: type agent, terminal, or an unknown one."""

    id: str
    name: str
    type: str
    description: str | None = None
    args: tuple[str, ...] = ()
    env: tuple[tuple[str, str], ...] = ()
    raw: Json = field(default_factory=dict, compare=False, repr=False)


class Reader(Protocol):
    """Turns one session's messages into updates to apply, in order; may keep state."""

    def opened(self, answer: Json) -> Updates:
        """Read the answer to `session/new` or a resume: initial options and commands."""

    def update(self, raw: Any) -> Updates:
        """Read the `update` member of a `session/update`. Never raises: see `Violation`."""

    def prompt_sent(self, prompt_id: u.PromptId, content: tuple[ContentBlock, ...]) -> Updates:
        """Note that this client sends a prompt."""

    def prompt_answered(self, prompt_id: u.PromptId, result: Any) -> Updates:
        """Read the agent's result for a prompt."""

    def prompt_failed(self, prompt_id: u.PromptId, failure: u.Failure) -> Updates:
        """Note the agent's error for a prompt."""

    def cancel_sent(self) -> Updates:
        """Note that this client sends `session/cancel`."""

    def permission_asked(self, permission_id: u.PermissionId, params: Json) -> Updates:
        """Read the params of a permission request into one `PermissionRequested`.

        Raises:
            Malformed: There is no option to choose from, or a member is missing.
        """

    def option_set(self, option: u.ConfigOption, value: str | bool, answer: Any) -> Updates:
        """Read the answer to setting an option, with or without a list of options."""

    def permission_settled(self, settled: u.PermissionSettled) -> Updates:
        """Note the answer to a permission request."""

    def elicitation_asked(self, elicitation_id: ElicitationId, params: Json) -> Updates:
        """Read the params of an elicitation into one `ElicitationRequested`.

        Raises:
            Malformed: The mode is unknown, or the form breaks its schema.
        """

    def elicitation_settled(self, settled: ElicitationSettled) -> Updates:
        """Note the answer to an elicitation."""


class Dialect(Protocol):
    """One protocol version on the client's side."""

    version: int
    # Whether a prompt may be sent while the agent works.
    takes_prompts_while_busy: bool
    # The calls of this client's files and terminals, if the version has them.
    client_calls: ClientCalls | None

    def reader(self) -> Reader:
        """Return a reader for a new session."""

    def new_session(self, setup: SessionSetup) -> Call:
        """`session/new`."""

    def resume(
        self, session_id: str, setup: SessionSetup, capabilities: Capabilities, *, replay: bool
    ) -> Call | None:
        """Resume a session, with or without a replay; None if the agent cannot."""

    def list_sessions(self, cwd: str | None, cursor: str | None) -> Call:
        """One page of `session/list`."""

    def read_sessions(self, answer: Any) -> SessionPage:
        """Read the answer to `session/list`, leaving out entries without an id."""

    def close_session(self, session_id: str) -> Call:
        """`session/close`."""

    def delete_session(self, session_id: str) -> Call:
        """`session/delete`."""

    def login(self, method_id: str) -> Call:
        """Log in with a method of type `agent`."""

    def logout(self) -> Call:
        """Log out."""

    def cancel_tool_call(self, session_id: str, tool_call_id: str) -> Call | None:
        """Cancel a single tool call; None if the version has no such call."""

    def cancel_terminal(self, session_id: str, terminal_id: str) -> Call | None:
        """Cancel a terminal's command; None if the version has no such call."""

    def prompt(self, session_id: str, content: Sequence[ContentBlock]) -> Call:
        """`session/prompt`."""

    def cancel(self, session_id: str) -> Call:
        """`session/cancel`, a notification."""

    def set_option(self, session_id: str, option: u.ConfigOption, value: str | bool) -> Call:
        """Set a config option."""

    def permission_outcome(self, option_id: str | None) -> dict[str, Any]:
        """Return the result for a permission request; None is the outcome `cancelled`."""


@dataclass(frozen=True, slots=True)
class Version:
    """A row of the table of versions: the dialect and its part of the handshake."""

    dialect: Dialect
    write_offer: Callable[[Json, ClientCapabilities], dict[str, Any]]
    is_spoken_in: Callable[[Json], bool]
    read_info: Callable[[Json], Implementation]
    read_capabilities: Callable[[Json], Capabilities]
    read_auth_method: Callable[[Any], AuthMethod]


def elicitation_modes(served: ClientCapabilities) -> dict[str, Any]:
    """Return the served modes of elicitation, the same in both versions."""
    return given(form={} if served.forms else None, url={} if served.urls else None)
