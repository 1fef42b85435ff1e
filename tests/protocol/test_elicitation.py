"""Reading what agents ask for and writing the answer, held against the official schemas."""

from __future__ import annotations

import copy

import pytest
from schema_witness import check

from acp_notebook.protocol import elicitation
from acp_notebook.protocol.fields import Malformed
from acp_notebook.protocol.v1.normalize import V1Reader
from acp_notebook.protocol.v2.normalize import V2Reader
from acp_notebook.session import updates as u
from acp_notebook.session.content import TextBlock
from acp_notebook.session.elicitation import ElicitationSettled
from acp_notebook.session.form import Choice

proves = pytest.mark.requirement
SIDES = [{"const": "l", "title": "Left", "description": "There"}, {"const": "r", "title": "Right"}]
PROPERTIES = {
    "plain": {"type": "string"},
    "bounded": {
        "type": "string",
        "title": "Bounded",
        "description": "Words",
        "minLength": 1,
        "maxLength": 9,
        "pattern": "^a",
        "format": "email",
        "default": "a@b.c",
    },
    "number": {"type": "number", "minimum": 0.5, "maximum": 2, "default": 1},
    "whole": {"type": "integer", "minimum": 1, "maximum": None, "default": 2},
    "sure": {"type": "boolean", "default": True},
    "one": {"type": "string", "enum": ["x", "y"], "default": "y"},
    "titled": {"type": "string", "oneOf": SIDES, "default": "nowhere"},
    "many": {"type": "array", "items": {"type": "string", "enum": ["x", "y"]}, "minItems": 1},
    "labelled": {"type": "array", "items": {"anyOf": SIDES}, "default": ["r", "nowhere"]},
    "odd": {"type": "_map", "zoom": 3},
    "odd_items": {"type": "array", "items": {"type": "_colour", "palette": 1}},
}
FORM = {
    "sessionId": "s1",
    "toolCallId": "c1",
    "mode": "form",
    "message": "Please",
    "requestedSchema": {
        "type": "object",
        "title": "Title",
        "description": "About",
        "properties": PROPERTIES,
        "required": ["plain", "odd"],
    },
}
PAGE = {
    "requestId": 0,
    "mode": "url",
    "message": "Look",
    "elicitationId": "p1",
    "url": "https://example.org/a",
}


def read(params):
    return elicitation.requested("a1", params)


@proves("ELIC-1")
@pytest.mark.parametrize("version", [1, 2])
def test_every_kind_of_field_of_the_schema_is_read(version):
    check(version, "CreateElicitationRequest", FORM)
    asked = read(FORM)
    assert (asked.message, asked.tool_call_id, asked.mode) == ("Please", "c1", "form")
    assert (asked.form.title, asked.form.description) == ("Title", "About")
    fields = {field.name: field for field in asked.fields}
    assert {name: field.kind for name, field in fields.items()} == {
        "plain": "text",
        "bounded": "text",
        "number": "number",
        "whole": "integer",
        "sure": "boolean",
        "one": "choice",
        "titled": "choice",
        "many": "choices",
        "labelled": "choices",
        "odd": "unknown",
        "odd_items": "unknown",
    }
    assert [name for name, field in fields.items() if field.is_required] == ["plain", "odd"]
    assert fields["bounded"].rules == {
        "type": "string",
        "minLength": 1,
        "maxLength": 9,
        "pattern": "^a",
        "format": "email",
    }
    assert fields["whole"].rules == {"type": "integer", "minimum": 1}
    assert fields["titled"].choices == (Choice("l", "Left", "There"), Choice("r", "Right"))
    assert fields["odd"].raw == PROPERTIES["odd"]
    # A default that is no choice counts as not given.
    assert [field.default for field in fields.values()] == [
        None, "a@b.c", 1, 2, True, "y", None, None, ["r"], None, None,
    ]  # fmt: skip


@proves("ELIC-2")
@pytest.mark.parametrize("version", [1, 2])
def test_a_page_is_read(version):
    check(version, "CreateElicitationRequest", PAGE)
    asked = read(PAGE)
    assert (asked.mode, asked.url) == ("url", "https://example.org/a")
    assert asked.url_request.url_id == "p1"
    assert asked.fields == ()


def spoiled(path, value):
    params = copy.deepcopy(FORM)
    place = params
    for name in path[:-1]:
        place = place[name]
    if value is KeyError:
        del place[path[-1]]
    else:
        place[path[-1]] = value
    return params


SCHEMA = ("requestedSchema",)
FIELD = (*SCHEMA, "properties", "bounded")


