"""What is filled into a form: types, rules, words for what is wrong, and secrets."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acp_notebook.session.form import Choice, Form, FormField
from acp_notebook.session.form_answer import read_answer

CHOICES = (Choice("a", "First"), Choice("b", "Second"))


def text(name="x", **rules):
    return FormField(name, "text", name, rules={"type": "string", **rules})


def number(kind="number", **rules):
    return FormField("x", kind, "x", rules={"type": kind, **rules})


def several(**rules):
    rules = {"type": "array", "items": {"enum": ["a", "b"]}, "uniqueItems": True, **rules}
    return FormField("x", "choices", "x", choices=CHOICES, rules=rules)


CHOICE = FormField(
    "x", "choice", "x", choices=CHOICES, rules={"type": "string", "enum": ["a", "b"]}
)


def answer(field, value):
    return read_answer(Form((field,)), {"x": value})


@pytest.mark.parametrize(
    ("field", "value", "sent"),
    [
        (text(), "Ann", "Ann"),
        (text(), " ", " "),
        (text(minLength=2, maxLength=3), "ab", "ab"),
        (text(pattern="^[a-c]+$"), "abc", "abc"),
        (text(pattern="(unreadable"), "any", "any"),
        (text(format="email"), "a.b@example.org", "a.b@example.org"),
        (text(format="uri"), "https://example.org/?q=1#x", "https://example.org/?q=1#x"),
        (text(format="date"), "2028-02-29", "2028-02-29"),
        (text(format="date-time"), "2026-01-31T18:00:00+01:00", "2026-01-31T18:00:00+01:00"),
        (text(format="_postcode"), "anything", "anything"),
        (number(), "2.5", 2.5),
        (number(), 3, 3),
        (number("integer"), "4", 4),
        (number("integer"), "4.0", 4),
        (number("integer", minimum=1, maximum=4), 4, 4),
        (FormField("x", "boolean", "x", rules={"type": "boolean"}), False, False),
        (CHOICE, "b", "b"),
        (several(), ["a", "b"], ["a", "b"]),
        (several(), [], []),
        (FormField("x", "unknown", "x"), {"any": 1}, {"any": 1}),
    ],
)
def test_a_good_value_is_sent_as_its_type(field, value, sent):
    found = answer(field, value)
    assert found.errors == {}
    assert found.values == {"x": sent}
    assert type(found.values["x"]) is type(sent)


@pytest.mark.parametrize(
    ("field", "value", "words"),
    [
        (text(minLength=2), "a", "At least 2 characters"),
        (text(maxLength=2), "abc", "At most 2 characters"),
        (text(pattern="^a"), "b", "must match the pattern ^a"),
        (text(), 7, "of the type string"),
        (text(format="email"), "nobody", "an e-mail address"),
        (text(format="email"), "a b@example.org", "an e-mail address"),
        (text(format="uri"), "example.org", "a full address"),
        (text(format="uri"), "https://exa mple.org", "a full address"),
        (text(format="uri"), "https://[::1", "a full address"),
        (text(format="date"), "2026-02-30", "a date"),
        (text(format="date"), "20260230", "a date"),
        (text(format="date-time"), "2026-01-31T18:00:00", "with its zone"),
        (text(format="date-time"), "2026-01-31T25:00:00Z", "with its zone"),
        (number(), "many", "a number"),
        (number(), "nan", "a number"),
        (number(), "1e999", "a number"),
        (number(), True, "a number"),
        (number("integer"), "1.5", "a whole number"),
        (number("integer"), 1.5, "of the type integer"),
        (number(minimum=0), "-1", "0 or more"),
        (number(maximum=1), "2", "1 or less"),
        (FormField("x", "boolean", "x", rules={"type": "boolean"}), "perhaps", "type boolean"),
        (CHOICE, "c", "not one of the choices"),
        (several(), ["c"], "not one of the choices"),
        (several(minItems=2), ["a"], "at least 2"),
        (several(maxItems=1), ["a", "b"], "at most 1"),
        (several(), "ab", "of the type array"),
    ],
)
def test_a_bad_value_is_told_in_words(field, value, words):
    assert words in answer(field, value).errors["x"]


@pytest.mark.parametrize(
    ("field", "nothing"),
    [
        *((field, nothing) for field in (text(), number(), CHOICE) for nothing in ("", None)),
        (several(minItems=1), []),
        (several(minItems=1), None),
    ],
)
def test_an_optional_field_that_is_empty_is_left_out(field, nothing):
    assert answer(field, nothing) == read_answer(Form((field,)), {})


def test_a_needed_field_must_be_filled_in():
    needed = [
        FormField("t", "text", "t", is_required=True, rules={"type": "string"}),
        FormField("c", "choice", "c", is_required=True, choices=CHOICES, rules={"type": "string"}),
        FormField("u", "unknown", "u", is_required=True),
    ]
    found = read_answer(Form(tuple(needed)), {"t": "", "c": ""})
    assert found.values == {}
    assert found.errors["t"] == "Please fill this in."
    assert found.errors["c"] == "Please choose."
    assert "Decline" in found.errors["u"]


def test_what_is_not_mentioned_has_its_default_and_what_is_cleared_has_not():
    field = FormField("x", "text", "x", default="preset", rules={"type": "string"})
    assert read_answer(Form((field,)), {}).values == {"x": "preset"}
    assert read_answer(Form((field,)), {"x": ""}).values == {}


def test_a_field_that_the_form_has_not_is_an_error():
    assert read_answer(Form(()), {"y": 1}).errors == {"y": "The form has no such field."}


def test_a_pattern_that_would_never_end_is_given_up():
    found = answer(text(pattern=r"^(\w+\s?)*\$$"), "word " * 12 + "!")
    assert found.errors.get("x", "must match the pattern").startswith(("This", "must"))


@given(
    st.text(), st.one_of(st.none(), st.booleans(), st.integers(), st.text(), st.lists(st.text()))
)
def test_nothing_that_is_given_raises(name, value):
    fields = [text(name), number(), number("integer"), CHOICE, several()]
    for field in fields:
        read_answer(Form((field,)), {field.name: value})


@pytest.mark.parametrize(
    ("name", "title", "rules", "raw", "is_secret"),
    [
        ("password", "Password", {}, {}, True),
        ("apiToken", "x", {}, {}, True),
        ("x", "Your API key", {}, {}, True),
        ("x", "PIN", {}, {}, True),
        ("accessCode", "x", {}, {}, True),
        ("postalCode", "Postal code", {}, {}, False),
        ("x", "x", {"format": "password"}, {}, True),
        ("x", "x", {}, {"writeOnly": True}, True),
        ("shipping", "Shipping", {}, {}, False),
        ("name", "Name", {}, {}, False),
    ],
)
def test_secret_fields_are_known_by_name_title_or_format(name, title, rules, raw, is_secret):
    field = FormField(name, "text", title, rules=rules, raw=raw)
    assert field.is_secret is is_secret
    form = Form((field,))
    assert form.masked({name: "xyzzy"}) == {name: "••••" if is_secret else "xyzzy"}
    assert form.secrets({name: "xyzzy"}) == (["xyzzy"] if is_secret else [])
