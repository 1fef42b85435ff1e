"""Files that a prompt names: text within bounds, pictures, listings of folders, links to the rest.

Reads no more of a file than is sent. Knows no notebook and no agent.
"""

from __future__ import annotations

import codecs
import mimetypes
import stat
from dataclasses import dataclass
from pathlib import Path

from acp_notebook.errors import UsageError, suggestion
from acp_notebook.kernel.context.pictures import MAX_BYTES, NoPicture, Picture, from_bytes

FILE_LIMIT_BYTES = 96_000
# Images up to this size are read and made smaller; a larger one is linked.
IMAGE_LIMIT_BYTES = 50_000_000
LISTED_NAMES = 100
_PROBE_BYTES = 8_192
# Continuation bytes of UTF-8: the tail of a file may begin in the middle of a character.
_CONTINUATION = bytes(range(0x80, 0xC0))
_UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


@dataclass(frozen=True, slots=True)
class NamedFile:
    """A file's content to send: its text, its picture, or neither (then it is linked)."""

    path: Path
    mime_type: str | None
    size: int
    text: str | None = None
    picture: Picture | None = None
    notes: tuple[str, ...] = ()


def read_named_file(name: str, folder: Path) -> NamedFile:
    """Read a file or folder that the user named.

    Args:
        name: A path, relative to `folder` or absolute; `~` is the home folder.
        folder: The base of relative paths.

    Raises:
        UsageError: The path does not exist, cannot be read, or is neither file nor folder.
    """
    try:
        path = Path(folder, Path(name).expanduser())
        facts = path.stat()
    except FileNotFoundError:
        raise UsageError(f"There is no file {name!r} in {folder}.{_meant(path)}") from None
    except (OSError, ValueError, RuntimeError) as error:
        raise UsageError(f"The file {name!r} cannot be looked at: {error}") from None
    try:
        if stat.S_ISDIR(facts.st_mode):
            return NamedFile(path, "inode/directory", 0, text=_listing(path))
        if not stat.S_ISREG(facts.st_mode):
            raise UsageError(f"{name!r} is no file but a device, a pipe or a socket.")
        return _read(path, facts.st_size)
    except OSError as error:
        raise UsageError(
            f"The file {name!r} cannot be read: {error.strerror or error}. Check its permissions."
        ) from None


def _read(path: Path, size: int) -> NamedFile:
    mime_type = mimetypes.guess_type(path.name)[0]
    if mime_type is not None and mime_type.startswith("image/") and mime_type != "image/svg+xml":
        return _read_image(path, size, mime_type)
    with path.open("rb") as file:
        head = file.read(FILE_LIMIT_BYTES)
        tail = b""
        if size > len(head):
            head = head[: FILE_LIMIT_BYTES * 3 // 4]
            file.seek(size - FILE_LIMIT_BYTES // 4)
            tail = file.read(FILE_LIMIT_BYTES // 4)
    decoded = _decode(head, tail)
    if decoded is None:
        note = f"{path.name} is no text ({size:,} bytes): the agent gets a link to it"
        return NamedFile(path, mime_type or "application/octet-stream", size, notes=(note,))
    (text, end), encoding = decoded
    notes = [] if encoding == "utf-8" else [f"{path.name} is not UTF-8; it was read as {encoding}"]
    if tail:
        left_out = size - len(head) - len(tail)
        text = f"{text}\n… {left_out:,} bytes left out …\n{end}"
        notes.append(f"{path.name} has {size:,} bytes; {left_out:,} in its middle are left out")
    return NamedFile(path, mime_type or "text/plain", size, text=text, notes=tuple(notes))


def _decode(head: bytes, tail: bytes) -> tuple[tuple[str, str], str] | None:
    """Return both parts as text, and the encoding; None if they are not text."""
    if head.startswith(_UTF16):
        order = "le" if head.startswith(codecs.BOM_UTF16_LE) else "be"
        end = tail.decode(f"utf-16-{order}", "replace")
        return (head.decode("utf-16", "replace"), end), "UTF-16"
    if b"\0" in head[:_PROBE_BYTES]:
        return None
    try:
        # The cut may split a character.
        decoder = codecs.getincrementaldecoder("utf-8")()
        text = decoder.decode(head, final=not tail).removeprefix("\ufeff")
        return (text, tail.lstrip(_CONTINUATION).decode()), "utf-8"
    except UnicodeDecodeError:
        return (head.decode("cp1252", "replace"), tail.decode("cp1252", "replace")), "Windows-1252"


def _read_image(path: Path, size: int, mime_type: str) -> NamedFile:
    if size > IMAGE_LIMIT_BYTES:
        note = f"{path.name} has {size:,} bytes: the agent gets a link to it"
        return NamedFile(path, mime_type, size, notes=(note,))
    try:
        picture = from_bytes(path.read_bytes(), mime_type)
    except NoPicture as reason:
        note = f"{path.name}: {reason}; the agent gets a link to it"
        return NamedFile(path, mime_type, size, notes=(note,))
    smaller = f"{path.name} was made smaller" if size > MAX_BYTES else ""
    return NamedFile(path, mime_type, size, picture=picture, notes=(smaller,) if smaller else ())


def _listing(folder: Path) -> str:
    entries = sorted(folder.iterdir(), key=lambda entry: entry.name)
    lines = [f"{entry.name}/" if entry.is_dir() else entry.name for entry in entries[:LISTED_NAMES]]
    if len(entries) > LISTED_NAMES:
        lines.append(f"… and {len(entries) - LISTED_NAMES:,} more")
    return "\n".join(lines) or "(empty)"


def _meant(path: Path) -> str:
    try:
        return suggestion(path.name, [entry.name for entry in path.parent.iterdir()])
    except OSError:
        return f" There is no folder {path.parent}."
