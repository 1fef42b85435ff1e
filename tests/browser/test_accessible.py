"""Every state of a turn against axe-core, a whole turn by keyboard, and what is said aloud."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pytest
from prompting import START_DEMO, problems, run_start
from scenes_played import cells, played

if TYPE_CHECKING:
    from conftest import OpenNotebook
    from notebook_page import NotebookPage

AXE: Final = Path(__file__).parent / "node_modules" / "axe-core" / "axe.min.js"
WIDTH: Final = 1200
HEIGHT: Final = 2_400
RUN_AXE: Final = """async (area) => {
  const found = await axe.run(area, {
    runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"],
    rules: { region: { enabled: false } },  // the application's landmarks are not ours
  });
  return found.violations.map(({ id, nodes }) =>
    [id, nodes.slice(0, 3).map((node) => `${node.html.slice(0, 160)} | ${node.failureSummary}`)]);
}"""
KEEP_SPEECH: Final = """area => {
  window.spoken = [];
  const voice = area.querySelector("[aria-live]");
  new MutationObserver(() => window.spoken.push(voice.textContent))
    .observe(voice, { childList: true, characterData: true, subtree: true });
}"""


def violations(page: NotebookPage, cell: int) -> list[Any]:
    """What axe finds in a cell's outputs, other than in tracebacks of the application itself."""
    area = page.output(cell).locator(".acp, .jp-RenderedHTMLCommon:not(.jp-RenderedMarkdown)")
    return [each for n in range(area.count()) for each in area.nth(n).evaluate(RUN_AXE)]


@pytest.mark.timeout(900)
def test_axe_finds_nothing_in_any_state_light_or_dark(open_notebook: OpenNotebook) -> None:
    page = open_notebook(cells(), width=WIDTH)
    page.resize(WIDTH, HEIGHT)
    page.tab.evaluate(AXE.read_text())
    found: dict[str, str] = {}
    for state, cell in played(page):
        for theme in ("dark", "light"):
            page.use_theme(theme)  # type: ignore[arg-type]
            for rule, nodes in violations(page, cell):
                for node in nodes:
                    found.setdefault(f"{rule}: {node}", f"{state}, {theme}")
    assert [f"{where}: {what}" for what, where in found.items()] == []


@pytest.mark.parametrize("app", ["lab"], indirect=True)
def test_a_turn_with_a_permission_is_driven_by_keyboard_alone(open_notebook: OpenNotebook) -> None:
    page = open_notebook([START_DEMO, "%%acp\n/permission", "'below'"])
    run_start(page)
    keys = page.tab.keyboard
    page.cell(1).locator(".cm-content").click()
    keys.press("Control+Enter")
    page.output(1).get_by_role("group", name="Permission:").wait_for()
    page.output(1).evaluate(KEEP_SPEECH)
    keys.press("Escape")
    reached = []
    for _ in range(12):
        keys.press("Tab")
        reached.append(page.tab.evaluate("document.activeElement.innerText"))
        if str(reached[-1]).startswith("✓"):
            break
    else:
        pytest.fail(f"Tab did not reach the question: {reached}")
    assert any(str(text).startswith("Stop") for text in reached)
    page.wait_for_ready(1)
    keys.press("3")
    page.wait_done(1)
    page.wait_for_text(1, "All right, I leave it alone.")
    assert "Rejected" in page.seen(1)
    assert page.sources()[1] == "%%acp\n/permission"
    assert problems(page) == []


@pytest.mark.parametrize("app", ["lab"], indirect=True)
def test_what_is_said_aloud_are_sentences_not_chunks(open_notebook: OpenNotebook) -> None:
    page = open_notebook([START_DEMO, "%%acp\n/permission"])
    run_start(page)
    page.start(1)
    page.output(1).locator("[aria-live]").wait_for(state="attached")
    page.output(1).evaluate(KEEP_SPEECH)
    page.click(1, "Allow")
    page.wait_done(1)
    page.wait_for_text(1, "Finished")
    spoken = page.tab.evaluate("window.spoken")
    said = [text for number, text in enumerate(spoken) if text not in spoken[:number]]
    assert said[-2:] == ["Allowed once: Count the rows of sales.csv?", "demo: Finished."]
    assert len(said) <= 3


@pytest.mark.parametrize("app", ["lab"], indirect=True)
def test_the_header_sets_a_mode_and_keeps_it_when_the_agent_refuses(
    open_notebook: OpenNotebook,
) -> None:
    page = open_notebook([cells()[0], "%%acp\nstreaming"])
    page.run(0)
    page.start(1)
    model = page.output(1).get_by_role("combobox", name="Model")
    model.select_option("small")
    page.wait_for(
        "the model is set", "document.querySelector('.acp-select[data-id=model]:enabled')"
    )
    assert model.input_value() == "small"
    model.select_option("refused")
    page.wait_for_text(1, "The setting was not changed")
    assert model.input_value() == "small"
    assert model.is_enabled()
    page.click(1, "Stop")
    page.wait_done(1)
    assert problems(page) == []
