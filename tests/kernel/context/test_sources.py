"""From mentions to things: found, described, or an error that teaches."""

from __future__ import annotations

import collections

import numpy as np
import pandas as pd
import polars as pl
import pytest
from matplotlib.figure import Figure

from acp_notebook.errors import UsageError
from acp_notebook.kernel.context.mentions import find_mentions
from acp_notebook.kernel.context.sources import Notebook, resolve


@pytest.fixture
def look(notebook, tmp_path, monkeypatch):
    """What the first mention of a text means, for an agent in the present folder."""
    monkeypatch.chdir(tmp_path)

    def look(prompt, folder=tmp_path):
        return resolve(find_mentions(prompt)[0], notebook, str(folder))

    return look


# variables


def test_a_variable_is_described_under_its_name(shell, look):
    shell.user_ns["df"] = pd.DataFrame({"x": [1]})
    item = look("@df")
    assert (item.name, item.uri, item.mime_type) == (
        "df",
        "notebook://variable/df",
        "text/markdown",
    )
    assert "pandas DataFrame" in item.text


def test_a_name_of_a_builtin_means_the_users_variable(shell, look):
    shell.user_ns["list"] = "mine"
    assert look("@list").text == "mine"
    with pytest.raises(UsageError, match="no variable 'print'"):
        look("@print")


def test_an_unknown_name_suggests_the_nearest_and_how_to_write_a_plain_at(shell, look):
    shell.user_ns["sales"] = 1
    with pytest.raises(UsageError) as caught:
        look("@salse")
    assert "Did you mean @sales?" in str(caught.value)
    assert r"\@salse" in str(caught.value)


@pytest.mark.parametrize(
    ("prompt", "hint"),
    [
        ("@file", "@file:PATH"),
        ("@cell", "@cell[N]"),
        ("@cells", "@cells:N"),
        ("@out[x]", "@out[N]"),
    ],
)
def test_a_special_mention_written_wrongly_is_explained(look, prompt, hint):
    with pytest.raises(UsageError) as caught:
        look(prompt)
    assert f"Write {hint}" in str(caught.value)


def test_what_ipython_puts_there_is_no_variable(look):
    for name in ("In", "exit", "get_ipython", "_dh"):
        with pytest.raises(UsageError, match="no variable"):
            look(f"@{name}")


def test_attributes_columns_and_keys_lead_on(shell, look):
    shell.user_ns |= {
        "df": pd.DataFrame({"price": [1.5], "unit price": [2.5]}),
        "lazy": pl.DataFrame({"price": [3.5]}),
        "models": [{"best": "the best"}],
    }
    assert "Series 'price'" in look("@df.price").text
    assert "Series 'unit price'" in look('@df["unit price"]').text
    assert "Series 'price'" in look("@lazy.price").text
    assert look('@models[0]["best"]').text == "the best"
    assert look("@models[-1].best").text == "the best"
    assert look('@models[0]["best"]').uri.startswith("notebook://variable/models")


def test_a_missing_part_suggests_the_nearest(shell, look):
    shell.user_ns |= {"df": pd.DataFrame({"price": [1]}), "words": ["a"]}
    with pytest.raises(UsageError, match=r"@df has no 'prise'.*Did you mean 'price'"):
        look("@df.prise")
    with pytest.raises(UsageError, match="@words has no 7"):
        look("@words[7]")


def test_looking_makes_no_entry(shell, look):
    shell.user_ns["counts"] = collections.defaultdict(int)
    with pytest.raises(UsageError, match="no 'x'"):
        look('@counts["x"]')
    assert dict(shell.user_ns["counts"]) == {}


def test_a_part_that_is_computed_is_not_and_the_way_to_it_is_told(shell, look):
    class Odd:
        @property
        def value(self):
            raise AssertionError("computed")

    shell.user_ns["odd"] = Odd()
    with pytest.raises(
        UsageError, match=r"'value' is a property.*write \{odd.value\} or --attach odd.value"
    ):
        look("@odd.value")


def test_variables_of_a_function_that_prompts_come_first(shell, log):
    shell.user_ns["x"] = "outer"
    inside = Notebook(shell, log, {"x": "inner", "_own": 1})
    assert resolve(find_mentions("@x")[0], inside, ".").text == "inner"
    assert inside.evaluate("x + str(_own)") == "inner1"


def test_a_figure_is_a_picture(shell, look):
    shell.user_ns["fig"] = Figure()
    item = look("@fig")
    assert (len(item.pictures), item.text) == (1, "")


def test_a_figure_that_cannot_be_drawn_is_told_as_text_with_a_note(shell, look):
    class Broken(Figure):
        def savefig(self, *_, **__):
            raise RuntimeError("the font is gone")

    shell.user_ns["fig"] = Broken()
    item = look("@fig")
    assert "the font is gone" in item.text
    assert item.pictures == ()
    assert "sent as text" in item.notes[0]


def test_all_of_a_frame_goes_as_csv(shell, look):
    shell.user_ns["df"] = pd.DataFrame({"x": range(3)})
    item = look("@df:csv")
    assert (item.text, item.mime_type) == (",x\n0,0\n1,1\n2,2\n", "text/csv")
    assert item.uri == "notebook://variable/df.csv"


