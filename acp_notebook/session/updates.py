"""The updates of a session, in one form for both protocol versions.

A `SessionUpdate` has the meaning of ACP v2: upserts by id, patches with three states, chunks that
append, a foreground state. Most come from the agent through a reader of `protocol`; the last group
reports this client's own acts. Pure values: no wire names, no clock, no version.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Final, Literal, NewType, TypeAlias, TypeVar

from acp_notebook.session.content import ContentBlock
from acp_notebook.session.elicitation import (
    AnswerRefused,
    ElicitationRequested,
    ElicitationSettled,
    UrlCompleted,
)

SessionId = NewType("SessionId", str)
MessageId = NewType("MessageId", str)
ToolCallId = NewType("ToolCallId", str)
TerminalId = NewType("TerminalId", str)
PlanId = NewType("PlanId", str)
CompactionId = NewType("CompactionId", str)
WorkId = NewType("WorkId", str)
# The agent counts these, from the start with each connection. All other ids are this client's.
AGENT_IDS = (MessageId, ToolCallId, TerminalId, PlanId, CompactionId, WorkId)
# The prefix of this client's own tool calls, which no agent's message may name.
OWN_CALL: Final = "acp-notebook-call-"
PromptId = NewType("PromptId", str)
PermissionId = NewType("PermissionId", str)

Json = Mapping[str, Any]


class Unset(Enum):
    """The type of `UNSET`: a field that a patch omits."""

    UNSET = "unset"

    def __repr__(self) -> str:
        return "UNSET"


UNSET: Final = Unset.UNSET

T = TypeVar("T")
# A field of an upsert: absent keeps, None clears, a value replaces.
Patch: TypeAlias = T | Unset | None

Role = Literal["user", "agent", "thought"]


@dataclass(frozen=True, slots=True)
class Failure:
    """An error of the agent, or of this client (`code` None)."""

    message: str
    code: int | None = None
    data: Any = None


@dataclass(frozen=True, slots=True)
class MessageUpdate:
    """Upsert of a whole message (v2 prompt lifecycle, "Message IDs")."""

    role: Role
    message_id: MessageId
    content: Patch[tuple[ContentBlock, ...]] = UNSET
    meta: Patch[Json] = UNSET


@dataclass(frozen=True, slots=True)
class MessageChunk:
    """One block that appends to a message; its `_meta` belongs to the chunk alone."""

    role: Role
    message_id: MessageId
    content: ContentBlock


@dataclass(frozen=True, slots=True)
class BackgroundItem:
    """Work during an idle session: `type` terminal, tool_call or unknown."""

    type: str
    id: WorkId
    raw: Json = field(default_factory=dict, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class StateUpdate:
    """The foreground state: `running`, `requires_action`, `idle`, or an unknown one."""

    state: str
    stop_reason: str | None = None
    error: Failure | None = None
    background: Patch[tuple[BackgroundItem, ...]] = UNSET


@dataclass(frozen=True, slots=True)
class ContentItem:
    """A content block inside a tool call."""

    block: ContentBlock


@dataclass(frozen=True, slots=True)
class DiffChange:
    """One file of a diff; `operation` add, delete, modify, move, copy or unknown."""

    operation: str
    path: str
    old_path: str | None = None
    file_type: str | None = None
    mime_type: str | None = None


@dataclass(frozen=True, slots=True)
class DiffItem:
    """A change of files; `old_text` and `new_text` are v1's, beside the computed patch."""

    changes: tuple[DiffChange, ...]
    patch: str | None = None
    old_text: str | None = field(default=None, repr=False, compare=False)
    new_text: str | None = field(default=None, repr=False, compare=False)


@dataclass(frozen=True, slots=True)
class TerminalItem:
    """A reference to a terminal, which has its own updates."""

    terminal_id: TerminalId


@dataclass(frozen=True, slots=True)
class UnknownItem:
    """A tool call content item of an unknown type, kept whole."""

    type: str
    raw: Json


ToolContent = ContentItem | DiffItem | TerminalItem | UnknownItem


@dataclass(frozen=True, slots=True)
class Location:
    """A file of a tool call; `line` counts from 1."""

    path: str
    line: int | None = None


