"""A notebook open in JupyterLab or Notebook 7, in a user's words.

`NotebookPage` is the page object of the browser suite: run cells, click what they show, interrupt,
save, reload, look. It knows Jupyter's front ends and of the product only that its questions take a
click when they are ready. Tests get one from the fixture `open_notebook`; a test is a few lines:

    def test_permission_is_answered_by_a_click(open_notebook: OpenNotebook) -> None:
        page = open_notebook(["%load_ext acp_notebook\\n%acp start demo", "%%acp\\n/permission"])
        page.run(0)                             # run a cell and wait until it is done
        page.start(1)                           # run a cell that will ask
        page.click(1, "Allow")                  # a button by its accessible name; waits for it
        page.wait_done(1)
        page.wait_for_text(1, "allowed")        # what a user sees, rendered
        assert page.record.problems == []       # console errors, dialogs, content policy, network

Cells are counted from 0. `run(1)` is `start(1)` and `wait_done(1)`; `run_all()` starts all cells,
`wait_idle()` waits for the kernel and every cell. `output(1)` is a Playwright locator for the
cell's output area and `tab` is Playwright's page, for whatever has no method here. `seen(1)` does
not wait; rich outputs are drawn a moment after the cell is done, so prefer `wait_for_text`.

After the turn: `save()` gives the notebook as nbformat reads it from disk; `reload()` loads the
page again while the kernel lives on; `reopen(kernel=False)` and `reopen(trusted=False)` show the
saved file as another person meets it. `screenshot(name)` writes `screenshots/<app>-<name>.png`.

For benchmarks, `with page.measured() as counted:` counts kernel traffic by message type and frame
times inside the page; see `page_record.Measurement`. Every wait has a bound, in seconds, and says
what it waited for and what the page showed instead.
"""

from __future__ import annotations

import json
import time
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal

from page_record import Measurement, PageRecord
from playwright.sync_api import Error, Route
from playwright.sync_api import TimeoutError as PlaywrightTimeoutError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from jupyter_app import JupyterApp
    from nbformat import NotebookNode
    from playwright.sync_api import BrowserContext, ElementHandle, Locator, Page

REPOSITORY: Final = Path(__file__).resolve().parents[2]
SCREENSHOTS: Final = REPOSITORY / "screenshots"
IN_PAGE_SCRIPT: Final = Path(__file__).with_name("in_page.js")

OPEN_SECONDS: Final = 90.0
CELL_SECONDS: Final = 60.0
CLICK_SECONDS: Final = 30.0
STILL_SECONDS: Final = 1.0
IS_READY: Final = "button => button.getAttribute('aria-disabled') !== 'true'"
SHOW_ALL: Final = """button => {
  const question = button.closest("[data-ask]");
  for (const more of question.querySelectorAll(".acp-rest button")) more.click();
}"""
WAS_TAKEN: Final = """button => !button.isConnected || button.disabled
  || button.closest("[aria-busy='true']") !== null"""
POLL_MS: Final = 50
HEIGHT: Final = 900
THEMES: Final = {"light": "JupyterLab Light", "dark": "JupyterLab Dark"}


