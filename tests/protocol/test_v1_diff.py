"""Old and new text become a patch in git's form, within a bound of time."""

from __future__ import annotations

import shutil
import subprocess

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from acp_notebook.protocol.fields import Malformed
from acp_notebook.protocol.v1.diff import MAX_DIFF_LINES, diff_item, git_patch
from acp_notebook.session.updates import DiffChange


def test_a_change_has_a_patch_and_keeps_both_texts():
    item = diff_item({"path": "/p/a.py", "oldText": "one\ntwo\n", "newText": "one\n2\n"})
    assert item.changes == (DiffChange("modify", "/p/a.py"),)
    assert (item.old_text, item.new_text) == ("one\ntwo\n", "one\n2\n")
    assert item.patch == (
        "diff --git a/p/a.py b/p/a.py\n"
        "--- a/p/a.py\n+++ b/p/a.py\n@@ -1,2 +1,2 @@\n one\n-two\n+2\n"
    )


@pytest.mark.parametrize("old", [{}, {"oldText": None}])
def test_a_file_without_an_old_text_is_new(old):
    item = diff_item({"path": "/p/a.py", "newText": "one\n", **old})
    assert item.changes == (DiffChange("add", "/p/a.py"),)
    assert "new file mode" in item.patch
    assert "--- /dev/null\n+++ b/p/a.py\n@@ -0,0 +1 @@\n+one\n" in item.patch


def test_a_missing_line_end_is_told_as_git_tells_it():
    assert git_patch("a", "x", "y").endswith(
        "-x\n\\ No newline at end of file\n+y\n\\ No newline at end of file\n"
    )


@pytest.mark.parametrize("odd", ["\x0c", "\r", "\x0b", "\x1c", "\x85", "\u2028", "\u2029"])
def test_controls_inside_a_line_are_no_line_end(odd):
    patch = git_patch("a", f"one{odd}more\ntwo\n", f"one{odd}more\n2\n")
    assert patch.endswith(f"@@ -1,2 +1,2 @@\n one{odd}more\n-two\n+2\n")


def test_a_diff_too_large_to_compute_has_no_patch_and_keeps_its_texts():
    new = "x\n" * (MAX_DIFF_LINES + 1)
    item = diff_item({"path": "/a", "newText": new})
    assert (item.patch, item.new_text) == (None, new)


@pytest.mark.parametrize("raw", [{}, {"path": "/a"}, {"newText": "x"}, {"path": 1, "newText": "x"}])
def test_a_diff_without_path_or_new_text_is_malformed(raw):
    with pytest.raises(Malformed):
        diff_item(raw)


LINES = st.text(alphabet="ab \n\r\x0c\u2028", max_size=30)


@pytest.mark.process
@settings(deadline=None, max_examples=15)
@given(LINES, LINES)
def test_git_applies_the_patch_and_gets_the_new_text(tmp_path_factory, old, new):
    assume(old and old != new)
    folder = tmp_path_factory.mktemp("diff")
    file = folder / "a.txt"
    file.write_bytes(old.encode())
    command = [shutil.which("git"), "apply", "--unidiff-zero", "--whitespace=nowarn", "-"]
    patch = git_patch("a.txt", old, new).encode()
    subprocess.run(command, input=patch, cwd=folder, check=True, capture_output=True)
    assert file.read_bytes() == new.encode()
