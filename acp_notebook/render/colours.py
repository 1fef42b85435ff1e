"""A program's text colours -> readable colours of the same hue. Knows no terminal.

A program does not know the background of its text. A colour too light for a light page, or too dark
for a dark one, is moved as far as contrast requires. The record serves both, with a lightness
between them.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

MARK: Final = "rgb-"
"""The prefix of looks that name a colour: `rgb-ff8700`."""

# Relative luminances with a contrast of 4.5: the first on the light theme's boxes (about #f1f1f1),
# the second on the dark theme's (up to #2e2e2e). The record's is readable on both.
LIGHT_MOST: Final = 0.152
DARK_LEAST: Final = 0.305
RECORD: Final = 0.185
_COLOUR = re.compile(r"[0-9a-f]{6}")

_Channels = tuple[float, float, float]


def colour_look(colour: str) -> str | None:
    """Return the look of a colour of six hexadecimal digits; None for anything else."""
    return f"{MARK}{colour.lower()}" if _COLOUR.fullmatch(colour.lower()) else None


@lru_cache(maxsize=1_024)
def colour_style(looks: str, *, is_static: bool) -> str:
    """Return the inline style of the colour among the looks; empty without one."""
    colour = next((look[len(MARK) :] for look in looks.split() if look.startswith(MARK)), None)
    if colour is None:
        return ""
    if is_static:
        return f"color:{moved(colour, RECORD, RECORD)}"
    return f"color:light-dark({moved(colour, 0, LIGHT_MOST)},{moved(colour, DARK_LEAST, 1)})"


def moved(colour: str, least: float, most: float) -> str:
    """Return the nearest colour of the same hue with a luminance between the two."""
    channels = _linear(colour)
    light = luminance(colour)
    if light > most:
        red, green, blue = (part * most / light for part in channels)
    elif light < least:
        share = (least - light) / (1 - light)
        red, green, blue = (part + share * (1 - part) for part in channels)
    else:
        return f"#{colour}"
    return f"#{_hex(red)}{_hex(green)}{_hex(blue)}"


def luminance(colour: str) -> float:
    """Return the relative luminance of six hexadecimal digits, 0 to 1 (WCAG)."""
    red, green, blue = _linear(colour)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    """Return the contrast of two colours, 1 to 21 (WCAG)."""
    darker, lighter = sorted((luminance(one), luminance(other)))
    return (lighter + 0.05) / (darker + 0.05)


def _linear(colour: str) -> _Channels:
    red, green, blue = (int(colour[at : at + 2], 16) / 255 for at in (0, 2, 4))
    return _to_linear(red), _to_linear(green), _to_linear(blue)


def _to_linear(part: float) -> float:
    return part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4  # noqa: PLR2004


def _hex(part: float) -> str:
    shown = 12.92 * part if part <= 0.0031308 else 1.055 * part ** (1 / 2.4) - 0.055  # noqa: PLR2004
    return f"{round(255 * min(1.0, max(0.0, shown))):02x}"
