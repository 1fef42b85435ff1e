"""Fitting a prompt to the agent's capabilities (PROMPT-2), never by a silent drop.

Every agent takes text and resource links. The fallbacks:

- embedded text without `embeddedContext` becomes text, named and fenced;
- an embedded blob without it becomes a link to its uri;
- an image or a sound without the capability becomes a link, or without a uri an error that names
  the capability.

Knows neither version.
"""

from __future__ import annotations

from collections.abc import Iterable

from acp_notebook.errors import UnsupportedByAgent
from acp_notebook.protocol.dialect import Capabilities
from acp_notebook.session.content import (
    AudioBlock,
    ContentBlock,
    ImageBlock,
    ResourceBlock,
    ResourceLinkBlock,
    TextBlock,
)


def fit_content(
    content: Iterable[ContentBlock], capabilities: Capabilities
) -> tuple[ContentBlock, ...]:
    """Return the blocks in forms that the agent takes.

    Raises:
        UnsupportedByAgent: A block has no such form.
    """
    return tuple(_fit(block, capabilities) for block in content)


def _fit(block: ContentBlock, capabilities: Capabilities) -> ContentBlock:
    match block:
        case ImageBlock() if not capabilities.image:
            return _as_link(block.uri, block.mime_type, "image")
        case AudioBlock() if not capabilities.audio:
            return _as_link(None, block.mime_type, "audio")
        case ResourceBlock() if not capabilities.embedded_context:
            if block.text is not None:
                return TextBlock(_as_text(block.uri, block.text))
            return ResourceLinkBlock(block.uri, _name_of(block.uri), mime_type=block.mime_type)
        case _:
            return block


def _as_link(uri: str | None, mime_type: str, capability: str) -> ResourceLinkBlock:
    if uri is None:
        raise UnsupportedByAgent(
            f"This agent takes no {capability} content. Save it to a file and name the path "
            f"in the prompt, or use an agent with the capability `{capability}`."
        )
    return ResourceLinkBlock(uri, _name_of(uri), mime_type=mime_type)


def _as_text(uri: str, text: str) -> str:
    fence = "```"
    while fence in text:
        fence += "`"
    return f"{uri}\n{fence}\n{text}\n{fence}"


def _name_of(uri: str) -> str:
    return uri.rstrip("/").rsplit("/", 1)[-1] or uri
