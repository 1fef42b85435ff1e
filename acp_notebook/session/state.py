"""What a session is at one moment: messages, tool calls, plans, prompts, foreground state.

Plain mutable records, changed by `reducer.apply` only, on one thread only. Views get them through
changes and must not keep references. Knows no wire and no clock.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal, NamedTuple

from acp_notebook.session.content import ContentBlock, TextBlock
from acp_notebook.session.elicitation import Elicitation, ElicitationId
from acp_notebook.session.updates import (
    AgentLost,
    BackgroundItem,
    Command,
    CompactionId,
    ConfigOption,
    Cost,
    ExitStatus,
    Failure,
    Location,
    MessageId,
    Notice,
    PermissionId,
    PermissionRequested,
    PermissionSettled,
    PlanEntry,
    PlanId,
    PromptId,
    Role,
    TerminalId,
    TerminalItem,
    ToolCallId,
    ToolContent,
    UnknownUpdate,
    Violation,
)

EntryKind = Literal[
    "prompt",
    "user",
    "agent",
    "thought",
    "tool_call",
    "terminal",
    "plan",
    "permission",
    "elicitation",
    "notice",
    "compaction",
    "unknown",
    "violation",
    "lost",
]

# `interrupted` is ours: the agent went away while the call ran.
FINISHED_STATUSES = frozenset({"completed", "failed", "cancelled", "interrupted"})
# In the `meta` of a tool call of this client's own: the source of a cell that it proposes.
CELL_META = "acp_notebook/cell"
# Likewise: what the call holds is for the reader at once, not folded away.
OPEN_META = "acp_notebook/open"
IDLE = "idle"
RUNNING = "running"
REQUIRES_ACTION = "requires_action"


class EntryKey(NamedTuple):
    """Names one entry of the timeline."""

    kind: EntryKind
    id: str


@dataclass(slots=True)
class Message:
    """A user, agent or thought message, keyed by role and id."""

    role: Role
    message_id: MessageId
    content: list[ContentBlock] = field(default_factory=list)
    meta: dict[str, Any] = field(default_factory=dict)

    @property
    def text(self) -> str:
        """The text blocks, joined without anything between: chunk borders mean nothing."""
        return "".join(block.text for block in self.content if isinstance(block, TextBlock))


@dataclass(slots=True)
class ToolCall:
    """One tool call. `work` is the stretch of foreground work that last touched it."""

    tool_call_id: ToolCallId
    name: str | None = None
    title: str | None = None
    kind: str = "other"
    status: str = "pending"
    content: list[ToolContent] = field(default_factory=list)
    locations: tuple[Location, ...] = ()
    raw_input: Any = None
    raw_output: Any = None
    can_cancel: bool = False
    meta: dict[str, Any] = field(default_factory=dict)
    work: int = field(default=0, compare=False)

    @property
    def is_finished(self) -> bool:
        """Whether the status is a final one; an unknown status counts as still going on."""
        return self.status in FINISHED_STATUSES

    @property
    def terminal_ids(self) -> list[TerminalId]:
        """Terminals that the content refers to."""
        return [item.terminal_id for item in self.content if isinstance(item, TerminalItem)]


@dataclass(slots=True)
class Terminal:
    """A terminal the agent shows. `output` is raw bytes: decoding belongs to the view."""

    terminal_id: TerminalId
    command: str | None = None
    cwd: str | None = None
    output: bytearray = field(default_factory=bytearray)
    exit_status: ExitStatus | None = None
    size: tuple[int, int] | None = None
    can_cancel: bool = False


@dataclass(slots=True)
class Plan:
    """A plan; `entries` is None for a type we do not know, then `raw` holds it."""

    plan_id: PlanId
    type: str = "items"
    entries: tuple[PlanEntry, ...] | None = ()
    raw: Any = field(default=None, compare=False)


@dataclass(slots=True)
class Permission:
    """A permission request and, once given, its answer."""

    request: PermissionRequested
    answer: PermissionSettled | None = None

    @property
    def is_open(self) -> bool:
        """Whether nobody has answered yet."""
        return self.answer is None


PromptPhase = Literal["queued", "sent", "accepted", "working", "ended"]


@dataclass(slots=True)
class Prompt:
    """A prompt of ours on its way from queue to end (STATE-2).

    `is_behind`: other work was going on when it was sent, whose idle must not end it.
    """

    prompt_id: PromptId
    content: tuple[ContentBlock, ...]
    phase: PromptPhase = "queued"
    message_id: MessageId | None = None
    is_accepted: bool = False
    is_behind: bool = False
    was_behind: bool = False
    stop_reason: str | None = None
    failure: Failure | None = None
    # how long the timeline was when it ended: what comes later is the agent's own doing
    timeline_at_end: int = field(default=0, compare=False)

    @property
    def is_ended(self) -> bool:
        """Whether its turn is over."""
        return self.phase == "ended"

    @property
    def is_in_flight(self) -> bool:
        """Whether the agent has it, or is about to, and it has not ended."""
        return self.phase in {"sent", "accepted", "working"}


@dataclass(slots=True)
class Usage:
    """Tokens in the context and cost so far."""

    used: int
    size: int
    cost: Cost | None = None

    @property
    def fraction(self) -> float | None:
        """How full the context is, 0 to 1, or None where the numbers make no sense."""
        return self.used / self.size if 0 <= self.used <= self.size and self.size > 0 else None


@dataclass(slots=True)
class Compaction:
    """A compaction of the agent's context."""

    compaction_id: CompactionId
    status: str
    summary: list[ContentBlock] = field(default_factory=list)
    error: str | None = None


