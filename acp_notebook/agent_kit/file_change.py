"""A change of one text file, and its patch in Git's format. Touches no file."""

from __future__ import annotations

import difflib
import io
from dataclasses import dataclass
from typing import Literal

_NO_END = "\\ No newline at end of file\n"
_ESCAPES = {ord('"'): '\\"', ord("\\"): "\\\\", 9: "\\t", 10: "\\n", 13: "\\r"}


@dataclass(frozen=True, slots=True)
class FileChange:
    """The text of a file before and after; `None` where there is no file."""

    path: str
    old: str | None
    new: str | None

    @property
    def operation(self) -> Literal["add", "delete", "modify"]:
        """What happens to the file; `modify` if it exists before and after."""
        if self.old is None:
            return "add"
        return "delete" if self.new is None else "modify"

    def patch(self) -> str:
        """Return one `diff --git` section with the absolute path and no prefix, as ACP asks."""
        name = _quoted(self.path)
        lines = [f"diff --git {name} {name}\n"]
        if self.operation == "add":
            lines.append("new file mode 100644\n")
        if self.operation == "delete":
            lines.append("deleted file mode 100644\n")
        # Git marks the end of a name with spaces by a tab.
        side = f"{name}\t" if " " in name else name
        before = "/dev/null" if self.old is None else side
        after = "/dev/null" if self.new is None else side
        # The first two lines are file names, which difflib does not quote.
        hunks = list(difflib.unified_diff(_lines(self.old), _lines(self.new)))[2:]
        if hunks:
            lines += [f"--- {before}\n", f"+++ {after}\n"]
        lines += [line if line.endswith("\n") else f"{line}\n{_NO_END}" for line in hunks]
        return "".join(lines)


def _lines(text: str | None) -> list[str]:
    """Return the lines with their ends. Only a line feed counts, unlike in `str.splitlines`."""
    return list(io.StringIO(text or "", newline="\n"))


def _quoted(path: str) -> str:
    """Return the path as Git writes it: quoted, with escapes, if it has unusual characters."""
    data = path.encode("utf-8", "surrogateescape")
    if all(32 <= byte < 127 and byte not in _ESCAPES for byte in data):  # noqa: PLR2004 - ASCII
        return path
    return '"' + "".join(_escaped(byte) for byte in data) + '"'


def _escaped(byte: int) -> str:
    if byte in _ESCAPES:
        return _ESCAPES[byte]
    return chr(byte) if 32 <= byte < 127 else f"\\{byte:03o}"  # noqa: PLR2004 - ASCII
