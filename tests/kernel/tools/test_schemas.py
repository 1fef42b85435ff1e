"""What a built-in tool takes: a call that does not fit is refused with words, and fast."""

from __future__ import annotations

import subprocess
import sys

import jsonschema
import pytest

from acp_notebook.kernel.tools.results import ToolFailure
from acp_notebook.kernel.tools.schemas import BUILT_IN, check

CALLS = [
    ("list_variables", {}),
    ("list_variables", {"containing": "a"}),
    ("list_variables", {"containing": 1}),
    ("list_variables", {"other": "a"}),
    ("inspect", {}),
    ("inspect", {"name": None}),
    ("inspect", {"name": "x", "offset": 0}),
    ("inspect", {"name": "x", "offset": 2.0}),
    ("inspect", {"name": "x", "offset": -1}),
    ("inspect", {"name": "x", "offset": 1.5}),
    ("inspect", {"name": "x", "offset": True}),
    ("inspect", {"name": "x", "offset": "0"}),
    ("inspect", {"name": "x", "offset": 10**400}),
    ("run_code", {"code": "1", "time_limit": 1}),
    ("run_code", {"code": "1", "time_limit": 0.5}),
    ("run_code", {"code": "1", "time_limit": 3601}),
    ("run_code", {"code": ["1"]}),
    ("read_cells", {"last": 50, "number": 1}),
    ("read_cells", {"last": 51}),
    ("propose_cell", {"code": "1", "title": ""}),
    ("propose_cell", {"title": "no code"}),
]


@pytest.mark.parametrize(("name", "arguments"), CALLS)
def test_the_check_agrees_with_a_validator(name, arguments):
    (schema,) = [tool["inputSchema"] for tool in BUILT_IN if tool["name"] == name]
    if jsonschema.Draft202012Validator(schema).is_valid(arguments):
        check(name, arguments)
    else:
        with pytest.raises(ToolFailure, match=f"{name} cannot take this"):
            check(name, arguments)


def test_only_rules_that_the_check_knows_are_written():
    for tool in BUILT_IN:
        for rule in tool["inputSchema"]["properties"].values():
            assert rule["type"] in {"string", "integer", "number"}
            assert rule.keys() <= {"type", "description", "minimum", "maximum"}


def test_every_fault_is_named_with_what_would_do():
    with pytest.raises(ToolFailure) as failure:
        check("inspect", {"nam": "x", "offset": -1})
    assert str(failure.value) == (
        "inspect cannot take this: name is missing; there is no nam; it takes name, offset; "
        "offset must be at least 0."
    )


@pytest.mark.parametrize("value", [float("nan"), float("inf"), float("-inf")])
def test_a_number_is_finite(value):
    with pytest.raises(ToolFailure, match="a number"):
        check("run_code", {"code": "1", "time_limit": value})


def test_the_first_call_waits_for_no_validator():
    code = (
        "import sys\n"
        "from acp_notebook.kernel.tools.schemas import check\n"
        "check('inspect', {'name': 'x'})\n"
        "print('jsonschema' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout.strip() == "False"
