"""Messages made from the official schemas: random valid ones, whole ones and broken ones.

A small walk through `$defs`, no general generator: these schemas are objects, unions told apart by
one member, and plain values. Texts are hostile, ids come from a small pool so that they meet.
"""

from __future__ import annotations

import copy
import functools
import itertools

import schema_witness
from hypothesis import strategies as st

UNKNOWN_NAMES = ("_vendor/thing", "future_thing")
IDS = ("a", "b", "")
TEXTS = st.sampled_from(
    [
        "",
        "plain words",
        "**bold** `code`\n\n```py\nx = 1\n```\n",
        "``",
        "\x00\x07\x1b[31mred\x1b[0m\x1b]8;;http://x\x07",
        "</script><img src=x onerror=alert(1)>",
        "[click](javascript:alert(1)) | a | b |\n|---|",
        "\ud83d",  # half of a pair
        "\u202e\u2028\ufeff\U0001f600",
        "x" * 5000,
    ]
)
URIS = st.sampled_from(["file:///a/b.txt", "https://example.org/?q=1", "data:text/html,x", "x:"])
TIMES = st.sampled_from(["2026-01-02T03:04:05Z", "1999-12-31T23:59:60+01:00"])
BASE64 = st.sampled_from(["", "AA==", "4oI=", "rA==", "G1szMW1yZWQ="])
ANY = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | TEXTS | st.just(1e308),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(TEXTS, inner, max_size=2),
    max_leaves=4,
)
WHOLE = {"int32": 2**31 - 1, "uint16": 2**16 - 1, "uint32": 2**32 - 1}


def message(version, name):
    """Random valid values of a definition."""
    return _of_name(version, name)


def update(version, kind):
    """Random valid `session/update`s of one kind; None: of any, unknown ones too."""
    union = schema_witness.definitions(version)["SessionUpdate"]
    variants = {_kind(each): each for each in union.get("oneOf", union.get("anyOf"))}
    found = list(variants.values()) if kind is None else [variants[kind]]
    return st.one_of([_made(version, each) for each in found])


def _kind(variant):
    return variant.get("properties", {}).get("sessionUpdate", {}).get("const")


@functools.cache
def _of_name(version, name):
    return st.deferred(lambda: _made(version, schema_witness.definitions(version)[name], name))


def _made(version, schema, name=""):
    """The strategy of a schema; `name` is the member or the definition that it stands for."""
    if "const" in schema:
        return st.just(schema["const"])
    if "enum" in schema:
        return st.sampled_from(schema["enum"])
    if "$ref" in schema:
        return _of_name(version, schema["$ref"].rsplit("/", 1)[-1])
    if _is_object(version, schema):
        return _object(version, schema)
    for union in ("anyOf", "oneOf"):
        if union in schema:
            return st.one_of([_made(version, each, name) for each in schema[union]])
    if "allOf" in schema:
        (only,) = schema["allOf"]
        return _made(version, only, name)
    types = schema.get("type")
    if types is None:
        return ANY
    return st.one_of([_plain(version, {**schema, "type": each}, name) for each in _as_list(types)])


def _as_list(value):
    return value if isinstance(value, list) else [value]


def _is_object(version, schema):
    if "properties" in schema:
        return True
    if len(schema.get("allOf", [])) == 1 and "$ref" in schema["allOf"][0]:
        inner = schema_witness.definitions(version)[schema["allOf"][0]["$ref"].rsplit("/", 1)[-1]]
        return any(key in schema for key in ("anyOf", "oneOf")) or _is_object(version, inner)
    return len(schema.get("allOf", [])) > 1


def _object(version, schema):
    """An object: what `allOf` and one variant of a union demand, under its own members."""
    parts = [_made(version, part) for part in schema.get("allOf", [])]
    parts += [
        st.one_of([_made(version, each) for each in schema[union]])
        for union in ("anyOf", "oneOf")
        if union in schema
    ]
    parts.append(_members(version, schema))
    return st.tuples(*parts).map(lambda found: {k: v for part in found for k, v in part.items()})


def _members(version, schema):
    required, optional = {}, {}
    told_apart = _excluded(schema)
    for name, inner in schema.get("properties", {}).items():
        value = (
            st.sampled_from(UNKNOWN_NAMES) if name in told_apart else _made(version, inner, name)
        )
        (required if name in schema.get("required", []) else optional)[name] = value
    return st.fixed_dictionaries(required, optional=optional)


def _excluded(schema):
    """The members by which a variant for unknown names is told from the known ones."""
    excluded = schema.get("not", {})
    return {name for each in excluded.get("anyOf", [excluded]) for name in each.get("required", [])}


