"""A turn in the real page: text that streams, buttons that work while the cell waits, Stop."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from prompting import (
    START_DEMO,
    WIDGET_MIME,
    is_running,
    problems,
    run_start,
    start_sdk,
    wait_for_record,
    was_run,
)

if TYPE_CHECKING:
    from conftest import OpenNotebook
    from notebook_page import NotebookPage


def wait_for_focused_question(page: NotebookPage, cell: int) -> None:
    """Gives the open question of a cell the focus, as Tab or a click on it does."""
    question = page.output(cell).get_by_role("group", name="Permission:")
    question.wait_for()
    question.focus()
    page.wait_for_ready(cell)


@pytest.mark.parametrize("kernel", ["current", "6.31"], indirect=True)
@pytest.mark.parametrize("comms", ["perCommTarget", "disabled"], indirect=True)
def test_allow_and_stop_are_clicked_while_the_cell_waits(open_notebook: OpenNotebook) -> None:
    page = open_notebook(
        [START_DEMO, "%%acp\n/permission", "%%acp\n/slow 60", "'queued'", "print('later')"]
    )
    run_start(page)

    page.start(1)
    page.wait_for_text(1, "Waiting for you")
    assert is_running(page, 1)
    page.click(1, "Allow")
    page.wait_done(1)
    page.wait_for_text(1, "Finished")
    seen = page.seen(1)
    assert "250 rows" in seen
    assert "Allowed once" in seen
    wait_for_record(page, 1)

    page.start(2)
    page.start(3)
    page.wait_for_text(2, "takes its time")
    assert is_running(page, 2)
    page.click(2, "Stop")
    page.wait_idle()
    page.wait_for_text(2, "Cancelled")
    assert "takes its time" in page.seen(2)
    assert not was_run(page, 3)
    page.run(4)
    page.wait_for_text(4, "later")
    assert problems(page) == []


@pytest.mark.parametrize(
    ("app", "kernel", "comms"),
    [
        ("lab", "current", "perCommTarget"),
        ("lab", "6.31", "disabled"),
        ("notebook", "current", "disabled"),
        ("notebook", "6.31", "perCommTarget"),
    ],
    indirect=True,
)
def test_interrupt_cancels_and_a_reloaded_page_goes_on(open_notebook: OpenNotebook) -> None:
    page = open_notebook(
        [START_DEMO, "%%acp\n/slow 60", "'queued'", "%%acp\n/permission", "%%acp\nStill there?"]
    )
    run_start(page)

    page.start(1)
    page.start(2)
    page.wait_for_text(1, "takes its time")
    page.interrupt()
    page.wait_idle()
    page.wait_for_text(1, "Turn interrupted: cancelled.")
    assert "Cancelled" in page.seen(1)
    assert "Traceback" not in page.seen(1)
    assert not was_run(page, 2)

    page.start(3)
    page.wait_for_text(3, "Waiting for you")
    page.save()
    page.reload()
    page.wait_for_text(3, "I would like to count the rows of a file")
    page.wait_for_text(3, "Waiting for you")
    page.click(3, "Allow")
    page.wait_for_text(3, "250 rows")
    wait_for_record(page, 3)
    page.wait_idle()
    assert WIDGET_MIME not in json.dumps(page.save())
    page.run(4)
    page.wait_for_text(4, "Still there?")
    assert problems(page) == []


def test_questions_are_answered_by_any_button_or_by_a_key(open_notebook: OpenNotebook) -> None:
    ask = "%%acp\n/permission"
    page = open_notebook([START_DEMO, ask, ask, ask, ask, ask])
    run_start(page)

    page.start(1)
    page.click(1, "Reject")
    page.wait_done(1)
    page.wait_for_text(1, "All right, I leave it alone.")
    assert "Rejected" in page.seen(1)

    page.start(2)
    wait_for_focused_question(page, 2)
    page.tab.keyboard.press("Enter")
    page.wait_done(2)
    page.wait_for_text(2, "Allowed once")

    page.start(3)
    wait_for_focused_question(page, 3)
    page.tab.keyboard.press("3")
    page.wait_done(3)
    page.wait_for_text(3, "Rejected")

    page.start(4)
    page.press(page.button(4, "Always allow", exact=False))
    page.wait_done(4)
    page.wait_for_text(4, "Allowed from now on")

    page.run(5)
    page.wait_for_text(5, "250 rows")
    assert "Allowed" not in page.seen(5)
    assert page.sources() == [START_DEMO, ask, ask, ask, ask, ask]
    assert problems(page) == []


@pytest.mark.parametrize("app", ["lab"], indirect=True)
def test_two_questions_at_once_are_answered_in_reverse(open_notebook: OpenNotebook) -> None:
    page = open_notebook([start_sdk(), "%%acp\n[[permission:two]]"])
    run_start(page)
    page.start(1)
    refusals = page.button(1, "No, not this time")
    consents = page.button(1, "Yes, this time")
    consents.nth(1).wait_for()
    page.press(refusals.nth(1))
    page.wait_for_text(1, "Rejected")
    assert is_running(page, 1)
    assert consents.count() == 1
    page.press(consents)
    page.wait_done(1)
    page.wait_for_text(1, "permission call-1: selected yes-once")
    assert "permission call-2: selected no-once" in page.seen(1)
    assert problems(page) == []
