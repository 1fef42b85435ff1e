"""Members are read strictly where the schema requires them and leniently where it allows."""

from __future__ import annotations

import logging

import pytest

from acp_notebook.protocol import fields
from acp_notebook.protocol.content import blocks
from acp_notebook.session.content import TextBlock
from acp_notebook.session.updates import UNSET

ODD = [None, 1, 1.5, True, [], {}]


@pytest.mark.parametrize("value", ODD)
def test_a_required_string_of_another_type_is_malformed_and_says_its_name(value):
    with pytest.raises(fields.Malformed, match="title must be a string"):
        fields.text({"title": value}, "title")
    with pytest.raises(fields.Malformed, match="title"):
        fields.text({}, "title")


@pytest.mark.parametrize(("value", "read"), [(3, 3), (3.0, 3), (0, 0), (-1, -1)])
def test_a_whole_number_is_read_however_json_writes_it(value, read):
    found = fields.whole_number({"n": value}, "n")
    assert (found, type(found)) == (read, int)


@pytest.mark.parametrize("value", ["3", 3.5, True, None, float("inf"), float("nan"), []])
def test_what_is_no_whole_number_is_malformed(value):
    with pytest.raises(fields.Malformed, match="n must be an integer"):
        fields.whole_number({"n": value}, "n")


def test_a_patch_has_three_states_and_what_cannot_be_read_counts_as_not_given():
    assert fields.patch_text({}, "t") is UNSET
    assert fields.patch_text({"t": None}, "t") is None
    assert fields.patch_text({"t": "x"}, "t") == "x"
    for value in (1, True, [], {}):
        assert fields.patch_text({"t": value}, "t") is UNSET
    assert fields.patch_object({"o": {"a": 1}}, "o") == {"a": 1}
    assert fields.patch_object({"o": "x"}, "o") is UNSET


def test_a_broken_item_of_an_array_costs_only_itself_and_is_named_once(caplog):
    good, bad = {"type": "text", "text": "x"}, {"type": "text"}
    with caplog.at_level(logging.INFO, "acp_notebook"):
        assert blocks([bad, good, None, 7, good]) == (TextBlock("x"), TextBlock("x"))
    assert [record.getMessage().partition(": ")[2] for record in caplog.records] == [
        "text block: text must be a string, got nothing",
        "a content block must be an object, got nothing",
        "a content block must be an object, got a number",
    ]


@pytest.mark.parametrize("value", [None, {}, "x", 1])
def test_an_array_of_another_type_is_malformed(value):
    with pytest.raises(fields.Malformed, match="an array"):
        blocks(value)
    with pytest.raises(fields.Malformed, match="entries must be an array"):
        fields.array({"entries": value}, "entries")


def test_optional_members_of_another_type_are_not_given():
    raw = {"o": [], "a": {}, "i": True, "j": "1"}
    assert fields.optional_object(raw, "o") is None
    assert fields.optional_array(raw, "a") == []
    assert fields.optional_int(raw, "i") is None
    assert fields.optional_int(raw, "j") is None
    assert fields.optional_int({"i": 0}, "i") == 0


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (None, "nothing"),
        ({}, "an object"),
        ([], "an array"),
        ("", "a string"),
        (True, "a boolean"),
        (1, "a number"),
        (1.5, "a number"),
    ],
)
def test_a_type_has_words_for_messages(value, words):
    assert fields.kind_of(value) == words
