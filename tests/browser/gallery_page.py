"""The page that shows all pictures of the gallery, those of earlier runs included."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Final

from scenes_played import STATES

if TYPE_CHECKING:
    from pathlib import Path

STYLE: Final = """
body { font: 15px/1.5 system-ui, sans-serif; margin: 24px; background: #f4f4f4; }
section { margin: 0 0 40px; } h2 { margin: 0 0 8px; }
figure { display: inline-block; vertical-align: top; margin: 0 16px 16px 0; max-width: 100%; }
figcaption { color: #555; font-size: 13px; } img { border: 1px solid #ccc; max-width: 100%; }
"""
LOOKS: Final = ("", "-unfolded", "-over", "-over-unfolded")


def pictures_of(folder: Path) -> dict[str, list[tuple[str, str]]]:
    """The pictures of a folder by state, in the order of play: file and caption.

    A state that is not played any more comes last.
    """
    found: dict[str, list[tuple[int, str, str]]] = {}
    for file in sorted(folder.glob("*.png")):
        state, app, theme, width = file.stem.rsplit("-", 3)
        caption = f"{app}, {theme}, {width} px"
        found.setdefault(state, []).append((int(width), file.name, caption))
    order = [state.name + look for state in STATES for look in LOOKS]
    places = {state: place for place, state in enumerate(order)}
    states = sorted(found, key=lambda state: (places.get(state, len(places)), state))
    return {state: [picture[1:] for picture in sorted(found[state])] for state in states}


def write_page(folder: Path) -> Path:
    """Writes the page of all pictures that there are."""
    sections = []
    for state, pictures in pictures_of(folder).items():
        figures = "".join(
            f'<figure><img src="{file}" alt="{escape(state)}, {escape(caption)}">'
            f"<figcaption>{escape(caption)}</figcaption></figure>"
            for file, caption in pictures
        )
        sections.append(f"<section><h2>{escape(state)}</h2>{figures}</section>")
    page = folder / "index.html"
    page.write_text(
        "<!doctype html><html lang=en><meta charset=utf-8><title>Every state of a turn</title>"
        f"<style>{STYLE}</style><h1>Every state of a turn</h1>{''.join(sections)}"
    )
    return page
