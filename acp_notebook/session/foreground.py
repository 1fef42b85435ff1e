"""The foreground half of the reducer: state, prompts, permissions, cancel, loss of the agent.

When does a prompt's turn end? (STATE-2; no update carries a turn id.)

1. A prompt that is sent while other work goes on is *behind*: the idle of that work is not its own.
2. It begins when its own user message appears, or when the agent reports work while nothing is in
   front of it any more.
3. The first idle after it began ends it, with that idle's stop reason.
4. A prompt that was never behind also ends at an idle with a stop reason that comes after its
   acceptance, though no `running` was seen: some agents are sloppy. A cancelled one need not even
   have been accepted.
5. Any other idle (late, repeated, of earlier work) ends nothing.
6. An error answer ends it at once, and so does the loss of the agent.

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
    """Append an entry that stands for itself and never changes."""
    key = EntryKey(kind, str(len(state.asides)))
    state.asides[key] = value
    state.add_entry(key)
    return [EntryChanged(key)]


def remove_entry(state: SessionState, key: EntryKey) -> Changes:
    """Take an entry out of the timeline; it is looked for from the end, where it usually is."""
    for index in range(len(state.timeline) - 1, -1, -1):
        if state.timeline[index] == key:
            del state.timeline[index]
            return [EntryRemoved(key)]
    return []


def state_changed(state: SessionState, update: u.StateUpdate) -> Changes:
    """`running`, `requires_action`, `idle`, or an unknown state, which is never taken for idle."""
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
    stop_reason, error = _told_end(state, update)
    for prompt in state.open_prompts:
        if _ends(state, prompt, update):
            changes += _end(state, prompt, stop_reason, error)
    state.is_cancelling = False
    _let_next_begin(state)
    return changes


def _told_end(state: SessionState, idle: u.StateUpdate) -> tuple[str | None, u.Failure | None]:
    """How the work ended; an abort error after a cancel is the cancel (CANCEL-5)."""
    if state.is_cancelling and (idle.error is not None or idle.stop_reason == "error"):
        return CANCELLED, None
    return idle.stop_reason, idle.error


def _settle_refused_calls(state: SessionState) -> Changes:
    """Some agents say nothing more of a call that was refused: it would seem to go on for ever."""
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
    """A prompt that waits in this client is visible as such, also one the agent sent back."""
    key = EntryKey("prompt", update.prompt_id)
    prompt = state.prompts.get(update.prompt_id)
    earlier: Changes = []
    if prompt is None:
        prompt, earlier = _register(state, Prompt(update.prompt_id, update.content))
    prompt.phase = "queued"
    return [*earlier, EntryChanged(key), PromptChanged(update.prompt_id)]


def _register(state: SessionState, prompt: Prompt) -> tuple[Prompt, Changes]:
    """Enter a prompt; the first one of a new session owns what came before it.

    What comes before the first prompt of a session that was taken up is a replay.
    """
    earlier = state.timeline if state.is_new and not state.prompts else []
    changes: Changes = [EntryChanged(key) for key in earlier]
    state.owners |= dict.fromkeys(earlier, prompt.prompt_id)
    state.prompts[prompt.prompt_id] = state.pending[prompt.prompt_id] = prompt
    state.add_entry(EntryKey("prompt", prompt.prompt_id))
    return prompt, changes


def prompt_sent(state: SessionState, update: u.PromptSent) -> Changes:
    """What was typed stands in until the agent reports its user message (PROMPT-5)."""
    is_behind = not state.is_idle or bool(state.open_prompts)
    key = EntryKey("prompt", update.prompt_id)
    prompt = state.prompts.get(update.prompt_id)
    earlier: Changes = []
    if prompt is None:
        prompt, earlier = _register(state, Prompt(update.prompt_id, update.content))
    prompt.phase = "sent"
    prompt.is_behind = prompt.was_behind = is_behind
    return [*earlier, EntryChanged(key), PromptChanged(update.prompt_id), HeaderChanged()]


def prompt_accepted(state: SessionState, update: u.PromptAccepted) -> Changes:
    """Accepted is not done: only the state ends a turn (PROMPT-3)."""
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
    """A new user message takes the place of the prompt it came from, if it came from one.

    By the id of the answer where the agent gave one, else the oldest prompt without a message.
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
    """An error answer ends the prompt; after a cancel it is the cancel (CANCEL-5)."""
    prompt = state.prompts[update.prompt_id]
    if prompt.is_ended:
        return []
    if state.is_cancelling:
        changes = _end(state, prompt, CANCELLED, None)
    else:
        changes = _end(state, prompt, None, update.failure)
    if state.is_idle:
        # No idle will follow that could do this.
        _let_next_begin(state)
        state.is_cancelling = state.is_cancelling and bool(state.open_prompts)
    return [*changes, HeaderChanged()]


def prompt_withdrawn(state: SessionState, update: u.PromptWithdrawn) -> Changes:
    """Only a queued prompt can be taken back; it leaves no trace in the timeline."""
    prompt = state.prompts[update.prompt_id]
    if prompt.phase != "queued":
        return []
    prompt.phase, prompt.stop_reason = "ended", CANCELLED
    del state.pending[prompt.prompt_id]
    removed = remove_entry(state, EntryKey("prompt", prompt.prompt_id))
    return [*removed, PromptChanged(prompt.prompt_id)]


def permission_requested(state: SessionState, update: u.PermissionRequested) -> Changes:
    """An entry of its own: a tool update that comes meanwhile does not close it (PERM-5)."""
    state.permissions[update.permission_id] = Permission(update)
    key = EntryKey("permission", update.permission_id)
    state.add_entry(key)
    return [EntryChanged(key), HeaderChanged()]


def permission_settled(state: SessionState, update: u.PermissionSettled) -> Changes:
    """The first answer counts; there is only one."""
    permission = state.permissions[update.permission_id]
    if permission.answer is not None:
        return []
    permission.answer = update
    _note_refusal(state, permission)
    return [EntryChanged(EntryKey("permission", update.permission_id)), HeaderChanged()]


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
    """Unfinished tool calls of the present work show as cancelled at once (CANCEL-2)."""
    state.is_cancelling = True
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


def agent_lost(state: SessionState, update: u.AgentLost) -> Changes:
    """Nothing keeps waiting for an agent that is gone (WIRE-7)."""
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
    """The session is served, for the first time or again, or a new one in its place."""
    state.is_connected, state.is_new = True, update.is_new
    if update.is_new:
        state.usage, state.title, state.updated_at = None, None, None
        state.commands, state.config_options = (), ()
    return [HeaderChanged()]


def _settle_tool_calls(
    state: SessionState, status: str, concerned: Callable[[ToolCall], bool]
) -> Changes:
    changes: Changes = []
    for call in _unfinished(state):
        if concerned(call):
            call.status = status
            changes.append(EntryChanged(EntryKey("tool_call", call.tool_call_id)))
    return changes


def _unfinished(state: SessionState) -> list[ToolCall]:
    return [call for call in state.tool_calls.values() if not call.is_finished]