def _plain(version, schema, name):
    match schema["type"]:
        case "null":
            return st.none()
        case "boolean":
            return st.booleans()
        case "string":
            return _string(schema, name)
        case "integer":
            return _integer(schema)
        case "number":
            fitting = [
                number
                for number in (0, 1, -3, 0.25, 1e300, 10**400)
                if schema.get("minimum", number) <= number <= schema.get("maximum", number)
            ]
            return st.sampled_from(fitting)
        case "array":
            item = _made(version, schema["items"])
            return st.lists(item, min_size=schema.get("minItems", 0), max_size=3)
        case "object":
            more = schema.get("additionalProperties", True)
            inner = _made(version, more) if isinstance(more, dict) else ANY
            return st.dictionaries(TEXTS.filter(lambda text: len(text) < 100), inner, max_size=2)
    raise AssertionError(schema)


def _string(schema, name):
    if schema.get("contentEncoding") == "base64":
        return BASE64
    if "pattern" in schema:
        return st.sampled_from(["Something happened", "y\x1b[2J"])
    by_format = {"uri": URIS, "date-time": TIMES, "regex": st.sampled_from(["^a+$", "x|y", ""])}
    if schema.get("format") in by_format:
        return by_format[schema["format"]]
    if name.endswith(("Id", "id")):
        return st.sampled_from(IDS)
    return TEXTS.filter(lambda text: len(text) >= schema.get("minLength", 0))


def _integer(schema):
    lowest = schema.get("minimum", -3)
    highest = schema.get("maximum", WHOLE.get(schema.get("format"), 2**63 - 1))
    return st.sampled_from([lowest, max(lowest, 0) + 1, highest])


# ---------------------------------------------------------------- with every member


def whole_updates(version, kind):
    """The variants of an update with every member there, each text a word that is found again."""
    words = (f"word{number}" for number in itertools.count())
    union = schema_witness.definitions(version)["SessionUpdate"]
    variants = {_kind(each): each for each in union.get("oneOf", union.get("anyOf"))}
    return _whole(version, variants[kind], words)


def _whole(version, schema, words):
    """A list of values; they differ in the variants of the unions inside."""
    if "const" in schema:
        return [schema["const"]]
    if "$ref" in schema:
        name = schema["$ref"].rsplit("/", 1)[-1]
        return _whole(version, schema_witness.definitions(version)[name], words)
    if _is_object(version, schema):
        return _whole_objects(version, schema, words)
    for union in ("anyOf", "oneOf"):
        if union in schema:
            found = [value for each in schema[union] for value in _whole(version, each, words)]
            return [value for value in found if value is not None] or found
    if "allOf" in schema:
        return _whole(version, schema["allOf"][0], words)
    return _whole_plain(version, schema, words)


def _whole_plain(version, schema, words):
    types = [each for each in _as_list(schema.get("type", "string")) if each != "null"]
    if not types:
        return [None]
    if schema.get("contentEncoding") == "base64":
        return ["d29yZHM="]
    match types[0]:
        case "array":
            return [[each for each in _whole(version, schema["items"], words) for _ in "12"]]
        case "object":
            return [{"key": next(words)}]
        case "string":
            return [next(words)]
    return [{"boolean": True, "integer": 7, "number": 0.5}[types[0]]]


def _whole_objects(version, schema, words):
    found = [{}]
    for part in schema.get("allOf", []):
        found = [{**one, **two} for one in found for two in _whole(version, part, words)]
    for union in ("anyOf", "oneOf"):
        if union in schema:
            variants = [v for each in schema[union] for v in _whole(version, each, words)]
            found = [{**copy.deepcopy(one), **two} for one in found for two in variants]
    told_apart = _excluded(schema)
    for name, inner in schema.get("properties", {}).items():
        values = [UNKNOWN_NAMES[0]] if name in told_apart else _whole(version, inner, words)
        found = [{**one, name: value} for one in found for value in values]
    return found


# ---------------------------------------------------------------- broken


def deep(depth):
    """A value nested so deep."""
    value = "bottom"
    for level in range(depth):
        value = {"k": value} if level % 2 else [value]
    return value


WRONG = st.sampled_from(
    [None, True, 0, -1, 2**63, 10**400, 1e308, "", "\x00", "\ud800", [], [None], {}, {"type": []}]
) | st.builds(deep, st.sampled_from([3, 40, 300]))


@st.composite
def broken(draw, values):
    """A value with one or two of its members gone, null, of a wrong type, or told twice."""
    value = copy.deepcopy(draw(values))
    for _ in range(draw(st.integers(1, 2))):
        spots = [spot for spot in _spots(value) if spot[1] not in ("sessionUpdate", "sessionId")]
        if not spots:
            break
        holder, key = draw(st.sampled_from(spots))
        match draw(st.sampled_from(["gone", "wrong", "wrong", "twice"])):
            case "gone":
                del holder[key]
            case "twice" if isinstance(holder, list):
                holder.append(copy.deepcopy(holder[key]))
            case _:
                holder[key] = copy.deepcopy(draw(WRONG))
    return value


def _spots(value):
    found = []
    members = value.items() if isinstance(value, dict) else enumerate(value)
    for key, inner in list(members):
        found.append((value, key))
        if isinstance(inner, (dict, list)):
            found += _spots(inner)
    return found
