"""The built-in tools as MCP lists them, and the check of arguments. Knows no tool's code."""

from __future__ import annotations

from math import isfinite
from typing import Any, Final

from acp_notebook.kernel.tools.results import ToolFailure

_READS: Final = {"readOnlyHint": True, "openWorldHint": False}


def _tool(
    name: str,
    title: str,
    description: str,
    properties: dict[str, Any],
    *required: str,
    annotations: dict[str, Any],
) -> dict[str, Any]:
    schema = {"type": "object", "properties": properties, "additionalProperties": False}
    if required:
        schema["required"] = list(required)
    return {
        "name": name,
        "title": title,
        "description": description,
        "inputSchema": schema,
        "annotations": annotations,
    }


BUILT_IN: Final[list[dict[str, Any]]] = [
    _tool(
        "list_variables",
        "List the notebook's variables",
        "The variables of the user's live Python kernel: name, type, size. No modules, nothing "
        "private.",
        {"containing": {"type": "string", "description": "Only names that contain this."}},
        annotations=_READS,
    ),
    _tool(
        "inspect",
        "Inspect a variable",
        "Describes one variable: frames by schema, nulls, summary, first and last rows; arrays by "
        "shape and range; functions by source. An object of another kind is shown by its own "
        "repr() or _repr_markdown_(); nothing else is run, so for a property use run_code. Long "
        "descriptions come in pages.",
        {
            "name": {
                "type": "string",
                "description": "A variable, or a path in it: df, df.price, config['a'][0].",
            },
            "offset": {
                "type": "integer",
                "minimum": 0,
                "description": "Where the page begins, as the page before said.",
            },
        },
        "name",
        annotations=_READS,
    ),
    _tool(
        "run_code",
        "Run Python in the notebook's kernel",
        "Runs Python (IPython) code in the user's namespace, after the user allowed it. Returns "
        "what it prints, the value of its last expression, figures as images, or the traceback, "
        "and which variables changed. The user sees code and output. input() is not available.",
        {
            "code": {"type": "string", "description": "The code, as in a notebook cell."},
            "time_limit": {
                "type": "number",
                "minimum": 1,
                "maximum": 3600,
                "description": "Seconds after which it is interrupted; 60 by default.",
            },
        },
        "code",
        annotations={"readOnlyHint": False, "destructiveHint": True},
    ),
    _tool(
        "read_cells",
        "Read executed cells",
        "The source and the text outputs of the cells that the user has run, oldest first.",
        {
            "last": {
                "type": "integer",
                "minimum": 1,
                "maximum": 50,
                "description": "How many of the last cells; 10 by default.",
            },
            "number": {
                "type": "integer",
                "minimum": 1,
                "description": "Only the cell with this prompt number.",
            },
        },
        annotations=_READS,
    ),
    _tool(
        "propose_cell",
        "Propose a cell",
        "Offers code to the user as a new notebook cell. It is shown, not inserted and not run: "
        "the user decides.",
        {
            "code": {"type": "string", "description": "The cell's source."},
            "title": {"type": "string", "description": "What it is for, in a few words."},
        },
        "code",
        annotations={"readOnlyHint": True, "openWorldHint": False},
    ),
]
SCHEMAS: Final[dict[str, Any]] = {tool["name"]: tool["inputSchema"] for tool in BUILT_IN}
_TYPES: Final = {"string": "a text", "integer": "a whole number", "number": "a number"}


def check(name: str, arguments: dict[str, Any]) -> None:
    """Check a call against the tool's schema.

    Checked by hand: the schemas use little of JSON Schema, and importing a full validator would
    delay a session's first call by seconds.

    Raises:
        ToolFailure: The arguments do not fit; the message names the faults.
    """
    schema = SCHEMAS[name]
    properties = schema["properties"]
    faults = [f"{each} is missing" for each in schema.get("required", ()) if each not in arguments]
    for given, value in arguments.items():
        if given not in properties:
            faults.append(f"there is no {given[:100]}; it takes {', '.join(properties)}")
        else:
            faults += _faults(given, value, properties[given])
    if faults:
        raise ToolFailure(f"{name} cannot take this: {'; '.join(faults)}.")


def _faults(name: str, value: Any, rule: dict[str, Any]) -> list[str]:
    kind = rule["type"]
    if kind == "string":
        fits = isinstance(value, str)
    elif isinstance(value, float):
        fits = isfinite(value) and (kind == "number" or value.is_integer())
    else:
        fits = isinstance(value, int) and not isinstance(value, bool)
    if not fits:
        return [f"{name} must be {_TYPES[kind]}"]
    if value < rule.get("minimum", value):
        return [f"{name} must be at least {rule['minimum']}"]
    if value > rule.get("maximum", value):
        return [f"{name} must be at most {rule['maximum']}"]
    return []
