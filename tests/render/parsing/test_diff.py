from __future__ import annotations

import random
import time

from html_facts import HtmlFacts

from acp_notebook.render.entries.diff_view import render_diff
from acp_notebook.render.markup import live_theme, record_theme
from acp_notebook.render.parsing.diff import (
    NOT_COMPARED,
    PATCH_LIMIT_LINES,
    change_words,
    diff_text,
)
from acp_notebook.session.updates import DiffChange, DiffItem

PATCH = """diff --git a/a.py b/a.py
--- a/a.py
+++ b/a.py
@@ -1,3 +1,3 @@ def f():
 same
-old
--- removed comment
+new
++ added
\\ No newline at end of file
"""


def test_a_patch_is_read_by_its_counts_so_no_line_is_taken_for_a_header() -> None:
    text = diff_text(DiffItem((DiffChange("modify", "a.py"),), patch=PATCH))
    kinds = [line.kind for line in text.lines]
    assert kinds == ["file"] * 3 + ["hunk", "same", "del", "del", "add", "add", "same"]
    assert (text.added, text.removed) == (2, 2)


def test_two_texts_are_compared() -> None:
    item = DiffItem((DiffChange("modify", "a"),), old_text="a\nb\nc\n", new_text="a\nB\nc\n")
    assert [line.text for line in diff_text(item).lines[1:]] == [" a", "-b", "+B", " c"]


def test_a_new_file_is_all_added() -> None:
    text = diff_text(DiffItem((DiffChange("add", "a"),), new_text="x\ny\n"))
    assert [line.kind for line in text.lines] == ["add", "add"]


def test_a_diff_without_lines_names_its_files() -> None:
    changes = (DiffChange("move", "b.py", old_path="a.py"), DiffChange("delete", "c.bin"))
    html = render_diff(live_theme(), DiffItem(changes), diff_text(DiffItem(changes)), "k")
    assert "a.py → b.py (renamed)" in html
    assert "c.bin (deleted)" in html


def test_an_unknown_operation_and_file_type_are_said_as_they_came() -> None:
    assert change_words(DiffChange("_zip", "a", file_type="binary")) == "a (_zip, binary)"


def test_a_long_diff_says_what_is_not_shown() -> None:
    theme = record_theme()
    item = DiffItem((DiffChange("add", "a"),), new_text="x\n" * 1_000)
    html = render_diff(theme, item, diff_text(item), "k")
    assert html.count("+x") == theme.limits.diff_lines
    assert "400 more lines not shown" in html
    assert theme.left_out == ["400 lines of a diff"]


def test_lines_have_their_numbers_in_the_file() -> None:
    text = diff_text(DiffItem((DiffChange("modify", "a.py"),), patch=PATCH))
    numbers = [line.number for line in text.lines if line.kind in {"same", "add", "del"}]
    assert numbers == [1, 2, 3, 2, 3, None]


def test_changed_words_are_marked_in_both_lines() -> None:
    text = diff_text(DiffItem((), old_text="total = one + two\n", new_text="total = one + six\n"))
    old, new = (line for line in text.lines if line.marks)
    assert [old.text[start:end] for start, end in old.marks] == ["two"]
    assert [new.text[start:end] for start, end in new.marks] == ["six"]


def test_lines_that_have_nothing_in_common_are_not_marked() -> None:
    text = diff_text(DiffItem((), old_text="alpha beta\n", new_text="import sys, os\n"))
    assert not any(line.marks for line in text.lines)


def test_unchanged_lines_far_from_a_change_are_folded_and_in_no_patch() -> None:
    lines = [f"line {number}" for number in range(100)]
    old, new = "\n".join(lines), "\n".join([*lines[:50], "changed", *lines[51:]])
    item = DiffItem((DiffChange("modify", "a"),), old_text=old, new_text=new)
    text = diff_text(item)
    assert "line 10" not in "".join(line.text for line in text.lines)
    html = render_diff(live_theme(), item, text, "k")
    assert "⋯ 47 unchanged lines" in html
    assert "line 10" in html
    assert "line 10" not in render_diff(record_theme(), item, text, "k")