@dataclass(frozen=True, slots=True)
class ToolCallUpdate:
    """Upsert of a tool call: omitted keeps, None resets, arrays replace whole."""

    tool_call_id: ToolCallId
    name: Patch[str] = UNSET
    title: Patch[str] = UNSET
    kind: Patch[str] = UNSET
    status: Patch[str] = UNSET
    content: Patch[tuple[ToolContent, ...]] = UNSET
    locations: Patch[tuple[Location, ...]] = UNSET
    raw_input: Any = UNSET
    raw_output: Any = UNSET
    can_cancel: Patch[bool] = UNSET
    meta: Patch[Json] = UNSET


@dataclass(frozen=True, slots=True)
class ToolCallChunk:
    """One content item that appends to a tool call."""

    tool_call_id: ToolCallId
    item: ToolContent


@dataclass(frozen=True, slots=True)
class ExitStatus:
    """The end of a terminal's command; both None if the status is unknown."""

    exit_code: int | None = None
    signal: str | None = None


@dataclass(frozen=True, slots=True)
class TerminalUpdate:
    """Upsert of a display-only terminal; `output` is a snapshot that replaces everything."""

    terminal_id: TerminalId
    command: Patch[str] = UNSET
    cwd: Patch[str] = UNSET
    output: Patch[bytes] = UNSET
    exit_status: Patch[ExitStatus] = UNSET
    size: Patch[tuple[int, int]] = UNSET
    can_cancel: Patch[bool] = UNSET


@dataclass(frozen=True, slots=True)
class TerminalChunk:
    """Bytes that append to a terminal's output, in order."""

    terminal_id: TerminalId
    data: bytes


@dataclass(frozen=True, slots=True)
class PlanEntry:
    """One step of a plan."""

    content: str
    priority: str = "medium"
    status: str = "pending"


