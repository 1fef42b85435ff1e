"""The demo agent at work: plan, diff, terminal, and the tour through all of them.

All of it is pretended: no file is read or written and no command runs.
"""

from __future__ import annotations

from typing import Final

from acp_notebook.agent_kit import Turn
from acp_notebook.demo_agent.questions import allowed

_STEPS: Final = (
    ("Look at the data", "high"),
    ("Find the outliers", "high"),
    ("Repair the function", "medium"),
    ("Run the tests", "low"),
)

_OLD: Final = '''"""Statistics of a column."""


def mean(values):
    total = 0
    for value in values:
        total += value
    return total / len(values)


def spread(values):
    return max(values) - min(values)
'''
_NEW: Final = '''"""Statistics of a column."""

from statistics import fmean


def mean(values):
    if not values:
        return None
    return fmean(values)


def spread(values):
    return max(values) - min(values)
'''
_TEST: Final = """from statistics_of_column import mean


def test_mean_of_nothing_is_nothing():
    assert mean([]) is None
"""

_COMMAND: Final = "pytest -q tests"
_TERMINAL_OUTPUT: Final = (
    b"\x1b[1mcollecting ... \x1b[0mcollected 3 items\r\n\r\n",
    b"tests/test_mean.py \x1b[32m.\x1b[0m",
    b"\x1b[32m.\x1b[0m\x1b[32m.\x1b[0m",
    # The check mark is split between two writes, as happens with a real terminal.
    b"                    [100%]\r\n\r\n\x1b[32m\xe2\x9c",
    b"\x93 3 passed\x1b[0m in 0.12s\r\n",
)


async def plan(turn: Turn) -> None:
    """Show a plan and work it off."""
    await turn.stream("This is what I am going to do.\n")
    await _show_plan(turn, done=0)
    for done in range(1, len(_STEPS) + 1):
        await turn.pause(20 * turn.pace_s)
        await _show_plan(turn, done)
    await turn.stream(f"All {len(_STEPS)} steps are done.\n")


async def diff(turn: Turn) -> None:
    """Show a change of a file and a new file."""
    await turn.stream("I would change one file and add another.\n")
    await _edit(turn)
    await turn.stream("This is only a demonstration: your files are as they were.\n")


async def terminal(turn: Turn) -> None:
    """Show a command running in a terminal."""
    await turn.stream("I run the tests. (Not really: what you see is made up.)\n")
    await _run_tests(turn)
    await turn.stream("Three tests passed.\n")


async def tour(turn: Turn) -> None:
    """Show each part of a turn once."""
    await turn.title("A tour of the protocol")
    for piece in ("The user wants ", "to see everything. ", "So: **one thing after another**."):
        await turn.think(piece)
        await turn.pause()
    await turn.stream(
        "Welcome to the tour! What you read is an `agent_message_chunk`, word by word; above it"
        " is a thought, and below it a plan.\n"
    )
    await _show_plan(turn, done=0)
    may_go_on = await _look_at_data(turn)
    await _show_plan(turn, done=2)
    await turn.stream("\nNow a change of a file, shown as a diff:\n")
    await _edit(turn)
    await _show_plan(turn, done=3)
    await turn.stream("\nAnd a terminal:\n")
    await _run_tests(turn)
    await _show_plan(turn, done=4)
    await turn.usage(used=53_000, size=200_000, cost=0.045)
    looked = "250 rows, 3 outliers" if may_go_on else "not looked at, as you wished"
    await turn.stream(
        "\nThat was the tour:\n\n| part | what happened |\n| --- | --- |\n"
        f"| data | {looked} |\n| file | changed, but only on paper |\n| tests | 3 passed |\n\n"
        "Every message of it can be read: `%acp trace`.\n"
    )


async def _look_at_data(turn: Turn) -> bool:
    path = f"{turn.session.cwd}/sales.csv"
    tool = await turn.tool("Read sales.csv", kind="read", input={"path": path}, locations=[path])
    if not await allowed(turn, tool, "The tour asks for permission once. No file is touched."):
        await tool.cancel("You did not allow it.")
        return False
    await tool.start()
    for line in ("Columns: `region`, `month`, `amount`", "250 rows", "3 outliers in `amount`"):
        await turn.pause(10 * turn.pace_s)
        await tool.output(line)
    await tool.complete(output={"rows": 250, "outliers": 3})
    return True


async def _edit(turn: Turn) -> None:
    source = f"{turn.session.cwd}/statistics_of_column.py"
    test = f"{turn.session.cwd}/test_statistics_of_column.py"
    tool = await turn.tool(
        "Repair `mean` for an empty column",
        kind="edit",
        input={"paths": [source, test]},
        locations=[(source, 6), test],
    )
    await tool.diff(source, _OLD, _NEW)
    await turn.pause(10 * turn.pace_s)
    await tool.diff(test, None, _TEST)
    await tool.complete()


async def _run_tests(turn: Turn) -> None:
    tool = await turn.tool("Run the tests", kind="execute", input={"command": _COMMAND})
    shown = await tool.terminal(_COMMAND)
    for data in _TERMINAL_OUTPUT:
        await shown.write(data)
        await turn.pause(10 * turn.pace_s)
    await shown.exit(0)
    await tool.complete(output={"exitCode": 0})


async def _show_plan(turn: Turn, done: int) -> None:
    entries = [
        {"content": content, "priority": priority, "status": step_status(number, done)}
        for number, (content, priority) in enumerate(_STEPS)
    ]
    await turn.plan(entries)


def step_status(number: int, done: int) -> str:
    """Return the status of a plan's step when `done` steps are done."""
    if number < done:
        return "completed"
    return "in_progress" if number == done else "pending"
