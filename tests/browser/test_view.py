"""What the page itself does for a reader: copies, opens files, catches up, looks back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pytest
from prompting import START_DEMO, problems, run_start, wait_for_record
from scenes_played import START_STAGE

if TYPE_CHECKING:
    from conftest import OpenNotebook
    from notebook_page import NotebookPage

SET_HIDDEN: Final = """isHidden => {
  Object.defineProperty(document, "hidden", { configurable: true, get: () => isHidden });
  document.dispatchEvent(new Event("visibilitychange"));
}"""

pytestmark = pytest.mark.parametrize("app", ["lab"], indirect=True)


def start_stage(page: NotebookPage) -> None:
    page.run(0)
    page.wait_for_text(0, "is ready")


def test_code_and_patches_are_copied_as_they_are(open_notebook: OpenNotebook) -> None:
    page = open_notebook([START_STAGE, "%%acp\ntools"])
    page.tab.context.grant_permissions(["clipboard-read", "clipboard-write"])
    start_stage(page)
    page.start(1)
    page.wait_for_text(1, "Mend")
    card = page.output(1).locator("details", has_text="Mend").first
    card.locator("summary").first.click()
    copy = card.get_by_role("button", name="Copy").first
    copy.wait_for(state="attached")
    copy.focus()
    page.tab.keyboard.press("Enter")
    page.wait_for_text(1, "Copied")
    copied = page.tab.evaluate("navigator.clipboard.readText()")
    assert "-    total = sum(values)\n" in copied
    assert "\n+    if not values:\n+        return None\n" in copied
    assert "Copy" not in copied
    page.click(1, "Stop")
    page.wait_done(1)
    assert problems(page) == []


def test_a_place_in_a_file_of_the_server_opens_there_and_any_other_is_text(
    open_notebook: OpenNotebook,
) -> None:
    page = open_notebook([START_STAGE, "%%acp\ntools"])
    (page.app.notebooks / "stats.py").write_text("".join(f"x = {n}\n" for n in range(1, 20)))
    start_stage(page)
    page.start(1)
    page.wait_for_text(1, "Read stats.py")
    page.output(1).locator("summary", has_text="Read stats.py").click()
    assert page.output(1).get_by_text("/etc/hosts").evaluate("e => e.tagName") == "SPAN"
    page.output(1).get_by_role("link", name="stats.py:6").click()
    page.tab.locator(".jp-FileEditor .cm-content").wait_for()
    page.tab.get_by_text("Ln 6, Col 1", exact=True).wait_for()
    assert problems(page) == []


def test_a_hidden_tab_does_nothing_says_that_it_is_asked_and_catches_up(
    open_notebook: OpenNotebook,
) -> None:
    page = open_notebook([START_DEMO, "%%acp\n/permission"])
    run_start(page)
    # Before anything is said: what is asked right behind it must find the tab hidden.
    page.tab.evaluate(SET_HIDDEN, True)
    page.start(1)
    page.wait_for("the title says that something waits", "document.title.startsWith('(?) ')")
    question = page.output(1).get_by_role("group", name="Permission:")
    assert question.count() == 0
    page.tab.evaluate(SET_HIDDEN, False)
    page.wait_for("the title is as it was", "!document.title.startsWith('(?) ')")
    question.wait_for()
    # A question that was seen and left open waits too.
    page.tab.evaluate(SET_HIDDEN, True)
    page.wait_for("the title says it again", "document.title.startsWith('(?) ')")
    page.tab.evaluate(SET_HIDDEN, False)
    page.click(1, "Allow")
    page.wait_done(1)
    page.wait_for_text(1, "250 rows")
    assert not page.tab.title().startswith("(?)")
    assert problems(page) == []


def test_a_hidden_tab_is_sent_nothing_and_has_everything_when_it_is_seen(
    open_notebook: OpenNotebook,
) -> None:
    page = open_notebook([START_DEMO, "%%acp\n/long 40", "%%acp\n/long 40"])
    run_start(page)
    with page.measured() as seen:
        page.run(1)
        wait_for_record(page, 1)
    page.tab.evaluate(SET_HIDDEN, True)
    with page.measured() as hidden:
        page.run(2)
        wait_for_record(page, 2)
    assert hidden.received["comm_msg"].size * 10 < seen.received["comm_msg"].size
    page.tab.evaluate(SET_HIDDEN, False)
    page.wait_for_text(2, "Those were 40 sections")
    assert problems(page) == []


def test_earlier_steps_come_back_by_request(open_notebook: OpenNotebook) -> None:
    page = open_notebook([START_STAGE, "%%acp\nmany 400 hold"])
    start_stage(page)
    page.start(1)
    page.wait_for_text(1, "earlier steps not shown")
    assert page.output(1).get_by_text("Step 0", exact=True).count() == 0
    page.click(1, "Show more")
    page.output(1).get_by_text("Step 0", exact=True).wait_for()
    steps = page.output(1).locator(".acp-title", has_text="Step ").all_inner_texts()
    assert steps == [f"Step {number}" for number in range(400)]
    page.click(1, "Stop")
    page.wait_done(1)
    assert problems(page) == []


def test_a_second_stop_ends_an_agent_that_does_not_listen(open_notebook: OpenNotebook) -> None:
    page = open_notebook([START_STAGE, "%%acp\nstubborn", "%acp"])
    start_stage(page)
    page.start(1)
    page.wait_for_text(1, "I do not listen")
    page.click(1, "Stop")
    page.click(1, "Press again to end the agent")
    page.wait_done(1)
    page.wait_for_text(1, "Cancelled")
    assert problems(page) == []
