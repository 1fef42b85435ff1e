"""A diff -> HTML: a part per file, lines with numbers and signs, changed words marked.

Colour is never the only sign: lines keep their signs, and marks are underlined. Knows no tool call.
"""

from __future__ import annotations

from typing import Final

from markupsafe import Markup

from acp_notebook.render.entries.json_view import rest_remark
from acp_notebook.render.labels import count_words
from acp_notebook.render.markup import Theme, join, label, visible
from acp_notebook.render.parsing.diff import DiffFile, DiffLine, DiffText, change_words, diff_text
from acp_notebook.session.updates import DiffChange, DiffItem

FILES_SHOWN: Final = 200
_FILES_TO_ALLOW = 2_000
_FILES_OPEN = 6
# How many changes of files with one name are compared with a file of the patch.
_TRIED = 100
_HIDDEN_LINES = 200
_HIDDEN_IN_RECORD = 0


def read_diff(theme: Theme, item: DiffItem) -> DiffText:
    """Return the lines of a diff, compared as far as the theme has time."""
    size = sum(len(text or "") for text in (item.patch, item.old_text, item.new_text))
    with theme.time_for(size) as budget:
        return diff_text(item, budget)


def diff_counts(theme: Theme, diffs: list[DiffText]) -> Markup:
    """Render the numbers of added and removed lines of several diffs; empty if both are 0."""
    return _counts(theme, sum(d.added for d in diffs), sum(d.removed for d in diffs))


def _counts(theme: Theme, added: int, removed: int) -> Markup:
    if not added and not removed:
        return Markup("")
    words = f"{count_words(added, 'line')} added, {removed:,} removed"
    plus, minus = (
        theme("span", "plus", f"+{added:,}"),
        theme("span", "minus", f"\N{MINUS SIGN}{removed:,}"),
    )
    return theme("span", "counts", plus, " ", minus, title=words)


def render_diff(
    theme: Theme, item: DiffItem, text: DiffText, key: str, *, is_asked: bool = False
) -> Markup:
    """Render the files of a diff and their lines; all are unfolded if they have to be allowed."""
    most_files = _FILES_TO_ALLOW if is_asked else FILES_SHOWN
    named = _named(item, text, most_files)
    paired = {id(change) for change, _ in named}
    rest = [change for change in item.changes if id(change) not in paired]
    most = theme.limits.name_chars
    parts = [theme("div", "file", change_words(change, most)) for change in rest[:most_files]]
    left_out = len(rest) + len(text.files) - len(parts) - len(named)
    left = theme.limits.diff_lines
    for number, (change, file) in enumerate(named):
        is_open = is_asked or number < _FILES_OPEN
        parts.append(_file(theme, change, file, f"{key}.{number}", left, is_open=is_open))
        left = max(0, left - len(file.lines))
    return theme("div", "part", *parts, rest_remark(theme, left_out, "files"))


def _named(item: DiffItem, text: DiffText, most: int) -> list[tuple[DiffChange | None, DiffFile]]:
    """Pair the patch's first files with the item's changes."""
    if len(item.changes) == len(text.files) == 1:
        return [(item.changes[0], text.files[0])]
    free: dict[str, list[DiffChange]] = {}
    for change in item.changes:
        free.setdefault(_last_name(change.path), []).append(change)
    found: list[tuple[DiffChange | None, DiffFile]] = []
    for file in text.files[:most]:
        alike = free.get(_last_name(file.path), []) if file.path else []
        ends = (f"/{change.path}".endswith(f"/{file.path}") for change in alike[:_TRIED])
        place = next((number for number, is_same in enumerate(ends) if is_same), None)
        found.append((None if place is None else alike.pop(place), file))
    return found


def _last_name(path: str) -> str:
    return path.rpartition("/")[2]


def _file(
    theme: Theme, change: DiffChange | None, file: DiffFile, key: str, left: int, *, is_open: bool
) -> Markup:
    most = theme.limits.name_chars
    title = change_words(change, most) if change else label(file.path or "changes", most)
    name = theme("span", "file", title)
    lines = [line for line in file.lines if line.kind != "file"]
    if not lines or file.is_binary:
        is_said = change is not None and change.file_type == "binary"
        note = theme("span", "muted small", "binary") if file.is_binary and not is_said else ""
        return theme("div", "", name, " ", note)
    kinds = [line.kind for line in lines]
    counts = _counts(theme, kinds.count("add"), kinds.count("del"))
    body = _lines(theme, lines, key, left)
    return theme.fold("part fold", join(name, " ", counts), body, key=key, is_open=is_open)


def _lines(theme: Theme, lines: list[DiffLine], key: str, left: int) -> Markup:
    shown = lines[:left]
    parts = []
    for number, line in enumerate(shown):
        if line.kind == "hidden":
            parts.append(_hidden(theme, line, f"{key}.{number}"))
        elif line.kind == "hunk" and number and shown[number - 1].kind == "hidden":
            pass  # the fold above shows the position
        else:
            parts.append(_line(theme, line))
    scrolled = theme.scrolled(len(parts))
    inner = theme("div", "diff", *parts, role="group", aria_label="changes", **scrolled)
    body = theme("div", "copyable", inner)
    rest = len(lines) - len(shown)
    if rest <= 0:
        return body
    theme.left_out.append(count_words(rest, "line of a diff", "lines of a diff"))
    return body + theme("div", "left-out", f"{count_words(rest, 'more line')} not shown")


def _hidden(theme: Theme, line: DiffLine, key: str) -> Markup:
    texts = line.text.split("\n")
    words = f"⋯ {count_words(len(texts), 'unchanged line')}"
    limit = _HIDDEN_IN_RECORD if theme.is_static else _HIDDEN_LINES
    if len(texts) > limit or line.number is None:
        return theme("span", "diff-line diff-hunk", words)
    inner = [
        _line(theme, DiffLine("same", f" {text}", line.number + number))
        for number, text in enumerate(texts)
    ]
    head = theme("span", "diff-hunk", words)
    return theme.fold("diff-hidden fold", head, *inner, key=key)


def _line(theme: Theme, line: DiffLine) -> Markup:
    looks = f"diff-line diff-{line.kind}"
    most = theme.limits.line_chars
    text = line.text[:most]
    number = "" if line.number is None else str(line.number)
    # The page's style sheet shows the number, so that copied lines do not contain it.
    column = theme("span", "diff-number", number or " ") if theme.is_static else ""
    pieces = _pieces(theme, text, line)
    rest = len(line.text) - most
    if rest > 0:
        words = f"… {count_words(rest, 'more character')}"
        pieces.append(theme("span", "left-out", words))
        theme.left_out += [words] if theme.unfolds else []
    return theme("span", looks, column, *pieces, data_line=number)


def _pieces(theme: Theme, text: str, line: DiffLine) -> list[str | Markup]:
    if not line.marks:
        return [visible(text) or " "]
    pieces: list[str | Markup] = []
    at = 0
    for start, end in line.marks:
        pieces += [visible(text[at:start]), theme("span", "mark", visible(text[start:end]))]
        at = end
    return [*pieces, visible(text[at:])]
