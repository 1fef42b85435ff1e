"""The foreground half of the reducer: state, prompts, permissions, cancel, loss of the agent.

When does a prompt's turn end? (STATE-2; no update carries a turn id.)

1. A prompt sent during other work is *behind*: the idle of that work is not the prompt's.
2. It begins when its own user message appears, or when the agent reports work while nothing is
   ahead of it.
3. The first idle after the beginning ends the prompt, with that idle's stop reason.
4. A prompt that was never behind also ends at an idle with a stop reason after its acceptance, even
   without a `running`, which some agents omit. A cancelled one need not even be accepted.
5. Any other idle (late, repeated, of earlier work) ends nothing.
6. An error answer ends the prompt at once, and so does the loss of the agent.

Pure; used by `reducer` alone.
"""

from __future__ import annotations

from collections.abc import Callable

from acp_notebook.session import updates as u
from acp_notebook.session.changes import (
    EntryChanged,
    EntryRemoved,
    HeaderChanged,
    PromptChanged,
    SessionChange,
)
from acp_notebook.session.elicitation_rules import close_all
from acp_notebook.session.state import (
    IDLE,
    Aside,
    EntryKey,
    EntryKind,
    Permission,
    Prompt,
    SessionState,
    ToolCall,
)

Changes = list[SessionChange]

CANCELLED = "cancelled"


def add_aside(state: SessionState, kind: EntryKind, value: Aside) -> Changes:
    """Append an entry that never changes."""
    key = EntryKey(kind, str(len(state.asides)))
    state.asides[key] = value
    state.add_entry(key)
    return [EntryChanged(key)]


def remove_entry(state: SessionState, key: EntryKey) -> Changes:
    """Remove an entry from the timeline, searching from the end, where it usually is."""
    for index in range(len(state.timeline) - 1, -1, -1):
        if state.timeline[index] == key:
            del state.timeline[index]
            return [EntryRemoved(key)]
    return []


def state_changed(state: SessionState, update: u.StateUpdate) -> Changes:
    """Apply a foreground state; an unknown one never counts as idle."""
    changes: Changes = [HeaderChanged()]
    # A snapshot: the schema says that omitted and null both mean "not reported".
    state.background = None if isinstance(update.background, u.Unset) else update.background
    state.activity = update.state
    if update.state != IDLE:
        for prompt in state.open_prompts:
            if not prompt.is_behind and prompt.phase != "working":
                prompt.phase = "working"
                changes.append(PromptChanged(prompt.prompt_id))
        return changes
    state.work += 1
    changes += _settle_refused_calls(state)
    if update.stop_reason is not None or update.error is not None:
        state.stop_reason, state.error = update.stop_reason, update.error
    stop_reason, error = _reported_end(state, update)
    for prompt in state.open_prompts:
        if _ends(state, prompt, update):
            changes += _end(state, prompt, stop_reason, error)
    state.is_cancelling = False
    _let_next_begin(state)
    return changes


def _reported_end(state: SessionState, idle: u.StateUpdate) -> tuple[str | None, u.Failure | None]:
    # An abort error after a cancel is the cancel (CANCEL-5).
    if state.is_cancelling and (idle.error is not None or idle.stop_reason == "error"):
        return CANCELLED, None
    return idle.stop_reason, idle.error


def _settle_refused_calls(state: SessionState) -> Changes:
    # Some agents never mention a refused call again, which would seem to run for ever.
    refused, state.refused_calls = state.refused_calls, set()
    changes: Changes = []
    for tool_call_id in refused:
        call = state.tool_calls.get(tool_call_id)
        if call is not None and not call.is_finished:
            call.status = CANCELLED
            changes.append(EntryChanged(EntryKey("tool_call", tool_call_id)))
    return changes


def _ends(state: SessionState, prompt: Prompt, idle: u.StateUpdate) -> bool:
    if prompt.phase == "working":
        return True
    is_confirmed = state.is_cancelling and idle.stop_reason == CANCELLED
    may_end = prompt.is_accepted or is_confirmed
    return may_end and not prompt.was_behind and idle.stop_reason is not None


def _let_next_begin(state: SessionState) -> None:
    for waiting in state.open_prompts[:1]:
        waiting.is_behind = False


