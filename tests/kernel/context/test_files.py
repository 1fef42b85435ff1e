"""Files that a prompt names, good and bad."""

from __future__ import annotations

import io
import os

import pytest
from PIL import Image

from acp_notebook.errors import UsageError
from acp_notebook.kernel.context.files import FILE_LIMIT_BYTES, read_named_file
from acp_notebook.kernel.context.pictures import MAX_SIDE_PX


def test_a_text_file_is_told_whole(tmp_path):
    (tmp_path / "notes.md").write_text("# Größe\n", encoding="utf-8")
    found = read_named_file("notes.md", tmp_path)
    assert (found.text, found.mime_type, found.notes) == ("# Größe\n", "text/markdown", ())
    assert found.path == tmp_path / "notes.md"


@pytest.mark.parametrize("shift", [0, 1, 2])
def test_a_long_file_is_told_by_its_ends_even_if_a_character_is_cut(tmp_path, shift):
    text = "x" * shift + "€" * FILE_LIMIT_BYTES + "END"
    (tmp_path / "long.txt").write_text(text, encoding="utf-8")
    found = read_named_file("long.txt", tmp_path)
    assert found.text.startswith("x" * shift + "€€€")
    assert found.text.endswith("€€END")
    assert "bytes left out" in found.text
    assert "�" not in found.text
    assert len(found.text.encode()) < FILE_LIMIT_BYTES + 100
    assert "left out" in found.notes[0]


def test_a_file_of_many_gigabytes_is_not_read_whole(tmp_path):
    path = tmp_path / "huge.log"
    with path.open("wb") as file:
        file.write(b"begin\n" + b"x" * FILE_LIMIT_BYTES)
        file.truncate(50_000_000_000)  # sparse: it takes no room
    found = read_named_file("huge.log", tmp_path)
    assert found.text.startswith("begin")
    assert found.size == 50_000_000_000


@pytest.mark.parametrize(
    ("data", "text", "words"),
    [
        ("naïve €".encode("cp1252"), "naïve €", "Windows-1252"),
        ("naïve".encode("utf-16"), "naïve", "UTF-16"),
        (b"\xef\xbb\xbfwith a mark", "with a mark", None),
    ],
)
def test_other_encodings_are_read_and_named(tmp_path, data, text, words):
    (tmp_path / "a.txt").write_bytes(data)
    found = read_named_file("a.txt", tmp_path)
    assert found.text == text
    assert [words in note for note in found.notes] == ([True] if words else [])


def test_a_binary_file_has_no_text_and_says_so(tmp_path):
    (tmp_path / "model.bin").write_bytes(bytes(range(256)) * 10)
    found = read_named_file("model.bin", tmp_path)
    assert (found.text, found.picture, found.size) == (None, None, 2_560)
    assert "is no text (2,560 bytes)" in found.notes[0]


def test_an_image_is_a_picture_and_a_large_one_made_smaller(tmp_path):
    Image.new("RGB", (30, 20)).save(tmp_path / "small.png")
    assert read_named_file("small.png", tmp_path).picture.data.startswith(b"\x89PNG")
    Image.effect_noise((3_000, 2_000), 90).save(tmp_path / "large.png")
    found = read_named_file("large.png", tmp_path)
    assert max(Image.open(io.BytesIO(found.picture.data)).size) <= MAX_SIDE_PX
    assert found.notes == ("large.png was made smaller",)


def test_a_broken_image_is_linked(tmp_path):
    (tmp_path / "a.bmp").write_bytes(b"no image")
    found = read_named_file("a.bmp", tmp_path)
    assert (found.picture, found.text) == (None, None)
    assert "cannot be read" in found.notes[0]


def test_a_folder_is_listed_within_bounds(tmp_path):
    (tmp_path / "sub").mkdir()
    for number in range(300):
        (tmp_path / f"f{number:03}").touch()
    lines = read_named_file(".", tmp_path).text.splitlines()
    assert lines[0] == "f000"
    assert lines[-1] == "… and 201 more"
    assert len(lines) == 101
    assert read_named_file("sub", tmp_path).text == "(empty)"


def test_a_missing_file_suggests_the_nearest(tmp_path):
    (tmp_path / "sales.csv").touch()
    with pytest.raises(UsageError, match=r"no file 'sale\.csv'.*Did you mean 'sales\.csv'"):
        read_named_file("sale.csv", tmp_path)
    with pytest.raises(UsageError, match="There is no folder"):
        read_named_file("nowhere/sale.csv", tmp_path)


def test_a_pipe_is_refused_and_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(UsageError, match="a pipe"):
        read_named_file("pipe", tmp_path)
    with pytest.raises(UsageError, match="a device"):
        read_named_file("/dev/zero", tmp_path)


@pytest.mark.parametrize("name", ["a\0b", "x" * 5_000, "~nobody-of-this-name/x"])
def test_an_impossible_name_is_a_usage_error(tmp_path, name):
    with pytest.raises(UsageError, match=r"no file|cannot be looked at"):
        read_named_file(name, tmp_path)


def test_a_file_that_may_not_be_read_says_so(tmp_path, monkeypatch):
    path = tmp_path / "secret.txt"
    path.write_text("x")

    def refuse(*_, **__):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(type(path), "open", refuse)
    with pytest.raises(UsageError, match=r"cannot be read: Permission denied\. Check"):
        read_named_file("secret.txt", tmp_path)
