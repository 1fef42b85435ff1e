"""Forms and pages by questions: answers, second chances, ways out."""

from __future__ import annotations

import builtins
import getpass

import pytest

from acp_notebook.kernel.views.console_form import ask_at_console
from acp_notebook.session.elicitation import ElicitationRequested
from acp_notebook.session.form import Choice, Form, FormField, UrlRequest

proves = pytest.mark.requirement
SIDES = (Choice("l", "Left"), Choice("r", "Right"))
FORM = Form(
    (
        FormField("name", "text", "Name", "As you like", is_required=True, rules={"minLength": 2}),
        FormField("cups", "integer", "Cups", default=2, rules={"type": "integer", "maximum": 9}),
        FormField("sure", "boolean", "Sure", default=True, rules={"type": "boolean"}),
        FormField("side", "choice", "Side", choices=SIDES, rules={"enum": ["l", "r"]}),
        FormField("pets", "choices", "Pets", choices=SIDES, rules={"type": "array"}),
        FormField("odd", "unknown", "Odd"),
        FormField("password", "text", "Password"),
    )
)


@pytest.fixture
def typed(monkeypatch):
    """Types these lines; the questions that were asked are noted in `asked`."""
    lines, asked = [], []

    def answer(words=""):
        asked.append(words)
        return lines.pop(0)

    monkeypatch.setattr(builtins, "input", answer)
    monkeypatch.setattr(getpass, "getpass", lambda words: answer(f"hidden {words}"))

    def type_lines(*more):
        lines.extend(more)
        return asked

    return type_lines


def ask(form=None, url=None):
    page = UrlRequest("w1", url) if url is not None else None
    return ask_at_console(ElicitationRequested("a1", "Who are you?", form, page), "demo")


@proves("ELIC-1")
def test_each_field_is_a_question_and_enter_takes_the_default(typed, capsys):
    asked = typed("Ann", "", "n", "2", "left, 2", "xyzzy")
    assert ask(FORM) == (
        "accept",
        {
            "name": "Ann",
            "cups": 2,
            "sure": False,
            "side": "r",
            "pets": ["l", "r"],
            "password": "xyzzy",
        },
    )
    assert asked == [
        "Name*: ",
        "Cups [2]: ",
        "Sure (y/n) [yes]: ",
        "Side (number): ",
        "Pets (numbers, with commas): ",
        "hidden Password: ",
    ]
    told = capsys.readouterr().out
    assert "demo asks: Who are you?" in told
    assert "(As you like)" in told
    assert "  2 Right" in told
    assert "xyzzy" not in told


@proves("ELIC-1")
def test_only_what_is_wrong_is_asked_again(typed, capsys):
    asked = typed("A", "many", "perhaps", "", "", "", "Ann", "3", "y")
    action, values = ask(FORM)
    assert (action, values["name"], values["cups"], values["sure"]) == ("accept", "Ann", 3, True)
    assert asked[6:] == ["Name*: ", "Cups [2]: ", "Sure (y/n) [yes]: "]
    told = capsys.readouterr().out
    assert "! Name: At least 2 characters, please." in told
    assert "! Cups: This must be a whole number." in told


@proves("ELIC-1")
@pytest.mark.parametrize(("word", "action"), [("!decline", "decline"), ("!cancel", "cancel")])
def test_a_word_ends_the_questions(typed, word, action):
    typed("Ann", word)
    assert ask(FORM) == (action, {})


def test_a_form_that_cannot_be_filled_in_is_declined(typed):
    typed()
    assert ask(Form((FormField("odd", "unknown", "Odd", is_required=True),))) == ("decline", {})


@proves("ELIC-2")
def test_a_page_is_told_with_its_host_and_left_to_the_user(typed, capsys):
    typed("")
    assert ask(url="https://xn--pypal-4ve.example/in") == ("accept", {})
    told = capsys.readouterr().out
    assert "https://xn--pypal-4ve.example/in" in told
    assert "Host: xn--pypal-4ve.example" in told
    assert "p\u0430ypal.example" in told


@proves("ELIC-2")
def test_an_address_that_must_not_be_opened_cannot_be_accepted(typed):
    typed("")
    assert ask(url="file:///etc/passwd") == ("decline", {})


LONG = f"Agree to read{' and only that' * 40}; but all"


def test_nothing_of_a_form_is_cut_or_left_out(typed, capsys):
    asked = typed("1", "")
    choices = (Choice("l", LONG, LONG), Choice("r", "Right"))
    form = Form(
        (
            FormField("side", "choice", LONG, LONG, choices=choices),
            FormField("text", "text", "Text", default=LONG),
            FormField("odd", "unknown", f"odd {LONG}"),
        ),
        f"title {LONG}",
        f"description {LONG}",
    )
    assert ask(form) == ("accept", {"side": "l", "text": LONG})
    told = capsys.readouterr().out
    for words in (f"title {LONG}", f"description {LONG}", f"({LONG})", f"1 {LONG} ({LONG})"):
        assert words in told
    assert f"odd {LONG}: a field of a kind" in told
    assert asked == [f"{LONG} (number): ", f"Text [{LONG}]: "]


@pytest.mark.parametrize(
    ("line", "choices", "value"),
    [
        ("2", (Choice("2", "Left"), Choice("r", "Right")), "r"),
        ("2", (Choice("l", "2"), Choice("r", "Right")), "r"),
        ("right", (Choice("right", "Left"), Choice("r", "Right")), "r"),
    ],
)
def test_a_choice_is_what_is_shown_and_not_how_an_agent_names_it(typed, line, choices, value):
    typed(line)
    rules = {"enum": [choice.value for choice in choices]}
    form = Form((FormField("side", "choice", "Side", choices=choices, rules=rules),))
    assert ask(form) == ("accept", {"side": value})


def test_a_number_that_is_no_choice_is_none(typed):
    choices = (Choice("3", "Left"), Choice("r", "Right"))
    rules = {"enum": ["3", "r"]}
    asked = typed("3", "2")
    form = Form((FormField("side", "choice", "Side", choices=choices, rules=rules),))
    assert ask(form) == ("accept", {"side": "r"})
    assert len(asked) == 2


def test_no_field_looks_like_a_question_of_this_clients(typed):
    asked = typed("")
    ask(Form((FormField("x", "text", "[kernel] demo wants to use this kernel"),)))
    assert asked == ["  [“kernel”] demo wants to use this kernel: "]