@dataclass(frozen=True, slots=True)
class PlanUpdate:
    """A whole plan; for an unknown plan type `entries` is None, and `raw` has the plan."""

    plan_id: PlanId
    entries: tuple[PlanEntry, ...] | None
    type: str = "items"
    raw: Json = field(default_factory=dict, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class PlanRemoved:
    """The removal of a plan."""

    plan_id: PlanId


@dataclass(frozen=True, slots=True)
class Cost:
    """Money spent so far; `currency` is ISO 4217."""

    amount: float
    currency: str


@dataclass(frozen=True, slots=True)
class UsageUpdate:
    """Used tokens, size of the context, and cost of the session so far."""

    used: int
    size: int
    cost: Patch[Cost] = UNSET


@dataclass(frozen=True, slots=True)
class Command:
    """A slash command of the agent."""

    name: str
    description: str
    hint: str | None = None


@dataclass(frozen=True, slots=True)
class CommandsUpdate:
    """The whole list of commands."""

    commands: tuple[Command, ...]


@dataclass(frozen=True, slots=True)
class ConfigValue:
    """One choice of a select option."""

    value: str
    name: str
    description: str | None = None
    group: str | None = None


@dataclass(frozen=True, slots=True)
class ConfigOption:
    """An option of the session: type select, boolean, or an unknown one."""

    id: str
    name: str
    type: str
    value: str | bool | None
    category: str | None = None
    description: str | None = None
    choices: tuple[ConfigValue, ...] = ()


@dataclass(frozen=True, slots=True)
class ConfigOptionsUpdate:
    """The whole list of options, in the agent's order."""

    options: tuple[ConfigOption, ...]


@dataclass(frozen=True, slots=True)
class SessionInfoUpdate:
    """Patch of the session's title, time and metadata."""

    title: Patch[str] = UNSET
    updated_at: Patch[str] = UNSET
    meta: Patch[Json] = UNSET


@dataclass(frozen=True, slots=True)
class Notice:
    """A message from the agent beside the conversation."""

    severity: str
    title: str
    description: str | None = None


@dataclass(frozen=True, slots=True)
class CompactionUpdate:
    """Upsert of a compaction of the agent's context."""

    compaction_id: CompactionId
    status: str
    summary: Patch[tuple[ContentBlock, ...]] = UNSET
    error: Patch[str] = UNSET


@dataclass(frozen=True, slots=True)
class CompactionChunk:
    """One block that appends to a compaction's summary."""

    compaction_id: CompactionId
    content: ContentBlock


@dataclass(frozen=True, slots=True)
class UnknownUpdate:
    """An update of an unknown kind, kept whole and shown as JSON."""

    kind: str
    raw: Json


@dataclass(frozen=True, slots=True)
class Violation:
    """A known update or answer that breaks the protocol. Only the one message is lost."""

    where: str
    reason: str
    raw: Any = field(default=None, compare=False, repr=False)


# Acts of this client, and events of its connection.


@dataclass(frozen=True, slots=True)
class PromptQueued:
    """A prompt that waits in this client until the agent can take it."""

    prompt_id: PromptId
    content: tuple[ContentBlock, ...]


@dataclass(frozen=True, slots=True)
class PromptSent:
    """A prompt on its way to the agent."""

    prompt_id: PromptId
    content: tuple[ContentBlock, ...]


@dataclass(frozen=True, slots=True)
class PromptAccepted:
    """The agent's answer to a prompt: accepted, not done."""

    prompt_id: PromptId
    message_id: MessageId | None = None


@dataclass(frozen=True, slots=True)
class PromptFailed:
    """The agent's error answer to a prompt."""

    prompt_id: PromptId
    failure: Failure


@dataclass(frozen=True, slots=True)
class PromptWithdrawn:
    """The withdrawal of a queued prompt."""

    prompt_id: PromptId


@dataclass(frozen=True, slots=True)
class PermissionOption:
    """An option of the agent's; `kind` allow_once ... reject_always, or unknown."""

    option_id: str
    name: str
    kind: str = ""


@dataclass(frozen=True, slots=True)
class ToolCallSubject:
    """The permission is about this tool call."""

    tool_call_id: ToolCallId


@dataclass(frozen=True, slots=True)
class CommandSubject:
    """The permission is about a command line."""

    command: str
    cwd: str
    tool_call_id: ToolCallId | None = None
    terminal_id: TerminalId | None = None


@dataclass(frozen=True, slots=True)
class CodeSubject:
    """Code that a tool of this client wants to run, for an agent; `tool_call_id` names its card.

    Attributes:
        kind: The kind of the tool call, which this client knows and no agent can change.
    """

    code: str
    language: str = "python"
    tool_call_id: ToolCallId | None = None
    kind: str = "execute"


@dataclass(frozen=True, slots=True)
class UnknownSubject:
    """A subject of an unknown type, kept whole."""

    type: str
    raw: Json


PermissionSubject = ToolCallSubject | CommandSubject | CodeSubject | UnknownSubject


@dataclass(frozen=True, slots=True)
class PermissionRequested:
    """A permission request."""

    permission_id: PermissionId
    title: str
    options: tuple[PermissionOption, ...]
    description: str | None = None
    subject: PermissionSubject | None = None


@dataclass(frozen=True, slots=True)
class PermissionSettled:
    """The answer that was sent; `option_id` None is `cancelled`, `by` names who decided."""

    permission_id: PermissionId
    option_id: str | None
    by: str


@dataclass(frozen=True, slots=True)
class CancelSent:
    """`session/cancel` was sent."""


@dataclass(frozen=True, slots=True)
class StoppedAtRest:
    """The user stopped the agent's work while no turn was going on; nothing was sent."""


@dataclass(frozen=True, slots=True)
class AgentLost:
    """The end of the connection; `reason` is one sentence, `detail` the tail of stderr."""

    reason: str
    detail: str = ""


@dataclass(frozen=True, slots=True)
class SessionOpened:
    """The session is served by a connection, as a new one or a resumed one."""

    is_new: bool = False


SessionUpdate = (
    MessageUpdate
    | MessageChunk
    | StateUpdate
    | ToolCallUpdate
    | ToolCallChunk
    | TerminalUpdate
    | TerminalChunk
    | PlanUpdate
    | PlanRemoved
    | UsageUpdate
    | CommandsUpdate
    | ConfigOptionsUpdate
    | SessionInfoUpdate
    | Notice
    | CompactionUpdate
    | CompactionChunk
    | UnknownUpdate
    | Violation
    | PromptQueued
    | PromptSent
    | PromptAccepted
    | PromptFailed
    | PromptWithdrawn
    | PermissionRequested
    | PermissionSettled
    | ElicitationRequested
    | ElicitationSettled
    | AnswerRefused
    | UrlCompleted
    | CancelSent
    | StoppedAtRest
    | AgentLost
    | SessionOpened
)
