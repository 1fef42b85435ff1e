"""What stays of a turn: the saved notebook without kernel or trust, and hostile text as text."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from prompting import (
    RECORD_MIMES,
    SDK_COMMAND,
    START_DEMO,
    WIDGET_MIME,
    problems,
    run_start,
    start_sdk,
)

from acp_notebook.render.icons import SHAPES, icon_address

if TYPE_CHECKING:
    from conftest import OpenNotebook
    from notebook_page import NotebookPage

TOUR_PARTS = (
    "Thought",
    "Welcome to the tour!",
    "4 of 4 done",
    "Read sales.csv",
    "Allowed once",
    "Repair",
    "Run the tests",
    "That was the tour:",
    "Finished",
)

HOSTILE = (
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(2)>",
    "[press me](javascript:alert(3))",
    "<a href='javascript:alert(4)'>and me</a>",
    "<iframe srcdoc='<script>parent.alert(5)</script>'></iframe>",
    "<svg onload=alert(6)><style>*{display:none}</style>",
    "![pixel](https://example.org/pixel.png)",
    "<b onmouseover=alert(7)>over</b>",
)
# The record's own icons are images, and the only ones here.
OWN_ICONS = "".join(f':not([src="{icon_address(kind)}"])' for kind in SHAPES)
DANGEROUS = (
    "script, iframe, object, embed, form, style, svg[onload], [onerror], [onload], "
    f"[onmouseover], a[href^='javascript:' i], img{OWN_ICONS}"
)


def test_saved_record_needs_neither_kernel_nor_trust(open_notebook: OpenNotebook) -> None:
    page = open_notebook([START_DEMO, "%%acp\n/tour", "%%acp\n/terminal"])
    run_start(page)
    page.start(1)
    page.click(1, "Allow")
    page.wait_done(1)
    page.wait_for_text(1, "That was the tour:")
    page.run(2)
    page.wait_for_text(2, "Three tests passed.")

    saved = page.save()
    assert WIDGET_MIME not in json.dumps(saved)
    assert "widgets" not in saved.metadata
    assert [set(output.data) for output in saved.cells[1].outputs] == [RECORD_MIMES]

    page.reopen(kernel=False)
    assert_tour_is_complete(page)
    page.reopen(kernel=False, trusted=False)
    assert_tour_is_complete(page)
    assert problems(page) == []


def assert_tour_is_complete(page: NotebookPage) -> None:
    """The record of the tour shows each part, and can be unfolded."""
    page.wait_for_text(1, "That was the tour:")
    seen = page.seen(1)
    assert [part for part in TOUR_PARTS if part not in seen] == []
    assert "model not found" not in seen
    assert page.output(1).get_by_role("button").count() == 0
    folded = page.output(1).get_by_text("collected 3 items")
    assert not folded.is_visible()
    page.output(1).locator("summary", has_text="Run the tests").click()
    folded.wait_for()


def test_hostile_text_is_text(open_notebook: OpenNotebook) -> None:
    said = "\n\n".join(HOSTILE)
    marked = HOSTILE[1]
    asides = f"[[title:{marked}]][[think:{marked}]][[notice:{marked}]]"
    page = open_notebook(
        [
            f"{start_sdk()}\n%acp start --as v1 -- {SDK_COMMAND} --protocol 1",
            f"%%acp --to sdk\n[[say:{said}]]{asides}[[permission]]",
            f"%%acp --to v1\n[[permission]][[error:-32000:{marked}]]",
        ]
    )
    page.run(0)
    page.wait_for_text(0, "v1 is ready")
    for cell in (1, 2):
        page.start(cell)
        page.button(cell, "Yes, this time").wait_for()
        assert_is_harmless(page, cell)
        page.click(cell, "Yes, this time")
        page.wait_done(cell)
    page.wait_for_text(1, "Finished")
    page.wait_for_text(2, f"✗ {marked}")
    for cell in (1, 2):
        assert_is_harmless(page, cell)
    page.output(1).get_by_text("press me", exact=True).click()
    page.output(1).get_by_text(HOSTILE[-1], exact=True).hover()
    assert problems(page) == []


def assert_is_harmless(page: NotebookPage, cell: int) -> None:
    """Nothing of what the agent says became an element that can act."""
    page.wait_for_text(cell, HOSTILE[1])
    assert page.output(cell).locator(DANGEROUS).count() == 0
