"""Values as text within a budget, whatever they are and however they fail."""

from __future__ import annotations

import dataclasses
import functools
import subprocess
import sys

import numpy as np
import pytest

from acp_notebook.kernel.context.describe import BUDGET_CHARS, TEXT_BUDGET_CHARS, describe


class FailsInRepr:
    def __repr__(self):
        raise ValueError("not today")


class FailsInClass:
    @property
    def __class__(self):
        raise RuntimeError("no class")


class Model:
    def _repr_markdown_(self):
        return "**a model** with 3 parameters"


def test_a_text_is_told_as_it_is():
    assert describe("line\nline") == "line\nline"


def test_a_long_text_is_cut_in_the_middle_with_a_word_about_it():
    told = describe("a" * 100_000 + "END")
    assert len(told) <= TEXT_BUDGET_CHARS
    assert told.endswith("END")
    assert "characters left out" in told


@pytest.mark.parametrize("budget", [300, 2_000, BUDGET_CHARS])
@pytest.mark.parametrize(
    "value",
    [
        list(range(10**6)),
        dict.fromkeys(range(2_000), "x" * 1_000),
        np.zeros((2_000, 2_000)),
        "x" * 10,
        [["y" * 5_000] * 50] * 50,
        type("Long", (), {"__repr__": lambda _: "z" * 10**6})(),
        dataclasses,
    ],
    ids=["list", "dict", "array", "text", "nested", "long repr", "module"],
)
def test_a_description_keeps_its_budget(value, budget):
    assert len(describe(value, budget)) <= budget


def test_a_container_says_how_much_it_holds():
    told = describe(list(range(1_000)))
    assert told.startswith("list, 1,000 items")
    assert "0, 1, 2" in told


def test_a_value_whose_repr_fails_is_described_by_its_type():
    assert "FailsInRepr that cannot be shown: ValueError" in describe(FailsInRepr())


def test_a_part_whose_repr_fails_does_not_hide_the_others():
    told = describe({"good": 1, "bad": FailsInRepr()})
    assert "'good': 1" in told
    assert "FailsInRepr" in told


def test_a_value_that_fails_when_asked_for_its_class_is_described():
    assert "FailsInClass" in describe(FailsInClass())


def test_circular_structures_end():
    ring = []
    ring.append(ring)
    table = {"self": None}
    table["self"] = table

    @dataclasses.dataclass
    class Node:
        next: object = None

    node = Node()
    node.next = node
    for value in (ring, table, node):
        assert "..." in describe(value)


def test_a_value_may_describe_itself_in_markdown():
    assert "**a model** with 3 parameters" in describe(Model())


def test_a_function_is_told_by_its_source_and_a_builtin_by_its_words():
    assert "def test_circular_structures_end" in describe(test_circular_structures_end)
    assert 'raise ValueError("not today")' in describe(FailsInRepr)
    assert "builtin_function_or_method" in describe(len)


def test_a_decorated_function_a_method_and_a_class_inside_are_told_by_their_own_source():
    def decorated(function):
        @functools.wraps(function)
        def around():
            return function()

        return around

    @decorated
    def inner():
        return "the inner one"

    @dataclasses.dataclass
    class Local:
        marked: int = 1

        def method(self):
            return "the method"

    assert 'return "the inner one"' in describe(inner)
    assert 'return "the method"' in describe(Local().method)
    assert "@dataclasses.dataclass\nclass Local:" in describe(Local)
    assert describe(type("Made", (), {"__doc__": "In words."})) == "class Made\n\nIn words."


def test_a_fence_in_a_value_cannot_end_the_fence_around_it():
    told = describe(["```\nnot code"], 2_000)
    lines = told.splitlines()
    assert lines[-1] == lines[2]
    assert set(lines[-1]) == {"`"}
    assert len(lines[-1]) > 3


# arrays


def test_an_array_is_told_by_shape_type_and_statistics():
    told = describe(np.arange(12.0).reshape(3, 4))
    assert "numpy array, shape (3, 4), dtype float64, min 0.0, max 11.0, mean 5.5" in told


def test_missing_numbers_are_counted():
    told = describe(np.array([1.0, np.nan, 3.0]))
    assert "1 of 3 values are NaN, min 1.0, max 3.0, mean 2.0" in told


@pytest.mark.parametrize(
    "array",
    [
        np.array([]),
        np.array([np.nan]),
        np.array([1 + 2j]),
        np.array(["a", "b"]),
        np.array([{"a": 1}, None], dtype=object),
        np.array(["2024-01-01"], dtype="datetime64[D]"),
        np.zeros(3, dtype=[("x", "f4"), ("y", "i4")]),
        np.array(5),
        np.ma.masked_array([1, 2], mask=[True, False]),
        np.float64(3.5),
    ],
    ids=str,
)
def test_arrays_of_every_kind_are_described(array):
    assert "cannot be shown" not in describe(array)


@pytest.mark.process
def test_describing_imports_no_library():
    code = (
        "import sys; from acp_notebook.kernel.context import blocks, describe, pictures;"
        "describe.describe([1]); pictures.picture_of([1]);"
        "print({'numpy', 'pandas', 'polars', 'matplotlib', 'PIL', 'plotly'} & set(sys.modules))"
    )
    command = [sys.executable, "-c", code]
    run = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    assert run.stdout.strip() == "set()"
