from __future__ import annotations

import pytest

from acp_notebook.render import labels as words
from acp_notebook.session import updates as u
from acp_notebook.session.reducer import apply
from acp_notebook.session.state import Permission, SessionState, Usage

OPTIONS = tuple(
    u.PermissionOption(kind, f"Agent's {kind}", kind)
    for kind in ("allow_once", "allow_always", "reject_once", "reject_always", "_maybe")
)


@pytest.mark.requirement("STATE-3")
def test_every_stop_reason_has_its_own_words() -> None:
    reasons = ["end_turn", "max_tokens", "max_turn_requests", "refusal", "cancelled", "error"]
    said = [words.stop_words(reason).text for reason in reasons]
    assert len(set(said)) == len(reasons)
    assert not any("_" in text for text in said)


@pytest.mark.requirement("STATE-3")
def test_an_unknown_stop_reason_is_shown_as_it_came() -> None:
    assert words.stop_words("_quota").text == "Stopped: _quota"
    assert words.stop_words(None).text == "Ended without saying why"
    assert words.stop_words(None, u.Failure("boom")).text == "Ended with an error"


@pytest.mark.requirement("STATE-1")
def test_an_unknown_state_is_shown_and_not_taken_for_idle() -> None:
    state = SessionState(activity="_dreaming")
    assert words.state_words(state).text == "_dreaming"
    waiting = words.state_words(SessionState(activity="requires_action"))
    assert waiting.text == "Waiting, but nothing is asked here"


def test_states_of_our_own_come_first() -> None:
    state = SessionState(activity="running", is_cancelling=True)
    assert words.state_words(state).text == "Stopping…"
    state.is_connected = False
    assert words.state_words(state).text == "The agent is gone"
    waiting = SessionState()
    apply(waiting, u.PromptSent(u.PromptId("p"), ()))
    assert words.state_words(waiting).text == "Starting"


def test_unknown_statuses_and_kinds_are_generic() -> None:
    assert words.status_words("_odd") == words.Wording("_odd", "◐", "busy")
    assert words.kind_of("_odd") == "other"


@pytest.mark.parametrize(
    ("option", "text"),
    [
        ("allow_once", "Allowed once"),
        ("allow_always", "Allowed from now on"),
        ("reject_once", "Rejected"),
        ("reject_always", "Rejected from now on"),
        ("_maybe", "Answered: Agent's _maybe"),
        ("gone", "Answered: gone"),
        (None, "Not answered: cancelled"),
    ],
)
def test_answers_in_words(option: str | None, text: str) -> None:
    request = u.PermissionRequested(u.PermissionId("q"), "May I?", OPTIONS)
    answer = u.PermissionSettled(u.PermissionId("q"), option, "you")
    assert words.answer_words(Permission(request, answer)).text == text


def test_an_answer_that_lasts_is_told_by_its_kind() -> None:
    assert [words.is_lasting(option) for option in OPTIONS] == [False, True, False, True, False]


@pytest.mark.requirement("USE-1")
def test_usage_that_makes_no_sense_is_not_shown_as_a_share() -> None:
    assert words.usage_words(Usage(50, 200)) == "50 of 200 tokens (25%)"
    assert words.usage_words(Usage(50, 0)) == "50 tokens"
    assert words.usage_words(Usage(300, 200)) == "300 tokens"
    assert words.usage_words(Usage(-1, 0)) == ""
    cost = u.Cost(1.5, "EUR")
    assert words.usage_words(Usage(0, 0, cost)) == "€1.50"


@pytest.mark.parametrize(
    ("amount", "text"),
    [
        (0, "$0.00"),
        (0.00004, "under $0.0001"),
        (0.00012345, "$0.000123"),
        (0.0123, "$0.0123"),
        (0.045, "$0.045"),
        (0.5, "$0.50"),
        (0.9999, "$1.00"),
        (12.3, "$12.30"),
        (1234.5, "$1,234.50"),
        (-1, "$-1.00"),
        (float("inf"), "$inf"),
        (float("nan"), "$nan"),
    ],
)
def test_money_has_the_digits_that_tell_something(amount: float, text: str) -> None:
    assert words.cost_words(u.Cost(amount, "USD")) == text
    named = words.cost_words(u.Cost(amount, "XYZ"))
    assert named == text.replace("$", "") + " XYZ"


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.04, "0.0 s"), (3.24, "3.2 s"), (59.4, "59 s"), (125, "2 min 05 s"), (3725, "1 h 02 min")],
)
def test_durations_as_people_write_them(seconds: float, text: str) -> None:
    assert words.elapsed_words(seconds) == text
