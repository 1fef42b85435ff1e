"""Reading a v2 session's messages: nearly the identity, as the model has v2's meaning.

An unknown discriminator is kept whole as `UnknownUpdate`; a known one with a broken payload becomes
a `Violation`, and nothing else is lost. Knows no v1.
"""

from __future__ import annotations

import base64
import binascii
from functools import partial
from typing import Any

from acp_notebook.protocol import elicitation, fields, shapes
from acp_notebook.protocol.content import blocks, read_block
from acp_notebook.protocol.dialect import Updates
from acp_notebook.protocol.fields import Json, Malformed, optional_text
from acp_notebook.session import updates as u
from acp_notebook.session.content import ContentBlock
from acp_notebook.session.elicitation import ElicitationId, ElicitationSettled


class V2Reader:
    """Reads one v2 session, without state."""

    def opened(self, answer: Json) -> Updates:
        """Read the option and command lists, if the answer has any."""
        found: Updates = []
        if isinstance(answer.get("configOptions"), list):
            found.append(_config_options(answer))
        if isinstance(answer.get("availableCommands"), list):
            found.append(shapes.commands(answer))
        return found

    def update(self, raw: Any) -> Updates:
        """Read a `session/update`; never raises."""
        return shapes.read_update(raw, _READERS)

    def prompt_sent(self, prompt_id: u.PromptId, content: tuple[ContentBlock, ...]) -> Updates:
        """Note the prompt; the agent reports the rest."""
        return [u.PromptSent(prompt_id, content)]

    def prompt_answered(self, prompt_id: u.PromptId, result: Any) -> Updates:
        """Read `{}` (the lifecycle page) or `{messageId}` (the later schema) as acceptance."""
        message_id = result.get("messageId") if isinstance(result, dict) else None
        accepted = u.PromptAccepted(
            prompt_id, u.MessageId(message_id) if isinstance(message_id, str) else None
        )
        if isinstance(result, dict):
            return [accepted]
        reason = f"the answer must be an object, got {fields.kind_of(result)}; taken as accepted"
        return [u.Violation("session/prompt", reason, result), accepted]

    def prompt_failed(self, prompt_id: u.PromptId, failure: u.Failure) -> Updates:
        """Note the failure; the state stays, as other foreground work may continue."""
        return [u.PromptFailed(prompt_id, failure)]

    def cancel_sent(self) -> Updates:
        """Note the cancel, which the agent confirms by `idle` with `cancelled`."""
        return [u.CancelSent()]

    def permission_asked(self, permission_id: u.PermissionId, params: Json) -> Updates:
        """Read the request, after its tool call like an ordinary update (PERM-4)."""
        options = shapes.permission_options(params)
        before, subject = _subject(params.get("subject"))
        asked = u.PermissionRequested(
            permission_id,
            fields.text(params, "title"),
            options,
            optional_text(params, "description"),
            subject,
        )
        return [*before, asked]

    def option_set(self, option: u.ConfigOption, value: str | bool, answer: Any) -> Updates:
        """Read the whole list of options."""
        del option, value
        if isinstance(answer, dict) and isinstance(answer.get("configOptions"), list):
            return [_config_options(answer)]
        reason = "the answer carries no configOptions"
        return [u.Violation("session/set_config_option", reason, answer)]

    def permission_settled(self, settled: u.PermissionSettled) -> Updates:
        """Note the answer; the agent reports the state."""
        return [settled]

    def elicitation_asked(self, elicitation_id: ElicitationId, params: Json) -> Updates:
        """Read a form or url request."""
        return [elicitation.requested(elicitation_id, params)]

    def elicitation_settled(self, settled: ElicitationSettled) -> Updates:
        """Note the answer; the agent reports the state."""
        return [settled]


def _subject(raw: Any) -> tuple[Updates, u.PermissionSubject | None]:
    if not isinstance(raw, dict):
        return [], None
    try:
        match fields.text(raw, "type"):
            case "tool_call":
                update = _tool_call(fields.as_object(raw.get("toolCall"), "toolCall"))
                return [update], u.ToolCallSubject(update.tool_call_id)
            case "command":
                return [], _command_subject(raw)
            case other:
                return [], u.UnknownSubject(other, raw)
    except Malformed:
        # The question is still asked; its subject is shown as JSON.
        return [], u.UnknownSubject(str(raw.get("type")), raw)


def _command_subject(raw: Json) -> u.CommandSubject:
    tool_call_id = optional_text(raw, "toolCallId")
    terminal_id = optional_text(raw, "terminalId")
    return u.CommandSubject(
        fields.text(raw, "command"),
        optional_text(raw, "cwd") or "",
        u.ToolCallId(tool_call_id) if tool_call_id is not None else None,
        u.TerminalId(terminal_id) if terminal_id is not None else None,
    )


def _message(role: u.Role, raw: Json) -> u.SessionUpdate:
    return u.MessageUpdate(
        role,
        u.MessageId(fields.text(raw, "messageId")),
        fields.patch(raw, "content", blocks),
        fields.patch_object(raw, "_meta"),
    )


