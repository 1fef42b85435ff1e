"""Text files that an agent reads and writes through this client, inside the session's folders.

A write needs a turn (see `leave`), and the session shows it as a notice, and so every refusal.
Reads stand in the trace only: agents read dozens of files in a turn and show them as tool calls
themselves. Other threads access the disk, one request at a time, so that a read sees the write
before it. Knows no notebook but whether a file is an open one.
"""

from __future__ import annotations

import asyncio
import os
import stat
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import IO

from acp_notebook.client.live.live_session import LiveSession
from acp_notebook.client.serving.leave import ask_leave
from acp_notebook.client.serving.roots import OutOfReach, Roots, find_inside
from acp_notebook.jsonrpc import INTERNAL_ERROR, INVALID_PARAMS, IncomingRequest, RpcError
from acp_notebook.protocol.client_calls import ReadFile, WriteFile, not_found
from acp_notebook.session import updates as u

MAX_READ_BYTES = 10 * 1024 * 1024
"""The longest answer to one read; an agent reads more in parts, by line and limit."""

IsOpenNotebook = Callable[[Path], bool]


def is_notebook(path: Path) -> bool:
    """Whether the file is a notebook. Any may be open elsewhere, so all count as open."""
    return path.suffix.lower() == ".ipynb"


class FileSystem:
    """Serves text files to the agent. Called on the agent thread."""

    def __init__(self, roots: Roots, is_open_notebook: IsOpenNotebook = is_notebook) -> None:
        self._roots = roots
        self._is_open_notebook = is_open_notebook
        self._turn = asyncio.Lock()

    async def read(self, incoming: IncomingRequest, session: LiveSession, request: ReadFile) -> str:
        """Return the requested text or part of it.

        Raises:
            RpcError: The file is out of reach, missing, too long, or no text.
        """
        del incoming
        async with self._turn:
            try:
                return await asyncio.to_thread(_read_inside, request, self._roots(session))
            except OutOfReach as refusal:
                self._refused(session, f"Refused to read {request.path}", refusal)
                raise

    async def write(
        self, incoming: IncomingRequest, session: LiveSession, request: WriteFile
    ) -> None:
        """Write the text; creates the file's folder if it is missing.

        Raises:
            RpcError: The file is out of reach, an open notebook, or cannot be written, or no turn
                stands for the request.
        """
        async with self._turn:
            if incoming.answered:
                return  # withdrawn while it waited for the lock
            ask_leave(session, f"write {request.path}")
            try:
                written = await asyncio.to_thread(
                    _write_inside, request, self._roots(session), self._is_open_notebook
                )
            except OutOfReach as refusal:
                self._refused(session, f"Refused to write {request.path}", refusal)
                raise
        content = request.content
        count = content.count("\n") + (not content.endswith("\n") and content != "")
        lines = "1 line" if count == 1 else f"{count} lines"
        session.apply([u.Notice("info", f"Wrote {written} ({lines})")])

    def _refused(self, session: LiveSession, title: str, refusal: OutOfReach) -> None:
        session.apply([u.Notice("warning", title, refusal.message)])


def _read_inside(request: ReadFile, roots: Sequence[str]) -> str:
    path = request.path
    found = find_inside(path, roots)
    try:
        _check_is_file(path, found.stat().st_mode)
        with found.open("rb") as file:
            data = _lines(file, request.line, request.limit)
    except OSError as error:
        raise _failure(path, error) from None
    if data is None:
        raise RpcError(
            INVALID_PARAMS,
            f"{path} is too long to be read at once: at most {MAX_READ_BYTES} bytes are. "
            "Ask for a part of it with `line` and `limit`.",
        )
    try:
        return data.decode()
    except UnicodeDecodeError:
        # Replacement characters would damage the file when the agent writes it back.
        raise RpcError(INVALID_PARAMS, f"{path} is no text in UTF-8.") from None


def _lines(file: IO[bytes], first: int, limit: int | None) -> bytes | None:
    """Read `limit` lines from line `first` (from 1), with their ends; None if they are too long."""
    for _ in range(first - 1):
        if not _skip_line(file):
            return b""
    if limit is None:
        data = file.read(MAX_READ_BYTES + 1)
        return data if len(data) <= MAX_READ_BYTES else None
    kept = bytearray()
    for _ in range(limit):
        line = file.readline(MAX_READ_BYTES + 1 - len(kept))
        kept += line
        if len(kept) > MAX_READ_BYTES:
            return None
        if not line:
            break
    return bytes(kept)


def _skip_line(file: IO[bytes]) -> bool:
    """Skip a line without holding it in memory; return False at the end of the file."""
    while data := file.readline(MAX_READ_BYTES):
        if data.endswith(b"\n"):
            return True
    return False


def _write_inside(
    request: WriteFile, roots: Sequence[str], is_open_notebook: IsOpenNotebook
) -> str:
    path = request.path
    found = find_inside(path, roots)
    if is_open_notebook(found) or is_open_notebook(Path(path)):
        raise OutOfReach(
            f"{path} is a notebook. It is not written behind the editor's back, where it would "
            "clash with what the user sees and has not saved. Propose the cells in your reply."
        )
    data = request.content.encode()
    try:
        if found.exists():
            _check_is_file(path, found.stat().st_mode)
        found.parent.mkdir(parents=True, exist_ok=True)
        # Symlinks are resolved already; one created since is not followed.
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | getattr(os, "O_NOFOLLOW", 0)
        with os.fdopen(os.open(found, flags, 0o666), "wb") as file:
            file.write(data)
    except OSError as error:
        raise _failure(path, error) from None
    return _shown(found, roots)


def _shown(found: Path, roots: Sequence[str]) -> str:
    cwd = Path(roots[0]).resolve()
    return str(found.relative_to(cwd)) if found.is_relative_to(cwd) else str(found)


def _check_is_file(path: str, mode: int) -> None:
    # A pipe would block, a device may have no end.
    if not stat.S_ISREG(mode):
        kind = "a folder" if stat.S_ISDIR(mode) else "no regular file"
        raise RpcError(INVALID_PARAMS, f"{path} is {kind}.")


def _failure(path: str, error: OSError) -> RpcError:
    if isinstance(error, FileNotFoundError):
        return not_found(f"There is no file {path}.", path)
    return RpcError(INTERNAL_ERROR, f"{path}: {error.strerror or error}")
