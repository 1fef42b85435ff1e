"""Prompts that end with a question mark are prompts; everything else keeps IPython's help."""

from __future__ import annotations

import pytest
from shell_bench import shell_bench


@pytest.fixture
def bench():
    with shell_bench() as bench:
        yield bench


@pytest.mark.parametrize(
    "line",
    [
        "%acp prompt Is it odd?",
        "%acp prompt Really??",
        "    %acp prompt --quiet Is it?",
        "%acp explain What's that?",
        "%acp fix why?",
    ],
)
def test_a_question_to_the_agent_is_a_prompt(bench, line):
    cell = f"if True:\n{line}\n    pass" if line.startswith(" ") else f"x = 1\n{line}\n"
    told = line.strip().removeprefix("%acp ")
    assert f"run_line_magic('acp', {told!r})" in bench.shell.transform_cell(cell)
    assert bench.shell.check_complete(line.strip() + "\n")[0] == "complete"


def test_a_question_over_two_lines_is_one_prompt(bench):
    cell = "%acp prompt What is \\\n  that?"
    assert "run_line_magic('acp', 'prompt What is    that?')" in bench.shell.transform_cell(cell)


@pytest.mark.parametrize("line", ["%acp?", "%acp sessions?", "%time prompt?", "acp.start?"])
def test_other_lines_keep_their_help(bench, line):
    assert "'pinfo'" in bench.shell.transform_cell(line)


def test_text_that_looks_like_one_stays_as_it_is(bench):
    cell = 'text = """\n%acp prompt what?\n"""\n'
    assert bench.shell.transform_cell(cell) == cell


def test_the_agent_gets_the_question(bench):
    bench.start()
    bench.run("%acp prompt Is it odd?")
    assert bench.sent()[-1][0]["text"] == "Is it odd?"


def test_an_unloaded_extension_reads_no_lines():
    with shell_bench() as bench:
        shell = bench.shell
    assert "'pinfo'" in shell.transform_cell("%acp prompt what?")
