"""File changes -> lines with signs and numbers, from a patch or from v1's two texts.

All three forms of output share `DiffText`. Knows no HTML.
"""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple

from acp_notebook.budget import BoundedMatcher, Budget, TooCostly
from acp_notebook.render.labels import count_words, operation_words
from acp_notebook.render.markup import clean, label
from acp_notebook.session.updates import DiffChange, DiffItem

LineKind = Literal["add", "del", "hunk", "same", "file", "hidden"]
Mark = tuple[int, int]

# Comparing is quadratic at worst, so longer texts are shown as replaced as a whole.
COMPARE_LIMIT_LINES: Final = 3_000
PATCH_LIMIT_LINES: Final = 20_000
CONTEXT_LINES: Final = 3
NOT_COMPARED: Final = "not compared line by line: too costly"
_MARKED_LINE_CHARS: Final = 400
_MARKED_PAIRS: Final = 2_000
_MARKED_RUN: Final = 20
_MARKING_STEPS: Final = 400_000
_ALIKE: Final = 0.5
_CACHED_DIFFS: Final = 64

_HUNK = re.compile(r"@@ -(\d{1,9})(?:,(\d{1,9}))? \+(\d{1,9})(?:,(\d{1,9}))? @@")
_HEADERS = ("diff ", "--- ", "+++ ", "index ", "new file", "deleted file", "similarity", "rename ")
_NEW_PATH = re.compile(r"\+\+\+ (?:[a-z]/)?([^\t]+)")
_GIT_PATH = re.compile(r"diff --git (?:[a-z]/)?.+ (?:[a-z]/)?(.+)")
_WORDS = re.compile(r"\w+|\s+|[^\w\s]")


class DiffLine(NamedTuple):
    """A line with its sign and its line number; a `hidden` one joins folded unchanged lines."""

    kind: LineKind
    text: str
    number: int | None = None
    marks: tuple[Mark, ...] = ()
    """The characters that differ from the replaced or replacing line."""


@dataclass(frozen=True, slots=True)
class DiffFile:
    """The lines of one file, with the patch's path."""

    path: str
    lines: tuple[DiffLine, ...]

    @property
    def is_binary(self) -> bool:
        """Whether the patch is of a binary file, without lines."""
        return any(
            line.kind == "same" and line.text.startswith(("Binary files ", "GIT binary patch"))
            for line in self.lines
        )


@dataclass(frozen=True, slots=True)
class DiffText:
    """A diff as lines, with the counts of its summary."""

    files: tuple[DiffFile, ...]
    added: int
    removed: int

    @property
    def lines(self) -> list[DiffLine]:
        """All lines, as in a patch."""
        return [line for file in self.files for line in file.lines if line.kind != "hidden"]


_cache: OrderedDict[int, tuple[DiffItem, DiffText]] = OrderedDict()


def diff_text(item: DiffItem, budget: Budget | None = None) -> DiffText:
    """Return the lines of a diff; none if the agent only named the changed files (TOOL-6).

    When the budget is spent, texts are not compared and words not marked.
    """
    # A card is redrawn with each change of its call, while its diff stays the same object.
    kept = _cache.get(id(item))
    if kept is not None and kept[0] is item:
        return kept[1]
    text = _read(item, is_hasty=budget is not None and budget.is_spent)
    _cache[id(item)] = item, text
    while len(_cache) > _CACHED_DIFFS:
        _cache.popitem(last=False)
    return text


def _read(item: DiffItem, *, is_hasty: bool) -> DiffText:
    if item.patch is not None:
        files = tuple(_patch_files(clean(item.patch)))
    elif item.new_text is not None or item.old_text is not None:
        path = item.changes[0].path if item.changes else ""
        lines = _compared(clean(item.old_text or ""), clean(item.new_text or ""), is_hasty)
        files = (DiffFile(path, tuple(lines)),)
    else:
        files = ()
    if not is_hasty:
        files = tuple(DiffFile(file.path, tuple(_marked(file.lines))) for file in files)
    kinds = [line.kind for file in files for line in file.lines]
    return DiffText(files, kinds.count("add"), kinds.count("del"))


