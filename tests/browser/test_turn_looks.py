"""Each state of a turn, drawn light and dark, wide and narrow; nothing is wider than its cell.

The pictures go to `screenshots/`, to be looked at; what a program can see of them is asserted here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal

import pytest
from prompting import LOAD, START_DEMO, run_start, start_bad

if TYPE_CHECKING:
    from conftest import OpenNotebook
    from notebook_page import NotebookPage

WIDTHS: Final = (1200, 400)
HEIGHT: Final = 2600  # a cell that does not fit is drawn with the toolbar across it
THEMES: Final[tuple[Literal["light", "dark"], ...]] = ("light", "dark")

# Boxes that stick out of the output area to the right and that no ancestor scrolls or clips.
STICKING_OUT: Final = """area => {
  const right = area.getBoundingClientRect().right + 1;
  const clips = (e) => e !== area && (getComputedStyle(e).overflowX !== "visible"
    || clips(e.parentElement));
  return [...area.querySelectorAll("*")]
    .filter((e) => e.getClientRects().length && e.getBoundingClientRect().right > right)
    .filter((e) => !clips(e.parentElement))
    .map((e) => `${e.tagName} ${e.className} ${e.textContent.slice(0, 60)}`);
}"""


def look(page: NotebookPage, state: str, cell: int) -> None:
    """Draws a cell in every theme and width."""
    for width in WIDTHS:
        page.resize(width, HEIGHT)
        for theme in THEMES:
            page.use_theme(theme)
            page.screenshot(f"turn-{state}-{theme}-{width}", cell)
        assert page.output(cell).evaluate(STICKING_OUT) == [], f"{state} at {width} px"


@pytest.mark.parametrize("app", ["notebook"], indirect=True)
def test_no_state_is_wider_than_its_cell(open_notebook: OpenNotebook) -> None:
    page = open_notebook(
        [
            START_DEMO,
            "%%acp\n/tour",
            "%%acp\n/permission",
            "%%acp\n/slow 60",
            "%%acp\n/slow 60",
            "%%acp\n/error",
            "%%acp\n/crash",
            "%%acp\n/long 200",
            start_bad("silent").removeprefix(LOAD).lstrip(),
            "%acp",
        ],
        width=1200,
    )
    run_start(page)
    look(page, "started", 0)

    page.start(1)
    page.wait_for_text(1, "Waiting for you")
    look(page, "permission", 1)
    page.click(1, "Allow")
    page.wait_done(1)
    page.wait_for_text(1, "Finished")
    look(page, "allowed", 1)

    page.start(2)
    page.click(2, "Reject")
    page.wait_done(2)
    page.wait_for_text(2, "All right")
    look(page, "rejected", 2)

    page.start(3)
    page.wait_for_text(3, "takes its time")
    page.click(3, "Stop")
    page.wait_done(3)
    page.wait_for_text(3, "Cancelled")
    look(page, "cancelled", 3)

    page.start(4)
    page.wait_for_text(4, "takes its time")
    page.interrupt()
    page.wait_for_text(4, "Turn interrupted")
    look(page, "interrupted", 4)

    for cell, state in ((5, "error"), (6, "crash")):
        page.run(cell)
        page.wait_for_text(cell, "Ended with an error")
        look(page, state, cell)

    page.start(7)
    page.wait_for_text(7, "Section 4 of 200")
    look(page, "streaming", 7)
    page.click(7, "Stop")
    page.wait_done(7)

    page.start(8)
    page.wait_for_text(8, "Starting bad …")
    look(page, "starting", 8)
    page.click(8, "Stop")
    page.wait_done(8)
    look(page, "start-stopped", 8)
    page.run(9)
    look(page, "status", 9)

    page.save()
    page.reopen(kernel=False)
    page.wait_for_text(1, "That was the tour:")
    look(page, "reopened", 1)
