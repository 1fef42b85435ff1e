"""`apply(state, update) -> changes`: the one place where a session changes.

The merge rules are ACP v2's: upsert by id, omitted keeps, null clears, a value replaces, a chunk
appends. `foreground` has the rules for state, prompts, permissions, cancel and the loss of the
agent. Pure: no I/O, no clock, no version.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from acp_notebook.session import elicitation, elicitation_rules, foreground
from acp_notebook.session import updates as u
from acp_notebook.session.changes import (
    EntryChanged,
    HeaderChanged,
    SessionChange,
    TerminalChanged,
    ViolationSeen,
)
from acp_notebook.session.content import Content
from acp_notebook.session.state import (
    Compaction,
    EntryKey,
    Message,
    Plan,
    SessionState,
    Terminal,
    ToolCall,
    Usage,
)

Changes = list[SessionChange]


def apply(state: SessionState, update: u.SessionUpdate) -> Changes:
    """Apply one update and return its changes. Cost does not grow with the session's length."""
    return _RULES[type(update)](state, update)


def _message(state: SessionState, update: u.MessageUpdate) -> Changes:
    message, key, before = _message_of(state, update.role, update.message_id)
    if not isinstance(update.content, u.Unset):
        message.content = Content(update.content or ())
    _patch_meta(message.meta, update.meta)
    return [*before, EntryChanged(key)]


def _message_chunk(state: SessionState, update: u.MessageChunk) -> Changes:
    message, key, before = _message_of(state, update.role, update.message_id)
    message.content.append(update.content)
    return [*before, EntryChanged(key, appended=update.content)]


def _message_of(
    state: SessionState, role: u.Role, message_id: u.MessageId
) -> tuple[Message, EntryKey, Changes]:
    key = EntryKey(role, message_id)
    message = state.messages.get(key)
    if message is not None:
        return message, key, []
    before = foreground.match_user_message(state, message_id) if role == "user" else []
    message = state.messages[key] = Message(role, message_id)
    state.add_entry(key)
    return message, key, before


def _tool_call(state: SessionState, update: u.ToolCallUpdate) -> Changes:
    call = _tool_call_of(state, update.tool_call_id)
    for name, reset in (("name", None), ("title", None), ("kind", "other"), ("status", "pending")):
        value = getattr(update, name)
        if value is not u.UNSET:
            setattr(call, name, reset if value is None else value)
    if not isinstance(update.content, u.Unset):
        _set_tool_content(state, call, list(update.content or ()))
    if not isinstance(update.locations, u.Unset):
        call.locations = update.locations or ()
    if update.raw_input is not u.UNSET:
        call.raw_input = update.raw_input
    if update.raw_output is not u.UNSET:
        call.raw_output = update.raw_output
    if not isinstance(update.can_cancel, u.Unset):
        call.can_cancel = bool(update.can_cancel)
    _patch_meta(call.meta, update.meta)
    return [EntryChanged(EntryKey("tool_call", call.tool_call_id))]


def _tool_call_chunk(state: SessionState, update: u.ToolCallChunk) -> Changes:
    call = _tool_call_of(state, update.tool_call_id)
    call.content.append(update.item)
    _claim_terminal(state, call, update.item)
    return [EntryChanged(EntryKey("tool_call", call.tool_call_id))]


def _tool_call_of(state: SessionState, tool_call_id: u.ToolCallId) -> ToolCall:
    call = state.tool_calls.get(tool_call_id)
    if call is None:
        call = state.tool_calls[tool_call_id] = ToolCall(tool_call_id)
        state.add_entry(EntryKey("tool_call", tool_call_id))
    call.work = state.work
    return call


def _set_tool_content(state: SessionState, call: ToolCall, content: list[u.ToolContent]) -> None:
    for terminal_id in call.terminal_ids:
        owners = state.terminal_owners.get(terminal_id, [])
        if call.tool_call_id in owners:
            owners.remove(call.tool_call_id)
    call.content = content
    for item in content:
        _claim_terminal(state, call, item)


def _claim_terminal(state: SessionState, call: ToolCall, item: u.ToolContent) -> None:
    if isinstance(item, u.TerminalItem):
        owners = state.terminal_owners.setdefault(item.terminal_id, [])
        if call.tool_call_id not in owners:
            owners.append(call.tool_call_id)


def _terminal(state: SessionState, update: u.TerminalUpdate) -> Changes:
    terminal = _terminal_of(state, update.terminal_id)
    for name in ("command", "cwd", "exit_status", "size"):
        value = getattr(update, name)
        if value is not u.UNSET:
            setattr(terminal, name, value)
    if not isinstance(update.output, u.Unset):
        terminal.output = bytearray(update.output or b"")
    if not isinstance(update.can_cancel, u.Unset):
        terminal.can_cancel = bool(update.can_cancel)
    return [TerminalChanged(update.terminal_id)]


def _terminal_chunk(state: SessionState, update: u.TerminalChunk) -> Changes:
    _terminal_of(state, update.terminal_id).output.extend(update.data)
    return [TerminalChanged(update.terminal_id, appended=update.data)]


def _terminal_of(state: SessionState, terminal_id: u.TerminalId) -> Terminal:
    # Its own entry keeps a terminal visible that no tool call refers to; a view shows the entry
    # empty as soon as one does.
    terminal = state.terminals.get(terminal_id)
    if terminal is None:
        terminal = state.terminals[terminal_id] = Terminal(terminal_id)
        state.add_entry(EntryKey("terminal", terminal_id))
    return terminal


