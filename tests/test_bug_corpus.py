"""Every reported fault and every oddity of a real agent has a test that exists, or a reason."""

from __future__ import annotations

import ast
import functools
import tomllib
from pathlib import Path

import pytest

TESTS = Path(__file__).parent
CORPUS = tomllib.loads((TESTS / "bug_corpus.toml").read_text())
ROWS = [*CORPUS["faults"].items(), *((row["text"], row) for row in CORPUS["quirks"])]


@functools.cache
def names_of_tests(path):
    """Every test of a file, as `test_name` or `TestClass::test_name`."""
    found = set()
    for node in ast.parse(path.read_text()).body:
        functions = node.body if isinstance(node, ast.ClassDef) else [node]
        before = f"{node.name}::" if isinstance(node, ast.ClassDef) else ""
        for child in functions:
            if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef)):
                found.add(before + child.name)
    return found


def test_the_corpus_is_whole():
    numbered = [f"D{number:02}" for number in range(1, 76)]
    assert list(CORPUS["faults"]) == [*numbered, *(f"D76{letter}" for letter in "abcdefghij")]
    assert len(CORPUS["quirks"]) >= 35


@pytest.mark.parametrize(("name", "row"), ROWS, ids=[name for name, _ in ROWS])
def test_a_row_says_what_it_is_and_has_tests_that_exist_or_a_reason(name, row):
    assert set(row) in ({"text", "tests"}, {"text", "reason"})
    assert 10 < len(row["text"]) < 100
    assert len(row.get("reason", "a reason that is long enough")) > 20
    tests = row.get("tests", [])
    assert tests or "reason" in row
    assert len(tests) == len(set(tests))
    for test in tests:
        path, _, function = test.partition("::")
        assert function in names_of_tests(TESTS.parent / path), f"{name}: {test}"


def test_no_two_oddities_are_the_same():
    texts = [row["text"] for row in CORPUS["quirks"]]
    assert len(texts) == len(set(texts))