def _patch_files(patch: str) -> Iterator[DiffFile]:
    lines: list[DiffLine] = []
    is_in_header = True
    for line in _patch_lines(patch):
        begins = line.kind == "file" and (line.text.startswith("diff ") or not is_in_header)
        if begins and lines:
            yield _patch_file(lines)
            lines = []
        is_in_header = line.kind == "file"
        lines.append(line)
    if lines:
        yield _patch_file(lines)


def _patch_file(lines: list[DiffLine]) -> DiffFile:
    path = ""
    for line in lines:
        match = _NEW_PATH.match(line.text) or _GIT_PATH.match(line.text)
        if line.kind == "file" and match and match[1] != "/dev/null":
            path = match[1]
    return DiffFile(path, tuple(lines))


def _patch_lines(patch: str) -> Iterator[DiffLine]:
    # A hunk states its number of lines; without counting, a removed `-- x` reads as a file header.
    old_left = new_left = old_at = new_at = 0
    texts = patch.splitlines()
    for text in texts[:PATCH_LIMIT_LINES]:
        head = _HUNK.match(text)
        if text.startswith("diff --git "):
            old_left = new_left = 0  # some agents miscount
        if old_left > 0 or new_left > 0:
            kind = _kind(text)
            if text.startswith("\\"):
                yield DiffLine("same", text)
                continue
            yield DiffLine(kind, text, old_at if kind == "del" else new_at)
            if kind != "add":
                old_at, old_left = old_at + 1, old_left - 1
            if kind != "del":
                new_at, new_left = new_at + 1, new_left - 1
        elif head:
            old_at, old_left = int(head[1]), int(head[2] or 1)
            new_at, new_left = int(head[3]), int(head[4] or 1)
            yield DiffLine("hunk", text)
        else:
            yield DiffLine("file" if text.startswith(_HEADERS) else _kind(text), text)
    yield from _unread(len(texts))


def _kind(text: str) -> LineKind:
    return "add" if text[:1] == "+" else "del" if text[:1] == "-" else "same"


def _compared(old: str, new: str, is_hasty: bool) -> list[DiffLine]:
    before, after = old.splitlines(), new.splitlines()
    replaced = [*_signed("del", before, 1), *_signed("add", after, 1)]
    if not before or not after:
        return replaced
    if is_hasty or len(before) + len(after) > COMPARE_LIMIT_LINES:
        return [DiffLine("hunk", NOT_COMPARED), *replaced]
    matcher = BoundedMatcher(before, after, autojunk=False)
    try:
        groups = list(matcher.get_grouped_opcodes(CONTEXT_LINES))
    except TooCostly:
        return [DiffLine("hunk", NOT_COMPARED), *replaced]
    lines: list[DiffLine] = []
    seen = 0
    for group in groups:
        lines += _hidden(after[seen : group[0][3]], seen + 1)
        lines.append(_hunk(group))
        for tag, old_from, old_to, new_from, new_to in group:
            if tag == "equal":
                lines += _signed("same", after[new_from:new_to], new_from + 1)
            else:
                lines += _signed("del", before[old_from:old_to], old_from + 1)
                lines += _signed("add", after[new_from:new_to], new_from + 1)
        seen = group[-1][4]
    return lines + _hidden(after[seen:], seen + 1) if lines else []


def _signed(kind: LineKind, texts: list[str], first: int) -> list[DiffLine]:
    sign = {"add": "+", "del": "-"}.get(kind, " ")
    shown = texts[:PATCH_LIMIT_LINES]
    lines = [DiffLine(kind, sign + text, first + number) for number, text in enumerate(shown)]
    return lines + _unread(len(texts))


