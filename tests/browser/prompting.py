"""What the tests of prompts share: the cells that start an agent, and words about a turn's place.

Knows the product only as its user does.
"""

from __future__ import annotations

import json
import shlex
import sys
from typing import TYPE_CHECKING, Final

from notebook_page import REPOSITORY

if TYPE_CHECKING:
    from notebook_page import NotebookPage

AGENTS: Final = REPOSITORY / "tests" / "agents"
LOAD: Final = "%load_ext acp_notebook"
START_DEMO: Final = f"{LOAD}\n%acp start demo"
WIDGET_MIME: Final = "application/vnd.jupyter.widget-view+json"
SDK_COMMAND: Final = shlex.join(["node", str(AGENTS / "sdk_agent.mjs")])
RECORD_MIMES: Final = {"text/html", "text/markdown", "text/plain"}


def start_sdk() -> str:
    """The cell that starts the test agent on the official TypeScript SDK."""
    return f"{LOAD}\n%acp start --as sdk -- {SDK_COMMAND}"


def start_bad(name: str) -> str:
    """The cell that starts an agent that misbehaves."""
    command = shlex.join([sys.executable, str(AGENTS / "bad_agent.py"), name])
    return f"{LOAD}\n%acp start --as bad -- {command}"


def run_start(page: NotebookPage, cell: int = 0) -> None:
    """Runs a cell that starts an agent; a failure shows at once, not when a prompt waits."""
    page.run(cell)
    page.wait_for_text(cell, "is ready", seconds=10)


def wait_for_record(page: NotebookPage, cell: int) -> None:
    """Waits until the one output of a prompt is the record in place of the live view."""
    page.wait_for(
        f"the record stands in cell {cell}",
        "JSON.stringify(testPage.panel(path).content.widgets[arg[0]].model.outputs.toJSON()"
        ".filter(({ data }) => data).map(({ data }) => Object.keys(data).sort())) === arg[1]",
        [cell, json.dumps([sorted(RECORD_MIMES)], separators=(",", ":"))],
    )


def is_running(page: NotebookPage, cell: int) -> bool:
    """Whether a cell was started and is not over."""
    return bool(page.tab.evaluate("([path, n]) => !testPage.isDone(path, n)", [page.name, cell]))


def was_run(page: NotebookPage, cell: int) -> bool:
    """Whether a cell ever got an answer from the kernel."""
    count = "testPage.panel(path).content.widgets[n].model.executionCount"
    return page.tab.evaluate(f"([path, n]) => {count}", [page.name, cell]) is not None


def problems(page: NotebookPage) -> list[str]:
    """What the page did wrong, without what ipywidgets does wrong by itself.

    ipywidgets 8.1 posts a resize to each new view once its layout is there. If the view is replaced
    before that, as with a turn of a few milliseconds, the message meets a view that is gone.
    """
    noise = "Cannot read properties of null (reading 'processLuminoMessage')"
    return [line for line in page.record.problems if noise not in line]