def test_each_file_of_a_patch_has_a_part_of_its_own_with_its_own_counts() -> None:
    patch = (
        PATCH
        + "diff --git a/b.bin b/b.bin\nindex 1..2\nBinary files a/b.bin and b/b.bin differ\n"
        + "diff --git a/c.py b/c.py\n--- a/c.py\n+++ b/c.py\n@@ -0,0 +1 @@\n+x\n"
    )
    changes = tuple(DiffChange("modify", f"/home/me/{name}") for name in ("a.py", "b.bin", "c.py"))
    item = DiffItem(changes, patch=patch)
    text = diff_text(item)
    assert [file.path for file in text.files] == ["a.py", "b.bin", "c.py"]
    assert [file.is_binary for file in text.files] == [False, True, False]
    html = render_diff(live_theme(), item, text, "k")
    assert html.count("<details") == 2
    for name in ("a.py", "b.bin", "c.py"):
        assert html.count(f"/home/me/{name} (changed)") == 1
    assert "binary" in html


def test_marks_and_numbers_keep_the_text_of_a_line() -> None:
    item = DiffItem((DiffChange("modify", "a"),), old_text="a <b> c\n", new_text="a <i> c\n")
    facts = HtmlFacts(render_diff(live_theme(), item, diff_text(item), "k"))
    assert "-a <b> c" in "".join(facts.texts)
    assert "+a <i> c" in "".join(facts.texts)
    assert facts.dangers == []


def test_a_comparison_that_costs_too_much_is_shown_as_replaced_with_the_reason() -> None:
    old, new = "a\n" * 1_400, "b\na\n" * 700
    text = diff_text(DiffItem((DiffChange("modify", "/x"),), None, old, new))
    assert text.lines[0].text == NOT_COMPARED
    assert (text.removed, text.added) == (1_400, 1_400)


def test_marking_words_has_a_bound_for_the_whole_diff() -> None:
    draw = random.Random(1)
    sides = ["".join(draw.choice("ab,;") for _ in range(390)) for _ in range(40)]
    run = [f"-{side}" for side in sides[:20]] + [f"+{side}" for side in sides[20:]] + [" x"]
    began = time.thread_time()
    text = diff_text(DiffItem((), "\n".join(["@@ -1,3000 +1,3000 @@", *run * 60])))
    assert text.added == 1_200
    assert time.thread_time() - began < 1.5  # without the bound 13 s


def test_of_an_endless_patch_the_beginning_is_read() -> None:
    text = diff_text(DiffItem((), "+\n" * 100_000))
    assert text.added == PATCH_LIMIT_LINES
    assert text.lines[-1].text == "… 80,000 more lines not read: too long"


def test_files_of_a_patch_are_paired_with_the_changes_that_end_like_them() -> None:
    patch = "".join(f"diff --git a/{name} b/{name}\n" for name in ("b/x.py", "x.py", "new.py"))
    changes = tuple(
        DiffChange(operation, path)
        for operation, path in [
            ("delete", "/r/xx.py"),
            ("modify", "/r/a/x.py"),
            ("add", "/r/b/x.py"),
        ]
    )
    item = DiffItem(changes, patch)
    html = str(render_diff(live_theme(), item, diff_text(item), "k"))
    places = [html.index(words) for words in ("/r/xx.py", "/r/b/x.py", "/r/a/x.py", "new.py")]
    assert places == sorted(places)


def test_the_names_of_many_files_are_cut_with_the_number_of_the_rest() -> None:
    item = DiffItem(tuple(DiffChange("add", f"/a/{number}") for number in range(1_000)))
    html = str(render_diff(live_theme(), item, diff_text(item), "k"))
    assert html.count("/a/") == 200
    assert "… 800 more files not shown" in html


def test_compared_files_are_few_whatever_their_names() -> None:
    class Path(str):
        __slots__ = ()
        seen = 0

        def __format__(self, _: str) -> str:
            Path.seen += 1
            return str(self)

    patch = "".join(f"diff --git a/{number}/x b/{number}/x\n" for number in range(1_000))
    item = DiffItem(tuple(DiffChange("add", Path(f"y{n}/x")) for n in range(1_000)), patch)
    render_diff(live_theme(), item, diff_text(item), "k")
    assert Path.seen <= 200 * 100
