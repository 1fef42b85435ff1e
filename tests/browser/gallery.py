"""Draws every state of a turn, in both applications, light and dark, in three widths.

Writes PNG files and a page that shows them all to `gallery/`. To be looked at by people; what a
program can see of them is asserted in the tests.

    python tests/browser/gallery.py [--app lab] [--only NAME] [--width 800]
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from conftest import CHROMIUM, CHROMIUM_ARGS, _kernels
from gallery_page import write_page
from jupyter_app import KERNEL_SETTINGS, JupyterApp
from notebook_page import REPOSITORY, NotebookPage
from playwright.sync_api import Browser, sync_playwright
from scenes_played import cells, played

GALLERY = REPOSITORY / "gallery"
WIDTHS = (360, 800, 1400)
THEMES = ("light", "dark")
# A cell that does not fit into the window is drawn with the toolbar across it.
HEIGHT = 4_000


class Gallery:
    """The pictures of one run."""

    def __init__(self, only: str, widths: tuple[int, ...]) -> None:
        self._only = only
        self._widths = widths
        GALLERY.mkdir(exist_ok=True)

    def draw(self, browser: Browser, name: str) -> None:
        """Plays all states in one application."""
        with tempfile.TemporaryDirectory() as folder:
            app = JupyterApp(name, Path(folder) / "app", _kernels())
            with app:
                self._draw_in(app, browser)

    def _draw_in(self, app: JupyterApp, browser: Browser) -> None:
        app.use_settings({KERNEL_SETTINGS: {"commsOverSubshells": "perCommTarget"}})
        app.write_notebook("gallery.ipynb", cells(), kernel="current")
        page = NotebookPage(app, browser.new_context(), "gallery.ipynb", WIDTHS[-1])
        page.open()
        if app.name == "lab":  # in a narrow window nobody keeps the file browser open
            page.command("application:toggle-left-area")
        for state, cell in played(page):
            if self._only in state:
                self._look(page, app.name, state, cell)
        for problem in page.record.problems:
            print(f"{app.name}: {problem}", file=sys.stderr)
        page.close()

    def _look(self, page: NotebookPage, app: str, state: str, cell: int) -> None:
        for width in self._widths:
            page.resize(width, HEIGHT)
            for theme in THEMES:
                page.use_theme(theme)
                file = f"{state}-{app}-{theme}-{width}.png"
                page.cell(cell).screenshot(path=GALLERY / file, animations="disabled")
        page.use_theme("light")
        page.resize(WIDTHS[-1])


def main() -> None:
    parser = argparse.ArgumentParser(description="Draws every state of a turn.")
    parser.add_argument("--app", choices=("lab", "notebook"))
    parser.add_argument("--only", default="", help="a part of the names of states to draw")
    parser.add_argument("--width", type=int, choices=WIDTHS)
    args = parser.parse_args()
    gallery = Gallery(args.only, (args.width,) if args.width else WIDTHS)
    try:
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=CHROMIUM, args=CHROMIUM_ARGS)
            for name in (args.app,) if args.app else ("lab", "notebook"):
                gallery.draw(browser, name)
    finally:
        print(f"Look at {write_page(GALLERY)}")


if __name__ == "__main__":
    main()
