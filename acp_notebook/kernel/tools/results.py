"""The result of a tool call, for the agent. Plain values; knows no MCP."""

from __future__ import annotations

from dataclasses import dataclass

from acp_notebook.session.content import ContentBlock, TextBlock


class ToolFailure(Exception):
    """A tool call failed; the message is for the agent and suggests the next step."""


@dataclass(frozen=True, slots=True)
class ToolResult:
    """The content of a tool's result, in order; `is_error` marks a failed call."""

    content: tuple[ContentBlock, ...]
    is_error: bool = False


def text_result(text: str, *, is_error: bool = False) -> ToolResult:
    """Return a result that is only text."""
    return ToolResult((TextBlock(text),), is_error)
