"""The state of a session: messages, tool calls, plans, prompts, foreground state.

Plain mutable records, changed only by `reducer.apply`, on one thread. Views read them after changes
and must not keep references. Knows no wire and no clock.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal, NamedTuple

from acp_notebook.session.asked import Asked
from acp_notebook.session.content import Content, ContentBlock
from acp_notebook.session.elicitation import Elicitation, ElicitationId
from acp_notebook.session.updates import (
    OWN_CALL,
    AgentLost,
    BackgroundItem,
    CodeSubject,
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

# `interrupted` is ours: the agent was lost during the call.
FINISHED_STATUSES = frozenset({"completed", "failed", "cancelled", "interrupted"})
# In the `meta` of this client's own tool calls: the source of a proposed cell,
CELL_META = "acp_notebook/cell"
# whether the call is shown unfolded,
OPEN_META = "acp_notebook/open"
# and who allowed it.
ALLOWED_META = "acp_notebook/allowed"
IDLE = "idle"
RUNNING = "running"
REQUIRES_ACTION = "requires_action"


class EntryKey(NamedTuple):
    """The key of a timeline entry."""

    kind: EntryKind
    id: str


@dataclass(slots=True)
class Message:
    """A user, agent or thought message, keyed by role and id."""

    role: Role
    message_id: MessageId
    content: Content = field(default_factory=Content)
    meta: dict[str, Any] = field(default_factory=dict)

    @property
    def text(self) -> str:
        """The text blocks, joined without separator: chunk borders mean nothing."""
        return self.content.text


@dataclass(slots=True)
class ToolCall:
    """A tool call; `work` numbers the foreground work that last changed it."""

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
        """Whether the status is final; an unknown status counts as running."""
        return self.status in FINISHED_STATUSES

    @property
    def is_own(self) -> bool:
        """Whether a tool of this client made the call, so that no agent can have changed it."""
        return self.tool_call_id.startswith(OWN_CALL)

    @property
    def terminal_ids(self) -> list[TerminalId]:
        """The terminals in the content."""
        return [item.terminal_id for item in self.content if isinstance(item, TerminalItem)]


@dataclass(slots=True)
class Terminal:
    """A terminal of the agent; views decode the raw bytes of `output`."""

    terminal_id: TerminalId
    command: str | None = None
    cwd: str | None = None
    output: bytearray = field(default_factory=bytearray)
    exit_status: ExitStatus | None = None
    size: tuple[int, int] | None = None
    can_cancel: bool = False


@dataclass(slots=True)
class Plan:
    """A plan; for an unknown type `entries` is None, and `raw` has the plan."""

    plan_id: PlanId
    type: str = "items"
    entries: tuple[PlanEntry, ...] | None = ()
    raw: Any = field(default=None, compare=False)


@dataclass(slots=True)
class Permission:
    """A permission request and its answer, if any."""

    request: PermissionRequested
    answer: PermissionSettled | None = None

    @property
    def is_open(self) -> bool:
        """Whether there is no answer yet."""
        return self.answer is None

    @property
    def is_allowed_for_good(self) -> bool:
        """Whether the agent was told to allow the like from now on (`allow_always`)."""
        chosen = self.answer.option_id if self.answer is not None else None
        is_own = isinstance(self.request.subject, CodeSubject)
        return not is_own and any(
            option.option_id == chosen and option.kind == "allow_always"
            for option in self.request.options
        )


PromptPhase = Literal["queued", "sent", "accepted", "working", "ended"]


@dataclass(slots=True)
class Prompt:
    """A prompt of ours, from queue to end (STATE-2).

    `is_behind`: it was sent during other work, whose idle must not end the prompt.
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
    # the length of the timeline at the end: later entries are the agent's own work
    timeline_at_end: int = field(default=0, compare=False)

    @property
    def is_ended(self) -> bool:
        """Whether the prompt's turn is over."""
        return self.phase == "ended"

    @property
    def is_in_flight(self) -> bool:
        """Whether the prompt was sent and has not ended."""
        return self.phase in {"sent", "accepted", "working"}


@dataclass(slots=True)
class Usage:
    """Tokens in the context and cost so far."""

    used: int
    size: int
    cost: Cost | None = None

    @property
    def fraction(self) -> float | None:
        """The used share of the context, 0 to 1; None for impossible numbers."""
        return self.used / self.size if 0 <= self.used <= self.size and self.size > 0 else None


@dataclass(slots=True)
class Compaction:
    """A compaction of the agent's context."""

    compaction_id: CompactionId
    status: str
    summary: Content = field(default_factory=Content)
    error: str | None = None


Aside = Notice | UnknownUpdate | Violation | AgentLost
Entry = (
    Prompt | Message | ToolCall | Terminal | Plan | Permission | Elicitation | Compaction | Aside
)


