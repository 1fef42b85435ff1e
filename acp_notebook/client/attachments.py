"""The attachments of a prompt from Python: `session.prompt("...", attach=[...])`.

Content blocks are sent unchanged, text as text, a path as a link to its file. A notebook installs a
describer that turns its objects into blocks; without one they are refused. Knows no notebook.
"""

from __future__ import annotations

import mimetypes
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

from acp_notebook.errors import UsageError
from acp_notebook.protocol.dialect import Capabilities
from acp_notebook.session.content import (
    AudioBlock,
    ContentBlock,
    ImageBlock,
    ResourceBlock,
    ResourceLinkBlock,
    TextBlock,
    UnknownBlock,
)

Attachments: TypeAlias = Sequence[Any] | Mapping[str, Any]
# The values, the agent's capabilities, the agent's folder.
Describer: TypeAlias = Callable[[Attachments, Capabilities, str], Sequence[ContentBlock]]

_BLOCKS = (TextBlock, ImageBlock, AudioBlock, ResourceBlock, ResourceLinkBlock, UnknownBlock)
_describer: Describer | None = None


def install_describer(describer: Describer | None) -> None:
    """Install the function that turns objects into content blocks; None removes it."""
    global _describer  # noqa: PLW0603 - one host per process
    _describer = describer


def attached_blocks(
    values: Attachments, capabilities: Capabilities, folder: str
) -> list[ContentBlock]:
    """Return the content blocks of attached values, for an agent with capabilities and folder.

    Raises:
        UsageError: A value cannot be attached.
    """
    if isinstance(values, (str, bytes, Path, *_BLOCKS)) or not isinstance(
        values, (Sequence, Mapping)
    ):
        raise UsageError("attach takes a list, such as attach=[df], or a dict of names and values.")
    if _describer is not None:
        return list(_describer(values, capabilities, folder))
    each = values.values() if isinstance(values, Mapping) else values
    return [_plain_block(value) for value in each]


def _plain_block(value: Any) -> ContentBlock:
    if isinstance(value, _BLOCKS):
        return value
    if isinstance(value, str):
        return TextBlock(value)
    if isinstance(value, Path):
        path = value.expanduser().resolve()
        if not path.exists():
            raise UsageError(f"There is no file {value} to attach.")
        mime_type = mimetypes.guess_type(path.name)[0]
        size = path.stat().st_size if path.is_file() else None
        return ResourceLinkBlock(path.as_uri(), path.name, mime_type=mime_type, size=size)
    raise UsageError(
        f"A {type(value).__qualname__} cannot be attached outside a notebook. Attach text, a "
        "pathlib.Path or a content block; in a notebook, %load_ext acp_notebook describes objects."
    )
