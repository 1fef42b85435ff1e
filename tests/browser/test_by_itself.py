"""Beside the usual turn: nobody looks when it ends, nobody prompted, or several are awaited."""

from __future__ import annotations

import json
import re
import shlex
import sys
from typing import TYPE_CHECKING

import pytest
from notebook_page import REPOSITORY
from prompting import LOAD, START_DEMO, WIDGET_MIME, problems, run_start, wait_for_record

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import OpenNotebook

START_TWO = """import asyncio
import acp_notebook as acp
one, two = acp.start('demo', label='one'), acp.start('demo', label='two')"""
ASK_BOTH = """asked = (each.session.aprompt('/permission') for each in (one, two))
turns = await asyncio.gather(*asked)
print([turn.stop_reason for turn in turns])"""
NO_WIDGETS = """testPage.kernel(path).requestCommInfo({ target_name: "jupyter.widget" })
  .then(({ content }) => !Object.keys(content.comms).length)"""
STORIES = REPOSITORY / "tests" / "client" / "story_agent.py"


@pytest.mark.parametrize("story", ["works-by-itself", "works-by-itself-v2"])
@pytest.mark.parametrize("app", ["lab"], indirect=True)
def test_what_it_asks_by_itself_is_answered_where_it_is_waited_for(
    open_notebook: OpenNotebook, story: str
) -> None:
    command = shlex.join([sys.executable, str(STORIES), story])
    page = open_notebook(
        [
            f"{LOAD}\n%acp start --as busy -- {command}",
            "%%acp\ngo",
            "%acp",
            "%acp wait",
            "%acp wait",
        ]
    )
    run_start(page)
    page.run(1)
    page.wait_for_text(1, "May I?" if story.endswith("v2") else "Delete the results")
    page.wait_for_text(1, "It waits for your answer. %acp wait")
    # A card with buttons stands below the record, and where one asks what goes on.
    page.output(1).get_by_role("button", name="Yes").wait_for()
    page.run(2)
    page.wait_for_text(2, "asks: ")
    page.output(2).get_by_role("button", name="Yes").wait_for()

    page.start(3)
    page.click(3, "Yes")
    page.wait_done(3)
    page.wait_for_text(3, "outcome: selected")
    wait_for_record(page, 3)
    assert "the turn" not in page.seen(3)
    for cell in (1, 2):
        page.output(cell).get_by_role("button", name="Yes").wait_for(state="detached")
    # The record of the turn has it too.
    page.wait_for_text(1, "outcome: selected")
    page.run(4)
    page.wait_for_text(4, "the turn")
    assert problems(page) == []


@pytest.mark.parametrize("kernel", ["current", "6.31"], indirect=True)
@pytest.mark.parametrize("comms", ["perCommTarget", "disabled"], indirect=True)
@pytest.mark.parametrize("app", ["lab"], indirect=True)
def test_two_agents_are_awaited_side_by_side(open_notebook: OpenNotebook) -> None:
    page = open_notebook([START_TWO, ASK_BOTH, "'queued'"])
    page.run(0)
    page.start(1)
    page.start(2)
    # Both ask at the same time, and both buttons work while the cell awaits.
    buttons = page.output(1).get_by_role("button", name="Allow", exact=True)
    buttons.nth(1).wait_for()
    page.press(buttons.nth(1))
    page.wait_for_text(1, "250 rows")
    page.press(buttons.first)
    page.wait_done(1)
    page.wait_for_text(1, "['end_turn', 'end_turn']")
    page.wait_done(2)
    page.wait_for_text(2, "queued")
    assert problems(page) == []


@pytest.mark.parametrize("kernel", ["current", "6.31"], indirect=True)
def test_a_turn_that_ends_while_the_page_is_away_is_there_when_it_comes_back(
    open_notebook: OpenNotebook,
) -> None:
    # Long enough to save and leave on a slow machine: a record that comes before is not saved.
    page = open_notebook([START_DEMO, "%%acp\n/slow 10", "%%acp\n/plan"])
    run_start(page)
    page.start(1)
    page.wait_for_text(1, "takes its time")
    page.save()
    page.leave()
    page.app.wait_for_idle_kernel(page.name)
    page.come_back()
    page.wait_for_text(1, "Finished")
    wait_for_record(page, 1)
    assert "takes its time" in page.seen(1)
    assert WIDGET_MIME not in json.dumps(page.save())
    page.run(2)
    wait_for_record(page, 2)
    # No model is left behind, whoever placed the record.
    page.wait_for("no widget is left", NO_WIDGETS)
    assert problems(page) == []


@pytest.mark.parametrize("when", ["early", "late"])
@pytest.mark.parametrize("app", ["lab"], indirect=True)
def test_a_session_is_taken_up_after_a_restart_of_the_kernel(
    open_notebook: OpenNotebook, tmp_path: Path, when: str
) -> None:
    words = [sys.executable, str(STORIES), "only-loads", str(tmp_path / "memory"), when]
    start = f"{LOAD}\n%acp start --as keeper -- {shlex.join(words)}"
    page = open_notebook(
        [start, "%%acp\none", "%%acp\ntwo", start, "%acp resume first", "%%acp\nthree"]
    )
    run_start(page)
    page.run(1)
    page.run(2)
    # A close that is still on its way finds no comm after a restart, and JupyterLab reports that.
    page.wait_for("no widget is left", NO_WIDGETS)
    page.restart_kernel()

    run_start(page, 3)
    page.run(4)
    page.wait_for_text(4, "heard two")
    assert re.search(r"one\s+heard one\s+\W*two\s+heard two", page.seen(4))
    wait_for_record(page, 4)
    page.run(5)
    page.wait_for_text(5, "remembered: ['one', 'two', 'three']")
    assert "heard" not in page.seen(5)
    assert "three" not in page.seen(4)
    assert problems(page) == []