def _chunk(role: u.Role, raw: Json) -> u.SessionUpdate:
    message_id = u.MessageId(fields.text(raw, "messageId"))
    return u.MessageChunk(role, message_id, read_block(raw.get("content")))


def _state(raw: Json) -> u.SessionUpdate:
    return u.StateUpdate(
        fields.text(raw, "state"),
        optional_text(raw, "stopReason"),
        _failure(fields.optional_object(raw, "error")),
        fields.patch(raw, "background", lambda value: fields.valid_items(value, _background)),
    )


def _failure(raw: Json | None) -> u.Failure | None:
    if raw is None:
        return None
    return u.Failure(
        optional_text(raw, "message") or "", fields.optional_int(raw, "code"), raw.get("data")
    )


def _background(value: Any) -> u.BackgroundItem:
    raw = fields.as_object(value, "background work")
    work_id = optional_text(raw, "terminalId") or optional_text(raw, "toolCallId") or ""
    return u.BackgroundItem(fields.text(raw, "type"), u.WorkId(work_id), raw)


def _tool_call(raw: Json) -> u.ToolCallUpdate:
    return shapes.tool_call(raw, _diff)


def _tool_call_chunk(raw: Json) -> u.SessionUpdate:
    tool_call_id = u.ToolCallId(fields.text(raw, "toolCallId"))
    return u.ToolCallChunk(tool_call_id, shapes.tool_content(raw.get("content"), _diff))


def _diff(raw: Json) -> u.DiffItem:
    changes = fields.valid_items(raw.get("changes"), _diff_change)
    patch = fields.optional_object(raw, "patch")
    return u.DiffItem(changes, optional_text(patch, "text") if patch is not None else None)


def _diff_change(value: Any) -> u.DiffChange:
    raw = fields.as_object(value, "change")
    return u.DiffChange(
        fields.text(raw, "operation"),
        optional_text(raw, "path") or "",
        optional_text(raw, "oldPath"),
        optional_text(raw, "fileType"),
        optional_text(raw, "mimeType"),
    )


def _terminal(raw: Json) -> u.SessionUpdate:
    return u.TerminalUpdate(
        u.TerminalId(fields.text(raw, "terminalId")),
        fields.patch_text(raw, "command"),
        fields.patch_text(raw, "cwd"),
        fields.patch(raw, "output", lambda value: _bytes(fields.as_object(value, "output"))),
        fields.patch(raw, "exitStatus", _exit_status),
        fields.patch(raw, "size", _size),
        shapes.can_cancel(raw),
    )


def _exit_status(value: Any) -> u.ExitStatus:
    raw = fields.as_object(value, "exitStatus")
    return u.ExitStatus(fields.optional_int(raw, "exitCode"), optional_text(raw, "signal"))


def _size(value: Any) -> tuple[int, int]:
    raw = fields.as_object(value, "size")
    return fields.whole_number(raw, "cols"), fields.whole_number(raw, "rows")


def _terminal_chunk(raw: Json) -> u.SessionUpdate:
    # Each chunk is decoded by itself; what joins them is bytes, not characters (TOOL-7).
    return u.TerminalChunk(u.TerminalId(fields.text(raw, "terminalId")), _bytes(raw))


def _bytes(raw: Json) -> bytes:
    try:
        return base64.b64decode(fields.text(raw, "data"), validate=True)
    except (binascii.Error, ValueError) as error:
        raise Malformed(f"data must be base64: {error}") from None


def _plan(raw: Json) -> u.SessionUpdate:
    plan = fields.as_object(raw.get("plan"), "plan")
    kind = fields.text(plan, "type")
    plan_id = u.PlanId(fields.text(plan, "planId"))
    if kind != "items":
        return u.PlanUpdate(plan_id, None, kind, plan)
    return u.PlanUpdate(plan_id, fields.valid_items(plan.get("entries"), shapes.plan_entry))


def _plan_removed(raw: Json) -> u.SessionUpdate:
    return u.PlanRemoved(u.PlanId(fields.text(raw, "planId")))


def _config_options(raw: Json) -> u.SessionUpdate:
    return shapes.config_options(raw, id_key="configId", group_key="groupId")


_READERS: dict[str, shapes.UpdateReader] = {
    **shapes.READERS,
    "user_message": partial(_message, "user"),
    "agent_message": partial(_message, "agent"),
    "agent_thought": partial(_message, "thought"),
    "user_message_chunk": partial(_chunk, "user"),
    "agent_message_chunk": partial(_chunk, "agent"),
    "agent_thought_chunk": partial(_chunk, "thought"),
    "state_update": _state,
    "tool_call_update": _tool_call,
    "tool_call_content_chunk": _tool_call_chunk,
    "terminal_update": _terminal,
    "terminal_output_chunk": _terminal_chunk,
    "plan_update": _plan,
    "plan_removed": _plan_removed,
    "config_option_update": _config_options,
}
