"""What a tool gives back to the agent that called it. Plain values; knows no MCP."""

from __future__ import annotations

from dataclasses import dataclass

from acp_notebook.session.content import ContentBlock, TextBlock


class ToolFailure(Exception):
    """A tool cannot do what it was asked; the message is for the agent, with the next step."""


@dataclass(frozen=True, slots=True)
class ToolResult:
    """Content in the order in which it came about; `is_error` tells the agent to think again."""

    content: tuple[ContentBlock, ...]
    is_error: bool = False


def text_result(text: str, *, is_error: bool = False) -> ToolResult:
    """A result that is only text."""
    return ToolResult((TextBlock(text),), is_error)
