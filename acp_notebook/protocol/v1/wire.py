"""ACP v1 wire objects that this client writes or reads, named as in the official schema.

A test holds names and required members against the schema. Only what we use stands here; the
readers are in `normalize`.
"""

from __future__ import annotations

from typing import Any, NotRequired, TypedDict


class Implementation(TypedDict):
    """Who is speaking."""

    name: str
    version: str
    title: NotRequired[str | None]


class InitializeRequest(TypedDict):
    """The client's half of the handshake."""

    protocolVersion: int
    clientCapabilities: NotRequired[dict[str, Any]]
    clientInfo: NotRequired[Implementation | None]


class NewSessionRequest(TypedDict):
    """Session setup."""

    cwd: str
    mcpServers: list[dict[str, Any]]
    additionalDirectories: NotRequired[list[str]]


class PromptRequest(TypedDict):
    """Prompt turn."""

    sessionId: str
    prompt: list[dict[str, Any]]


class PromptResponse(TypedDict):
    """The end of the turn."""

    stopReason: str


class CancelNotification(TypedDict):
    """Prompt turn, cancellation."""

    sessionId: str


class SetSessionModeRequest(TypedDict):
    """Session modes."""

    sessionId: str
    modeId: str


class SetSessionConfigOptionRequest(TypedDict):
    """Session config options; a boolean carries its type, an id does not."""

    sessionId: str
    configId: str
    value: str | bool
    type: NotRequired[str]


class ContentChunk(TypedDict):
    """user_message_chunk, agent_message_chunk, agent_thought_chunk."""

    content: dict[str, Any]
    messageId: NotRequired[str | None]


class ToolCallUpdate(TypedDict):
    """tool_call_update: null means unchanged here."""

    toolCallId: str
    kind: NotRequired[str | None]
    status: NotRequired[str | None]
    title: NotRequired[str | None]
    name: NotRequired[str | None]
    content: NotRequired[list[dict[str, Any]] | None]
    locations: NotRequired[list[dict[str, Any]] | None]
    rawInput: NotRequired[Any]
    rawOutput: NotRequired[Any]


class Diff(TypedDict):
    """A file's old and new text; no old text means a new file."""

    path: str
    newText: str
    oldText: NotRequired[str | None]


class Plan(TypedDict):
    """The one, anonymous plan."""

    entries: list[dict[str, Any]]


class UsageUpdate(TypedDict):
    """Context size and cost."""

    used: int
    size: int
    cost: NotRequired[dict[str, Any] | None]


class RequestPermissionRequest(TypedDict):
    """Tool calls, requesting permission: the question sits in the tool call."""

    sessionId: str
    toolCall: ToolCallUpdate
    options: list[dict[str, Any]]


class SessionModeState(TypedDict):
    """The modes API, which v2 dropped for config options."""

    currentModeId: str
    availableModes: list[dict[str, Any]]
