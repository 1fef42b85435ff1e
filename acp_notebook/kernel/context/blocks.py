"""A prompt as content blocks: the text first, then one resource per mention or attachment.

An agent without image support gets a picture as a file, a link to that file and a line that says
so. (For an agent without embedded context the client turns resources into text.) Knows no session.
"""

from __future__ import annotations

import atexit
import base64
import functools
import os
import re
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args

from acp_notebook.errors import UsageError
from acp_notebook.kernel.context.kinds import derives
from acp_notebook.kernel.context.pictures import Picture
from acp_notebook.kernel.context.prompt_text import read_prompt
from acp_notebook.kernel.context.sources import Item, Notebook, file_item, resolve, value_item
from acp_notebook.protocol.dialect import Capabilities
from acp_notebook.session.content import (
    ContentBlock,
    ImageBlock,
    ResourceBlock,
    ResourceLinkBlock,
    TextBlock,
)

_UNFIT = re.compile(r"[^\w.-]+")


@dataclass(frozen=True, slots=True)
class PreparedPrompt:
    """A prompt's text and its parts, before they are fitted to an agent."""

    text: str
    parts: tuple[Item | ContentBlock, ...] = ()

    @property
    def notes(self) -> list[str]:
        """Remarks for the user on what is sent, such as what was left out."""
        return [note for part in self.parts if isinstance(part, Item) for note in part.notes]

    def blocks(self, capabilities: Capabilities) -> list[ContentBlock]:
        """Return the content blocks for an agent, before `fit_content`.

        Raises:
            UsageError: A part has no content.
        """
        return [TextBlock(self.text), *part_blocks(self.parts, capabilities)]


def prepare(
    prompt: str, notebook: Notebook, folder: str, attached: Iterable[str] = ()
) -> PreparedPrompt:
    """Read a prompt: fill in its expressions, resolve its mentions, add the attachments.

    Args:
        prompt: The text as the user wrote it.
        notebook: Where names are looked up.
        folder: The agent's working directory.
        attached: The expressions of `--attach`.

    Raises:
        UsageError: A mention names nothing, or an expression fails.
    """
    read = read_prompt(prompt, notebook.namespace)
    mentioned = (resolve(mention, notebook, folder) for mention in read.mentions)
    named = (named_part(notebook.evaluate(each), each, folder) for each in attached)
    return PreparedPrompt(read.text.strip("\n"), (*mentioned, *named))


def named_part(value: Any, name: str, folder: str) -> Item | ContentBlock:
    """Return a value as a part of a prompt: blocks as they are, paths as files, others described.

    Raises:
        UsageError: The path names no readable file.
    """
    if derives(value, *get_args(ContentBlock)):
        return value  # type: ignore[no-any-return]
    if derives(value, Path):
        return file_item(str(value), folder)
    return value_item(value, name, f"notebook://variable/{_UNFIT.sub('-', name)}")


def part_blocks(
    parts: Iterable[Item | ContentBlock], capabilities: Capabilities
) -> Iterator[ContentBlock]:
    """Yield the content blocks of a prompt's parts."""
    for part in parts:
        if isinstance(part, Item):
            yield from _item_blocks(part, capabilities)
        else:
            yield part


def attachment_blocks(
    values: Sequence[Any] | Mapping[str, Any],
    capabilities: Capabilities,
    notebook: Notebook,
    folder: str,
) -> list[ContentBlock]:
    """Return the content blocks of Python objects; an object in a variable gets its name."""
    if isinstance(values, Mapping):
        named = [(str(name), value) for name, value in values.items()]
    else:
        named = [(_name_of(value, notebook, n), value) for n, value in enumerate(values, 1)]
    parts = [named_part(value, name, folder) for name, value in named]
    return list(part_blocks(parts, capabilities))


def _name_of(value: Any, notebook: Notebook, number: int) -> str:
    own = (name for name, each in notebook.variables.items() if each is value)
    return next(own, f"attachment-{number}")


def _item_blocks(item: Item, capabilities: Capabilities) -> Iterator[ContentBlock]:
    if item.text:
        yield ResourceBlock(item.uri, item.text, mime_type=item.mime_type)
    elif not item.pictures:
        if item.link is None:
            raise UsageError(f"There is nothing to send of {item.name}.")
        yield _link(item.link, item.mime_type, item.size)
    for number, picture in enumerate(item.pictures, 1):
        name = item.name if len(item.pictures) == 1 else f"{item.name}, picture {number}"
        if capabilities.image:
            yield ImageBlock(base64.b64encode(picture.data).decode(), picture.mime_type, item.uri)
        else:
            yield from _picture_file(picture, name, item.link)


def _picture_file(picture: Picture, name: str, path: Path | None) -> Iterator[ContentBlock]:
    """Yield the fallback for an agent without images: the picture's own or a temporary file."""
    if path is None:
        path = _folder() / f"{_UNFIT.sub('-', name).strip('-')}-{len(list(_folder().iterdir()))}"
        path = path.with_name(path.name + picture.suffix)
        path.write_bytes(picture.data)
    yield _link(path, picture.mime_type, path.stat().st_size)
    yield TextBlock(
        f"This agent takes no pictures in a prompt, so the picture of {name} is in the file {path}"
    )


def _link(path: Path, mime_type: str, size: int | None) -> ResourceLinkBlock:
    return ResourceLinkBlock(path.as_uri(), path.name, mime_type=mime_type, size=size)


@functools.cache
def _folder() -> Path:
    """Return the folder of pictures for agents without images; it is deleted with the kernel."""
    folder = Path(tempfile.mkdtemp(prefix="acp-notebook-"))
    atexit.register(_delete, folder, os.getpid())
    return folder


def _delete(folder: Path, kernel: int) -> None:
    if os.getpid() == kernel:  # a fork of the kernel may exit before the kernel
        shutil.rmtree(folder, ignore_errors=True)