def _end(
    state: SessionState, prompt: Prompt, stop_reason: str | None, failure: u.Failure | None
) -> Changes:
    prompt.phase = "ended"
    prompt.timeline_at_end = len(state.timeline)
    state.pending.pop(prompt.prompt_id, None)
    state.last_ended = prompt.prompt_id
    prompt.stop_reason, prompt.failure = stop_reason, failure
    shown = EntryKey("prompt", prompt.prompt_id)
    visible: Changes = [EntryChanged(shown)] if prompt.message_id is None else []
    return [*visible, PromptChanged(prompt.prompt_id)]


def prompt_queued(state: SessionState, update: u.PromptQueued) -> Changes:
    """Show a prompt as queued in this client, even one that the agent rejected as busy."""
    key = EntryKey("prompt", update.prompt_id)
    prompt = state.prompts.get(update.prompt_id)
    earlier: Changes = []
    if prompt is None:
        prompt, earlier = _register(state, Prompt(update.prompt_id, update.content))
    prompt.phase = "queued"
    return [*earlier, EntryChanged(key), PromptChanged(update.prompt_id)]


def _register(state: SessionState, prompt: Prompt) -> tuple[Prompt, Changes]:
    # The first prompt of a new session owns all earlier entries; in a resumed session these are a
    # replay.
    earlier = state.timeline if state.is_new and not state.prompts else []
    changes: Changes = [EntryChanged(key) for key in earlier]
    state.owners |= dict.fromkeys(earlier, prompt.prompt_id)
    state.prompts[prompt.prompt_id] = state.pending[prompt.prompt_id] = prompt
    state.add_entry(EntryKey("prompt", prompt.prompt_id))
    return prompt, changes


def prompt_sent(state: SessionState, update: u.PromptSent) -> Changes:
    """Show the typed text until the agent reports the user message (PROMPT-5)."""
    is_behind = not state.is_idle or bool(state.open_prompts)
    key = EntryKey("prompt", update.prompt_id)
    prompt = state.prompts.get(update.prompt_id)
    earlier: Changes = []
    if prompt is None:
        prompt, earlier = _register(state, Prompt(update.prompt_id, update.content))
    prompt.phase = "sent"
    state.is_stopped = False
    prompt.is_behind = prompt.was_behind = is_behind
    return [*earlier, EntryChanged(key), PromptChanged(update.prompt_id), HeaderChanged()]


def prompt_accepted(state: SessionState, update: u.PromptAccepted) -> Changes:
    """Note the acceptance, which does not end the turn: only the state does (PROMPT-3)."""
    prompt = state.prompts[update.prompt_id]
    prompt.is_accepted = True
    changes: Changes = [PromptChanged(update.prompt_id)]
    if prompt.phase == "sent":
        prompt.phase = "accepted"
    if update.message_id is not None and prompt.message_id is None:
        prompt.message_id = update.message_id
        if EntryKey("user", update.message_id) in state.messages:
            changes += _begin(state, prompt)
    return changes


def match_user_message(state: SessionState, message_id: u.MessageId) -> Changes:
    """Let a new user message replace its prompt's entry.

    The prompt is found by the message id in the agent's answer, else it is the oldest without one.
    """
    for prompt in state.open_prompts:
        if prompt.message_id == message_id:
            return _begin(state, prompt)
    for prompt in state.open_prompts:
        if prompt.message_id is None:
            prompt.message_id = message_id
            return _begin(state, prompt)
    return []


def _begin(state: SessionState, prompt: Prompt) -> Changes:
    if prompt.is_in_flight:
        prompt.phase = "working"
        prompt.is_behind = False
    removed = remove_entry(state, EntryKey("prompt", prompt.prompt_id))
    return [*removed, PromptChanged(prompt.prompt_id)]


def prompt_failed(state: SessionState, update: u.PromptFailed) -> Changes:
    """End a prompt by an error answer, which after a cancel is the cancel (CANCEL-5)."""
    prompt = state.prompts[update.prompt_id]
    if prompt.is_ended:
        return []
    if state.is_cancelling:
        changes = _end(state, prompt, CANCELLED, None)
    else:
        changes = _end(state, prompt, None, update.failure)
    if state.is_idle:
        # No idle will follow to do this.
        _let_next_begin(state)
        state.is_cancelling = state.is_cancelling and bool(state.open_prompts)
    return [*changes, HeaderChanged()]


