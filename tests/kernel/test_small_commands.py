"""What small commands say when there is nothing to do, or something is wrong."""

from __future__ import annotations

import pytest
from shell_bench import shell_bench


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
