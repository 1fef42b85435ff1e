"""The wire types are the schema's, by name, required members and members; every update is read."""

from __future__ import annotations

import typing

import pytest
import schema_witness

from acp_notebook.protocol.v1 import normalize as v1_normalize
from acp_notebook.protocol.v1 import wire as v1_wire
from acp_notebook.protocol.v2 import normalize as v2_normalize
from acp_notebook.protocol.v2 import wire as v2_wire

# A union discriminator stands outside the definition that it selects.
TYPES = [
    pytest.param(version, name, kind, id=f"v{version}-{name}")
    for version, module in ((1, v1_wire), (2, v2_wire))
    for name, kind in vars(module).items()
    if typing.is_typeddict(kind)
]
READERS = {1: v1_normalize._READERS, 2: v2_normalize._READERS}
# Read although the stable schema does not have it (yet): a harmless superset.
BEYOND_STABLE = {1: set(), 2: {"plan_removed"}}
# In the stable schema and left to the generic view on purpose.
DELIBERATELY_UNKNOWN = {1: set(), 2: set()}


def members(kind):
    hints = typing.get_type_hints(kind, include_extras=True)
    optional = {name for name, hint in hints.items() if typing.get_origin(hint) is NOT_REQUIRED}
    return set(hints), set(hints) - optional


NOT_REQUIRED = typing.NotRequired


def test_there_are_wire_types_to_check():
    assert len(TYPES) >= 30


@pytest.mark.parametrize(("version", "name", "kind"), TYPES)
def test_a_wire_type_is_named_as_in_the_official_schema(version, name, kind):
    assert name in schema_witness.definitions(version)


@pytest.mark.parametrize(("version", "name", "kind"), TYPES)
def test_a_wire_type_has_no_member_that_the_schema_does_not_know(version, name, kind):
    known, _ = schema_witness.properties(version, name)
    assert members(kind)[0] <= known


@pytest.mark.parametrize(("version", "name", "kind"), TYPES)
def test_a_wire_type_requires_what_the_schema_requires(version, name, kind):
    _, required = schema_witness.properties(version, name)
    assert members(kind)[1] == required


@pytest.mark.parametrize("version", [1, 2])
def test_every_update_of_the_official_schema_is_read_or_left_unknown_on_purpose(version):
    official = set(schema_witness.update_kinds(version))
    assert len(official) >= 14
    assert (
        official == set(READERS[version]) - BEYOND_STABLE[version] | (DELIBERATELY_UNKNOWN[version])
    )
    assert not DELIBERATELY_UNKNOWN[version] & set(READERS[version])