@proves("ELIC-3")
@pytest.mark.parametrize(
    ("params", "words"),
    [
        (spoiled(["message"], 7), "message"),
        (spoiled(["mode"], KeyError), "mode"),
        (spoiled(["mode"], "_hologram"), "mode must be form or url"),
        (spoiled(["sessionId"], KeyError), "sessionId or requestId"),
        (spoiled(SCHEMA, None), "requestedSchema"),
        (spoiled([*SCHEMA, "type"], "array"), "requestedSchema.type"),
        (spoiled([*SCHEMA, "properties"], []), "properties"),
        (spoiled([*SCHEMA, "required"], "plain"), "required"),
        (spoiled([*SCHEMA, "required"], [1]), "required"),
        (spoiled([*SCHEMA, "properties", "plain"], "string"), "property 'plain'"),
        (spoiled([*FIELD, "type"], KeyError), "type"),
        (spoiled([*FIELD, "minLength"], "many"), "property 'bounded': minLength"),
        (spoiled([*FIELD, "minLength"], -1), "property 'bounded': minLength"),
        (spoiled([*FIELD, "pattern"], 1), "property 'bounded': pattern"),
        (spoiled([*FIELD, "enum"], []), "at least one choice"),
        (spoiled([*FIELD, "enum"], [1]), "property 'bounded'"),
        (spoiled([*FIELD, "oneOf"], [{"const": "x"}]), "title"),
        (spoiled([*SCHEMA, "properties", "number", "minimum"], "0"), "minimum"),
        (spoiled([*SCHEMA, "properties", "many", "items"], KeyError), "items"),
        ({**PAGE, "url": None}, "url"),
        ({**PAGE, "elicitationId": 1}, "elicitationId"),
        ({**PAGE, "requestId": None}, "sessionId or requestId"),
    ],
)
def test_what_breaks_the_schema_is_malformed(params, words):
    with pytest.raises(Malformed, match=words):
        read(params)


@proves("ELIC-1")
@pytest.mark.parametrize("version", [1, 2])
@pytest.mark.parametrize(
    ("action", "content"),
    [
        ("accept", {"a": "x", "b": 1, "c": 1.5, "d": True, "e": ["x"]}),
        ("accept", None),
        ("decline", None),
        ("cancel", None),
    ],
)
def test_answers_are_valid(version, action, content):
    written = elicitation.answer(action, content)
    check(version, "CreateElicitationResponse", written)
    assert written == {"action": action, **({"content": content} if content else {})}


@proves("ELIC-2")
def test_a_completed_page_is_named_by_its_id():
    assert elicitation.completed_url({"elicitationId": "p1"}) == "p1"
    assert elicitation.completed_url({"elicitationId": 1}) is None


def test_v1_waits_for_the_user_while_a_question_is_open_and_v2_says_so_itself():
    params = {**FORM}
    first, second = V1Reader(), V2Reader()
    first.prompt_sent("p1", (TextBlock("hi"),))
    asked = first.elicitation_asked("a1", params)
    assert asked[1:] == [u.StateUpdate("requires_action")]
    first.elicitation_asked("a2", params)
    settled = ElicitationSettled("a1", "cancel", "you")
    assert first.elicitation_settled(settled) == [settled]
    last = ElicitationSettled("a2", "cancel", "you")
    assert first.elicitation_settled(last) == [last, u.StateUpdate("running")]
    assert second.elicitation_asked("a1", params) == asked[:1]
    assert second.elicitation_settled(settled) == [settled]


@proves("ELIC-1")
def test_a_v1_form_may_leave_out_its_type_and_its_fields_and_a_v2_form_may_not():
    params = {**FORM, "requestedSchema": {"title": "Go on?"}}
    check(1, "CreateElicitationRequest", params)
    (asked, *_) = V1Reader().elicitation_asked("a1", params)
    assert (asked.form.title, asked.form.fields) == ("Go on?", ())
    with pytest.raises(Malformed, match="type"):
        V2Reader().elicitation_asked("a1", params)


class Name(str):
    """A name that counts how often names are compared."""

    __slots__ = ()
    compared = 0
    __hash__ = str.__hash__

    def __eq__(self, other):
        Name.compared += 1
        return str.__eq__(self, other)


def test_needed_fields_are_found_without_a_search_through_all_names():
    properties = {f"p{number}": {"type": "string"} for number in range(300)}
    schema = {
        "type": "object",
        "properties": properties,
        "required": [*(Name(f"q{number}") for number in range(300)), "p7"],
    }
    Name.compared = 0
    params = {"sessionId": "s", "message": "m", "mode": "form", "requestedSchema": schema}
    form = elicitation.requested("1", params).form
    assert [item.name for item in form.fields if item.is_required] == ["p7"]
    assert Name.compared < 1_000
