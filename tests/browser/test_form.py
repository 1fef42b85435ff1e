"""Forms and pages that an agent asks for, in a real page: filled in by keyboard, checked, sent."""

from __future__ import annotations

import shlex
import sys
from typing import TYPE_CHECKING

import pytest
from prompting import AGENTS, LOAD, RECORD_MIMES, START_DEMO, is_running, run_start

if TYPE_CHECKING:
    from conftest import OpenNotebook
    from notebook_page import NotebookPage
    from playwright.sync_api import Locator

START_ASKING = f"{LOAD}\n%acp start --as asking -- " + shlex.join(
    [sys.executable, str(AGENTS / "asking_agent.py"), "v2"]
)


def form(page: NotebookPage, cell: int) -> Locator:
    """The form in a cell, when it is there."""
    found = page.output(cell).get_by_role("form")
    found.wait_for()
    return found


def test_a_form_is_filled_in_by_keyboard(open_notebook: OpenNotebook) -> None:
    page = open_notebook([START_DEMO, "%%acp\n/ask"])
    run_start(page)
    page.start(1)
    asked = form(page, 1)
    assert "demo asks you" in asked.inner_text()
    keys = page.tab.keyboard
    asked.get_by_label("Name").focus()
    page.wait_for_ready(1)
    keys.press("Enter")
    page.wait_for_text(1, "Please fill this in.")
    assert is_running(page, 1)
    assert asked.get_by_label("Name").evaluate("e => e === document.activeElement")
    keys.type("Ada dd")  # `dd` would delete the cell, if the notebook saw it
    keys.press("Tab")
    keys.press("ArrowDown")
    cups = asked.get_by_label("Cups")
    cups.fill("12")
    keys.press("Tab")
    keys.press("Space")
    page.wait_for_ready(1)
    cups.press("Enter")
    page.wait_for_text(1, "This must be 9 or less.")
    assert asked.get_by_label("Name").input_value() == "Ada dd"
    assert asked.get_by_role("radio", name="Coffee").is_checked()
    assert asked.get_by_label("With sugar").is_checked()
    cups.fill("3")
    page.wait_for_ready(1)
    cups.press("Enter")
    page.wait_done(1)
    page.wait_for_text(1, '"cups": 3')
    seen = page.seen(1)
    for words in ('"name": "Ada dd"', '"drink": "coffee"', '"sugar": true', "Drink: Coffee"):
        assert words in seen
    assert "Sent" in seen
    assert page.mime_types(1) == [RECORD_MIMES]
    assert page.sources() == [START_DEMO, "%%acp\n/ask"]
    assert page.record.problems == []


@pytest.mark.parametrize("app", ["lab"], indirect=True)
def test_every_kind_of_field_is_sent_as_its_type(open_notebook: OpenNotebook) -> None:
    page = open_notebook([START_ASKING, "%%acp\neverything", "%%acp\neverything"])
    run_start(page)
    page.start(1)
    asked = form(page, 1)
    asked.get_by_label("Name").fill("Bo")
    asked.get_by_label("E-mail").fill("nonsense")
    asked.get_by_role("spinbutton", name="Age").fill("41")
    asked.get_by_label("Day").fill("2026-02-03")
    asked.get_by_label("Month").select_option("M3")
    asked.get_by_label("Dog").check()
    page.click(1, "Submit")
    page.wait_for_text(1, "This must be an e-mail address")
    assert "Choose at most 1, please." in page.seen(1)
    page.screenshot("form-wrong", 1)
    page.use_theme("dark")
    page.screenshot("form-wrong-dark", 1)
    page.command("application:toggle-left-area")
    page.resize(420)
    page.screenshot("form-wrong-narrow", 1)
    page.resize(1300)
    page.use_theme("light")
    asked.get_by_label("E-mail").fill("bo@example.org")
    asked.get_by_label("Cat").uncheck()
    page.click(1, "Submit")
    page.wait_done(1)
    page.wait_for_text(1, "answer:")
    expected = (
        '{"action": "accept", "content": {"age": 41, "day": "2026-02-03", '
        '"mail": "bo@example.org", "month": "M3", "name": "Bo", "pets": ["d"], "share": 0.5, '
        '"side": "r", "sure": true}}'
    )
    assert expected in page.seen(1).replace("“", '"').replace("”", '"')
    page.start(2)
    form(page, 2)
    page.click(2, "Decline")
    page.wait_done(2)
    page.wait_for_text(2, "Declined")
    page.screenshot("form-record", 1)
    assert page.record.problems == []


@pytest.mark.parametrize("app", ["lab"], indirect=True)
def test_secrets_are_not_kept_and_stop_closes_a_form(
    open_notebook: OpenNotebook,
) -> None:
    page = open_notebook([START_ASKING, "%%acp\nsecret", "%acp trace", "%%acp\nhang"])
    run_start(page)
    page.start(1)
    asked = form(page, 1)
    asked.get_by_label("User").fill("ann")
    password = asked.get_by_label("Password")
    assert password.get_attribute("type") == "password"
    password.fill("xyzzy-secret")
    page.wait_for_ready(1)
    password.press("Enter")
    page.wait_done(1)
    page.wait_for_text(1, "Sent")
    page.run(2)
    saved = str(page.save())
    assert "ann" in saved
    assert "••••" in page.seen(1)
    assert "accept: 12" in page.seen(1)
    assert "xyzzy" not in saved

    page.start(3)
    form(page, 3)
    page.click(3, "Stop")
    page.wait_for_text(3, "Cancelled")
    page.wait_idle()
    assert "Not answered: cancelled" in page.seen(3)
    assert page.record.problems == []


@pytest.mark.parametrize("app", ["lab"], indirect=True)
def test_a_page_is_opened_by_a_click_only_and_odd_hosts_are_marked(
    open_notebook: OpenNotebook,
) -> None:
    odd = "https://xn--pypal-4ve.example/login?x=1"
    page = open_notebook([START_ASKING, f"%%acp\npage {odd}", "%%acp\npage javascript:alert(1)"])
    run_start(page)
    page.start(1)
    asked = form(page, 1)
    assert odd in asked.inner_text()
    assert "xn--pypal-4ve.example" in asked.inner_text()
    assert "p\u0430ypal.example" in asked.inner_text()
    page.screenshot("page-consent", 1)
    page.use_theme("dark")
    page.screenshot("page-consent-dark", 1)
    page.use_theme("light")
    link = asked.get_by_role("link")
    assert link.get_attribute("href") == odd
    assert link.get_attribute("target") == "_blank"
    assert "noopener" in str(link.get_attribute("rel"))
    assert page.record.foreign_requests == []
    with page.tab.context.expect_page() as opened:
        page.press(link)
    opened.value.close()
    page.wait_done(1)
    page.wait_for_text(1, "Opened, and done there")
    assert odd in page.seen(1)

    page.start(2)
    asked = form(page, 2)
    assert "It is no web address" in asked.inner_text()
    assert asked.get_by_role("link").count() == 0
    page.click(2, "Cancel")
    page.wait_done(2)
    page.wait_for_text(2, "Not answered: cancelled")
