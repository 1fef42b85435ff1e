"""Changes of files -> lines with signs: a patch as it is, v1's two texts compared, or a list.

`DiffText` is what all three forms of output share; colour never stands alone, the signs stay.
"""

from __future__ import annotations

import difflib
import re
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple

from markupsafe import Markup

from acp_notebook.render.markup import Paper, clean, label, visible
from acp_notebook.render.words import count_words, operation_words
from acp_notebook.session.updates import DiffChange, DiffItem

LineKind = Literal["add", "del", "hunk", "same", "file"]

# Comparing is quadratic at worst: longer texts are shown as replaced whole.
COMPARE_LIMIT_LINES: Final = 3_000

_HUNK = re.compile(r"@@ -\d{1,9}(?:,(\d{1,9}))? \+\d{1,9}(?:,(\d{1,9}))? @@")
_HEADERS = ("diff ", "--- ", "+++ ", "index ", "new file", "deleted file", "similarity", "rename ")


class DiffLine(NamedTuple):
    """One line with its sign."""

    kind: LineKind
    text: str


@dataclass(frozen=True, slots=True)
class DiffText:
    """A diff as lines, with the counts for its summary."""

    lines: tuple[DiffLine, ...]
    added: int
    removed: int


def diff_text(item: DiffItem) -> DiffText:
    """The lines of a diff; none where the agent only said which files changed (TOOL-6)."""
    if item.patch is not None:
        lines = tuple(_patch_lines(clean(item.patch)))
    elif item.new_text is not None or item.old_text is not None:
        lines = tuple(_compared(clean(item.old_text or ""), clean(item.new_text or "")))
    else:
        lines = ()
    added = sum(line.kind == "add" for line in lines)
    return DiffText(lines, added, sum(line.kind == "del" for line in lines))


def _patch_lines(patch: str) -> list[DiffLine]:
    # A hunk says how many lines it has; without counting, a removed `-- x` reads as a file header.
    found: list[DiffLine] = []
    old = new = 0
    for text in patch.splitlines():
        head = _HUNK.match(text)
        if old > 0 or new > 0:
            kind = _kind(text)
            old -= kind != "add" and not text.startswith("\\")
            new -= kind != "del" and not text.startswith("\\")
        elif head:
            kind, old, new = "hunk", int(head[1] or 1), int(head[2] or 1)
        else:
            kind = "file" if text.startswith(_HEADERS) else _kind(text)
        found.append(DiffLine(kind, text))
    return found


def _kind(text: str) -> LineKind:
    return "add" if text[:1] == "+" else "del" if text[:1] == "-" else "same"


def _compared(old: str, new: str) -> list[DiffLine]:
    before, after = old.splitlines(), new.splitlines()
    if not before or not after or len(before) + len(after) > COMPARE_LIMIT_LINES:
        return [
            *(DiffLine("del", "-" + text) for text in before),
            *(DiffLine("add", "+" + text) for text in after),
        ]
    unified = difflib.unified_diff(before, after, lineterm="", n=3)
    return [
        DiffLine("hunk", text) if text.startswith("@@") else DiffLine(_kind(text), text)
        for number, text in enumerate(unified)
        if number >= 2  # noqa: PLR2004  # the two file headers say nothing here
    ]


def change_words(change: DiffChange) -> str:
    """One file of a diff: `old.py → new.py (renamed)`."""
    path = label(change.path)
    if change.old_path and change.old_path != change.path:
        path = f"{label(change.old_path)} → {path}"
    extra = f", {label(change.file_type, 40)}" if change.file_type not in (None, "text") else ""
    return f"{path} ({label(operation_words(change.operation), 40)}{extra})"


def diff_counts(paper: Paper, diffs: list[DiffText]) -> Markup:
    """Lines added and removed over several diffs, or nothing."""
    added, removed = sum(d.added for d in diffs), sum(d.removed for d in diffs)
    if not added and not removed:
        return Markup("")
    words = f"{count_words(added, 'line')} added, {removed:,} removed"
    plus, minus = (
        paper("span", "plus", f"+{added:,}"),
        paper("span", "minus", f"\N{MINUS SIGN}{removed:,}"),
    )
    return paper("span", "counts", plus, " ", minus, title=words)


def render_diff(paper: Paper, item: DiffItem, text: DiffText) -> Markup:
    """The files of a diff and its lines."""
    files = [paper("div", "file", change_words(change)) for change in item.changes]
    if not text.lines:
        return paper("div", "part", *files)
    limit = paper.limits.diff_lines
    # One file is named above; of several the patch says which lines are whose.
    lines = [line for line in text.lines if line.kind != "file" or len(item.changes) != 1]
    shown = [_line(paper, line) for line in lines[:limit]]
    rest = len(lines) - limit
    parts = [*files, paper("div", "diff", *shown, role="group", aria_label="changes")]
    if rest > 0:
        paper.left_out.append(count_words(rest, "line of a diff", "lines of a diff"))
        words = f"{count_words(rest, 'more line')} not shown"
        parts.append(paper("div", "left-out", words))
    return paper("div", "part", *parts)


def _line(paper: Paper, line: DiffLine) -> Markup:
    looks = f"diff-line diff-{line.kind}"
    return paper("span", looks, visible(line.text[:2_000]) or " ")
