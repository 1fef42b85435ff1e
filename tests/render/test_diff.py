from __future__ import annotations

from acp_notebook.render.diff import change_words, diff_text, render_diff
from acp_notebook.render.markup import live_paper, record_paper
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
    html = render_diff(live_paper(), DiffItem(changes), diff_text(DiffItem(changes)))
    assert "a.py → b.py (renamed)" in html
    assert "c.bin (deleted)" in html


def test_an_unknown_operation_and_file_type_are_said_as_they_came() -> None:
    assert change_words(DiffChange("_zip", "a", file_type="binary")) == "a (_zip, binary)"


def test_a_long_diff_says_what_is_not_shown() -> None:
    paper = record_paper()
    item = DiffItem((DiffChange("add", "a"),), new_text="x\n" * 1_000)
    html = render_diff(paper, item, diff_text(item))
    assert html.count("+x") == paper.limits.diff_lines
    assert "400 more lines not shown" in html
    assert paper.left_out == ["400 lines of a diff"]
