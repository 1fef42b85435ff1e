"""ACP v1 on the agent's side, written from the kit's v2-shaped updates. Knows no v2 wire.

What v1 lacks is approximated: a terminal becomes text in its tool call, added content is sent as
the whole content, a cancelled call is a failed one, and states are left out, because in v1 the
answer to the prompt ends the turn.
"""

from __future__ import annotations

import base64
import re
from typing import TYPE_CHECKING, Any

from acp_notebook.agent_kit import updates
from acp_notebook.agent_kit.file_change import FileChange
from acp_notebook.agent_kit.updates import ContentItem, Update
from acp_notebook.agent_kit.wire.seam import CAPABILITY_NAMES, has_member

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from acp_notebook.agent_kit.definition import Command
    from acp_notebook.agent_kit.session import Session
    from acp_notebook.agent_kit.wire.seam import Json, Question, UpdateWriter
    from acp_notebook.jsonrpc import IncomingRequest, RpcError

TOOL_STATUSES = frozenset({"pending", "in_progress", "completed", "failed"})
PLAN_STATUSES = frozenset({"pending", "in_progress", "completed"})
STOP_REASONS = frozenset({"end_turn", "max_tokens", "max_turn_requests", "refusal", "cancelled"})

_ESCAPE_SEQUENCE = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]")


class WireV1:
    """Version 1."""

    version = 1
    client_member = "clientCapabilities"
    # `load` is v2's resume with replay.
    methods = frozenset(
        f"session/{name}"
        for name in ("new", "list", "load", "resume", "close", "prompt", "set_config_option")
    )

    def __init__(self, initialize: Mapping[str, Any]) -> None:
        path = (self.client_member, "session", "configOptions", "boolean")
        self._has_switches = has_member(initialize, *path)

    def answer_initialize(self, info: Json, accepts: Sequence[str], mcp: Sequence[str]) -> Json:
        """Return the result of `initialize`; prompt capabilities are booleans in v1."""
        capabilities = {
            "loadSession": True,
            "promptCapabilities": {
                wire_name: name in accepts for name, wire_name in CAPABILITY_NAMES.items()
            },
            "mcpCapabilities": {"http": "http" in mcp, "sse": False},
            "sessionCapabilities": {"list": {}, "resume": {}, "close": {}},
        }
        return {
            "protocolVersion": self.version,
            "agentInfo": info,
            "agentCapabilities": capabilities,
            "authMethods": [],
        }

    def setup(self, session: Session, commands: Sequence[Command]) -> tuple[Json, list[Json]]:
        """Return the options, and an update with the commands, if there are any."""
        options = self.options(session.described_options())
        described = [_described_command(command) for command in commands]
        return (
            {"configOptions": options} if options else {},
            [updates.available_commands(described)] if described else [],
        )

    def options(self, options: Sequence[Json]) -> list[Json]:
        """Return the options under v1's names; switches only for a client that supports them."""
        return [
            {"id" if key == "configId" else key: value for key, value in option.items()}
            for option in options
            if option["type"] == "select" or self._has_switches
        ]

    def writer(self, *, replays: bool = False) -> UpdateWriter:
        """Return a writer that keeps the content of tool calls and terminals."""
        return _Writer(self.options, replays=replays).write

    def permission(self, session_id: str, question: Question) -> Json:
        """Return the params with a tool call: v1 knows no other subject and no title."""
        tool_call = question.tool_call
        if not question.has_tool:
            text = question.description
            content = [updates.content_item(text)] if text is not None else []
            tool_call = {**tool_call, "title": question.title, "kind": "other", "status": "pending"}
            tool_call["content"] = content
        if question.command is not None:
            tool_call = {**tool_call, "kind": "execute", "rawInput": {"command": question.command}}
        return {
            "sessionId": session_id,
            "toolCall": _tool_fields(tool_call),
            "options": question.described_options(),
        }

    def accept(self, request: IncomingRequest) -> None:
        """Send nothing: in v1 the answer to the prompt ends the turn."""

    def finish(self, request: IncomingRequest, stop_reason: str, error: RpcError | None) -> Update:
        """Answer the prompt, which ends the turn."""
        if error is not None:
            request.fail(error.code, error.message, error.data)
        else:
            known = stop_reason if stop_reason in STOP_REASONS else "end_turn"
            request.respond({"stopReason": known})
        return updates.state("idle")