@dataclass(slots=True)
class SessionState:
    """The whole state of one session."""

    activity: str = IDLE
    stop_reason: str | None = None
    error: Failure | None = None
    background: tuple[BackgroundItem, ...] | None = None
    is_cancelling: bool = False
    # how often the user stopped the agent's work, and whether since the last prompt
    stops: int = field(default=0, compare=False)
    is_stopped: bool = field(default=False, compare=False)
    is_connected: bool = True
    # whether the session was opened as a new one, not resumed
    is_new: bool = field(default=False, compare=False)
    work: int = field(default=0, compare=False)

    timeline: list[EntryKey] = field(default_factory=list)
    # the prompt that an entry belongs to; None before the first one
    owners: dict[EntryKey, PromptId | None] = field(default_factory=dict)
    messages: dict[EntryKey, Message] = field(default_factory=dict)
    tool_calls: dict[ToolCallId, ToolCall] = field(default_factory=dict)
    terminals: dict[TerminalId, Terminal] = field(default_factory=dict)
    terminal_owners: dict[TerminalId, list[ToolCallId]] = field(default_factory=dict)
    plans: dict[PlanId, Plan] = field(default_factory=dict)
    permissions: dict[PermissionId, Permission] = field(default_factory=dict)
    elicitations: dict[ElicitationId, Elicitation] = field(default_factory=dict)
    # the unanswered questions; those about a tool call have it as their subject
    asked: Asked[EntryKey, Permission | Elicitation] = field(default_factory=Asked, compare=False)
    prompts: dict[PromptId, Prompt] = field(default_factory=dict)
    # the prompts that have not ended, so that updates of a long session stay fast
    pending: dict[PromptId, Prompt] = field(default_factory=dict)
    compactions: dict[CompactionId, Compaction] = field(default_factory=dict)
    # calls refused in the present work, which some agents never mention again
    refused_calls: set[ToolCallId] = field(default_factory=set, compare=False)
    last_ended: PromptId | None = None
    # notices, unknown updates, violations and losses, by entry key
    asides: dict[EntryKey, Any] = field(default_factory=dict)

    usage: Usage | None = None
    commands: tuple[Command, ...] = ()
    config_options: tuple[ConfigOption, ...] = ()
    title: str | None = None
    updated_at: str | None = None
    meta: dict[str, Any] = field(default_factory=dict)
    violations: list[Violation] = field(default_factory=list)

    def add_entry(self, key: EntryKey) -> None:
        """Append an entry to the timeline and assign it to a turn.

        No update carries a turn id. An entry belongs to the oldest prompt at work; else to the
        prompt that waits to begin; after the end (background work) to the last prompt.
        """
        self.timeline.append(key)
        self.owners[key] = self._owner(key)

    def entry(self, key: EntryKey) -> Entry | None:
        """Return the record of an entry; None after the agent removed it."""
        home = HOMES[key.kind](self)
        return home.get(key.id) or home.get(key)

    def entries_of(self, prompt_id: PromptId) -> list[EntryKey]:
        """Return the entries of one prompt's turn, in timeline order."""
        return [key for key in self.timeline if self.owners[key] == prompt_id]

    def present_owner(self) -> PromptId | None:
        """Return the prompt that a new entry would belong to."""
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

    def is_own_call(self, key: EntryKey) -> bool:
        """Whether an entry is a call of this client's own tools: the record of what ran here."""
        return key.kind == "tool_call" and self.tool_calls[ToolCallId(key.id)].is_own

    @property
    def is_idle(self) -> bool:
        """Whether the agent is ready for a prompt; an unknown state is not idle."""
        return self.activity == IDLE

    @property
    def is_at_rest(self) -> bool:
        """Whether there is no foreground work, no prompt and no question.

        Background work (a server, a watcher) does not count: it may run for ever.
        """
        is_quiet = self.is_idle and not self.pending and not self.has_questions
        return is_quiet or not self.is_connected

    def entries_since_last_end(self) -> list[EntryKey]:
        """Return the tool calls that still run, and the entries after the end of the last turn."""
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
        """The unanswered permission requests, oldest first."""
        return [asked for asked in self.asked.values() if isinstance(asked, Permission)]

    @property
    def open_elicitations(self) -> list[Elicitation]:
        """The unanswered forms and urls, oldest first."""
        return [asked for asked in self.asked.values() if isinstance(asked, Elicitation)]

    def is_open_question(self, key: EntryKey) -> bool:
        """Whether an entry is an unanswered question."""
        return key in self.asked

    @property
    def has_questions(self) -> bool:
        """Whether there is an unanswered question."""
        return bool(self.asked)

    @property
    def open_prompts(self) -> list[Prompt]:
        """The prompts that were sent and have not ended, oldest first."""
        return [prompt for prompt in self.pending.values() if prompt.is_in_flight]


# The records of each kind, by id or by entry key.
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
