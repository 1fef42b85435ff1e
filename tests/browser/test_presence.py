"""Questions that stand alone: a card in the cell that opened, prompted or looks; keys answer."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest
from notebook_page import REPOSITORY
from prompting import LOAD, problems, run_start, wait_for_record

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import OpenNotebook

AGENT = f"{sys.executable} {REPOSITORY / 'tests' / 'kernel' / 'asking_at_times.py'}"


@pytest.mark.requirement("PERM-9")
def test_what_is_asked_before_the_first_prompt_is_answered_in_any_of_its_places(
    open_notebook: OpenNotebook,
) -> None:
    page = open_notebook([f"{LOAD}\n%acp start --as early -- {AGENT} early", "%acp", "%%acp\nhi"])
    run_start(page)
    page.button(0, "Yes", exact=False).wait_for()
    page.run(1)
    page.wait_for_text(1, "asks: Trust this folder?")
    page.click(1, "Yes")
    for cell in (0, 1):
        page.wait_for_text(cell, "Allowed once")
        page.button(cell, "Yes", exact=False).wait_for(state="detached")
    page.run(2)
    wait_for_record(page, 2)
    assert "Welcome before you ask." in page.seen(2)
    assert problems(page) == []


@pytest.mark.requirement("PERM-9")
@pytest.mark.parametrize("app", ["lab"], indirect=True)
def test_a_quiet_turn_in_the_background_asks_in_its_cell_and_takes_keys(
    open_notebook: OpenNotebook, tmp_path: Path
) -> None:
    flag = tmp_path / "flag"
    quiet = f"%acp prompt --quiet --background --out t later {flag}"
    page = open_notebook([f"{LOAD}\n%acp start --as a -- {AGENT}", quiet, "t.wait().text"])
    run_start(page)
    page.run(1)
    assert page.outputs(1) == []
    flag.touch()
    page.button(1, "Yes", exact=False).wait_for()
    page.start(2)
    page.wait_for_ready(1)
    page.button(1, "Yes", exact=False).press("Enter")
    page.wait_done(2)
    page.wait_for_text(2, "answer=yes")
    page.wait_for_text(1, "Allowed once")
    assert "working" not in page.seen(1)
    assert problems(page) == []
