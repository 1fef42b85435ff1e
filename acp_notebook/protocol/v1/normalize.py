"""Reading a v1 session's messages into the model's v2 meaning, with state. Knows no v2.

The parts that v1 leaves implicit, and the rules that complete them:

1. *Messages.* A run of chunks of one role without an id is one message; another role, a tool call,
   a plan or the end of the turn closes the run. The agent's ids are used unchanged.
2. *The user's message* is the prompt itself. Its echo as `user_message_chunk` before any output is
   no second message.
3. *The state.* A prompt in flight is `running`; with an open question it is `requires_action`; the
   prompt's answer is `idle` with its stop reason. An error after a cancel is `cancelled`.
4. *The plan* is one, under a constant id. *Modes* are a config option of category `mode`, unless
   the agent offers a real one.
5. *Diffs* come as old and new text; the patch is computed and the texts are kept.
6. *Null* in a tool call update means unchanged.
7. *The agent's own terminals* come in `_meta`: see `meta_terminals`.

Ids made here begin with `v1-`, unlike the agent's. Known limit: two messages of a role in a row
become one.
"""

from __future__ import annotations

from dataclasses import fields as dataclass_fields
from dataclasses import replace
from functools import partial
from typing import Any

from acp_notebook.protocol import elicitation, fields, shapes
from acp_notebook.protocol.content import read_block
from acp_notebook.protocol.dialect import Updates
from acp_notebook.protocol.fields import Json, optional_text
from acp_notebook.protocol.v1.diff import diff_item
from acp_notebook.protocol.v1.meta_terminals import MetaTerminals
from acp_notebook.session import updates as u
from acp_notebook.session.content import ContentBlock, TextBlock, text_of
from acp_notebook.session.elicitation import ElicitationId, ElicitationSettled

PLAN_ID = u.PlanId("v1-plan")
MODE_OPTION_ID = "v1-mode"
# The withdrawn `models` and `session/set_model`, which some agents still use instead of options.
MODEL_OPTION_ID = "v1-model"
# Members of a form that are optional in this version.
_FORM_DEFAULTS: Json = {"type": "object", "properties": {}}
_STOP_REASONS = frozenset({"end_turn", "max_tokens", "max_turn_requests", "refusal", "cancelled"})


