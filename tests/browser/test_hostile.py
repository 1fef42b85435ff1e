"""Hostile text in every field an agent has, in a real page: nothing runs, nothing is fetched."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pytest
from hostile import HOSTILE
from prompting import problems, wait_for_record
from scenes_played import START_STAGE

from acp_notebook.render.icons import SHAPES, icon_address

if TYPE_CHECKING:
    from conftest import OpenNotebook
    from notebook_page import NotebookPage

NAMES: Final = (*HOSTILE, "million")
BATCHES: Final = [NAMES[start : start + 8] for start in range(0, len(NAMES), 8)]
# The record's own images, which hold nothing of an agent's.
ICONS: Final = [icon_address(kind) for kind in SHAPES]
# Elements and attributes that the product itself never makes.
STRANGE: Final = """(area, icons) => {
  const strange = "script, iframe, object, embed, style, link, svg, base, meta, video, audio, " +
    "template, mglyph, malignmark, annotation-xml, [srcdoc], [srcset], [formaction], [action]";
  // Not what the application makes of errors in plain text, and not what its MathJax makes.
  const all = [...area.querySelectorAll(".acp *, .jp-RenderedHTML *")]
    .filter((element) => !element.closest("mjx-container"));
  const found = all.filter((element) => element.matches(strange));
  for (const element of all) {
    for (const { name, value } of element.attributes) {
      const runs = name.startsWith("on") || /^\\s*(javascript|vbscript)\\s*:/i.test(value);
      const leads = ["href", "src"].includes(name) && !icons.includes(value) &&
        !/^(https?:|mailto:|#|data:image\\/(png|jpeg|gif|webp);base64,)/i.test(value);
      const styles = name === "style" && /url|expression|@|position/i.test(value);
      const isText = /^(data-.*|title|value|aria-label|aria-description|alt)$/.test(name);
      if ((runs && !isText) || leads || styles) found.push(element);
    }
  }
  return found.map((element) => element.outerHTML.slice(0, 200));
}"""
# A million characters take 13 s to draw on a slow machine, several times that beside another page.
DRAWN_SECONDS: Final = 180
TOUCH: Final = """area => {
  for (const fold of area.querySelectorAll("details")) fold.open = true;
  for (const link of area.querySelectorAll("a[href]")) {
    link.dispatchEvent(new MouseEvent("mouseover", { bubbles: true }));
    link.focus();
  }
}"""


def check(page: NotebookPage, cell: int, name: str) -> None:
    """Looks for elements that act, after touching everything that can be touched."""
    page.output(cell).evaluate(TOUCH)
    assert page.output(cell).evaluate(STRANGE, ICONS) == [], name
    assert page.tab.evaluate("getComputedStyle(document.body).display") != "none"


def play(page: NotebookPage, cell: int, name: str) -> None:
    """Runs a turn in which everything is hostile, answers its questions, checks throughout."""
    page.start(cell)
    questions = page.output(cell).locator(".acp-ask")
    for left in (3, 2, 1):
        page.wait_for(
            f"{left} questions of {name} are open",
            "testPage.panel(path).content.widgets[arg[0]].outputArea.node"
            ".querySelectorAll('.acp-ask [data-act=answer]').length === 3 * arg[1]",
            [cell, left],
            DRAWN_SECONDS,
        )
        check(page, cell, name)
        if name == "million":  # not shown whole, so nothing allows it; a stop ends it
            assert page.output(cell).locator("[data-act=answer]:enabled").count() == 0
            page.click(cell, "Stop")
            break
        page.press(questions.first.locator("button[data-act=answer]").first, 120)
    else:
        page.output(cell).locator("form.acp-ask").wait_for()
        check(page, cell, name)
        page.click(cell, "Decline")
    page.wait_done(cell, 120)
    wait_for_record(page, cell)
    check(page, cell, name)


@pytest.mark.timeout(600)
@pytest.mark.parametrize("names", BATCHES, ids=lambda names: names[0])
@pytest.mark.parametrize("app", ["lab"], indirect=True)
def test_hostile_text_stays_text_in_every_field(
    open_notebook: OpenNotebook, names: tuple[str, ...]
) -> None:
    page = open_notebook([START_STAGE, *(f"%%acp\nhostile {name}" for name in names)])
    page.run(0)
    page.wait_for_text(0, "is ready")
    for cell, name in enumerate(names, start=1):
        play(page, cell, name)
    assert problems(page) == []


@pytest.mark.parametrize("app", ["notebook"], indirect=True)
def test_a_saved_record_of_hostile_text_is_as_harmless_untrusted(
    open_notebook: OpenNotebook,
) -> None:
    names = ("script", "mathml", "formula", "footnote", "style", "slot")
    page = open_notebook([START_STAGE, *(f"%%acp\nhostile {name}" for name in names)])
    page.run(0)
    for cell, name in enumerate(names, start=1):
        play(page, cell, name)
    page.save()
    page.reopen(kernel=False, trusted=False)
    for cell, name in enumerate(names, start=1):
        page.seen(cell)  # brings it into view: what is far away is not drawn
        page.wait_for_text(cell, "hostile")
        check(page, cell, name)
    assert problems(page) == []
