from __future__ import annotations

import difflib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acp_notebook.budget import BoundedMatcher, Budget, TooCostly

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


@given(LINES, LINES)
def test_a_comparison_within_its_steps_is_the_librarys(before: list[str], after: list[str]) -> None:
    ours = BoundedMatcher(before, after, autojunk=False)
    theirs = difflib.SequenceMatcher(None, before, after, autojunk=False)
    assert ours.get_opcodes() == theirs.get_opcodes()


def test_a_comparison_gives_up_at_the_same_step_everywhere() -> None:
    with pytest.raises(TooCostly):
        BoundedMatcher(["a"] * 1_000, ["a"] * 1_000, autojunk=False).get_opcodes()
    BoundedMatcher(["a"] * 500, ["a"] * 500, autojunk=False).get_opcodes()
