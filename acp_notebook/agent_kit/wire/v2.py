"""ACP v2 on the agent's side: the prompt lifecycle, as in the schema. Knows no v1."""

from __future__ import annotations

from typing import TYPE_CHECKING

from acp_notebook.agent_kit import updates
from acp_notebook.agent_kit.file_change import FileChange
from acp_notebook.agent_kit.updates import ContentItem, Update
from acp_notebook.agent_kit.wire.seam import CAPABILITY_NAMES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from acp_notebook.agent_kit.definition import Command
    from acp_notebook.agent_kit.session import Session
    from acp_notebook.agent_kit.wire.seam import Json, Question, UpdateWriter
    from acp_notebook.jsonrpc import IncomingRequest, RpcError


class WireV2:
    """Version 2."""

    version = 2
    client_member = "capabilities"
    methods = frozenset(
        f"session/{name}"
        for name in ("new", "list", "resume", "close", "prompt", "set_config_option")
    )

    def answer_initialize(self, info: Json, accepts: Sequence[str], mcp: Sequence[str]) -> Json:
        """Return the result of `initialize`; an empty object declares a capability."""
        prompt: Json = {CAPABILITY_NAMES[name]: {} for name in accepts}
        session: Json = {"prompt": prompt}
        if mcp:
            session["mcp"] = {transport: {} for transport in mcp}
        capabilities = {"session": session}
        return {"protocolVersion": self.version, "info": info, "capabilities": capabilities}

    def setup(self, session: Session, commands: Sequence[Command]) -> tuple[Json, list[Json]]:
        """Return options and commands; the schema has them left out rather than null."""
        described: Json = {}
        if options := session.described_options():
            described["configOptions"] = options
        if commands:
            described["availableCommands"] = [_described_command(c) for c in commands]
        return described, []

    def options(self, options: Sequence[Json]) -> list[Json]:
        """Return the options unchanged."""
        return list(options)

    def writer(self, *, replays: bool = False) -> UpdateWriter:
        """Return a writer of diffs: otherwise the kit's updates are v2's, live and replayed."""
        del replays
        return lambda update: [_with_items(update)]

    def permission(self, session_id: str, question: Question) -> Json:
        """Return the params with a title, and the tool call or the bare command as subject."""
        params: Json = {"sessionId": session_id, "title": question.title}
        if question.description is not None:
            params["description"] = question.description
        if question.command is not None:
            subject: Json = {"type": "command", "command": question.command, "cwd": question.cwd}
            if question.has_tool:
                subject["toolCallId"] = question.tool_call["toolCallId"]
            params["subject"] = subject
        elif question.has_tool:
            params["subject"] = {"type": "tool_call", "toolCall": _with_items(question.tool_call)}
        return {**params, "options": question.described_options()}

    def accept(self, request: IncomingRequest) -> None:
        """Answer at once: in v2 the answer only accepts the prompt."""
        request.respond({})

    def finish(self, request: IncomingRequest, stop_reason: str, error: RpcError | None) -> Update:
        """Return the idle state, which ends the turn."""
        del request
        if error is None:
            return updates.state("idle", stopReason=stop_reason)
        failure = {"code": error.code, "message": error.message}
        return updates.state("idle", stopReason="error", error=failure)


def _with_items(update: Update) -> Json:
    content = update.get("content")
    if isinstance(content, FileChange):
        return {**update, "content": _item(content)}
    if isinstance(content, list):
        return {**update, "content": [_item(item) for item in content]}
    return update


def _item(item: ContentItem) -> Json:
    if not isinstance(item, FileChange):
        return item
    change = {"operation": item.operation, "path": item.path, "fileType": "text"}
    patch = {"format": "git_patch", "text": item.patch()}
    return {"type": "diff", "changes": [change], "patch": patch}


def _described_command(command: Command) -> Json:
    described: Json = {
        "type": "command",
        "name": command.name,
        "description": command.description,
    }
    if command.hint is not None:
        described["input"] = {"type": "text", "hint": command.hint}
    return described
