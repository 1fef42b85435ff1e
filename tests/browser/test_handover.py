"""Nothing moves in the page when the record takes the place of the live view."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import pytest
from scenes_played import START_STAGE, unfold

if TYPE_CHECKING:
    from conftest import OpenNotebook

# Where each part stands, from the upper left corner of the output; and how large its words are.
PARTS: Final = """(area, rows) => {
  const from = area.getBoundingClientRect();
  return [...area.querySelectorAll(rows)].filter((part) => part.textContent.trim()).map((part) => {
    const { x, y, width, height } = part.getBoundingClientRect();
    const words = [...part.querySelectorAll("p, span, th, td, pre, h2, summary")]
      .filter((e) => [...e.childNodes].some((n) => n.nodeType === 3 && n.data.trim()));
    return {
      text: part.innerText.trim().replace(/\\s+/g, " ").slice(0, 24),
      box: [x - from.x, y - from.y, width, height].map(Math.round),
      sizes: [...new Set(words.map((e) => getComputedStyle(e).fontSize))].sort(),
    };
  });
}"""
LIVE: Final = ".acp-head, .acp-more, .acp-entry"
RECORD: Final = ".jp-RenderedHTMLCommon > div > div"
SLACK_PX: Final = 1


def differences(live: list[dict[str, Any]], record: list[dict[str, Any]]) -> list[str]:
    """What is elsewhere, of another size, or written larger or smaller."""
    found = [] if len(live) == len(record) else [f"{len(live)} parts, then {len(record)}"]
    for before, after in zip(live, record, strict=False):
        moved = [abs(a - b) for a, b in zip(before["box"], after["box"], strict=True)]
        if max(moved) > SLACK_PX or before["sizes"] != after["sizes"]:
            found.append(f"{before} then {after}")
    return found


@pytest.mark.parametrize("app", ["lab"], indirect=True)
@pytest.mark.parametrize("width", [1400, 800, 480])
def test_the_record_stands_where_the_view_stood(open_notebook: OpenNotebook, width: int) -> None:
    page = open_notebook([START_STAGE, "%%acp\nstill"], width=width)
    page.resize(width, 4_000)
    page.command("application:toggle-left-area")
    page.run(0)
    page.start(1)
    page.click(1, "Allow")
    page.wait_for_text(1, "So much for now.")
    for is_open in (False, True):
        if is_open:
            unfold(page, 1)
        live = page.output(1).evaluate(f"(area) => ({PARTS})(area, '{LIVE}')")
        if is_open:
            break
        folded = live
    page.click(1, "Stop")
    page.wait_done(1)
    page.output(1).locator(".jp-RenderedHTMLCommon").wait_for()
    for is_open in (False, True):
        if is_open:
            unfold(page, 1)
        record = page.output(1).evaluate(f"(area) => ({PARTS})(area, '{RECORD}')")
        assert differences(live if is_open else folded, record) == []
