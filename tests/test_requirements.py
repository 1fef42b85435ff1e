"""Every requirement is listed and names tests that exist.

The list is `requirements.toml`; a test can also name its requirement by the marker.
"""

from __future__ import annotations

import ast
import functools
import tomllib
from pathlib import Path

import pytest

TESTS = Path(__file__).parent
ROOT = TESTS.parent
MANIFEST = tomllib.loads((TESTS / "requirements.toml").read_text())
REQUIREMENTS = MANIFEST["requirements"]
MARKER = "requirement"


@functools.cache
def tree(path):
    return ast.parse(path.read_text(), str(path))


@functools.cache
def names_of_tests(path):
    """Every test of a file, as `test_name` or `TestClass::test_name`."""
    names = set()
    for node in tree(path).body:
        if isinstance(node, ast.ClassDef):
            names |= {f"{node.name}::{name}" for name in functions(node)}
    return names | functions(tree(path))


def functions(node):
    return {
        child.name
        for child in node.body
        if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef))
        and child.name.startswith("test_")
    }


def named_tests():
    return [(name, test) for name, entry in REQUIREMENTS.items() for test in entry.get("tests", [])]


def marked():
    """(id, where) of every requirement marker, also under another name (`proves = ...`)."""
    found = []
    for path in sorted(TESTS.rglob("test_*.py")):
        if "node_modules" in path.parts or MARKER not in path.read_text():
            continue
        aliases = {
            target.id
            for node in tree(path).body
            if isinstance(node, ast.Assign)
            and isinstance(node.value, ast.Attribute)
            and node.value.attr == MARKER
            for target in node.targets
        }
        for node in ast.walk(tree(path)):
            if not isinstance(node, ast.Call):
                continue
            called = node.func
            is_marker = isinstance(called, ast.Attribute) and called.attr == MARKER
            if is_marker or (isinstance(called, ast.Name) and called.id in aliases):
                where = f"{path.relative_to(ROOT)}:{node.lineno}"
                found += [(ast.literal_eval(argument), where) for argument in node.args]
    return found


def test_the_manifest_has_exactly_the_ids_of_the_fixed_list():
    listed = [
        f"{family}-{number}"
        for family, count in MANIFEST["families"].items()
        for number in range(1, count + 1)
    ]
    assert len(listed) >= 79
    assert list(REQUIREMENTS) == listed


@pytest.mark.parametrize("name", REQUIREMENTS)
def test_a_requirement_says_what_it_is_and_names_its_tests(name):
    entry = REQUIREMENTS[name]
    assert set(entry) == {"text", "versions", "tests"}
    assert 10 < len(entry["text"]) < 100
    assert entry["versions"] in ([1], [2], [1, 2])
    assert entry["tests"]


def test_every_named_test_exists():
    missing = []
    for name, test in named_tests():
        path, _, function = test.partition("::")
        if not (ROOT / path).is_file() or function not in names_of_tests(ROOT / path):
            missing.append(f"{name}: {test}")
    assert missing == []


def test_no_test_is_named_twice_for_one_requirement():
    named = named_tests()
    assert len(named) > 150
    assert sorted(named) == sorted(set(named))


def test_every_marker_names_a_requirement():
    found = marked()
    assert len(found) > 20
    assert [(name, where) for name, where in found if name not in REQUIREMENTS] == []
