"""The states of a turn, one after another, in a page: for pictures of them and for checks of each.

A state is a scene of `tests/agents/scenes.py`, brought to where there is something to see. Knows
the product only as its user does.
"""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from prompting import AGENTS, LOAD, START_DEMO

if TYPE_CHECKING:
    from notebook_page import NotebookPage

STAGE: Final = shlex.join([sys.executable, str(AGENTS / "stage_agent.py")])
START_BAD: Final = "%acp start --as bad -- " + shlex.join(
    [sys.executable, str(AGENTS / "bad_agent.py"), "silent"]
)
START_STAGE: Final = f"{LOAD}\n%acp start --as stage -- {STAGE}"
End = Callable[["NotebookPage", int], None]


@dataclass(frozen=True)
class State:
    """One thing to look at.

    Attributes:
        name: What it is called in pictures and failures.
        prompt: The scene, or another cell's source if it begins with `%`.
        sign: The text that tells that it is there.
        end: How the turn is brought to its end; None: it ends by itself.
        over: The text of the record.
        stays: Something that the next state needs; there is nothing to look at.
    """

    name: str
    prompt: str
    sign: str
    end: End | None = None
    over: str = ""
    stays: bool = False

    @property
    def source(self) -> str:
        return self.prompt if self.prompt.startswith("%") else f"%%acp\n{self.prompt}"


def press(*names: str) -> End:
    """Ends a turn by these buttons, in order."""

    def end(page: NotebookPage, cell: int) -> None:
        for name in names:
            page.press(page.button(cell, name, exact=False).first)

    return end


def press_above(page: NotebookPage, cell: int) -> None:
    """Ends the turn that another one waits for."""
    press("Stop")(page, cell - 1)


STATES: Final = (
    State("thinking", "thinking", "Thinking…", press("Stop"), "Cancelled"),
    State("streaming", "streaming", "frame = pd.read_csv(", press("Stop"), "Cancelled"),
    State("prose", "prose", "What the numbers say"),
    State("tools", "tools", "Something new", press("Stop"), "Cancelled"),
    State("plans", "plans", "Find the outliers", press("Stop"), "Cancelled"),
    State("permission", "permission", "Change stats.py", press("Allow"), "it is done"),
    State(
        "permissions", "permissions", "And this?",
        press("Reject", "Always allow", "Perhaps later"), "All three are answered",
    ),
    State("form", "form", "A few details", press("Decline"), "Thank you"),
    State("page", "page", "Open example.org", press("Decline"), "Thank you"),
    State("terminals", "terminals", "Pull the images"),
    State("asides", "asides", "A newer model", press("Stop"), "Cancelled"),
    State("failed", "failed", "The model is overloaded"),
    State("refused", "ended refusal", "refused to go on"),
    State("odd-end", "ended _quota", "Stopped: _quota"),
    State("silent", "silent", "without saying anything"),
    State("many", "many 400", "That was a lot"),
    State("stopping", "stubborn", "I do not listen", press("Stop", "Press again"), "was ended"),
    State("dead", "dead", "exit code 3"),
    State("one", "%acp start demo --as one --protocol 1", "is ready", stays=True),
    State("busy", "%%acp --to one --background\n/slow 60", "takes its time", stays=True),
    State("queued", "%%acp --to one\nWhat is next?", "queued", press_above, "Finished"),
    State("starting", START_BAD, "fetching package 3 of 3", press("Stop"), "was stopped"),
)  # fmt: skip


UNFOLDED: Final = {"tools", "plans", "permissions", "form", "terminals", "failed", "dead"}


def unfold(page: NotebookPage, cell: int) -> None:
    """Opens everything that is folded."""
    page.output(cell).evaluate(
        "area => area.querySelectorAll('details').forEach((fold) => { fold.open = true; })"
    )


def cells() -> list[str]:
    """The notebook that `played` needs."""
    return [START_STAGE, *(state.source for state in STATES)]


def played(page: NotebookPage) -> Iterator[tuple[str, int]]:
    """Brings each state about and hands it out: its name and its cell, first live, then over."""
    page.run(0)
    page.wait_for_text(0, "is ready")
    for cell, state in enumerate(STATES, start=1):
        page.start(cell)
        page.wait_for_text(cell, state.sign)
        if state.stays:
            continue
        if state.end is not None:
            if state.name == "stopping":
                press("Stop")(page, cell)
                page.wait_for_text(cell, "Press again")
            yield state.name, cell
            if state.name in UNFOLDED:
                unfold(page, cell)
                yield f"{state.name}-unfolded", cell
            end = press("Press again") if state.name == "stopping" else state.end
            end(page, cell)
        page.wait_done(cell)
        page.wait_for(
            f"the record of {state.name} is drawn",
            "!testPage.panel(path).content.widgets[arg].outputArea.node.querySelector('.acp')",
            cell,
        )
        page.wait_for_text(cell, state.over or state.sign)
        yield f"{state.name}-over", cell
        if state.name in UNFOLDED:
            unfold(page, cell)
            yield f"{state.name}-over-unfolded", cell


__all__ = ["START_DEMO", "START_STAGE", "STATES", "cells", "played"]
