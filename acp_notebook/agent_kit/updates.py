"""Session updates inside the kit: in the shapes of ACP v2, until a `wire` module writes them.

Two things differ from the wire: a `FileChange` stands for a diff item, because v1 sends texts and
v2 a patch; and config options always have v2's names. Knows no connection.
"""

from __future__ import annotations

import base64
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, TypeAlias

from acp_notebook.agent_kit.file_change import FileChange

Update: TypeAlias = dict[str, Any]
Block: TypeAlias = dict[str, Any]
ContentItem: TypeAlias = dict[str, Any] | FileChange
PlanEntries: TypeAlias = Iterable[str | tuple[str, str] | Mapping[str, str]]

STATE_UPDATE = "state_update"


def text_block(text: str) -> Block:
    """Return text as a content block."""
    return {"type": "text", "text": text}


def content_item(content: str | Block) -> Block:
    """Return text or a content block as a content item of a tool call."""
    block = text_block(content) if isinstance(content, str) else content
    return {"type": "content", "content": block}


def user_message(message_id: str, blocks: Sequence[Block]) -> Update:
    """Report the accepted prompt."""
    return {"sessionUpdate": "user_message", "messageId": message_id, "content": list(blocks)}


def message_chunk(
    role: Literal["agent_message", "agent_thought"], message_id: str, block: Block
) -> Update:
    """Report a chunk of a message or a thought."""
    return {"sessionUpdate": f"{role}_chunk", "messageId": message_id, "content": block}


def state(name: str, **members: object) -> Update:
    """Report the foreground state: running, requires_action or idle."""
    return {"sessionUpdate": STATE_UPDATE, "state": name, **members}


def tool_call(tool_call_id: str, **fields: object) -> Update:
    """Report a new tool call, or its changed fields."""
    return {"sessionUpdate": "tool_call_update", "toolCallId": tool_call_id, **fields}


def tool_content(tool_call_id: str, item: ContentItem) -> Update:
    """Report one more content item of a tool call."""
    return {"sessionUpdate": "tool_call_content_chunk", "toolCallId": tool_call_id, "content": item}


def terminal(terminal_id: str, **fields: object) -> Update:
    """Report a new terminal, or its changed fields."""
    return {"sessionUpdate": "terminal_update", "terminalId": terminal_id, **fields}


def terminal_output(terminal_id: str, data: bytes) -> Update:
    """Report more output bytes of a terminal."""
    encoded = base64.b64encode(data).decode("ascii")
    return {"sessionUpdate": "terminal_output_chunk", "terminalId": terminal_id, "data": encoded}


def plan(plan_id: str, entries: PlanEntries) -> Update:
    """Report the whole plan, with the status of each entry."""
    items = {"type": "items", "planId": plan_id, "entries": [_plan_entry(e) for e in entries]}
    return {"sessionUpdate": "plan_update", "plan": items}


def _plan_entry(entry: str | tuple[str, str] | Mapping[str, str]) -> dict[str, str]:
    if isinstance(entry, str):
        entry = {"content": entry}
    elif isinstance(entry, tuple):
        entry = {"content": entry[0], "status": entry[1]}
    return {"priority": "medium", "status": "pending", **entry}


def usage(used: int, size: int, cost: float | None, currency: str) -> Update:
    """Report the used and total tokens of the context, and the session's cost so far."""
    update: Update = {"sessionUpdate": "usage_update", "used": used, "size": size}
    if cost is not None:
        update["cost"] = {"amount": cost, "currency": currency}
    return update


def title(text: str) -> Update:
    """Report the session's title."""
    return {"sessionUpdate": "session_info_update", "title": text}


def config_options(options: Sequence[dict[str, Any]]) -> Update:
    """Report all config options with their values."""
    return {"sessionUpdate": "config_option_update", "configOptions": list(options)}


def available_commands(commands: Sequence[dict[str, Any]]) -> Update:
    """Report all slash commands."""
    return {"sessionUpdate": "available_commands_update", "availableCommands": list(commands)}
