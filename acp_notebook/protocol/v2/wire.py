"""ACP v2 wire objects that this client writes or reads, named as in the official schema.

Key presence is the three-state field: absent, null, value. A test holds names and required members
against the schema. Only what we use stands here; the readers are in `normalize`.
"""

from __future__ import annotations

from typing import Any, Literal, NotRequired, TypedDict


class Implementation(TypedDict):
    """Initialization: who is speaking."""

    name: str
    version: str
    title: NotRequired[str | None]


class InitializeRequest(TypedDict):
    """Initialization: the client's half."""

    protocolVersion: int
    info: Implementation
    capabilities: NotRequired[dict[str, Any]]


class NewSessionRequest(TypedDict):
    """Session setup, "Creating a Session"."""

    cwd: str
    additionalDirectories: NotRequired[list[str]]
    mcpServers: NotRequired[list[dict[str, Any]]]


class PromptRequest(TypedDict):
    """Prompt lifecycle, "1. User Message"."""

    sessionId: str
    prompt: list[dict[str, Any]]


class CancelSessionNotification(TypedDict):
    """Prompt lifecycle, "Cancellation"."""

    sessionId: str


class SetSessionConfigOptionRequest(TypedDict):
    """Session config options, "Setting an Option"."""

    sessionId: str
    configId: str
    type: Literal["id", "boolean"]
    value: str | bool


class SelectedPermissionOutcome(TypedDict):
    """Tool calls, "Requesting Permission"."""

    optionId: str


class ContentChunk(TypedDict):
    """user_message_chunk, agent_message_chunk, agent_thought_chunk."""

    messageId: str
    content: dict[str, Any]


class AgentMessage(TypedDict):
    """user_message, agent_message and agent_thought are alike."""

    messageId: str
    content: NotRequired[list[dict[str, Any]] | None]


class ToolCallUpdate(TypedDict):
    """Tool calls, "Creating and Updating"."""

    toolCallId: str
    name: NotRequired[str | None]
    title: NotRequired[str | None]
    kind: NotRequired[str | None]
    status: NotRequired[str | None]
    content: NotRequired[list[dict[str, Any]] | None]
    locations: NotRequired[list[dict[str, Any]] | None]
    rawInput: NotRequired[Any]
    rawOutput: NotRequired[Any]
    capabilities: NotRequired[dict[str, Any] | None]


class ToolCallContentChunk(TypedDict):
    """Prompt lifecycle, "5. Tool Invocation"."""

    toolCallId: str
    content: dict[str, Any]


class TerminalUpdate(TypedDict):
    """Tool calls, "Display-only Terminals"."""

    terminalId: str
    command: NotRequired[str | None]
    cwd: NotRequired[str | None]
    output: NotRequired[dict[str, Any] | None]
    exitStatus: NotRequired[dict[str, Any] | None]
    size: NotRequired[dict[str, Any] | None]
    capabilities: NotRequired[dict[str, Any] | None]


class TerminalOutputChunk(TypedDict):
    """Tool calls, "Display-only Terminals": base64 bytes."""

    terminalId: str
    data: str


class PlanItems(TypedDict):
    """Agent plan, "Updating Plans"."""

    planId: str
    entries: list[dict[str, Any]]


class UsageUpdate(TypedDict):
    """Prompt lifecycle, "Session Usage Updates"."""

    used: int
    size: int
    cost: NotRequired[dict[str, Any] | None]


class RequestPermissionRequest(TypedDict):
    """Tool calls, "Requesting Permission"."""

    sessionId: str
    title: str
    options: list[dict[str, Any]]
    description: NotRequired[str | None]
    subject: NotRequired[dict[str, Any] | None]