Aside = Notice | UnknownUpdate | Violation | AgentLost
Entry = (
    Prompt | Message | ToolCall | Terminal | Plan | Permission | Elicitation | Compaction | Aside
)


@dataclass(slots=True)
class SessionState:
    """Everything known of one session."""

    activity: str = IDLE
    stop_reason: str | None = None
    error: Failure | None = None
    background: tuple[BackgroundItem, ...] | None = None
    is_cancelling: bool = False
    is_connected: bool = True
    # whether the agent knew nothing of the session when it was opened
    is_new: bool = field(default=False, compare=False)
    work: int = field(default=0, compare=False)

    timeline: list[EntryKey] = field(default_factory=list)
    # which of our prompts an entry belongs to; None before the first one
    owners: dict[EntryKey, PromptId | None] = field(default_factory=dict)
    messages: dict[EntryKey, Message] = field(default_factory=dict)
    tool_calls: dict[ToolCallId, ToolCall] = field(default_factory=dict)
    terminals: dict[TerminalId, Terminal] = field(default_factory=dict)
    terminal_owners: dict[TerminalId, list[ToolCallId]] = field(default_factory=dict)
    plans: dict[PlanId, Plan] = field(default_factory=dict)
    permissions: dict[PermissionId, Permission] = field(default_factory=dict)
    elicitations: dict[ElicitationId, Elicitation] = field(default_factory=dict)
    prompts: dict[PromptId, Prompt] = field(default_factory=dict)
    # the prompts that have not ended: a long session must not make each update slower
    pending: dict[PromptId, Prompt] = field(default_factory=dict)
    compactions: dict[CompactionId, Compaction] = field(default_factory=dict)
    # calls whose permission was refused in the present work; some agents never mention them again
    refused_calls: set[ToolCallId] = field(default_factory=set, compare=False)
    last_ended: PromptId | None = None
    # notices, unknown updates, violations and losses, by the id in their entry key
    asides: dict[EntryKey, Any] = field(default_factory=dict)

    usage: Usage | None = None
    commands: tuple[Command, ...] = ()
    config_options: tuple[ConfigOption, ...] = ()
    title: str | None = None
    updated_at: str | None = None
    meta: dict[str, Any] = field(default_factory=dict)
    violations: list[Violation] = field(default_factory=list)

    def add_entry(self, key: EntryKey) -> None:
        """Append an entry to the timeline and note whose turn it belongs to.

        No update carries a turn id. An entry belongs to the oldest prompt at work; without one to
        the prompt that waits to begin; after the end (background work) to the last one.
        """
        self.timeline.append(key)
        self.owners[key] = self._owner(key)

    def entry(self, key: EntryKey) -> Entry | None:
        """The record behind an entry; None once the agent took it back."""
        home = HOMES[key.kind](self)
        return home.get(key.id) or home.get(key)

    def entries_of(self, prompt_id: PromptId) -> list[EntryKey]:
        """The entries of one prompt's turn, in timeline order."""
        return [key for key in self.timeline if self.owners[key] == prompt_id]

    def present_owner(self) -> PromptId | None:
        """Whose turn a new entry would belong to."""
        return self._owner(EntryKey("unknown", ""))

    def _owner(self, key: EntryKey) -> PromptId | None:
        if key.kind == "prompt":
            return PromptId(key.id)
        open_prompts = self.open_prompts
        if key.kind == "user":
            for prompt in open_prompts:
                if prompt.message_id == key.id:
                    return prompt.prompt_id
        at_work = [prompt for prompt in open_prompts if prompt.phase == "working"]
        for prompt in at_work or open_prompts:
            return prompt.prompt_id
        return self.last_ended

    @property
    def is_idle(self) -> bool:
        """Whether the agent said it is ready for a prompt. An unknown state is not idle."""
        return self.activity == IDLE

    @property
    def is_at_rest(self) -> bool:
        """Whether nothing goes on that concerns the user: no work, no prompt, no question.

        What runs in the background (a server, a watcher) may go on for ever.
        """
        is_quiet = self.is_idle and not self.pending and not self.has_questions
        return is_quiet or not self.is_connected

    def entries_since_last_end(self) -> list[EntryKey]:
        """What came after the last turn had ended, in order, and its calls that still go on."""
        last = self.prompts.get(self.last_ended) if self.last_ended is not None else None
        end = last.timeline_at_end if last is not None else 0
        going_on = [
            key
            for key in self.timeline[:end]
            if key.kind == "tool_call" and not self.tool_calls[ToolCallId(key.id)].is_finished
        ]
        return going_on + self.timeline[end:]

    @property
    def open_permissions(self) -> list[Permission]:
        """Permission requests that wait for an answer, oldest first."""
        return [permission for permission in self.permissions.values() if permission.is_open]

    @property
    def open_elicitations(self) -> list[Elicitation]:
        """Forms and pages that wait for an answer, oldest first."""
        return [asked for asked in self.elicitations.values() if asked.is_open]

    @property
    def open_questions(self) -> list[EntryKey]:
        """The entries that wait for the user's answer: permissions, then forms and urls."""
        asked = [EntryKey("permission", p.request.permission_id) for p in self.open_permissions]
        return asked + [
            EntryKey("elicitation", e.request.elicitation_id) for e in self.open_elicitations
        ]

    def is_open_question(self, key: EntryKey) -> bool:
        """Whether an entry waits for the user's answer."""
        asked: Permission | Elicitation | None = None
        if key.kind == "permission":
            asked = self.permissions.get(PermissionId(key.id))
        elif key.kind == "elicitation":
            asked = self.elicitations.get(ElicitationId(key.id))
        return asked is not None and asked.is_open

    @property
    def has_questions(self) -> bool:
        """Whether anything waits for the user's answer."""
        return bool(self.open_permissions or self.open_elicitations)

    @property
    def open_prompts(self) -> list[Prompt]:
        """Prompts that the agent has and has not finished, oldest first."""
        return [prompt for prompt in self.pending.values() if prompt.is_in_flight]


# Where the records of each kind are, by their id or by the entry's key.
HOMES: Final[Mapping[EntryKind, Callable[[SessionState], Mapping[Any, Entry]]]] = {
    "prompt": lambda state: state.prompts,
    "user": lambda state: state.messages,
    "agent": lambda state: state.messages,
    "thought": lambda state: state.messages,
    "tool_call": lambda state: state.tool_calls,
    "terminal": lambda state: state.terminals,
    "plan": lambda state: state.plans,
    "permission": lambda state: state.permissions,
    "elicitation": lambda state: state.elicitations,
    "notice": lambda state: state.asides,
    "compaction": lambda state: state.compactions,
    "unknown": lambda state: state.asides,
    "violation": lambda state: state.asides,
    "lost": lambda state: state.asides,
}
