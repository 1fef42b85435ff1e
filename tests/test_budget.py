from __future__ import annotations

import difflib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acp_notebook.budget import BoundedMatcher, Budget, Credit, TooCostly

LINES = st.lists(st.sampled_from("abcd"), max_size=30)


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def test_a_budget_is_spent_when_its_time_is_over() -> None:
    clock = Clock()
    budget = Budget(1.0, clock)
    budget.check()
    clock.now = 1.0
    assert budget.is_spent
    with pytest.raises(TooCostly):
        budget.check()
    budget.renew()
    assert not budget.is_spent


def test_a_part_ends_with_the_whole() -> None:
    clock = Clock()
    budget = Budget(1.0, clock)
    clock.now = 0.9
    part, short = budget.part(5.0), budget.part(0.01)
    clock.now = 0.95
    assert (part.is_spent, short.is_spent) == (False, True)
    clock.now = 1.0
    assert part.is_spent


def spend(credit: Credit, clock: Clock, chars: int, seconds: float) -> float:
    """Spend the seconds, or what the credit has for the text, which is returned."""
    with credit.spend(chars) as budget:
        begun = clock.now
        while clock.now < begun + seconds and not budget.is_spent:
            clock.now += 0.25
        return clock.now - begun


def test_ordinary_texts_cost_no_credit() -> None:
    clock = Clock()
    credit = Credit(2.0, 0.01, clock)
    assert sum(spend(credit, clock, 100, 1.0) for _ in range(50)) == 50
    assert credit.left == 2.0


def test_costly_texts_share_a_credit_and_are_then_tried_in_vain_a_few_times() -> None:
    clock = Clock()
    credit = Credit(2.0, 0.01, clock)
    spent = [spend(credit, clock, 50, 10.0) for _ in range(50)]
    assert spent[0] == 2.5
    assert sum(spent) <= 2.0 + 1.0 + 3 * 0.5
    assert spent[-1] == 0


def test_an_ordinary_text_after_costly_ones_has_its_time() -> None:
    clock = Clock()
    credit = Credit(2.0, 0.01, clock)
    spend(credit, clock, 50, 2.25)
    spend(credit, clock, 50, 0.75)
    assert credit.left == -0.5, "the last text was given up, so that all of its time counts"
    assert spend(credit, clock, 50, 0.25) == 0.25
    assert credit.left == -0.5


def test_a_credit_without_an_ordinary_time_is_one_budget() -> None:
    clock = Clock()
    credit = Credit(1.0, 0.0, clock)
    assert [spend(credit, clock, 1_000, 0.5) for _ in range(4)] == [0.5, 0.5, 0.0, 0.0]


@given(LINES, LINES)
def test_a_comparison_within_its_steps_is_the_librarys(before: list[str], after: list[str]) -> None:
    ours = BoundedMatcher(before, after, autojunk=False)
    theirs = difflib.SequenceMatcher(None, before, after, autojunk=False)
    assert ours.get_opcodes() == theirs.get_opcodes()


def test_a_comparison_gives_up_at_the_same_step_everywhere() -> None:
    with pytest.raises(TooCostly):
        BoundedMatcher(["a"] * 1_000, ["a"] * 1_000, autojunk=False).get_opcodes()
    BoundedMatcher(["a"] * 500, ["a"] * 500, autojunk=False).get_opcodes()
