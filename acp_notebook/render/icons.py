"""The icons of tool kinds as images for the record, with the shapes of the live style sheet.

An image cannot take the colour of the text, so it is grey, readable on light and dark. Knows no
tool call.
"""

from __future__ import annotations

from functools import cache
from typing import Final
from urllib.parse import quote

from acp_notebook.render.styles import GREY

_FRAME: Final = (
    "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16' fill='none' stroke='{}' "
    "stroke-width='1.4' stroke-linecap='round' stroke-linejoin='round'>{}</svg>"
)
SHAPES: Final[dict[str, str]] = {
    "read": "<path d='M4 1.8h5.2L12.5 5v9.2H4zM9 2v3.3h3.3M6.3 8.2h4M6.3 10.8h4'/>",
    "edit": "<path d='m10.9 2.6 2.5 2.5-7.6 7.6-3.2.7.7-3.2zM9.3 4.2l2.5 2.5'/>",
    "delete": (
        "<path d='M2.8 4.2h10.4M6.2 4V2.4h3.6V4M4.2 4.4l.6 9.2h6.4l.6-9.2M6.7 7v4M9.3 7v4'/>"
    ),
    "move": "<path d='M2.5 8h10.6M9.4 4.2 13.2 8l-3.8 3.8'/>",
    "search": "<circle cx='7' cy='7' r='4.3'/><path d='m10.2 10.2 3.4 3.4'/>",
    "execute": (
        "<rect x='1.8' y='2.8' width='12.4' height='10.4' rx='1.6'/><path d='m4.6 6 2.2 "
        "2-2.2 2M8.4 10.4h3'/>"
    ),
    "think": "<path d='M6.2 11.4a4.4 4.4 0 1 1 3.6 0v1.2H6.2zM6.8 14.4h2.4'/>",
    "fetch": (
        "<circle cx='8' cy='8' r='6'/><path d='M2 8h12M8 2c4.4 3.8 4.4 8.2 0 12M8 2c-4.4 "
        "3.8-4.4 8.2 0 12'/>"
    ),
    "other": (
        "<path d='M10.5 2.5a3.4 3.4 0 0 0-3.2 4.6L2.6 11.8a1.1 1.1 0 0 0 1.6 "
        "1.6l4.7-4.7a3.4 3.4 0 0 0 4.4-4.3l-2 2-1.8-1.8 2-2c-.3 0-.7-.1-1-.1Z'/>"
    ),
}


@cache
def icon_address(kind: str) -> str:
    """Return a kind's image as a `data:` url."""
    picture = _FRAME.format(GREY, SHAPES.get(kind, SHAPES["other"]))
    return "data:image/svg+xml," + quote(picture, safe=" =/:.,()-")
