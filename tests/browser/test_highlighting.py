"""Prompt cells in the editor: Markdown while the text starts with the magic, code otherwise.

The extension is the one built in the tree, whether or not the package is installed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pytest
from notebook_page import REPOSITORY, NotebookPage

if TYPE_CHECKING:
    from conftest import OpenNotebook
    from jupyter_app import JupyterApp

BUILT: Final = REPOSITORY / "acp_notebook" / "labextension"
PROMPT_CLASS: Final = "acp-mod-prompt"
PROMPT: Final = "%%acp --to demo\n# Title\nSome **strong** words\n\n```python\nreturn 1\n```"

# A matcher of the kernel that offers commands, as the product's own one does. The first completion
# of a kernel loads Jedi, and may take longer than the application waits for an answer.
MATCHER: Final = """
def commands(text, *rest):
    return [command for command in ("/plan", "/plot") if text and command.startswith(text)]

get_ipython().Completer.use_jedi = False
get_ipython().Completer.custom_matchers.append(commands)
get_ipython().complete("/p")
"""

IS_PROMPT: Final = (
    "testPage.panel(path).content.widgets[arg[0]].editor?.host"
    f".querySelector('.{PROMPT_CLASS}') != null === arg[1]"
)
CAN_COMPLETE: Final = (
    "testPage.panel(path).content.widgets[arg].editor.host"
    ".classList.contains('jp-mod-completer-enabled')"
)
TOKENS: Final = """([path, cell]) =>
    testPage.panel(path).content.widgets[cell].editor.getTokens().map(({ type }) => type)"""
WEIGHT: Final = """([path, cell, word]) => {
    const { host } = testPage.panel(path).content.widgets[cell].editor;
    const spans = [...host.querySelectorAll(".cm-line span")];
    const found = spans.filter((span) => span.innerText.trim() === word);
    return found.length ? getComputedStyle(found.at(-1)).fontWeight : "";
}"""


@pytest.fixture(autouse=True)
def extension(app: JupyterApp) -> None:
    """Gives the built extension to the application."""
    if not (BUILT / "package.json").is_file():
        pytest.fail("The JupyterLab extension is not built: run `pip install -e . --no-deps`")
    folder = app.root / "data" / "labextensions"
    folder.mkdir(parents=True, exist_ok=True)
    if not (folder / "acp-notebook").exists():
        (folder / "acp-notebook").symlink_to(BUILT, target_is_directory=True)


def wait_for_prompt(page: NotebookPage, cell: int, *, prompt: bool = True) -> None:
    """Waits until a cell's editor is that of a prompt, or is not."""
    what = f"cell {cell} is {'' if prompt else 'not '}a prompt"
    page.wait_for(what, IS_PROMPT, [cell, prompt])


def tokens(page: NotebookPage, cell: int) -> set[str]:
    """The kinds of token in a cell, as its editor reads it."""
    return set(page.tab.evaluate(TOKENS, [page.name, cell]))


def weight(page: NotebookPage, cell: int, word: str) -> str:
    """How bold a word looks."""
    return str(page.tab.evaluate(WEIGHT, [page.name, cell, word]))


def complaints(page: NotebookPage) -> list[str]:
    """What went wrong in the page by the extension's doing; applications have errors too."""
    return [problem for problem in page.record.problems if "acp-notebook" in problem]


def type_into(page: NotebookPage, cell: int, text: str) -> None:
    """Types at the start of a cell."""
    page.cell(cell).locator(".cm-content").click()
    page.tab.keyboard.press("ControlOrMeta+Home")
    page.tab.keyboard.type(text)


def complete(page: NotebookPage, cell: int, typed: str) -> list[str]:
    """Types at the end of a cell, and asks for completions once the application offers them."""
    page.cell(cell).locator(".cm-content").click()
    page.tab.keyboard.press("ControlOrMeta+End")
    page.tab.keyboard.type(typed)
    page.wait_for(f"Tab completes in cell {cell}", CAN_COMPLETE, cell)
    page.tab.keyboard.press("Tab")
    items = page.tab.locator(".jp-Completer:not(.lm-mod-hidden) .jp-Completer-match")
    items.first.wait_for()
    return items.all_inner_texts()


