"""The seam between the versions: what a version's code must offer, and version-free facts.

A `Dialect` writes calls and makes `Reader`s; a `Reader` belongs to one session and turns what
arrives, in receive order, into session updates. Nobody outside `protocol` compares versions.
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
    """Where a session works and what it may reach. Paths are absolute (SESS-1).

    `mcp_servers` are in v2's form, each with its `type`; a dialect writes its own form.
    """

    cwd: str
    mcp_servers: tuple[Json, ...] = field(default=(), repr=False)
    directories: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ClientCapabilities:
    """What this client serves to the agent; advertised exactly so (INIT-5).

    Files and terminals are v1's: in v2 the agent has its own.
    """

    read_files: bool = False
    write_files: bool = False
    terminals: bool = False
    forms: bool = False
    urls: bool = False
    terminal_login: bool = False


@dataclass(frozen=True, slots=True)
class Implementation:
    """Who is speaking."""

    name: str
    version: str
    title: str | None = None

    @property
    def label(self) -> str:
        """The name to show."""
        return self.title or self.name


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What the agent offers (INIT-4: absent or null is unsupported)."""

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
    """A session as the agent lists it."""

    id: str
    cwd: str
    title: str | None = None
    updated_at: str | None = None


class SessionPage(NamedTuple):
    """One page of the agent's sessions; `next_cursor` None: the last one."""

    sessions: tuple[ListedSession, ...]
    next_cursor: str | None


@dataclass(frozen=True, slots=True)
class AuthMethod:
    """A way to log in: type agent, terminal, or one we do not know."""

    id: str
    name: str
    type: str
    description: str | None = None
    args: tuple[str, ...] = ()
    env: tuple[tuple[str, str], ...] = ()
    raw: Json = field(default_factory=dict, compare=False, repr=False)


class Reader(Protocol):
    """Turns what one session receives into session updates; it may remember.

    Every method returns the updates to apply, in order.
    """

    def opened(self, answer: Json) -> Updates:
        """The answer to `session/new` or a resume: initial options and commands."""

    def update(self, raw: Any) -> Updates:
        """The `update` member of a `session/update`. Never raises: see `Violation`."""

    def prompt_sent(self, prompt_id: u.PromptId, content: tuple[ContentBlock, ...]) -> Updates:
        """This client sends a prompt."""

    def prompt_answered(self, prompt_id: u.PromptId, result: Any) -> Updates:
        """The agent's result for it."""

    def prompt_failed(self, prompt_id: u.PromptId, failure: u.Failure) -> Updates:
        """The agent's error for it."""

    def cancel_sent(self) -> Updates:
        """This client sends `session/cancel`."""

    def permission_asked(self, permission_id: u.PermissionId, params: Json) -> Updates:
        """The params of a permission request; the updates hold one `PermissionRequested`.

        Raises:
            Malformed: There is no option to choose from, or a member is missing.
        """

    def option_set(self, option: u.ConfigOption, value: str | bool, answer: Any) -> Updates:
        """The answer to setting an option: its whole list, or nothing where it has none."""

    def permission_settled(self, settled: u.PermissionSettled) -> Updates:
        """The answer that went out."""

    def elicitation_asked(self, elicitation_id: ElicitationId, params: Json) -> Updates:
        """The params of an elicitation; the updates hold one `ElicitationRequested`.

        Raises:
            Malformed: The mode is not known, or the form breaks its schema.
        """

    def elicitation_settled(self, settled: ElicitationSettled) -> Updates:
        """The answer that went out."""


class Dialect(Protocol):
    """One protocol version, as the client speaks it."""

    version: int
    # Whether a prompt may be sent while the agent works, or must wait in this client.
    takes_prompts_while_busy: bool
    # How the agent uses this client's files and terminals; None: it has only its own.
    client_calls: ClientCalls | None

    def reader(self) -> Reader:
        """A reader for a new session."""

    def new_session(self, setup: SessionSetup) -> Call:
        """`session/new`."""

    def resume(
        self, session_id: str, setup: SessionSetup, capabilities: Capabilities, *, replay: bool
    ) -> Call | None:
        """Take up a session, with or without a replay; None if the agent cannot."""

    def list_sessions(self, cwd: str | None, cursor: str | None) -> Call:
        """One page of `session/list`."""

    def read_sessions(self, answer: Any) -> SessionPage:
        """The answer to it; an entry without an id is left out."""

    def close_session(self, session_id: str) -> Call:
        """`session/close`."""

    def delete_session(self, session_id: str) -> Call:
        """`session/delete`."""

    def login(self, method_id: str) -> Call:
        """Log in by a method of type `agent`."""

    def logout(self) -> Call:
        """Log out."""

    def cancel_tool_call(self, session_id: str, tool_call_id: str) -> Call | None:
        """Cancel one tool call; None where the version has no such thing."""

    def cancel_terminal(self, session_id: str, terminal_id: str) -> Call | None:
        """Cancel one terminal's command; None where the version has no such thing."""

    def prompt(self, session_id: str, content: Sequence[ContentBlock]) -> Call:
        """`session/prompt`."""

    def cancel(self, session_id: str) -> Call:
        """`session/cancel`, a notification."""

    def set_option(self, session_id: str, option: u.ConfigOption, value: str | bool) -> Call:
        """Set a config option."""

    def permission_outcome(self, option_id: str | None) -> dict[str, Any]:
        """The result for a permission request; None is the outcome `cancelled`."""


@dataclass(frozen=True, slots=True)
class Version:
    """A row of the table of versions: the dialect, and what the handshake needs of it."""

    dialect: Dialect
    write_offer: Callable[[Json, ClientCapabilities], dict[str, Any]]
    is_spoken_in: Callable[[Json], bool]
    read_info: Callable[[Json], Implementation]
    read_capabilities: Callable[[Json], Capabilities]
    read_auth_method: Callable[[Any], AuthMethod]


def elicitation_modes(served: ClientCapabilities) -> dict[str, Any]:
    """The modes of elicitation that are served, which both versions write alike."""
    return given(form={} if served.forms else None, url={} if served.urls else None)
