"""The agent's hands on the kernel in the real page: asked in the cell, clicked, the figure seen."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from prompting import RECORD_MIMES, START_DEMO, problems, run_start

if TYPE_CHECKING:
    from conftest import OpenNotebook

MAKE_FRAME: Final = """
import pandas as pd
df = pd.DataFrame({"price": [9.5, 10.1, 9.9, 10.4, 99.0, 10.0, None], "kind": list("aabbabb")})
"""
FIGURE: Final = "img[src^='data:image/png']"
OPEN_QUESTION: Final = "Permission: Run this code in your kernel?"


def test_a_frame_is_described_with_leave_asked_in_the_cell(open_notebook: OpenNotebook) -> None:
    page = open_notebook(
        [
            START_DEMO,
            MAKE_FRAME,
            "%%acp --out turn\ndescribe @df",
            "print(turn.stop_reason)",
            "In[4]",
        ]
    )
    page.resize(1300, 1600)
    run_start(page)
    page.run(1)

    page.start(2)
    question = page.output(2).get_by_role("group", name=OPEN_QUESTION)
    question.wait_for()
    page.screenshot("tools-question", 2)
    asked = question.inner_text()
    assert "numbers.quantile(0.25)" in asked  # the code that is to be allowed
    assert question.locator(".highlight .k").count() > 0  # and it is highlighted
    assert [page.button(2, name).count() for name in ("Allow", "Reject")] == [1, 1]
    page.press(page.button(2, "Allow for this session", exact=False))

    page.wait_done(2)
    page.wait_for_text(2, "1 outlier")
    seen = page.seen(2)
    assert "as far as 99" in seen
    assert "1 missing" in seen
    assert page.output(2).locator(FIGURE).is_visible()
    assert page.output(2).get_by_role("group", name=OPEN_QUESTION).count() == 0
    page.screenshot("tools-described", 2)
    assert page.mime_types(2) == [RECORD_MIMES]

    page.run(3)
    page.wait_for_text(3, "end_turn")
    page.run(4)
    page.wait_for_text(4, "run by the agent demo")
    assert problems(page) == []


def test_what_is_rejected_does_not_run(open_notebook: OpenNotebook) -> None:
    page = open_notebook([START_DEMO, MAKE_FRAME, "%%acp\ndescribe @df", "'frame_facts' in dir()"])
    run_start(page)
    page.run(1)
    page.start(2)
    page.output(2).get_by_role("group", name=OPEN_QUESTION).wait_for()
    page.click(2, "Reject")
    page.wait_done(2)
    page.wait_for_text(2, "I have no numbers")
    page.run(3)
    page.wait_for_text(3, "False")
    assert problems(page) == []