def _unread(lines: int) -> list[DiffLine]:
    rest = lines - PATCH_LIMIT_LINES
    words = f"… {count_words(rest, 'more line')} not read: too long"
    return [DiffLine("hunk", words)] if rest > 0 else []


def _hidden(texts: list[str], first: int) -> list[DiffLine]:
    return [DiffLine("hidden", "\n".join(texts), first)] if texts else []


def _hunk(group: list[tuple[str, int, int, int, int]]) -> DiffLine:
    old_from, old_to, new_from, new_to = group[0][1], group[-1][2], group[0][3], group[-1][4]
    ranges = (_range(old_from, old_to - old_from), _range(new_from, new_to - new_from))
    return DiffLine("hunk", f"@@ -{ranges[0]} +{ranges[1]} @@")


def _range(start: int, length: int) -> str:
    if length == 1:
        return str(start + 1)
    return f"{start + 1 if length else start},{length}"


def _marked(lines: Sequence[DiffLine]) -> list[DiffLine]:
    """Mark the differing words where a similar line replaces another."""
    result = list(lines)
    index = pairs = 0
    steps = _MARKING_STEPS
    while index < len(result) and pairs < _MARKED_PAIRS and steps > 0:
        middle = index + _run(result, index, "del")
        end = middle + _run(result, middle, "add")
        place = middle
        for old in range(index, min(middle, index + _MARKED_RUN)):
            for new in range(place, min(end, middle + _MARKED_RUN)):
                pairs += 1
                marked, steps = _mark_pair(result[old], result[new], steps)
                if marked is not None:
                    result[old], result[new] = marked
                    place = new + 1
                    break
        index = max(end, index + 1)
    return result


def _run(lines: list[DiffLine], start: int, kind: LineKind) -> int:
    end = start
    while end < len(lines) and lines[end].kind == kind:
        end += 1
    return end - start


def _mark_pair(
    old: DiffLine, new: DiffLine, steps: int
) -> tuple[tuple[DiffLine, DiffLine] | None, int]:
    """The lines with marks if they are alike, and the steps that are left."""
    if steps <= 0 or max(len(old.text), len(new.text)) > _MARKED_LINE_CHARS:
        return None, steps
    before, after = _WORDS.findall(old.text[1:]), _WORDS.findall(new.text[1:])
    matcher = BoundedMatcher(before, after, autojunk=False, steps=steps - len(before) - len(after))
    try:
        blocks = matcher.get_matching_blocks()
    except TooCostly:
        return None, 0
    same = sum(
        len(word)
        for block in blocks
        for word in before[block.a : block.a + block.size]
        if word[0].isalnum()
    )
    most = max(sum(len(word) for word in words if word[0].isalnum()) for words in (before, after))
    if same < _ALIKE * max(most, 1):
        return None, matcher.left
    opcodes = [code for code in matcher.get_opcodes() if code[0] != "equal"]
    old_marks = _spans(before, [(code[1], code[2]) for code in opcodes])
    new_marks = _spans(after, [(code[3], code[4]) for code in opcodes])
    return (old._replace(marks=old_marks), new._replace(marks=new_marks)), matcher.left


def _spans(words: list[str], ranges: list[tuple[int, int]]) -> tuple[Mark, ...]:
    found = []
    for start, end in ranges:
        if start < end:
            first = 1 + sum(map(len, words[:start]))
            found.append((first, first + sum(map(len, words[start:end]))))
    return tuple(found)


def change_words(change: DiffChange, limit: int = 200) -> str:
    """Return the words for one file: `old.py → new.py (renamed)`."""
    path = label(change.path, limit)
    if change.old_path and change.old_path != change.path:
        path = f"{label(change.old_path, limit)} → {path}"
    extra = f", {label(change.file_type, 40)}" if change.file_type not in (None, "text") else ""
    return f"{path} ({label(operation_words(change.operation), 40)}{extra})"