class NotebookPage:
    """One notebook in one browser tab.

    Args:
        app: The running application; the notebook is in its folder.
        context: The browser's context to open the tab in.
        name: The notebook's file name.
        width: Width of the viewport in CSS pixels.

    Attributes:
        record: What the page did that a good page does not do.
        tab: Playwright's page.
    """

    tab: Page

    def __init__(
        self, app: JupyterApp, context: BrowserContext, name: str, width: int = 1300
    ) -> None:
        self.app = app
        self.name = name
        self.record = PageRecord()
        self._context = context
        self._width = width

    # Opening and closing

    def open(self, *, kernel: bool = True) -> None:
        """Opens the tab and waits for the notebook and its kernel.

        Args:
            kernel: False shows the notebook as on a machine that lacks its kernel.
        """
        self.tab = self._context.new_page()
        self.tab.set_viewport_size({"width": self._width, "height": HEIGHT})
        self.record.listen(self.tab)
        self.tab.add_init_script(path=IN_PAGE_SCRIPT)
        if not kernel:
            self.tab.route("**/api/kernelspecs*", _offer_no_kernel)
        self.tab.goto(self.app.notebook_url(self.name), wait_until="domcontentloaded")
        self._wait_for_notebook(kernel=kernel)
        if kernel:
            self._panel("await panel.sessionContext.session.kernel.info", OPEN_SECONDS)

    def close(self) -> None:
        """Closes the tab; the kernel lives on."""
        self.tab.close()

    def reload(self) -> None:
        """Loads the page again; what was not saved is lost, the kernel lives on.

        It does not wait for an answer of the kernel: a cell may be in the way.
        """
        self.tab.reload(wait_until="domcontentloaded")
        self._wait_for_notebook(kernel=True)

    def leave(self) -> None:
        """Shows nothing of the notebook any more; the kernel lives on."""
        self.tab.goto("about:blank")

    def come_back(self) -> None:
        """Opens the saved notebook again, after `leave`, with the kernel that it has."""
        self.tab.goto(self.app.notebook_url(self.name), wait_until="domcontentloaded")
        self._wait_for_notebook(kernel=True)

    def reopen(self, *, kernel: bool = True, trusted: bool = True) -> None:
        """Ends the kernel and opens the saved notebook anew.

        Args:
            kernel: False: no kernel is started, as on a machine that lacks it.
            trusted: False: the file is one that came from elsewhere.
        """
        self.close()
        self.app.end_session(self.name)
        if not trusted:
            self.app.forget_trust(self.name)
        self.open(kernel=kernel)

    def save(self) -> NotebookNode:
        """Saves the notebook and reads it back from disk."""
        self._panel("await panel.context.save()")
        return self.app.read_notebook(self.name)

    # Running

    def start(self, cell: int) -> None:
        """Runs a cell and does not wait."""
        self._call("runCell", cell)

    def run(self, cell: int, seconds: float = CELL_SECONDS) -> None:
        """Runs a cell and waits until it is done."""
        self.start(cell)
        self.wait_done(cell, seconds)

    def run_all(self) -> None:
        """Runs all cells and does not wait."""
        self._call("runAll")

    def interrupt(self) -> None:
        """Interrupts the kernel, as the stop button in the toolbar does."""
        self.command("notebook:interrupt-kernel")

    def restart_kernel(self) -> None:
        """Restarts the kernel without asking, and waits for it."""
        self._panel("await panel.sessionContext.restartKernel()")
        self.wait_idle()

    def command(self, name: str, **args: Any) -> None:
        """Executes one of the application's commands, and waits for it."""
        call = json.dumps([name, args])[1:-1]
        self._panel(f"await window.jupyterapp.commands.execute({call})")

    # Waiting

    def wait_done(self, cell: int, seconds: float = CELL_SECONDS) -> None:
        """Waits until a cell that was started has an execution count."""
        self.wait_for(f"cell {cell} is done", "testPage.isDone(path, arg)", cell, seconds)

    def wait_idle(self, seconds: float = CELL_SECONDS) -> None:
        """Waits until no cell runs and the kernel is idle."""
        self.wait_for("the kernel is idle", "testPage.isIdle(path)", None, seconds)

    def wait_for_text(self, cell: int, text: str, seconds: float = CELL_SECONDS) -> None:
        """Waits until a user sees the text below the cell."""
        condition = "testPage.seen(path, arg[0]).includes(arg[1])"
        self.wait_for(f"cell {cell} shows {text!r}", condition, [cell, text], seconds)

    def wait_for(
        self, what: str, condition: str, arg: object = None, seconds: float = CELL_SECONDS
    ) -> None:
        """Waits until a JavaScript expression holds.

        Args:
            what: What is waited for, for the message if it does not come.
            condition: An expression over `testPage`, `path` (the notebook) and `arg`.
            arg: Any JSON value.
            seconds: The bound.

        Raises:
            AssertionError: It did not hold within the bound; the message says what was there.
        """
        try:
            self.tab.wait_for_function(
                f"([path, arg]) => {condition}",
                arg=[self.name, arg],
                timeout=seconds * 1000,
                polling=POLL_MS,
            )
        except PlaywrightTimeoutError:
            message = f"Within {seconds:g} s it did not happen that {what}.\n{self.diagnosis()}"
            raise AssertionError(message) from None

    # Looking

    def seen(self, cell: int) -> str:
        """What a user sees below a cell now, without the prompts."""
        self.cell(cell).scroll_into_view_if_needed(timeout=CLICK_SECONDS * 1000)
        return str(self._call("seen", cell))

    def outputs(self, cell: int) -> list[dict[str, Any]]:
        """The outputs of a cell in the page's model, in the shape of nbformat."""
        found = self._panel(f"return panel.content.widgets[{cell}].model.outputs.toJSON()")
        return list(found)

    def mime_types(self, cell: int) -> list[set[str]]:
        """The MIME types of each output that has data."""
        return [set(output["data"]) for output in self.outputs(cell) if "data" in output]

    def sources(self) -> list[str]:
        """The sources of all cells."""
        return [facts["source"] for facts in self._call("cellFacts")]

    def kernel_status(self) -> str:
        """The kernel's status as last heard; `none` without a kernel.

        Not for waiting: it is `idle` in the middle of a cell once another channel was answered.
        """
        return str(self._evaluate("testPage.kernel(path)?.status ?? 'none'"))

    def cell(self, cell: int) -> Locator:
        """The whole cell."""
        self._call("numberCells")
        return self.tab.locator(f'[data-cell-number="{cell}"]')

    def output(self, cell: int) -> Locator:
        """The output area of a cell."""
        return self.cell(cell).locator(".jp-Cell-outputArea")

    def button(self, cell: int, name: str, *, exact: bool = True) -> Locator:
        """A button in a cell's output, by its accessible name."""
        return self.output(cell).get_by_role("button", name=name, exact=exact)

    # Acting

    def click(self, cell: int, name: str, seconds: float = CLICK_SECONDS) -> None:
        """Clicks a button in a cell's output as soon as it is there and enabled."""
        try:
            self.press(self.button(cell, name), seconds)
        except PlaywrightTimeoutError as error:
            names = self.output(cell).get_by_role("button").all_inner_texts()
            raise AssertionError(
                f"Button {name!r} of cell {cell} could not be clicked within {seconds:g} s: "
                f"{error.message}\nButtons there: {names}\n{self.diagnosis()}"
            ) from None

    def press(self, button: Locator, seconds: float = CLICK_SECONDS) -> None:
        """Clicks a button until the click counts, as a reader does.

        A question takes no click while it moves, and what allows something none before all of the
        question was in view: then the page brings into view what comes next.
        """
        if not button.evaluate("button => button.closest('[data-ask]') !== null"):
            button.click(timeout=seconds * 1000)
            return
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            try:
                pressed = button.element_handle(timeout=seconds * 1000)
                pressed.evaluate(SHOW_ALL)
                pressed.scroll_into_view_if_needed()
                with suppress(PlaywrightTimeoutError):
                    self.tab.wait_for_function(IS_READY, arg=pressed, timeout=STILL_SECONDS * 1000)
                pressed.click(force=True)
            except Error as error:
                if "not attached" not in str(error):  # the question was drawn anew
                    raise
                continue
            if pressed.evaluate(WAS_TAKEN) and self._is_answered(button, pressed):
                return
        raise AssertionError(f"No click counted within {seconds:g} s.\n{self.diagnosis()}")

    def _is_answered(self, button: Locator, pressed: ElementHandle) -> bool:
        """Whether a permission is gone after a press; one that changed meanwhile is drawn anew.

        A form may stay, with words about what is wrong in it.
        """
        if pressed.get_attribute("data-act") != "answer":
            return True
        ident = pressed.get_attribute("data-id")
        self.tab.wait_for_function("button => !button.isConnected", arg=pressed)
        return not button.count() or button.get_attribute("data-id") != ident

    def wait_for_ready(self, cell: int, seconds: float = CLICK_SECONDS) -> None:
        """Waits until a question in a cell takes keys: it has to stand still first."""
        buttons = self.output(cell).locator(".acp-ask-buttons").first
        buttons.scroll_into_view_if_needed(timeout=seconds * 1000)
        buttons.locator("[aria-disabled='false']").first.wait_for(timeout=seconds * 1000)

    def edit(self, cell: int, source: str) -> None:
        """Replaces the source of a cell."""
        self._panel(
            f"panel.content.widgets[{cell}].model.sharedModel.setSource({json.dumps(source)})"
        )

    def completions(self, cell: int, typed: str, seconds: float = CLICK_SECONDS) -> list[str]:
        """Types at the end of a cell, presses Tab and reads the list that comes up."""
        editor = self.cell(cell).locator(".cm-content")
        editor.click(timeout=seconds * 1000)
        self.tab.keyboard.press("ControlOrMeta+End")
        self.tab.keyboard.type(typed)
        self.wait_for(f"Tab completes in cell {cell}", "testPage.canComplete(path, arg)", cell)
        self.tab.keyboard.press("Tab")
        items = self.tab.locator(".jp-Completer:not(.lm-mod-hidden) .jp-Completer-match")
        items.first.wait_for(timeout=seconds * 1000)
        found = items.all_inner_texts()
        self.tab.keyboard.press("Escape")
        return found

    def use_theme(self, theme: Literal["light", "dark"]) -> None:
        """Switches the application's theme and waits until it is drawn."""
        self.command("apputils:change-theme", theme=THEMES[theme])
        condition = "document.body.dataset.jpThemeName === arg"
        self.wait_for(f"the theme is {theme}", condition, THEMES[theme])

    def resize(self, width: int, height: int = HEIGHT) -> None:
        """Sets the viewport, in CSS pixels."""
        self._width = width
        self.tab.set_viewport_size({"width": width, "height": height})

    def screenshot(self, name: str, cell: int | None = None) -> Path:
        """Writes `screenshots/<app>-<name>.png`: the viewport, or one cell in full height."""
        SCREENSHOTS.mkdir(exist_ok=True)
        path = SCREENSHOTS / f"{self.app.name}-{name}.png"
        if cell is None:
            self.tab.screenshot(path=path, animations="disabled")
        else:
            self.cell(cell).screenshot(path=path, animations="disabled")
        return path

    # Measuring and explaining

    @contextmanager
    def measured(self) -> Iterator[Measurement]:
        """Counts kernel traffic and frames; the numbers are there when the block is left."""
        counted = Measurement()
        self.tab.evaluate("testPage.startMeasuring()")
        yield counted
        counted.fill(self.tab.evaluate("testPage.stopMeasuring()"))

    def diagnosis(self) -> str:
        """What there is to know when a test fails: cells, kernel, dialogs, problems."""
        lines = [f"{self.app.name}, {self.name} at {self.tab.url}"]
        with suppress(Error):
            lines.append(f"kernel: {self.kernel_status()}")
            for number, facts in enumerate(self._call("cellFacts")):
                source = facts["source"].replace("\n", " | ")[:80]
                lines.append(f"cell {number} {facts['prompt']} {source}")
                lines.append(f"    shows {facts['seen'][-500:]!r}")
            boxes = self.tab.locator(".jp-Dialog").all_inner_texts()
            lines += [f"dialog of the application: {text!r}" for text in boxes]
        return "\n".join([*lines, *self.record.problems])

    def _wait_for_notebook(self, *, kernel: bool) -> None:
        self.wait_for("the notebook is open", "testPage.isReady(path)", seconds=OPEN_SECONDS)
        if kernel:
            self.wait_for("a kernel is there", "testPage.isConnected(path)", seconds=OPEN_SECONDS)
        else:
            button = self.tab.locator(".jp-Dialog").get_by_role("button", name="No Kernel")
            button.click(timeout=OPEN_SECONDS * 1000)
        # The application's own start breaks the reported policy; tests are about what follows.
        self.record.violations.clear()

    def _call(self, function: str, *args: object) -> Any:
        return self._evaluate(f"testPage.{function}(path, ...args)", *args)

    def _panel(self, body: str, seconds: float = CELL_SECONDS) -> Any:
        """Runs the body of an asynchronous function that knows the notebook's `panel`."""
        function = f"async (panel) => {{ {body}; }}"
        return self._evaluate(f"testPage.bounded(path, {function}, {seconds * 1000})")

    def _evaluate(self, expression: str, *args: object) -> Any:
        return self.tab.evaluate(f"([path, args]) => {expression}", [self.name, list(args)])


def _offer_no_kernel(route: Route) -> None:
    """Answers for a server that has no kernel to offer."""
    route.fulfill(json={"default": "none", "kernelspecs": {}})
