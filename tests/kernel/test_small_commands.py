"""What small commands say when there is nothing to do, or something is wrong."""

from __future__ import annotations

import pytest
from shell_bench import shell_bench

import acp_notebook as acp


@pytest.fixture(scope="module")
def bench():
    with shell_bench() as bench:
        bench.run("%acp start demo")
        yield bench


def test_a_login_that_nobody_wants_is_told_so(bench):
    told = bench.shown("%acp login")
    assert told == "demo has not asked for a login, and offers none."


def test_a_session_that_is_unknown_is_told_in_whole_sentences(bench):
    told = bench.fail("%acp resume nonsense")
    assert told.startswith("The session nonsense could not be taken up: There is no open session")
    assert told.endswith(". %acp sessions lists those there are; %acp new opens a new one.")
    assert "%acp log %acp" not in told


def test_an_agent_that_does_not_start_is_not_looked_up_in_a_log_that_it_has_not(bench):
    told = bench.fail("%acp start -- /bin/true")
    assert "ended with exit code 0" in told
    assert "%acp log" not in told
    assert "run it in a terminal: /bin/true" in told


def test_what_stands_allowed_is_shown_and_taken_back_singly(bench):
    session = bench.magics.state.roster.find().session
    assert "Permission policy of demo: ask. Nothing is allowed beyond it." in bench.shown(
        "%acp permissions"
    )
    session.live.respondents.grants |= {"run_code": None, "double": None}
    shown = bench.shown("%acp permissions")
    assert "%acp permissions forget run_code" in shown
    assert "A new policy takes back what was allowed in this notebook." in shown
    assert "ask; run_code allowed; double allowed" in bench.shown("%acp")
    assert "run_code" not in bench.shown("%acp permissions forget run_code")
    assert session.grants == ("double",)
    bench.run("%acp permissions reads")
    assert session.grants == ()
    session.live.respondents.grants |= {"run_code": None}
    assert "Nothing is allowed beyond it." in bench.shown("%acp permissions forget")
    assert "Only `forget` takes the name of a tool" in bench.fail("%acp permissions ask run_code")


def test_agents_that_python_code_started_are_listed_named_and_ended(bench, capsys):
    mine = [acp.start("demo"), acp.start("demo")]
    told = bench.shown("%acp")
    assert [line.split("  ")[0] for line in told.splitlines()[1:4]] == ["demo", "demo-2", "demo-3"]
    assert "Python code started these agents: demo-2, demo-3." in told
    assert "%acp prompt --to demo-2" in told
    bench.run("%acp quit demo-2")
    assert capsys.readouterr().out.endswith("Ended: demo-2.\n")
    assert [agent.has_quit for agent in mine] == [True, False]
    assert "demo-3" in bench.shown("%acp"), "the other one keeps its name"
    bench.run("%acp quit --all")
    assert capsys.readouterr().out.endswith("Ended: demo, demo-3.\n")
    assert mine[1].has_quit
    assert "No agent is running" in bench.shown("%acp")


def test_an_agent_that_python_code_started_has_to_be_named(bench):
    mine = acp.start("demo", label="mine")
    told = bench.fail("%acp prompt hello")
    assert told.startswith("Python code started mine: say which one you mean by its name")
    bench.run("%acp prompt --quiet --to mine hello")
    assert len(mine.session.turns) == 1
    bench.run("%acp quit mine")
