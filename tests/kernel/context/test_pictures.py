"""Figures as pictures of a bounded size, and what is done where none can be drawn."""

from __future__ import annotations

import io

import matplotlib as mpl
import numpy as np
import plotly.graph_objects as go
import pytest
from IPython.display import Image as IPythonImage
from matplotlib.figure import Figure
from PIL import Image

from acp_notebook.kernel.context.pictures import (
    MAX_BYTES,
    MAX_SIDE_PX,
    NoPicture,
    figure_data,
    from_bytes,
    picture_of,
)

PNG_HEAD = b"\x89PNG\r\n\x1a\n"


def size_of(picture):
    assert picture.mime_type == "image/png"
    assert picture.data.startswith(PNG_HEAD)
    assert len(picture.data) <= MAX_BYTES
    return Image.open(io.BytesIO(picture.data)).size


def noise(width, height):
    return Image.fromarray(np.random.default_rng(0).integers(0, 255, (height, width, 3), "uint8"))


def figure(**options):
    figure = Figure(**options)
    figure.subplots().plot([1, 3, 2])
    return figure


def test_a_matplotlib_figure_becomes_a_picture_and_stays_as_it_was():
    drawn = figure(figsize=(4, 3), dpi=100)
    assert size_of(picture_of(drawn)) == (400, 300)
    assert drawn.dpi == 100
    assert tuple(drawn.get_size_inches()) == (4, 3)


def test_axes_stand_for_their_figure():
    drawn = figure()
    assert picture_of(drawn.axes[0]).data == picture_of(drawn).data
    subfigures = Figure().subfigures(1, 2)
    assert size_of(picture_of(subfigures[0].subplots()))


def test_a_large_figure_is_drawn_smaller():
    width, height = size_of(picture_of(figure(figsize=(40, 20), dpi=300)))
    assert width <= MAX_SIDE_PX
    assert width == pytest.approx(2 * height, abs=2)


def test_a_figure_that_compresses_badly_is_drawn_smaller_still():
    drawn = Figure(figsize=(15, 15), dpi=100)
    drawn.figimage(np.random.default_rng(0).random((1_500, 1_500)))
    assert size_of(picture_of(drawn))


@pytest.mark.parametrize("mode", ["1", "L", "LA", "P", "RGB", "RGBA", "CMYK", "I;16", "F"])
def test_images_of_every_mode_become_pictures(mode):
    assert size_of(picture_of(Image.new(mode, (30, 20)))) == (30, 20)


def test_a_large_image_is_made_smaller_until_it_fits():
    width, height = size_of(picture_of(noise(4_000, 1_000)))
    assert width <= MAX_SIDE_PX
    assert width == pytest.approx(4 * height, abs=3)


def test_an_image_of_ipython_is_sent_as_it_is_or_smaller():
    buffer = io.BytesIO()
    Image.new("RGB", (20, 10)).save(buffer, "JPEG")
    picture = picture_of(IPythonImage(data=buffer.getvalue(), format="jpeg"))
    assert (picture.data, picture.mime_type) == (buffer.getvalue(), "image/jpeg")
    assert picture.suffix == ".jpg"
    with pytest.raises(NoPicture, match="only an address"):
        picture_of(IPythonImage(url="https://example.org/a.png"))


def test_what_is_no_image_says_so():
    with pytest.raises(NoPicture, match="cannot be read"):
        from_bytes(b"no image", "image/bmp")


def test_what_is_no_figure_is_none():
    for value in (None, "text", [1], np.zeros((4, 4)), mpl):
        assert picture_of(value) is None


def test_a_figure_that_fails_to_draw_says_why():
    class Broken(Figure):
        def savefig(self, *_, **__):
            raise RuntimeError("the font is gone")

    with pytest.raises(NoPicture, match="the font is gone"):
        picture_of(Broken())


def test_a_plotly_figure_is_drawn_by_its_engine(monkeypatch):
    buffer = io.BytesIO()
    Image.new("RGB", (9, 6)).save(buffer, "PNG")
    drawn = go.Figure(go.Scatter(y=[1, 2]))
    monkeypatch.setattr(go.Figure, "to_image", lambda *_, **__: buffer.getvalue())
    assert size_of(picture_of(drawn)) == (9, 6)


def test_a_plotly_figure_without_an_engine_is_told_by_its_data(monkeypatch):
    def no_engine(*_, **__):
        raise ValueError("kaleido is required")

    monkeypatch.setattr(go.Figure, "to_image", no_engine)
    drawn = go.Figure(
        [go.Scatter(x=list(range(100)), y=[n * n for n in range(100)], name="squares"), go.Bar()],
        layout={"title": {"text": "Growth"}, "xaxis": {"title": {"text": "n"}}},
    )
    with pytest.raises(NoPicture, match="pip install kaleido"):
        picture_of(drawn)
    told = figure_data(drawn)
    assert "2 traces" in told
    assert "title: Growth" in told
    assert "x axis: n" in told
    assert "trace squares, scatter" in told
    assert "y: 100 values: 0, 1, 4, 9" in told
    assert len(told) < 2_000
