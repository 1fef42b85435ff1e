"""Patches, with Git itself as the witness."""

from __future__ import annotations

import subprocess

import pytest

from acp_notebook.agent_kit.file_change import FileChange

LINES = "".join(f"{number}\n" for number in range(50))


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("plain.txt", "x\ny\n", "x\nz\n"),
        ("with space.txt", "x\ny\n", "x\nz\n"),
        ('ä"q\\.txt', "x\n", "y\n"),
        ("tab\t.txt", "x\n", "y\n"),
        ("no end.txt", "x\ny", "x\nz"),
        ("end added.txt", "x\ny", "x\ny\n"),
        ("new.txt", None, "hello\nworld"),
        ("gone.txt", "bye\n", None),
        ("odd ends.txt", "a\u2028b\r\nc\x0cd\n", "a\u2028b\r\nd\x0ce\n"),
        ("two hunks.txt", LINES, LINES.replace("3\n", "three\n").replace("40\n", "forty\n")),
    ],
)
def test_git_applies_the_patch(tmp_path, name, old, new):
    path = tmp_path / name
    (tmp_path / "keeps the folder").touch()
    if old is not None:
        path.write_bytes(old.encode())
    patch = FileChange(str(path), old, new).patch()
    subprocess.run(
        ["git", "apply", "--unsafe-paths", "-p0", "--directory=/", "-"],
        input=patch.encode(),
        cwd=tmp_path,
        check=True,
    )
    assert (path.read_bytes().decode() if path.exists() else None) == new


def test_paths_are_absolute_and_without_prefix():
    patch = FileChange("/w/a.txt", "x\n", "y\n").patch()
    assert patch == (
        "diff --git /w/a.txt /w/a.txt\n--- /w/a.txt\n+++ /w/a.txt\n@@ -1 +1 @@\n-x\n+y\n"
    )


@pytest.mark.parametrize(
    ("old", "new", "operation"),
    [(None, "x", "add"), ("x", None, "delete"), ("x", "y", "modify"), ("", "", "modify")],
)
def test_the_operation_follows_from_the_texts(old, new, operation):
    assert FileChange("/a", old, new).operation == operation


def test_a_new_empty_file_is_a_header_alone():
    patch = FileChange("/a", None, "").patch()
    assert patch == "diff --git /a /a\nnew file mode 100644\n"


def test_a_change_that_changes_nothing_has_no_hunks():
    assert FileChange("/a", "x", "x").patch() == "diff --git /a /a\n"
