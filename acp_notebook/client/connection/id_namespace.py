"""Keeps the ids of an agent that was started again apart from those of before.

An agent that begins anew counts its messages and tool calls from the start again, and the reader
of a version without ids does so too. Taken as they are, a new answer would change an old message.
Knows no wire: it wraps whatever reader the dialect makes.
"""

from __future__ import annotations

from dataclasses import fields, is_dataclass, replace
from functools import cache
from typing import Any, get_args, get_type_hints

from acp_notebook.protocol.dialect import Reader, Updates
from acp_notebook.protocol.fields import Json
from acp_notebook.session import updates as u
from acp_notebook.session.content import ContentBlock
from acp_notebook.session.elicitation import ElicitationId, ElicitationSettled

# How the ids of this client's own terminals begin: no agent counts them.
OWN_TERMINAL = "acp-notebook-terminal-"


class IdNamespace:
    """A reader that marks every id of the agent with the number of its connection."""

    def __init__(self, reader: Reader, connection: int) -> None:
        self._reader = reader
        self._mark = f"@{connection}"

    def wire_id(self, marked: str) -> str:
        """The id as the agent knows it; one of an earlier connection is left as it is."""
        return marked.removesuffix(self._mark)

    def opened(self, answer: Json) -> Updates:
        """See `Reader`."""
        return self._marked(self._reader.opened(answer))

    def update(self, raw: Any) -> Updates:
        """See `Reader`."""
        return self._marked(self._reader.update(raw))

    def prompt_sent(self, prompt_id: u.PromptId, content: tuple[ContentBlock, ...]) -> Updates:
        """See `Reader`."""
        return self._marked(self._reader.prompt_sent(prompt_id, content))

    def prompt_answered(self, prompt_id: u.PromptId, result: Any) -> Updates:
        """See `Reader`."""
        return self._marked(self._reader.prompt_answered(prompt_id, result))

    def prompt_failed(self, prompt_id: u.PromptId, failure: u.Failure) -> Updates:
        """See `Reader`."""
        return self._marked(self._reader.prompt_failed(prompt_id, failure))

    def cancel_sent(self) -> Updates:
        """See `Reader`."""
        return self._marked(self._reader.cancel_sent())

    def permission_asked(self, permission_id: u.PermissionId, params: Json) -> Updates:
        """See `Reader`."""
        return self._marked(self._reader.permission_asked(permission_id, params))

    def option_set(self, option: u.ConfigOption, value: str | bool, answer: Any) -> Updates:
        """See `Reader`."""
        return self._marked(self._reader.option_set(option, value, answer))

    def permission_settled(self, settled: u.PermissionSettled) -> Updates:
        """See `Reader`."""
        return self._marked(self._reader.permission_settled(settled))

    def elicitation_asked(self, elicitation_id: ElicitationId, params: Json) -> Updates:
        """See `Reader`."""
        return self._marked(self._reader.elicitation_asked(elicitation_id, params))

    def elicitation_settled(self, settled: ElicitationSettled) -> Updates:
        """See `Reader`."""
        return self._marked(self._reader.elicitation_settled(settled))

    def _marked(self, updates: Updates) -> Updates:
        return [self._mark_ids(update) for update in updates]

    def _mark_ids(self, value: Any, *, is_id: bool = False) -> Any:
        if is_id and isinstance(value, str) and not value.startswith(OWN_TERMINAL):
            return value + self._mark
        if isinstance(value, tuple):
            return tuple(map(self._mark_ids, value))
        if not is_dataclass(value) or isinstance(value, type):
            return value
        ids = _agent_ids(type(value))
        found: dict[str, Any] = {}
        for name in (field.name for field in fields(value)):
            member = getattr(value, name)
            marked = self._mark_ids(member, is_id=name in ids)
            if marked is not member:
                found[name] = marked
        return replace(value, **found) if found else value


@cache
def _agent_ids(kind: type) -> frozenset[str]:
    """The members of a record that are declared as an id of the agent's."""
    hints = get_type_hints(kind, localns=vars(u))
    return frozenset(
        name
        for name, hint in hints.items()
        if any(declared in u.AGENT_IDS for declared in (hint, *get_args(hint)))
    )
