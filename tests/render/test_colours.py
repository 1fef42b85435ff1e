"""Colours that programs choose stay readable, whatever they are, on light and on dark."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyte.graphics import FG_BG_256

from acp_notebook.render import colours

COLOURS = st.integers(0, 0xFFFFFF).map(lambda number: f"{number:06x}")
# The theme's backgrounds under the veil of a box.
LIGHT_BOX, DARK_BOX = "f1f1f1", "2e2e2e"


def shown(colour: str) -> tuple[str, str]:
    style = colours.colour_style(f"bold rgb-{colour}", is_static=False)
    match = re.fullmatch(r"color:light-dark\(#([0-9a-f]{6}),#([0-9a-f]{6})\)", style)
    assert match is not None
    return match[1], match[2]


@given(COLOURS)
def test_every_colour_is_readable_in_both_themes(colour: str) -> None:
    light, dark = shown(colour)
    assert colours.contrast(light, LIGHT_BOX) >= 4.5
    assert colours.contrast(dark, DARK_BOX) >= 4.5


@given(COLOURS)
def test_the_records_one_colour_is_readable_on_both(colour: str) -> None:
    one = colours.moved(colour, colours.RECORD, colours.RECORD)[1:]
    assert min(colours.contrast(one, "f0f0f0"), colours.contrast(one, "1e1e1e")) >= 3.6


@pytest.mark.parametrize("number", [21, 52, 130, 208, 231])
def test_a_colour_that_is_readable_already_is_left_alone(number: int) -> None:
    colour = FG_BG_256[number]
    light, dark = shown(colour)
    assert (light == colour) == (colours.luminance(colour) <= colours.LIGHT_MOST)
    assert (dark == colour) == (colours.luminance(colour) >= colours.DARK_LEAST)


def test_only_six_hexadecimal_digits_are_a_colour() -> None:
    assert colours.colour_look("FF8700") == "rgb-ff8700"
    for word in ("default", "red", "#ff8700", "ff87", "ff8700;x"):
        assert colours.colour_look(word) is None
    assert colours.colour_style("bold", is_static=True) == ""
