"""Bounds for work whose cost an agent chooses: processor time, and steps of a comparison.

Lexers, parsers and comparisons need time that may grow with the square of a text, or faster. Such
work asks its budget now and then, and gives up when that is spent; its caller shows plain text and
the reason. Knows no such work.
"""

from __future__ import annotations

import difflib
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import accumulate
from typing import Final

COMPARISON_STEPS: Final = 600_000
"""What one comparison may cost: about a tenth of a second."""

ORDINARY_SECONDS_PER_CHAR: Final = 10e-6
"""What tables and lists full of links need on a slow machine; prose needs a tenth."""


class TooCostly(Exception):
    """The work was given up. Its text is shown plain."""


class Budget:
    """The processor time that a piece of work may take on its thread.

    Processor time, because a busy machine must not change what is shown.
    """

    def __init__(self, seconds: float, clock: Callable[[], float] = time.thread_time) -> None:
        self.seconds = seconds
        self._clock = clock
        self._end = clock() + seconds

    def renew(self, seconds: float | None = None) -> None:
        """Begin another piece of work, of other seconds if they are given."""
        self._end = self._clock() + (self.seconds if seconds is None else seconds)

    @property
    def is_spent(self) -> bool:
        """Whether the time is over."""
        return self._clock() >= self._end

    def part(self, seconds: float) -> Budget:
        """Return a budget for a part of the work, which ends with this one at the latest."""
        rest = self._end - self._clock()
        return Budget(min(seconds, rest), self._clock)

    def check(self) -> None:
        """Give up if the time is over.

        Raises:
            TooCostly: It is.
        """
        if self.is_spent:
            raise TooCostly


class Credit:
    """The time for many texts, such as those of one record, of which ordinary ones cost nothing.

    Each text gets the time that ordinary ones of its size need, and what is left of the credit,
    from which only the time beyond the ordinary is taken. So a long record of ordinary texts is
    whole, however long. When nothing is left, texts are still tried for the ordinary time, and
    after as much again in vain no more.

    Args:
        seconds: The credit.
        ordinary: Seconds per character that cost nothing.
        clock: The time.
    """

    def __init__(
        self,
        seconds: float,
        ordinary: float = ORDINARY_SECONDS_PER_CHAR,
        clock: Callable[[], float] = time.thread_time,
    ) -> None:
        self.left = seconds
        """What is left of the credit; less than 0 after tries in vain."""
        self._least = -seconds / 2
        self._ordinary = ordinary
        self._clock = clock

    @contextmanager
    def spend(self, chars: int) -> Iterator[Budget]:
        """Give a budget for a text of this size, and take what it cost."""
        ordinary = self._ordinary * chars
        seconds = 0.0 if self.left <= self._least else max(self.left, 0.0) + ordinary
        budget, began = Budget(seconds, self._clock), self._clock()
        try:
            yield budget
        finally:
            spent = self._clock() - began
            is_vain = budget.is_spent and seconds > 0
            self.left -= spent if is_vain else max(0.0, spent - ordinary)


class BoundedMatcher(difflib.SequenceMatcher[str]):
    """A comparison of two sequences that gives up beyond a number of steps.

    Every method that compares may raise `TooCostly`.
    """

    def __init__(
        self,
        before: Sequence[str],
        after: Sequence[str],
        *,
        autojunk: bool,
        steps: int = COMPARISON_STEPS,
    ) -> None:
        super().__init__(None, before, after, autojunk=autojunk)
        self.left = steps
        """The steps that are left."""
        # A search visits every equal element of the other side, whatever its range there.
        equal = (1 + len(self.b2j.get(each, ())) for each in before)  # type: ignore[attr-defined]
        self._cost = list(accumulate(equal, initial=0))

    def find_longest_match(
        self, alo: int = 0, ahi: int | None = None, blo: int = 0, bhi: int | None = None
    ) -> difflib.Match:
        """Search as the library does, within the steps.

        Raises:
            TooCostly: The steps are used up.
        """
        end = len(self._cost) - 1 if ahi is None else ahi
        self.left -= self._cost[end] - self._cost[alo]
        if self.left < 0:
            raise TooCostly
        return super().find_longest_match(alo, ahi, blo, bhi)
