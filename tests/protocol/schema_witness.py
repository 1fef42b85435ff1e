"""The official JSON schemas, from the npm package that tests/agents installs.

They are the witness: the tests read names and unions from them, so that a new release shows what
this package does not know yet.
"""

from __future__ import annotations

import functools
import json
from pathlib import Path

import jsonschema
import pytest

AGENTS = Path(__file__).parent.parent / "agents"
SCHEMAS = AGENTS / "node_modules" / "@agentclientprotocol" / "sdk" / "schema"


@functools.cache
def definitions(version):
    """The `$defs` of the stable schema of a version."""
    path = SCHEMAS / f"v{version}" / "schema.json"
    if not path.exists():
        pytest.fail(
            f"The official ACP v{version} schema is not installed. Run `npm ci` in tests/agents."
        )
    return json.loads(path.read_text())["$defs"]


@functools.cache
def _validator(version, name):
    schema = {"$ref": f"#/$defs/{name}", "$defs": definitions(version)}
    return jsonschema.Draft202012Validator(schema)


def faults(version, name, value):
    """Every reason for which the value is no `name`."""
    return [
        f"no v{version} {name}: {error.json_path}: {error.message[:300]}"
        for error in _validator(version, name).iter_errors(value)
    ]


def check(version, name, value):
    """Fail with every reason for which the value is no `name`."""
    errors = faults(version, name, value)
    assert not errors, f"{errors}\n{json.dumps(value)[:500]}"


def is_valid(version, name, value):
    """Whether the value is a `name`."""
    return _validator(version, name).is_valid(value)


def params_name(version, method, side):
    """The definition of a method's params; `side` is who receives it, agent or client."""
    found = [
        name
        for name, schema in definitions(version).items()
        if schema.get("x-method") == method
        and schema.get("x-side") in {side, "both"}
        and not name.endswith("Response")
    ]
    assert len(found) == 1, f"{method} for the {side}: {found}"
    return found[0]


def update_kinds(version):
    """Every known `sessionUpdate` of the stable schema."""
    union = definitions(version)["SessionUpdate"]
    kinds = [
        variant.get("properties", {}).get("sessionUpdate", {}).get("const")
        for variant in union.get("oneOf", union.get("anyOf"))
    ]
    return sorted(kind for kind in kinds if kind is not None)


def properties(version, name):
    """Every member that any variant of a definition knows, and those that all require."""
    return _properties(version, definitions(version)[name])


def _properties(version, schema):
    if "$ref" in schema:
        return properties(version, schema["$ref"].rsplit("/", 1)[-1])
    known = set(schema.get("properties", {}))
    required = set(schema.get("required", []))
    for part in schema.get("allOf", []):
        more, needed = _properties(version, part)
        known |= more
        required |= needed
    for union in ("anyOf", "oneOf"):
        variants = [_properties(version, variant) for variant in schema.get(union, [])]
        if variants:
            known |= set().union(*(more for more, _ in variants))
            required |= set.intersection(*(needed for _, needed in variants))
    return known, required