def _plan(state: SessionState, update: u.PlanUpdate) -> Changes:
    key = EntryKey("plan", update.plan_id)
    moved: Changes = []
    if update.plan_id in state.plans and state.owners.get(key) != state.present_owner():
        # A plan moves to the later turn that continues it: v1 has one plan for ever.
        moved = foreground.remove_entry(state, key)
    if moved or update.plan_id not in state.plans:
        state.add_entry(key)
    state.plans[update.plan_id] = Plan(update.plan_id, update.type, update.entries, update.raw)
    return [*moved, EntryChanged(key)]


def _plan_removed(state: SessionState, update: u.PlanRemoved) -> Changes:
    plan = state.plans.pop(update.plan_id, None)
    if plan is None:
        return []
    return foreground.remove_entry(state, EntryKey("plan", update.plan_id))


def _usage(state: SessionState, update: u.UsageUpdate) -> Changes:
    kept = state.usage.cost if state.usage else None
    cost = kept if isinstance(update.cost, u.Unset) else update.cost
    state.usage = Usage(update.used, update.size, cost)
    return [HeaderChanged()]


def _commands(state: SessionState, update: u.CommandsUpdate) -> Changes:
    state.commands = update.commands
    return [HeaderChanged()]


def _config_options(state: SessionState, update: u.ConfigOptionsUpdate) -> Changes:
    state.config_options = update.options
    return [HeaderChanged()]


def _session_info(state: SessionState, update: u.SessionInfoUpdate) -> Changes:
    if not isinstance(update.title, u.Unset):
        state.title = update.title
    if not isinstance(update.updated_at, u.Unset):
        state.updated_at = update.updated_at
    _patch_meta(state.meta, update.meta)
    return [HeaderChanged()]


def _compaction(state: SessionState, update: u.CompactionUpdate) -> Changes:
    compaction, key = _compaction_of(state, update.compaction_id)
    compaction.status = update.status
    if not isinstance(update.summary, u.Unset):
        compaction.summary = Content(update.summary or ())
    if not isinstance(update.error, u.Unset):
        compaction.error = update.error
    return [EntryChanged(key)]


def _compaction_chunk(state: SessionState, update: u.CompactionChunk) -> Changes:
    compaction, key = _compaction_of(state, update.compaction_id)
    compaction.summary.append(update.content)
    return [EntryChanged(key)]


def _compaction_of(
    state: SessionState, compaction_id: u.CompactionId
) -> tuple[Compaction, EntryKey]:
    key = EntryKey("compaction", compaction_id)
    compaction = state.compactions.get(compaction_id)
    if compaction is None:
        compaction = state.compactions[compaction_id] = Compaction(compaction_id, "in_progress")
        state.add_entry(key)
    return compaction, key


def _violation(state: SessionState, update: u.Violation) -> Changes:
    state.violations.append(update)
    return [*foreground.add_aside(state, "violation", update), ViolationSeen(update)]


def _patch_meta(meta: dict[str, Any], patch: u.Patch[u.Json]) -> None:
    # MSG-3: omitted keeps, null clears, an object patches by key (null removes a key).
    if isinstance(patch, u.Unset):
        return
    if patch is None:
        meta.clear()
        return
    for key, value in patch.items():
        if value is None:
            meta.pop(key, None)
        else:
            meta[key] = value


# Typed per function: the type of the table cannot relate key and argument.
_RULES: dict[type, Callable[[SessionState, Any], Changes]] = {
    u.MessageUpdate: _message,
    u.MessageChunk: _message_chunk,
    u.ToolCallUpdate: _tool_call,
    u.ToolCallChunk: _tool_call_chunk,
    u.TerminalUpdate: _terminal,
    u.TerminalChunk: _terminal_chunk,
    u.PlanUpdate: _plan,
    u.PlanRemoved: _plan_removed,
    u.UsageUpdate: _usage,
    u.CommandsUpdate: _commands,
    u.ConfigOptionsUpdate: _config_options,
    u.SessionInfoUpdate: _session_info,
    u.Notice: lambda state, update: foreground.add_aside(state, "notice", update),
    u.CompactionUpdate: _compaction,
    u.CompactionChunk: _compaction_chunk,
    u.UnknownUpdate: lambda state, update: foreground.add_aside(state, "unknown", update),
    u.Violation: _violation,
    u.StateUpdate: foreground.state_changed,
    u.PromptQueued: foreground.prompt_queued,
    u.PromptSent: foreground.prompt_sent,
    u.PromptAccepted: foreground.prompt_accepted,
    u.PromptFailed: foreground.prompt_failed,
    u.PromptWithdrawn: foreground.prompt_withdrawn,
    u.PermissionRequested: foreground.permission_requested,
    u.PermissionSettled: foreground.permission_settled,
    elicitation.ElicitationRequested: elicitation_rules.requested,
    elicitation.ElicitationSettled: elicitation_rules.settled,
    elicitation.AnswerRefused: elicitation_rules.answer_refused,
    elicitation.UrlCompleted: elicitation_rules.url_completed,
    u.CancelSent: foreground.cancel_sent,
    u.StoppedAtRest: foreground.stopped_at_rest,
    u.AgentLost: foreground.agent_lost,
    u.SessionOpened: foreground.session_opened,
}
