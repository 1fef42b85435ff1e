"""Values in short: like `repr`, but bounded, and without asking what is foreign."""

from __future__ import annotations

import collections
import dataclasses
import datetime as dt
import decimal
import enum
import reprlib
import types

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from acp_notebook.kernel.context.plain_repr import bounded_repr

USUAL = reprlib.Repr()
USUAL.maxlevel = 4
USUAL.maxdict = USUAL.maxlist = USUAL.maxtuple = 30
USUAL.maxstring = USUAL.maxother = 400


class Colour(enum.Enum):
    RED = 1


@dataclasses.dataclass
class Login:
    user: str = "me"
    word: str = dataclasses.field(default="secret", repr=False)


@dataclasses.dataclass
class Masked:
    word: str = "secret"

    def __repr__(self):
        return "Masked(...)"


class Point(collections.namedtuple("Point", "x y")):  # noqa: PYI024 - the plain kind
    __slots__ = ()


class Words(list):
    pass


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ([Login()], "[Login(user='me')]"),
        ([Masked()], f"[<{__name__}.Masked object>]"),
        ([object()], "[<object object>]"),
        ({"b": 1, "a": [Colour.RED]}, "{'a': [<Colour.RED: 1>], 'b': 1}"),
        ((Point(1, "a"),), "(Point(x=1, y='a'),)"),
        (Words(["a"]), "Words(['a'])"),
        ([ValueError("x", 1)], "[ValueError('x', 1)]"),
        ({3, 1, 2}, "{1, 2, 3}"),
        ([frozenset(), set()], "[frozenset(), set()]"),
        (collections.deque([1], maxlen=2), "deque([1], maxlen=2)"),
        ([dt.date(2024, 1, 2), decimal.Decimal("1.50")], None),
        ([np.arange(3), np.float64(1.5), pd.Timestamp("2024-01-02")], None),
        ([pd.DataFrame({"a": [1, 2]})], "[<pandas.DataFrame 2 × 1>]"),  # noqa: RUF001
        ([int, len], "[<class 'int'>, <built-in function len>]"),
        ([types.SimpleNamespace(word="secret")], "[<types.SimpleNamespace object>]"),
    ],
)
def test_a_value_is_shown_as_it_is_and_a_foreign_one_by_its_kind(value, text):
    assert bounded_repr(value) == (text or USUAL.repr(value))


def test_a_number_of_too_many_digits_is_named():
    assert bounded_repr([10**9999, 1]).startswith("[<int")


PLAIN = st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.binary()
TREES = st.recursive(
    PLAIN,
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner) | st.tuples(inner, inner),
)


@given(TREES)
def test_what_is_plain_is_shown_as_before(value):
    assert bounded_repr(value) == USUAL.repr(value)
