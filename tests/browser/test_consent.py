"""A click means what stands under the pointer, and what allows works once all of it was seen."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pytest
from prompting import LOAD, problems, run_start

if TYPE_CHECKING:
    from conftest import OpenNotebook

AGENT: Final = f"{sys.executable} {Path(__file__).parent.parent / 'agents' / 'luring_agent.py'}"
START: Final = f"{LOAD}\n%acp start --as a -- {AGENT}"
# Clicks the first button of a question as soon as it is there, and in the next frame.
CLICK_AT_ONCE: Final = """title => {
  window.hits = 0;
  const find = () => [...document.querySelectorAll('[data-ask]')]
    .find(each => each.textContent.includes(title));
  const click = () => {
    window.hits += 1;
    find()?.querySelector('button[data-act=answer]').click();
  };
  const observer = new MutationObserver(() => {
    if (!find()) return;
    observer.disconnect();
    click();
    requestAnimationFrame(click);
  });
  observer.observe(document.body, { subtree: true, childList: true });
}"""

# What of a question stands beside the card, by class.
OUTSIDE: Final = """() => {
  const card = document.querySelector("[data-ask]");
  const { left, right } = card.getBoundingClientRect();
  const sizes = element => element.getBoundingClientRect();
  return [...card.querySelectorAll("*")]
    .filter(each => sizes(each).width && (sizes(each).right > right || sizes(each).left < left))
    .map(each => each.className || each.tagName);
}"""

pytestmark = pytest.mark.parametrize("app", ["lab"], indirect=True)


def test_a_click_meant_for_one_question_does_not_answer_the_next(
    open_notebook: OpenNotebook, tmp_path: Path
) -> None:
    fifo = tmp_path / "swap"
    os.mkfifo(fifo)
    page = open_notebook([START, f"%%acp\nswap {fifo}"])
    run_start(page)
    page.start(1)
    page.wait_for_ready(1)
    page.tab.evaluate(CLICK_AT_ONCE, "Delete every file")
    fifo.write_text("now")
    page.wait_for_text(1, "Delete every file")
    page.tab.wait_for_function("() => window.hits > 0")
    page.wait_for_ready(1)
    assert "answer=" not in page.seen(1)
    page.press(page.button(1, "No", exact=False))
    page.wait_done(1)
    page.wait_for_text(1, "answer=no")
    assert problems(page) == []


def test_what_allows_works_after_the_end_of_the_command_was_seen(
    open_notebook: OpenNotebook,
) -> None:
    page = open_notebook([START, "%%acp\ntall"])
    run_start(page)
    page.start(1)
    page.wait_for_ready(1)
    yes, no = (page.button(1, name, exact=False) for name in ("Yes", "No"))
    assert [yes.get_attribute("aria-disabled"), no.get_attribute("aria-disabled")] == [
        "true",
        "false",
    ]
    page.wait_for_text(1, "more lines")
    page.screenshot("consent-tall", 1)
    question = page.output(1).get_by_role("group", name="Permission:")
    question.focus()
    page.tab.keyboard.press("1")  # too early: the code gets the focus
    assert page.tab.evaluate("document.activeElement.tagName") == "PRE"
    page.tab.keyboard.press("End")
    page.wait_for_text(1, "This is the end.")
    page.output(1).locator("[aria-disabled='false']", has_text="Yes").wait_for()
    page.screenshot("consent-tall-read", 1)
    page.press(yes)
    page.wait_done(1)
    page.wait_for_text(1, "answer=yes")
    assert page.sources()[1] == "%%acp\ntall"
    assert problems(page) == []


def test_no_line_of_a_question_ends_out_of_view(open_notebook: OpenNotebook) -> None:
    page = open_notebook([START, "%%acp\nwide"])
    run_start(page)
    page.start(1)
    page.wait_for_ready(1)
    page.screenshot("consent-wide", 1)
    assert page.tab.evaluate(OUTSIDE) == []
    page.press(page.button(1, "Yes", exact=False))
    page.wait_done(1)
    page.wait_for_text(1, "answer=yes")
    assert problems(page) == []


def test_the_end_of_a_wide_formula_has_to_be_seen(open_notebook: OpenNotebook) -> None:
    page = open_notebook([START, "%%acp\nformula"])
    run_start(page)
    page.start(1)
    page.wait_for_ready(1)
    # The wide formula on lines of its own, and the part with the other one; the narrow ones fit.
    assert page.button(1, "Show the end").count() == 2
    assert "more line" not in page.seen(1)
    yes = page.button(1, "Yes", exact=False)
    assert yes.get_attribute("aria-disabled") == "true"
    page.screenshot("consent-formula", 1)
    page.press(yes)
    page.wait_done(1)
    page.wait_for_text(1, "answer=yes")
    assert problems(page) == []