class _Writer:
    """Writes the updates of one session in v1's forms."""

    def __init__(self, options: Any, *, replays: bool) -> None:
        self._options = options
        self._replays = replays
        self._content: dict[str, list[ContentItem]] = {}
        self._terminals: dict[str, _TerminalText] = {}

    def write(self, update: Update) -> list[Json]:
        match update["sessionUpdate"]:
            case "state_update":
                return []
            case "user_message":
                return self._user_message(update) if self._replays else []
            case "plan_update":
                return [_plan(update)]
            case "tool_call_update":
                return [self._tool_call(update)]
            case "tool_call_content_chunk":
                return [self._more_content(update)]
            case "terminal_update" | "terminal_output_chunk":
                return self._terminal(update)
            case "config_option_update":
                return [{**update, "configOptions": self._options(update["configOptions"])}]
            case _:
                return [update]

    def _user_message(self, update: Update) -> list[Json]:
        head = {"sessionUpdate": "user_message_chunk", "messageId": update["messageId"]}
        return [{**head, "content": block} for block in update["content"]]

    def _tool_call(self, update: Update) -> Json:
        tool_call_id = update["toolCallId"]
        is_new = tool_call_id not in self._content
        if is_new or "content" in update:
            self._content[tool_call_id] = list(update.get("content", []))
        written = _tool_fields(update)
        if "content" in update:
            written["content"] = self._items(tool_call_id)
        return {**written, "sessionUpdate": "tool_call"} if is_new else written

    def _more_content(self, update: Update) -> Json:
        tool_call_id = update["toolCallId"]
        self._content.setdefault(tool_call_id, []).append(update["content"])
        return updates.tool_call(tool_call_id, content=self._items(tool_call_id))

    def _terminal(self, update: Update) -> list[Json]:
        terminal_id = update["terminalId"]
        text = self._terminals.setdefault(terminal_id, _TerminalText())
        before = text.render()
        text.apply(update)
        if text.render() == before:
            return []
        reference = {"type": "terminal", "terminalId": terminal_id}
        return [
            updates.tool_call(tool_call_id, content=self._items(tool_call_id))
            for tool_call_id, items in self._content.items()
            if reference in items
        ]

    def _items(self, tool_call_id: str) -> list[Json]:
        return [self._item(item) for item in self._content[tool_call_id]]

    def _item(self, item: ContentItem) -> Json:
        if isinstance(item, dict) and _is_terminal(item):
            text = self._terminals.setdefault(item["terminalId"], _TerminalText())
            return updates.content_item(text.render())
        return _item(item)


class _TerminalText:
    """A terminal as a text block: v1 clients can show only terminals of their own."""

    def __init__(self) -> None:
        self._command = ""
        self._output = b""
        self._end = ""

    def apply(self, update: Update) -> None:
        self._command = update.get("command", self._command)
        self._output += base64.b64decode(update.get("data", ""))
        if status := update.get("exitStatus"):
            self._end = _ending(status)

    def render(self) -> str:
        # The bytes of an incomplete character are shown once the next chunk completes it.
        output = self._output.decode("utf-8", "ignore").replace("\r\n", "\n")
        output = _ESCAPE_SEQUENCE.sub("", output)
        fence = "`" * max([3, *(len(run) + 1 for run in re.findall("`+", output))])
        prompt = f"$ {self._command}\n" if self._command else ""
        return f"{fence}console\n{prompt}{output.rstrip()}\n{fence}{self._end}"


def _ending(status: Json) -> str:
    if "signal" in status:
        return f"\n\nEnded by {status['signal']}."
    code = status.get("exitCode", 0)
    return f"\n\nExit code {code}." if code else ""


def _plan(update: Update) -> Json:
    entries = [
        entry if entry["status"] in PLAN_STATUSES else {**entry, "status": "pending"}
        for entry in update["plan"]["entries"]
    ]
    return {"sessionUpdate": "plan", "entries": entries}


def _tool_fields(fields: Json) -> Json:
    """Return the members of a tool call with values that v1 knows."""
    written = dict(fields)
    if "status" in written:
        written["status"] = _tool_status(written["status"])
    if "content" in written:
        # v1's terminal items refer to terminals of the client; these are the agent's own.
        items = [item for item in written["content"] if not _is_terminal(item)]
        written["content"] = [_item(item) for item in items]
    return written


def _item(item: ContentItem) -> Json:
    if isinstance(item, FileChange):
        return {"type": "diff", "path": item.path, "oldText": item.old, "newText": item.new or ""}
    return item


def _is_terminal(item: ContentItem) -> bool:
    return isinstance(item, dict) and item["type"] == "terminal"


def _tool_status(status: str) -> str:
    if status in TOOL_STATUSES:
        return status
    return "failed" if status == "cancelled" else "in_progress"


def _described_command(command: Command) -> Json:
    described: Json = {"name": command.name, "description": command.description}
    return {**described, "input": {"hint": command.hint}} if command.hint else described
