"""The official ACP schemas as a strict judge of what we send.

The schemas are lenient by design: most unions end in an open alternative, and no object forbids
members. Both are closed here, so that a misspelt member or discriminator is found.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

import jsonschema
import pytest

SDK = Path(__file__).parents[1] / "agents" / "node_modules" / "@agentclientprotocol" / "sdk"
INSTALL = (
    "The official ACP schemas are not installed. They come with the npm package"
    " @agentclientprotocol/sdk: run `npm ci` in tests/agents (Node 20 or newer)."
)
PARTS = ("allOf", "anyOf", "oneOf")
FREE_TEXT = frozenset({"text", "data", "sessionId"})


class OfficialSchema:
    """One version's schema."""

    def __init__(self, version):
        path = SDK / "schema" / f"v{version}" / "schema.json"
        if not path.exists():
            pytest.fail(INSTALL)
        self.version = version
        self.definitions = json.loads(path.read_text())["$defs"]
        self.names = {
            (definition["x-method"], _role(name)): name
            for name, definition in self.definitions.items()
            if "x-method" in definition
        }
        self.strict = {name: _closed(d) for name, d in self.definitions.items()}
        self._passed = set()

    def check(self, definition, value):
        shape = (definition, json.dumps(_without_words(value)))
        if shape in self._passed:
            return
        schema = {"$ref": f"#/$defs/{definition}", "unevaluatedProperties": False}
        schema["$defs"] = self.strict
        jsonschema.Draft202012Validator(schema).validate(value)
        self._passed.add(shape)

    def check_params(self, method, params):
        role = "request" if (method, "request") in self.names else "notification"
        self.check(self.names[method, role], params)

    def check_result(self, method, result):
        self.check(self.names[method, "response"], result)


def _without_words(value):
    """The value with free text left out: a long reply has thousands of pieces of one shape."""
    if isinstance(value, dict):
        return {
            key: "" if key in FREE_TEXT and isinstance(item, str) else _without_words(item)
            for key, item in value.items()
        }
    return [_without_words(item) for item in value] if isinstance(value, list) else value


@cache
def official_schema(version):
    return OfficialSchema(version)


def _role(name):
    for role in ("Request", "Response", "Notification"):
        if name.endswith(role):
            return role.lower()
    raise AssertionError(name)


def _closed(schema):
    """The schema without open alternatives, and with objects that take only known members."""
    if not isinstance(schema, dict):
        return schema
    closed = dict(schema)
    for key in PARTS:
        if key in closed:
            closed[key] = [_closed(part) for part in closed[key] if not _is_open(part)]
    # Members may be named like keywords, so that only values of `properties` are schemas here.
    if "properties" in closed:
        members = closed["properties"].items()
        closed["properties"] = {name: _sealed(_closed(value)) for name, value in members}
    for key in ("items", "additionalProperties"):
        if key in closed:
            closed[key] = _sealed(_closed(closed[key]))
    return closed


def _is_open(part):
    return isinstance(part, dict) and part.get("title") == "other"


def _sealed(schema):
    if isinstance(schema, dict) and ("$ref" in schema or any(key in schema for key in PARTS)):
        return {**schema, "unevaluatedProperties": False}
    return schema