def prompt_withdrawn(state: SessionState, update: u.PromptWithdrawn) -> Changes:
    """Remove a queued prompt from the timeline; others cannot be withdrawn."""
    prompt = state.prompts[update.prompt_id]
    if prompt.phase != "queued":
        return []
    prompt.phase, prompt.stop_reason = "ended", CANCELLED
    del state.pending[prompt.prompt_id]
    removed = remove_entry(state, EntryKey("prompt", prompt.prompt_id))
    return [*removed, PromptChanged(prompt.prompt_id)]


def permission_requested(state: SessionState, update: u.PermissionRequested) -> Changes:
    """Add the request as an entry, which no tool call update closes (PERM-5)."""
    key = EntryKey("permission", update.permission_id)
    permission = state.permissions[update.permission_id] = Permission(update)
    subject = update.subject
    call = subject.tool_call_id if isinstance(subject, u.ToolCallSubject) else None
    state.asked.add(key, permission, call)
    state.add_entry(key)
    return [EntryChanged(key), HeaderChanged()]


def permission_settled(state: SessionState, update: u.PermissionSettled) -> Changes:
    """Store the first answer; ignore any other."""
    permission = state.permissions[update.permission_id]
    if permission.answer is not None:
        return []
    permission.answer = update
    key = EntryKey("permission", update.permission_id)
    state.asked.remove(key)
    _note_refusal(state, permission)
    return [EntryChanged(key), HeaderChanged()]


def _note_refusal(state: SessionState, permission: Permission) -> None:
    answer, subject = permission.answer, permission.request.subject
    if answer is None or not isinstance(subject, u.ToolCallSubject):
        return
    kinds = {option.option_id: option.kind for option in permission.request.options}
    if answer.option_id is None or kinds.get(answer.option_id, "").startswith("reject"):
        state.refused_calls.add(subject.tool_call_id)
    else:
        state.refused_calls.discard(subject.tool_call_id)


def cancel_sent(state: SessionState, _: u.CancelSent) -> Changes:
    """Show unfinished tool calls of the present work as cancelled at once (CANCEL-2)."""
    state.is_cancelling = True
    _note_stop(state)
    work = state.background or ()
    in_background: set[str] = {item.id for item in work if item.type == "tool_call"}
    return [
        HeaderChanged(),
        *_settle_tool_calls(
            state,
            CANCELLED,
            lambda call: call.work == state.work and call.tool_call_id not in in_background,
        ),
    ]


def stopped_at_rest(state: SessionState, _: u.StoppedAtRest) -> Changes:
    """Note a stop while no turn was going on: work in the background may want to run something."""
    _note_stop(state)
    return [HeaderChanged()]


def _note_stop(state: SessionState) -> None:
    state.stops += 1
    state.is_stopped = True


def agent_lost(state: SessionState, update: u.AgentLost) -> Changes:
    """End everything that waits for the lost agent (WIRE-7)."""
    changes = _settle_tool_calls(state, "interrupted", lambda _: True)
    for permission in state.open_permissions:
        settled = u.PermissionSettled(permission.request.permission_id, None, "the agent ended")
        changes += permission_settled(state, settled)
    changes += close_all(state, "the agent ended")
    if state.pending and not state.is_cancelling:
        changes += add_aside(state, "lost", update)
    for prompt in list(state.pending.values()):
        stop_reason = CANCELLED if state.is_cancelling else None
        failure = None if state.is_cancelling else u.Failure(update.reason)
        changes += _end(state, prompt, stop_reason, failure)
    state.activity, state.is_connected = IDLE, False
    state.is_cancelling = False
    state.background = None
    return [*changes, HeaderChanged()]


def session_opened(state: SessionState, update: u.SessionOpened) -> Changes:
    """Mark the session as served, for the first time, again, or by a new one in its place."""
    state.is_connected, state.is_new = True, update.is_new
    if update.is_new:
        state.usage, state.title, state.updated_at = None, None, None
        state.commands, state.config_options = (), ()
    return [HeaderChanged()]


def _settle_tool_calls(
    state: SessionState, status: str, concerned: Callable[[ToolCall], bool]
) -> Changes:
    changes: Changes = []
    for call in state.tool_calls.values():
        if not call.is_finished and concerned(call):
            call.status = status
            changes.append(EntryChanged(EntryKey("tool_call", call.tool_call_id)))
    return changes