def test_a_frame_too_large_to_go_whole_is_refused_before_it_is_written(shell, look):
    # One number seen thirty million times.
    big = pd.DataFrame(np.broadcast_to(np.int8(0), (10_000_000, 3)), copy=False)
    shell.user_ns |= {"big": big, "wide": pd.DataFrame({"x": ["y" * 5_000_000]}), "n": 3}
    with pytest.raises(UsageError, match=r"30,000,000 cells.*Send a part"):
        look("@big:csv")
    with pytest.raises(UsageError, match=r"characters\. Send a part"):
        look("@wide:csv")
    with pytest.raises(UsageError, match="this is a int"):
        look("@n:csv")


# files


def test_a_file_is_its_text_under_its_own_address(look, tmp_path):
    (tmp_path / "a b.csv").write_text("x\n1\n")
    item = look('@file:"a b.csv"')
    assert (item.text, item.mime_type, item.notes) == ("x\n1\n", "text/csv", ())
    assert item.uri == (tmp_path / "a b.csv").as_uri()


def test_a_file_outside_the_agents_folder_goes_with_a_word_about_it(look, tmp_path):
    (tmp_path / "work").mkdir()
    (tmp_path / "a.txt").write_text("x")
    (tmp_path / "work" / "link.txt").symlink_to(tmp_path / "a.txt")
    assert "outside the agent's folder" in look("@file:a.txt", tmp_path / "work").notes[0]
    assert "outside the agent's folder" in look("@file:work/link.txt", tmp_path / "work").notes[0]
    assert look("@file:a.txt").notes == ()


def test_a_missing_file_is_an_error(look):
    with pytest.raises(UsageError, match=r"There is no file 'b\.txt'"):
        look("@file:b.txt")


# cells


def test_a_cell_goes_with_its_output(look, run):
    run("print('\\x1b[31mhello\\x1b[0m')\n40 + 2")
    item = look("@cell[1]")
    assert item.uri == "notebook://cell/1"
    assert "print(" in item.text
    assert "hello" in item.text.split("Output:")[1]
    assert "\x1b[31m" not in item.text.split("Output:", 1)[1]
    assert "42" in item.text
    assert look("@cell[-1]").text == item.text


def test_a_failed_cell_goes_with_its_error(look, run):
    run("1/0")
    assert "ZeroDivisionError" in look("@cell[1]").text
    item = look("@error")
    assert item.uri == "notebook://error"
    assert "In cell [1]" in item.text
    assert "1/0" in item.text


def test_several_cells_go_in_order(look, run):
    for number in range(5):
        run(f"x = {number}")
    item = look("@cells:2")
    assert item.uri == "notebook://cells/4-5"
    assert item.text.index("x = 3") < item.text.index("x = 4")
    assert "x = 2" not in item.text
    assert look("@cells:9").notes == ("@cells:9: there are 5",)


def test_a_cell_that_did_not_run_is_an_error_that_says_which_did(look, run):
    with pytest.raises(UsageError, match="None has run yet"):
        look("@cell[1]")
    with pytest.raises(UsageError, match="names no cell"):
        look("@cells:2")
    run("x = 1")
    with pytest.raises(UsageError, match="There are 1 to 1"):
        look("@cell[7]")
    with pytest.raises(UsageError, match="names no cell"):
        look("@cells:0")


def test_an_error_that_never_was_is_said(look):
    with pytest.raises(UsageError, match="No cell has failed"):
        look("@error")


def test_an_output_is_its_value(look, run):
    run("{'a': 1}")
    item = look("@out[1]")
    assert (item.name, item.uri) == ("out[1]", "notebook://out/1")
    assert "{'a': 1}" in item.text
    assert look("@out[-1]").text == item.text
    with pytest.raises(UsageError, match="Out has: 1"):
        look("@out[5]")


def publish(times=1, **bundle):
    """A cell that displays this bundle; `display` itself needs a shell of the whole process."""
    data = {name.replace("_", "/"): value for name, value in bundle.items()}
    return f"for _ in range({times}): get_ipython().display_pub.publish({data!r})"


def test_pictures_of_a_cell_are_numbered_and_go_with_it(look, run):
    run(publish(2, image_png="iVBORw==", text_plain="<Figure>"))
    item = look("@cell[1]")
    assert [picture.data for picture in item.pictures] == [b"\x89PNG"] * 2
    assert "a picture (number 2" in item.text
    assert look("@cells:1").pictures == item.pictures


def test_html_alone_is_told_by_its_text(look, run):
    run(publish(text_html="<style>b{}</style><b>1 &lt; 2</b>"))
    told = look("@cell[1]").text.split("Output:")[1]
    assert "1 < 2" in told
    assert "b{}" not in told


def test_an_image_that_cannot_be_decoded_is_left_out(look, run):
    run(publish(image_png="not base64", text_plain="<Figure>"))
    item = look("@cell[1]")
    assert item.pictures == ()
    assert "<Figure>" in item.text.split("Output:")[1]


def test_long_outputs_are_bounded(look, run):
    run("print('x' * 100_000)")
    assert len(look("@cell[1]").text) < 10_000
