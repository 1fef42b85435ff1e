"""Pictures of figures, as PNG of a bounded size: matplotlib, PIL, IPython images, plotly.

A figure draws itself, by its own code, if the user names it. Looks a library up among the imported
modules. Knows no agent.
"""

from __future__ import annotations

import io
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from acp_notebook.kernel.context.kinds import derives_from, type_name
from acp_notebook.kernel.context.plain_repr import bounded_repr
from acp_notebook.kernel.context.text import table_cell

# Models scale larger images down to about this many pixels per side.
MAX_SIDE_PX = 1_568
MAX_BYTES = 1_500_000
_SMALLER = 0.7
_SMALLEST_SIDE_PX = 64
# Limits of the description of a plotly figure that cannot be drawn.
MAX_TRACES = 12
MAX_POINTS = 20
_PLOTLY_DATA = ("x", "y", "z", "values", "labels", "r", "theta", "lat", "lon")


class NoPicture(Exception):
    """A figure could not be drawn; the message gives the reason and the remedy."""


@dataclass(frozen=True, slots=True)
class Picture:
    """An encoded image."""

    data: bytes = field(repr=False)
    mime_type: str = "image/png"

    @property
    def suffix(self) -> str:
        """The file name suffix of this image type, with the dot."""
        return "." + self.mime_type.rpartition("/")[2].replace("jpeg", "jpg")


def picture_of(value: Any) -> Picture | None:
    """Return the picture of a figure, or None if the value is no figure.

    Raises:
        NoPicture: The value is a figure, but it cannot be drawn here.
    """
    for is_kind, draw in _KINDS:
        if is_kind(value):
            try:
                return draw(value)
            except NoPicture:
                raise
            except Exception as error:
                raise NoPicture(
                    f"this {type_name(value)} cannot be drawn: {type(error).__name__}: {error}"
                ) from error
    return None


def figure_data(value: Any) -> str:
    """Describe a figure that cannot be drawn: plotly by titles and traces, others by `repr`."""
    if not _is_plotly(value):
        return bounded_repr(value)
    layout = value.layout
    titles = [
        (name, getattr(getattr(part, "title", None), "text", None))
        for name, part in (("title", layout), ("x axis", layout.xaxis), ("y axis", layout.yaxis))
    ]
    lines = [f"plotly figure with {len(value.data)} traces"]
    lines += [f"- {name}: {table_cell(text)}" for name, text in titles if text]
    for trace in value.data[:MAX_TRACES]:
        lines.append(f"- trace {table_cell(trace.name or '(no name)')}, {trace.type}")
        lines += [f"  - {key}: {text}" for key in _PLOTLY_DATA if (text := _points(trace, key))]
    return "\n".join(lines)


def encode(image: Any) -> Picture:
    """Return a PIL image as PNG, scaled down until it has at most `MAX_BYTES`."""
    if image.mode not in {"1", "L", "LA", "RGB", "RGBA"}:
        image = image.convert("RGBA" if "transparency" in image.info else "RGB")
    side = min(MAX_SIDE_PX, max(image.size))
    while True:
        scale = min(1.0, side / max(image.size))
        size = tuple(max(1, round(length * scale)) for length in image.size)
        buffer = io.BytesIO()
        (image if scale == 1 else image.resize(size)).save(buffer, format="PNG")
        if buffer.tell() <= MAX_BYTES or side <= _SMALLEST_SIDE_PX:
            return Picture(buffer.getvalue())
        side = round(side * _SMALLER)


def from_bytes(data: bytes, mime_type: str) -> Picture:
    """Return an encoded image; it is converted if it is too large or of an uncommon type.

    Raises:
        NoPicture: The image cannot be read, or Pillow is missing and the image must be converted.
    """
    if mime_type in {"image/png", "image/jpeg", "image/gif", "image/webp"} and (
        len(data) <= MAX_BYTES
    ):
        return Picture(data, mime_type)
    try:
        from PIL import Image
    except ImportError:
        raise NoPicture(
            f"the image has {len(data):,} bytes; Pillow would make it smaller: pip install pillow"
        ) from None
    try:
        with Image.open(io.BytesIO(data)) as image:
            image.draft("RGB", (MAX_SIDE_PX, MAX_SIDE_PX))
            return encode(image)
    except Exception as error:
        raise NoPicture(f"the image cannot be read: {error}") from error


def _matplotlib(figure: Any) -> Picture:
    dpi = min(float(figure.dpi), MAX_SIDE_PX / max(*figure.get_size_inches(), 0.1))
    while True:
        buffer = io.BytesIO()
        figure.savefig(buffer, format="png", dpi=dpi)
        if buffer.tell() <= MAX_BYTES or dpi * max(figure.get_size_inches()) <= _SMALLEST_SIDE_PX:
            return Picture(buffer.getvalue())
        dpi *= _SMALLER


def _axes(axes: Any) -> Picture:
    if axes.figure is None:
        raise NoPicture("these axes belong to no figure any more")
    # Since matplotlib 3.10 axes may be in a subfigure, which cannot be saved.
    has_roots = tuple(sys.modules["matplotlib"].__version_info__[:2]) >= (3, 10)
    return _matplotlib(axes.get_figure(root=True) if has_roots else axes.figure)


def _ipython_image(image: Any) -> Picture:
    data = image.data
    if not isinstance(data, bytes):
        raise NoPicture("the image has no data of its own, only an address")
    kind = str(image.format or "png").lower().replace("jpg", "jpeg")
    return from_bytes(data, f"image/{kind}")


def _plotly(figure: Any) -> Picture:
    try:
        data = figure.to_image(format="png", width=900, height=600)
    except Exception as error:
        raise NoPicture(
            "plotly has no image engine here (pip install kaleido; it needs Chrome)"
        ) from error
    return from_bytes(data, "image/png")


def _points(trace: Any, key: str) -> str:
    try:
        values = trace[key]
        count = len(values)
    except (ValueError, KeyError, TypeError):
        return ""
    shown = ", ".join(table_cell(value) for value in values[:MAX_POINTS])
    return f"{count:,} values: {shown}" + (" …" if count > MAX_POINTS else "")


_is_plotly = derives_from("plotly.basedatatypes", "BaseFigure")
_KINDS: tuple[tuple[Callable[[Any], bool], Callable[[Any], Picture]], ...] = (
    (derives_from("matplotlib.figure", "Figure"), _matplotlib),
    (derives_from("matplotlib.axes", "Axes"), _axes),
    (derives_from("PIL.Image", "Image"), encode),
    (derives_from("IPython.display", "Image"), _ipython_image),
    (_is_plotly, _plotly),
)
