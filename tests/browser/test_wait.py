"""How a cell waits in the real page: order, background, agents that do not start, stop or live."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from prompting import (
    START_DEMO,
    is_running,
    problems,
    run_start,
    start_bad,
    wait_for_record,
    was_run,
)

if TYPE_CHECKING:
    from conftest import OpenNotebook

FIND_PROCESS = """
import psutil
agent, = get_ipython().magics_manager.registry["AcpMagics"].state.roster
process = psutil.Process(agent.pid)
"""

# Blocks the main thread without any help of ours, so that only a subshell can serve a click.
BLOCK_UNTIL_THE_TURN_IS_OVER = "print('blocking', flush=True)\nturn.done.result(60)\nprint('over')"


def test_queued_cells_keep_their_order(open_notebook: OpenNotebook) -> None:
    page = open_notebook(
        [
            f"{START_DEMO}\norder = []",
            "%%acp\n/permission",
            "order.append('after the question')",
            "%%acp --out turn\nHello!",
            "order.append(turn.stop_reason)\nprint(order)",
        ]
    )
    page.run_all()
    page.wait_for_text(1, "Waiting for you")
    assert not was_run(page, 2)
    page.click(1, "Allow")
    page.wait_idle()
    page.wait_for_text(4, "['after the question', 'end_turn']")
    page.wait_for_text(3, "I am the demo agent")
    assert problems(page) == []


def test_background_turn_is_answered_while_another_cell_blocks(open_notebook: OpenNotebook) -> None:
    page = open_notebook(
        [
            START_DEMO,
            "%%acp --background --out turn\n/permission",
            BLOCK_UNTIL_THE_TURN_IS_OVER,
            "%acp wait",
        ]
    )
    run_start(page)
    page.run(1)
    page.wait_for_text(1, "Waiting for you")
    page.start(2)
    page.wait_for_text(2, "blocking")
    page.click(1, "Allow")
    page.wait_done(2)
    page.wait_for_text(2, "over")
    page.wait_for_text(1, "250 rows")
    wait_for_record(page, 1)
    page.run(3)
    page.wait_for_text(3, "250 rows")
    wait_for_record(page, 3)
    assert problems(page) == []


@pytest.mark.parametrize("app", ["lab"], indirect=True)
@pytest.mark.parametrize("kernel", ["6.31"], indirect=True)
@pytest.mark.parametrize("comms", ["disabled"], indirect=True)
def test_waiting_for_a_background_turn_serves_its_buttons(open_notebook: OpenNotebook) -> None:
    page = open_notebook([START_DEMO, "%%acp --background\n/permission", "%acp wait"])
    run_start(page)
    page.run(1)
    page.wait_for_text(1, "Waiting for you")
    page.start(2)
    page.wait_for_text(2, "Waiting for you")
    page.click(1, "Reject")
    page.wait_done(2)
    for cell in (1, 2):
        page.wait_for_text(cell, "All right, I leave it alone.")
        wait_for_record(page, cell)
    assert problems(page) == []


@pytest.mark.parametrize("app", ["lab"], indirect=True)
def test_agent_that_ignores_a_cancel_holds_nobody(open_notebook: OpenNotebook) -> None:
    page = open_notebook(
        [start_bad("ignores-cancel"), "%%acp\nWork!", "print('free')", "%%acp\nMore!", "%acp"]
    )
    run_start(page)

    page.start(1)
    page.wait_for_text(1, "working")
    page.interrupt()
    page.wait_for_text(1, "more 21")
    assert is_running(page, 1)
    page.interrupt()
    page.wait_idle(seconds=4)
    page.wait_for_text(1, "Stopped waiting.")
    page.run(2)
    page.wait_for_text(2, "free")
    assert problems(page) == []


@pytest.mark.parametrize("app", ["lab"], indirect=True)
def test_stop_pressed_twice_ends_the_process(open_notebook: OpenNotebook) -> None:
    page = open_notebook(
        [
            start_bad("ignores-cancel"),
            FIND_PROCESS,
            "%%acp\nWork!",
            "print('alive' if process.is_running() else 'gone')",
        ]
    )
    run_start(page)
    page.run(1)
    page.start(2)
    page.wait_for_text(2, "working")
    page.click(2, "Stop")
    page.button(2, "press again to end the agent", exact=False).click()
    page.wait_idle()
    page.wait_for_text(2, "Cancelled")
    assert "working" in page.seen(2)
    page.run(3)
    page.wait_for_text(3, "gone")
    assert problems(page) == []


@pytest.mark.parametrize("app", ["notebook"], indirect=True)
def test_start_without_an_answer_is_shown_and_stopped(open_notebook: OpenNotebook) -> None:
    page = open_notebook([start_bad("silent"), "%acp"])
    page.start(0)
    page.wait_for_text(0, "fetching package 3 of 3")
    page.wait_for_text(0, "Starting bad … 3 s")
    assert is_running(page, 0)
    page.click(0, "Stop")
    page.wait_done(0)
    page.wait_for_text(0, "The start of bad was stopped.")
    assert "Traceback" not in page.seen(0)
    page.run(1)
    page.wait_for_text(1, "No agent is running.")
    assert problems(page) == []


@pytest.mark.parametrize("app", ["notebook"], indirect=True)
def test_agent_that_dies_is_started_again_by_the_next_prompt(open_notebook: OpenNotebook) -> None:
    page = open_notebook([START_DEMO, "%%acp\n/crash", "%%acp\nAre you back?"])
    run_start(page)
    page.run(1)
    page.wait_for_text(1, "The agent demo ended with exit code 3")
    assert "I begin to answer" in page.seen(1)
    page.run(2)
    page.wait_for_text(2, "Are you back?")
    page.wait_for_text(2, "Finished")
    assert problems(page) == []
