"""No kind of update or entry is forgotten: the tables of the session name every one."""

from __future__ import annotations

import typing
from dataclasses import fields, is_dataclass

import pytest

from acp_notebook.session import reducer, state
from acp_notebook.session import updates as u
from acp_notebook.session.state import HOMES, EntryKey, SessionState

UPDATES = typing.get_args(u.SessionUpdate)
# Ids that this client gives, and names that go back to the agent as they came.
NOT_COUNTED = {"prompt_id", "permission_id", "elicitation_id", "option_id", "url_id"}


def records(kind, seen):
    """The dataclass with all that its members may hold."""
    for part in (kind, *typing.get_args(kind)):
        if part is not kind:
            records(part, seen)
        elif is_dataclass(part) and part not in seen:
            seen.add(part)
            for hint in typing.get_type_hints(part, localns=vars(u)).values():
                records(hint, seen)
    return seen


RECORDS = sorted(set().union(*(records(kind, set()) for kind in UPDATES)), key=str)


def test_every_update_has_a_rule():
    assert set(reducer._RULES) == set(UPDATES)


def test_the_records_of_every_kind_of_entry_are_found():
    assert set(HOMES) == set(typing.get_args(state.EntryKind))
    assert all(SessionState().entry(EntryKey(kind, "none")) is None for kind in HOMES)


def test_an_unknown_kind_of_entry_is_an_error_and_not_an_absent_one():
    with pytest.raises(KeyError):
        SessionState().entry(EntryKey("_new", "1"))


@pytest.mark.parametrize("record", RECORDS, ids=lambda record: record.__name__)
def test_every_id_of_the_agent_is_declared_as_one(record):
    hints = typing.get_type_hints(record, localns=vars(u))
    for name in (field.name for field in fields(record)):
        is_id = name.endswith("_id") or (name == "id" and record is not u.ConfigOption)
        if is_id and name not in NOT_COUNTED:
            assert {hints[name], *typing.get_args(hints[name])} & set(u.AGENT_IDS), name
