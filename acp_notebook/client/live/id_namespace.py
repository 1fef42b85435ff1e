"""A namespace per connection for an agent's ids, apart from this client's own. Knows no wire.

A restarted agent counts its messages and tool calls from the start again, and so does the reader of
a version without ids. Without namespaces a new answer would change an old message. The tool calls
of this client are the record of what ran in the kernel, and its terminals of the commands that it
ran: a message of the agent that names one of them is refused, so that no agent can change, end or
pass off what happened here. It may show such a terminal in a tool call of its own.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import fields, is_dataclass, replace
from functools import cache
from typing import Any, get_args, get_type_hints

from acp_notebook.protocol.fields import Malformed
from acp_notebook.session import updates as u
from acp_notebook.session.elicitation import ElicitationRequested

# The prefix of this client's own terminal ids, which no agent counts.
OWN_TERMINAL = "acp-notebook-terminal-"
REFUSED = "a message about a tool call"
REFUSED_TERMINAL = "a message about a terminal"


class IdNamespace:
    """Marks the agent's ids with the number of the connection, from the second connection on."""

    def __init__(self, connection: int = 1) -> None:
        self._mark = f"@{connection}" if connection > 1 else ""

    def wire_id(self, marked: str) -> str:
        """Return an id in the agent's form; ids of earlier connections stay marked."""
        return marked.removesuffix(self._mark)

    def marked(self, updates: Iterable[u.SessionUpdate]) -> list[u.SessionUpdate]:
        """Return a reader's updates with marked ids; one about our own work is a violation."""
        found = [_without_own(update) for update in updates]
        return [self._mark_ids(update) for update in found] if self._mark else found

    def asked(self, updates: Iterable[u.SessionUpdate]) -> list[u.SessionUpdate]:
        """Return the updates of a request as `marked` does.

        Raises:
            Malformed: The request names an own call.
        """
        found = self.marked(updates)
        for update in found:
            if isinstance(update, u.Violation) and update.where == REFUSED:
                raise Malformed(update.reason)
        return found

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


def _without_own(update: u.SessionUpdate) -> u.SessionUpdate:
    match update:
        case u.TerminalUpdate(terminal_id=terminal) | u.TerminalChunk(terminal_id=terminal):
            if not terminal.startswith(OWN_TERMINAL):
                return update
            reason = f"the terminal {terminal!r} is this client's own"
            return u.Violation(REFUSED_TERMINAL, reason, {"id": terminal})
        case u.ToolCallUpdate(tool_call_id=named) | u.ToolCallChunk(tool_call_id=named):
            pass
        case u.PermissionRequested(
            subject=u.ToolCallSubject(tool_call_id=found) | u.CommandSubject(tool_call_id=found)
        ):
            named = found or u.ToolCallId("")
        case ElicitationRequested(tool_call_id=found):
            named = found or u.ToolCallId("")
        case u.StateUpdate(background=tuple(items)):
            # The rest of the state counts: without it a turn might never end.
            others = tuple(item for item in items if not item.id.startswith(u.OWN_CALL))
            return update if len(others) == len(items) else replace(update, background=others)
        case _:
            return update
    if not named.startswith(u.OWN_CALL):
        return update
    # Of the update itself nothing is kept: it may be nested deeper than anything can copy.
    return u.Violation(REFUSED, f"the tool call {named!r} is this client's own", {"id": named})


@cache
def _agent_ids(kind: type) -> frozenset[str]:
    hints = get_type_hints(kind, localns=vars(u))
    return frozenset(
        name
        for name, hint in hints.items()
        if any(declared in u.AGENT_IDS for declared in (hint, *get_args(hint)))
    )
