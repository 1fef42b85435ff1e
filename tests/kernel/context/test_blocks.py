"""The blocks of a prompt: text first, one resource per thing, and what agents cannot take."""

from __future__ import annotations

import base64
import functools
from pathlib import Path

import pandas as pd
import pytest
from matplotlib.figure import Figure

from acp_notebook.errors import UsageError
from acp_notebook.kernel.context import blocks
from acp_notebook.kernel.context.blocks import attachment_blocks, prepare
from acp_notebook.protocol.dialect import Capabilities
from acp_notebook.protocol.prompt_content import fit_content
from acp_notebook.session.content import (
    ImageBlock,
    ResourceBlock,
    ResourceLinkBlock,
    TextBlock,
)

RICH = Capabilities(image=True, embedded_context=True)
PLAIN = Capabilities()


@pytest.fixture
def ask(notebook, tmp_path, monkeypatch):
    """The blocks that go out for a prompt."""
    monkeypatch.chdir(tmp_path)

    def ask(prompt, *attached, capabilities=RICH):
        prepared = prepare(prompt, notebook, str(tmp_path), attached)
        return fit_content(prepared.blocks(capabilities), capabilities)

    return ask


def test_a_prompt_that_names_nothing_sends_nothing_else(shell, ask):
    shell.user_ns |= {"df": pd.DataFrame({"x": [1]}), "secret": "hidden"}
    assert ask("df and secret, me@example.org, `@df`") == (
        TextBlock("df and secret, me@example.org, `@df`"),
    )


def test_the_text_comes_first_as_it_was_written_then_what_it_names(shell, ask):
    shell.user_ns |= {"a": "one", "b": [2], "n": 3}
    text, first, second = ask(r"see @b and @a, \@home, {n} times, @b again" + "\n")
    assert text == TextBlock("see @b and @a, @home, 3 times, @b again")
    assert (first.uri, first.mime_type) == ("notebook://variable/b", "text/markdown")
    assert second == ResourceBlock("notebook://variable/a", "one", mime_type="text/plain")


def test_an_attached_expression_is_described_under_its_text(shell, ask):
    shell.user_ns["df"] = pd.DataFrame({"x": range(50)})
    _, attached = ask("what is this?", "df.head(3)")
    assert "3 rows" in attached.text
    assert attached.uri.startswith("notebook://variable/df.head-3")


def test_an_attached_path_is_its_file_and_a_block_goes_as_it_is(shell, ask, tmp_path):
    (tmp_path / "a.txt").write_text("hello")
    shell.user_ns |= {"path": Path("a.txt"), "block": TextBlock("as it is")}
    _, file, block = ask("see", "path", "block")
    assert (file.text, file.uri) == ("hello", (tmp_path / "a.txt").as_uri())
    assert block == TextBlock("as it is")


def test_an_attached_expression_that_fails_says_so(ask):
    with pytest.raises(UsageError, match="--attach nothing: NameError"):
        ask("see", "nothing")
    with pytest.raises(UsageError, match=r"--attach df\[: SyntaxError"):
        ask("see", "df[")


def test_a_figure_is_an_image_block(shell, ask):
    shell.user_ns["fig"] = Figure()
    _, image = ask("look at @fig")
    assert isinstance(image, ImageBlock)
    assert (image.mime_type, image.uri) == ("image/png", "notebook://variable/fig")
    assert base64.b64decode(image.data).startswith(b"\x89PNG")


def test_an_agent_without_images_gets_a_file_a_link_and_a_line(shell, ask):
    shell.user_ns["fig"] = Figure()
    _, link, line = ask("look at @fig", capabilities=PLAIN)
    assert isinstance(link, ResourceLinkBlock)
    assert link.mime_type == "image/png"
    path = Path(link.uri.removeprefix("file://"))
    assert path.read_bytes().startswith(b"\x89PNG")
    assert path.stat().st_size == link.size
    assert "takes no pictures" in line.text
    assert str(path) in line.text
    _, second, _ = ask("look at @fig", capabilities=PLAIN)
    assert second.uri != link.uri


def test_the_files_of_pictures_end_with_the_kernel_and_not_with_a_fork_of_it(
    shell, ask, monkeypatch
):
    at_exit = []
    monkeypatch.setattr("atexit.register", lambda *call: at_exit.append(call))
    monkeypatch.setattr(blocks, "_folder", functools.cache(blocks._folder.__wrapped__))
    shell.user_ns["fig"] = Figure()
    _, link, _ = ask("look at @fig", capabilities=PLAIN)
    path = Path(link.uri.removeprefix("file://"))
    ((delete, *arguments),) = at_exit
    with monkeypatch.context() as fork:
        fork.setattr("os.getpid", lambda: -1)
        delete(*arguments)
    assert path.exists()
    delete(*arguments)
    assert not path.parent.exists()


def test_an_image_file_is_linked_where_it_lies(shell, ask, tmp_path):
    from PIL import Image

    Image.new("RGB", (4, 4)).save(tmp_path / "a.png")
    _, link, _ = ask("see @file:a.png", capabilities=PLAIN)
    assert link.uri == (tmp_path / "a.png").as_uri()


def test_an_agent_without_embedded_context_gets_text_and_links(shell, ask, tmp_path):
    shell.user_ns["df"] = pd.DataFrame({"x": [1]})
    (tmp_path / "model.bin").write_bytes(b"\0\1")
    _, described, link = ask("@df @file:model.bin", capabilities=PLAIN)
    assert isinstance(described, TextBlock)
    assert described.text.startswith("notebook://variable/df\n```\npandas DataFrame")
    assert link == ResourceLinkBlock(
        (tmp_path / "model.bin").as_uri(),
        "model.bin",
        mime_type="application/octet-stream",
        size=2,
    )


def test_pictures_follow_the_cell_they_belong_to(ask, run):
    run("for _ in range(2): get_ipython().display_pub.publish({'image/png': 'iVBORw=='})")
    _, cell, first, second = ask("explain @cell[1]")
    assert "a picture (number 2" in cell.text
    assert first == second == ImageBlock("iVBORw==", "image/png", "notebook://cell/1")
    words = [block.text for block in ask("@cell[1]", capabilities=PLAIN)[3::2]]
    assert ["picture 1" in words[0], "picture 2" in words[1]] == [True, True]


def test_an_empty_thing_is_still_named(shell, ask, tmp_path):
    shell.user_ns["text"] = ""
    (tmp_path / "empty.txt").touch()
    _, text, file = ask("@text @file:empty.txt")
    assert (text.text, file.text) == ("(empty)", "(empty)")


def test_objects_from_python_are_called_by_their_variable(shell, notebook):
    frame = pd.DataFrame({"x": [1]})
    shell.user_ns["sales"] = frame
    first, second, third = attachment_blocks([frame, [1], "words"], RICH, notebook, ".")
    assert first.uri == "notebook://variable/sales"
    assert second.uri == "notebook://variable/attachment-2"
    assert (third.text, third.mime_type) == ("words", "text/plain")
    (named,) = attachment_blocks({"result": [1]}, RICH, notebook, ".")
    assert named.uri == "notebook://variable/result"
