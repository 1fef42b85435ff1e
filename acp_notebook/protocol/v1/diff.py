"""A v1 diff, old and new text of one file -> the model's diff with a patch. Knows no session.

The time for a patch grows faster than the text, so beyond a bound there is none, and the view
shows the file with its counts.
"""

from __future__ import annotations

import difflib
import re

from acp_notebook.budget import BoundedMatcher, TooCostly
from acp_notebook.protocol import fields
from acp_notebook.protocol.fields import Json, optional_text
from acp_notebook.session.updates import DiffChange, DiffItem

MAX_DIFF_LINES = 4_000
# A patch has one line end; `str.splitlines` would also cut at form feeds and other controls.
_LINE = re.compile(r"[^\n]*\n|[^\n]+")
_NO_NEWLINE = "\\ No newline at end of file"


def diff_item(raw: Json) -> DiffItem:
    """Read a v1 diff.

    Raises:
        Malformed: `path` or `newText` is missing.
    """
    path, new = fields.text(raw, "path"), fields.text(raw, "newText")
    old = optional_text(raw, "oldText")
    operation = "add" if old is None else "modify"
    patch = git_patch(path, old, new)
    return DiffItem((DiffChange(operation, path),), patch, old or "", new)


def git_patch(path: str, old: str | None, new: str) -> str | None:
    """Return the patch in git's form, or None if it would take too long."""
    before, after = _LINE.findall(old or ""), _LINE.findall(new)
    if len(before) + len(after) > MAX_DIFF_LINES:
        return None
    try:
        BoundedMatcher(before, after, autojunk=True).get_matching_blocks()
    except TooCostly:
        return None
    name = path.lstrip("/")
    lines = [f"diff --git a/{name} b/{name}\n"]
    if old is None:
        lines.append("new file mode 100644\n")
    before_name = "/dev/null" if old is None else f"a/{name}"
    lines.extend(
        line if line.endswith("\n") else f"{line}\n{_NO_NEWLINE}\n"
        for line in difflib.unified_diff(before, after, before_name, f"b/{name}")
    )
    return "".join(lines)