def test_saved_prompt_is_markdown_below_its_magic(open_notebook: OpenNotebook) -> None:
    page = open_notebook([PROMPT])
    wait_for_prompt(page, 0)
    assert {"MagicLine", "HeaderMark", "EmphasisMark", "CodeMark"} <= tokens(page, 0)
    assert weight(page, 0, "strong") == "700"
    assert complaints(page) == []


def test_other_cells_stay_what_they_are(open_notebook: OpenNotebook) -> None:
    page = open_notebook(
        ["# not a title\nx = 1", "%%bash\n# Title", "%%markdown\n%%acp\ntext", "%%acp\ntext"]
    )
    wait_for_prompt(page, 3)
    for cell in range(3):
        wait_for_prompt(page, cell, prompt=False)
    assert "Comment" in tokens(page, 0)
    assert "MagicLine" not in tokens(page, 1)


def test_typed_magic_makes_a_prompt_and_deleting_it_makes_code(
    open_notebook: OpenNotebook,
) -> None:
    page = open_notebook(["# Title"])
    wait_for_prompt(page, 0, prompt=False)
    assert "Comment" in tokens(page, 0)
    type_into(page, 0, "%%acp\n")
    wait_for_prompt(page, 0)
    assert {"MagicLine", "HeaderMark"} <= tokens(page, 0)
    for _ in range(6):
        page.tab.keyboard.press("Backspace")
    wait_for_prompt(page, 0, prompt=False)
    assert page.sources() == ["# Title"]
    assert "Comment" in tokens(page, 0)
    assert complaints(page) == []


def test_undo_goes_back_through_the_magic(open_notebook: OpenNotebook) -> None:
    page = open_notebook(["# Title"])
    type_into(page, 0, "%%acp\n")
    wait_for_prompt(page, 0)
    page.tab.keyboard.press("ControlOrMeta+Z")
    wait_for_prompt(page, 0, prompt=False)
    assert page.sources() == ["# Title"]
    page.tab.keyboard.press("ControlOrMeta+Shift+Z")
    wait_for_prompt(page, 0)
    assert page.sources() == ["%%acp\n# Title"]


def test_restarted_kernel_leaves_a_prompt_a_prompt(open_notebook: OpenNotebook) -> None:
    page = open_notebook([PROMPT])
    wait_for_prompt(page, 0)
    page.restart_kernel()
    wait_for_prompt(page, 0)
    assert "MagicLine" in tokens(page, 0)


def test_cell_turned_to_markdown_and_back_is_a_prompt_only_as_code(
    open_notebook: OpenNotebook,
) -> None:
    page = open_notebook([PROMPT])
    wait_for_prompt(page, 0)
    page.command("notebook:change-cell-to-markdown")
    wait_for_prompt(page, 0, prompt=False)
    page.command("notebook:change-cell-to-code")
    wait_for_prompt(page, 0)


@pytest.mark.parametrize("before", ["", "Some **strong** words and ", "- an item "])
def test_completion_in_a_prompt_is_asked_of_the_kernel(
    open_notebook: OpenNotebook, before: str
) -> None:
    page = open_notebook([MATCHER, f"%%acp\n{before}"])
    page.run(0)
    wait_for_prompt(page, 1)
    with page.measured() as counted:
        found = complete(page, 1, "/pl")
    assert counted.sent["complete_request"].messages >= 1
    assert {"/plan", "/plot"} <= set(found)


def test_chosen_completion_replaces_only_the_word(open_notebook: OpenNotebook) -> None:
    page = open_notebook([MATCHER, "%%acp\nPlease make a "])
    page.run(0)
    complete(page, 1, "/pl")
    page.tab.keyboard.press("Enter")
    page.wait_for(
        "the command is in the prompt",
        "testPage.panel(path).content.widgets[1].model.sharedModel.getSource() === arg",
        "%%acp\nPlease make a /plan",
    )