class V1Reader:
    """Reads one v1 session, with messages and this client's own acts in order."""

    def __init__(self) -> None:
        self._ids = 0
        self._run: tuple[u.Role, u.MessageId] | None = None
        self._in_flight: u.PromptId | None = None
        self._echo: str | None = None  # the prompt's text, which may be echoed,
        self._echoed = 0  # and how much of it was
        self._is_cancelling = False
        self._open_questions: set[u.PermissionId | ElicitationId] = set()
        self._known_calls: dict[str, str | None] = {}  # id -> title
        self._terminals = MetaTerminals()
        self._modes: tuple[u.ConfigValue, ...] = ()
        self._mode: str | None = None
        self._models: tuple[u.ConfigValue, ...] = ()
        self._model: str | None = None
        self._options: tuple[u.ConfigOption, ...] = ()
        self._readers: dict[str, shapes.UpdateReader] = {
            **shapes.READERS,
            "user_message_chunk": partial(self._chunk, "user"),
            "agent_message_chunk": partial(self._chunk, "agent"),
            "agent_thought_chunk": partial(self._chunk, "thought"),
            "tool_call": self._announced,
            "tool_call_update": self._tool_call,
            "plan": self._plan,
            "current_mode_update": self._mode_changed,
            "config_option_update": self._options_changed,
        }

    def opened(self, answer: Json) -> Updates:
        """Read modes and options of the set-up answer; commands come as an update."""
        models = fields.optional_object(answer, "models")
        if models is not None:
            self._model = optional_text(models, "currentModelId")
            self._models = _choices(models.get("availableModels") or [], "modelId")
        modes = fields.optional_object(answer, "modes")
        if modes is not None:
            self._mode = optional_text(modes, "currentModeId")
            self._modes = _choices(fields.optional_array(modes, "availableModes"), "id")
        if isinstance(answer.get("configOptions"), list):
            self._options = _options(answer).options
        has_any = self._modes or self._models or self._options
        return [self._config_options()] if has_any else []

    def update(self, raw: Any) -> Updates:
        """Read a `session/update`; never raises."""
        return shapes.read_update(raw, self._readers)

    def prompt_sent(self, prompt_id: u.PromptId, content: tuple[ContentBlock, ...]) -> Updates:
        """Add message and running state at once: in v1 sending is acceptance."""
        self._run = None
        self._in_flight = prompt_id
        self._is_cancelling = False
        self._echo, self._echoed = text_of(content), 0
        return [
            u.PromptSent(prompt_id, content),
            u.PromptAccepted(prompt_id),
            u.MessageUpdate("user", self._new_id(), content),
            u.StateUpdate("running"),
        ]

    def prompt_answered(self, prompt_id: u.PromptId, result: Any) -> Updates:  # noqa: ARG002
        """End the turn with the answer's stop reason (V1-2)."""
        self._turn_over()
        stop_reason = result.get("stopReason") if isinstance(result, dict) else None
        if isinstance(stop_reason, str):
            idle = u.StateUpdate("idle", stop_reason)
            if stop_reason in _STOP_REASONS or stop_reason.startswith("_"):
                return [idle]
            reason = f"unknown stop reason {stop_reason!r}"
            return [u.Violation("session/prompt", reason, result), idle]
        reason = f"the answer names no stop reason, got {fields.kind_of(stop_reason)}"
        return [u.Violation("session/prompt", reason, result), u.StateUpdate("idle")]

    def prompt_failed(self, prompt_id: u.PromptId, failure: u.Failure) -> Updates:
        """End the turn; after a cancel the error is the cancel (CANCEL-5)."""
        was_cancelling = self._is_cancelling
        self._turn_over()
        if was_cancelling:
            return [u.StateUpdate("idle", "cancelled")]
        return [u.PromptFailed(prompt_id, failure), u.StateUpdate("idle")]

    def cancel_sent(self) -> Updates:
        """Note the cancel, which the prompt's answer will confirm."""
        self._is_cancelling = True
        return [u.CancelSent()]

    def permission_asked(self, permission_id: u.PermissionId, params: Json) -> Updates:
        """Read the request, and its tool call like an ordinary update."""
        options = shapes.permission_options(params)
        subject = fields.as_object(params.get("toolCall"), "toolCall")
        before = self._tool_call(subject)
        tool_call_id = fields.text(subject, "toolCallId")
        title = self._known_calls.get(tool_call_id) or "Permission needed"
        asked = u.PermissionRequested(
            permission_id, title, options, None, u.ToolCallSubject(u.ToolCallId(tool_call_id))
        )
        return [*before, asked, *self._question(permission_id)]

    def option_set(self, option: u.ConfigOption, value: str | bool, answer: Any) -> Updates:
        """Read the list of options; modes and models have none, and take the value at once."""
        if isinstance(answer, dict) and isinstance(answer.get("configOptions"), list):
            self._options = _options(answer).options
        elif option.id == MODE_OPTION_ID:
            self._mode = str(value)
        elif option.id == MODEL_OPTION_ID:
            self._model = str(value)
        return [self._config_options()]

    def permission_settled(self, settled: u.PermissionSettled) -> Updates:
        """Note the answer; the last one sets the state to `running`."""
        return [settled, *self._answered(settled.permission_id)]

    def elicitation_asked(self, elicitation_id: ElicitationId, params: Json) -> Updates:
        """Read a form or url request; the state becomes `requires_action`."""
        asked = elicitation.requested(elicitation_id, params, _FORM_DEFAULTS)
        return [asked, *self._question(elicitation_id)]

    def elicitation_settled(self, settled: ElicitationSettled) -> Updates:
        """Note the answer; the last one sets the state to `running`."""
        return [settled, *self._answered(settled.elicitation_id)]

    def _question(self, question: u.PermissionId | ElicitationId) -> Updates:
        self._open_questions.add(question)
        return [u.StateUpdate("requires_action")] if self._in_flight else []

    def _answered(self, question: u.PermissionId | ElicitationId) -> Updates:
        self._open_questions.discard(question)
        if self._in_flight and not self._open_questions:
            return [u.StateUpdate("running")]
        return []

    def _turn_over(self) -> None:
        self._run = self._in_flight = self._echo = None
        self._is_cancelling = False
        self._open_questions.clear()

    def _new_id(self) -> u.MessageId:
        self._ids += 1
        return u.MessageId(f"v1-{self._ids}")

    def _chunk(self, role: u.Role, raw: Json) -> Updates:
        block = read_block(raw.get("content"))
        if role == "user" and self._is_echo(block):
            return []
        if role != "user":
            self._echo = None
        given = optional_text(raw, "messageId")
        if given is not None:
            message_id = u.MessageId(given)
        elif self._run is not None and self._run[0] == role:
            message_id = self._run[1]
        else:
            message_id = self._new_id()
        self._run = (role, message_id)
        return [u.MessageChunk(role, message_id, block)]

    def _is_echo(self, block: ContentBlock) -> bool:
        if self._echo is None:
            return False
        if isinstance(block, TextBlock) and self._echo.startswith(block.text, self._echoed):
            self._echoed += len(block.text)
            return True
        # Attachments come back in many forms; before any output they are the prompt's.
        return not isinstance(block, TextBlock)

    def _tool_call(self, raw: Json) -> Updates:
        update = shapes.tool_call(raw, diff_item)
        is_new = update.tool_call_id not in self._known_calls
        if is_new:
            self._run = None
        self._echo = None
        update = _null_means_unchanged(update)
        title = update.title if isinstance(update.title, str) else None
        self._known_calls[update.tool_call_id] = title or self._known_calls.get(update.tool_call_id)
        return [update, *self._terminals.read(raw, update)]

    def _announced(self, raw: Json) -> Updates:
        # A repeated `tool_call` of some agents must not undo a status.
        known = fields.text(raw, "toolCallId") in self._known_calls
        if known and raw.get("status") == "pending":
            raw = {key: value for key, value in raw.items() if key != "status"}
        return self._tool_call(raw)

    def _plan(self, raw: Json) -> Updates:
        entries = fields.valid_items(fields.array(raw, "entries"), shapes.plan_entry)
        self._run = None
        return [u.PlanUpdate(PLAN_ID, entries)]

    def _mode_changed(self, raw: Json) -> Updates:
        self._mode = fields.text(raw, "currentModeId")
        return [self._config_options()]

    def _options_changed(self, raw: Json) -> Updates:
        self._options = _options(raw).options
        return [self._config_options()]

    def _config_options(self) -> u.ConfigOptionsUpdate:
        # Modes and models become options, unless the agent offers real ones (CONF-3).
        offered = {option.category for option in self._options}
        made = [
            u.ConfigOption(option_id, name, "select", value, name.lower(), None, choices)
            for option_id, name, value, choices in (
                (MODE_OPTION_ID, "Mode", self._mode, self._modes),
                (MODEL_OPTION_ID, "Model", self._model, self._models),
            )
            if choices and name.lower() not in offered
        ]
        return u.ConfigOptionsUpdate((*made, *self._options))


def _null_means_unchanged(update: u.ToolCallUpdate) -> u.ToolCallUpdate:
    nulls: dict[str, Any] = {
        field.name: u.UNSET
        for field in dataclass_fields(update)
        if getattr(update, field.name) is None
    }
    return replace(update, **nulls) if nulls else update


def _choices(values: Any, id_key: str) -> tuple[u.ConfigValue, ...]:
    def read(value: Any) -> u.ConfigValue:
        raw = fields.as_object(value, "choice")
        choice = fields.text(raw, id_key)
        name = optional_text(raw, "name") or choice
        return u.ConfigValue(choice, name, optional_text(raw, "description"))

    return fields.valid_items(values, read)


def _options(raw: Json) -> u.ConfigOptionsUpdate:
    return shapes.config_options(raw, id_key="id", group_key="group")
