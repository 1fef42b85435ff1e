"""A diff -> HTML: a part per file, lines with numbers and signs, changed words marked.

Colour is never the only sign: lines keep their signs, and marks are underlined. Knows no tool call.
"""

from __future__ import annotations

from markupsafe import Markup

from acp_notebook.render.labels import count_words
from acp_notebook.render.markup import Theme, join, label, visible
from acp_notebook.render.parsing.diff import DiffFile, DiffLine, DiffText, change_words
from acp_notebook.session.updates import DiffChange, DiffItem

_FILES_OPEN = 6
_HIDDEN_LINES = 200
_HIDDEN_IN_RECORD = 0


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
    named = _named(item, text)
    rest = [change for change in item.changes if all(change is not each for each, _ in named)]
    most = theme.limits.name_chars
    parts = [theme("div", "file", change_words(change, most)) for change in rest]
    left = theme.limits.diff_lines
    for number, (change, file) in enumerate(named):
        is_open = is_asked or number < _FILES_OPEN
        parts.append(_file(theme, change, file, f"{key}.{number}", left, is_open=is_open))
        left = max(0, left - len(file.lines))
    return theme("div", "part", *parts)


def _named(item: DiffItem, text: DiffText) -> list[tuple[DiffChange | None, DiffFile]]:
    """Pair the patch's files with the item's changes."""
    if len(item.changes) == len(text.files) == 1:
        return [(item.changes[0], text.files[0])]
    free = list(item.changes)
    found: list[tuple[DiffChange | None, DiffFile]] = []
    for file in text.files:
        path = file.path
        match = next((c for c in free if path and (c.path + "/").endswith(f"{path}/")), None)
        if match is not None:
            free.remove(match)
        found.append((match, file))
    return found


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
