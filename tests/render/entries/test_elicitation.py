"""Forms and pages as they are shown: live with controls, and in the record as facts."""

from __future__ import annotations

import re

import pytest
from hostile import HOSTILE
from html_facts import HtmlFacts
from page_model import PageModel

from acp_notebook.render.document import TurnDocument
from acp_notebook.render.entries.elicitation import is_whole, value_words
from acp_notebook.render.entries.form_entry import given_values
from acp_notebook.render.record import record_bundle
from acp_notebook.session import elicitation as e
from acp_notebook.session import updates as u
from acp_notebook.session.content import TextBlock
from acp_notebook.session.form import Choice, Form, FormField, UrlRequest
from acp_notebook.session.reducer import apply
from acp_notebook.session.state import EntryKey, SessionState

proves = pytest.mark.requirement
FEW = (Choice("l", "Left", "Over there"), Choice("r", "Right"))
MANY = tuple(Choice(str(n), f"Month {n}") for n in range(1, 13))


def every_field(word="word"):
    return Form(
        (
            FormField("n", "text", f"Name {word}", f"About {word}", is_required=True),
            FormField("m", "text", "Mail", rules={"format": "email"}),
            FormField("d", "text", "Day", rules={"format": "date"}, default="2026-01-31"),
            FormField("p", "text", "Password"),
            FormField("i", "integer", "Cups", rules={"minimum": 1, "maximum": 9}, default=2),
            FormField("f", "number", "Share"),
            FormField("b", "boolean", "Sure", default=True),
            FormField("c", "choice", "Side", choices=FEW, default="r"),
            FormField("s", "choice", "Month", choices=MANY),
            FormField("k", "choices", "Pets", choices=FEW, default=["l"]),
            FormField(word, "unknown", word, raw={word: word}),
        ),
        word,
        word,
    )


class Shown:
    """One elicitation in a live document and its page."""

    def __init__(self, form=None, page=None, message="Some details", agent="demo"):
        self.state = SessionState()
        self.document = TurnDocument(self.state, agent_name=agent)
        self.page = PageModel()
        self.apply(u.PromptSent("p1", (TextBlock("hi"),)), u.StateUpdate("running"))
        self.urgent = self.apply(e.ElicitationRequested("a1", message, form, page))

    def apply(self, *updates):
        changes = [change for update in updates for change in apply(self.state, update)]
        is_urgent = self.document.note(changes)
        self.operations = self.document.ops()
        while self.document.is_behind:
            self.operations += self.document.ops()
        self.page.obey(self.operations)
        return is_urgent

    @property
    def html(self):
        return "".join(html for kind, html in self.page.entries.values() if kind == "elicitation")

    @property
    def ident(self):
        return next(i for i, (kind, _) in self.page.entries.items() if kind == "elicitation")

    def record(self):
        keys = [EntryKey("elicitation", "a1")]
        return record_bundle(self.state, keys, agent_name="demo", stop_reason="end_turn")


def controls(html):
    """Name and type of every control, in order."""
    return {value: tag for tag, name, value in HtmlFacts(html).attributes if name == "name"}


@proves("ELIC-1")
def test_a_form_has_a_control_for_each_field_and_names_who_asks():
    shown = Shown(every_field())
    assert shown.urgent
    html = shown.html
    assert "demo asks you" in html
    for words in (
        "Some details",
        "Name word",
        "About word",
        "* is needed",
        "Month 7",
        "Over there",
    ):
        assert words in html
    assert controls(html) == {
        **{f"f{number}": "input" for number in range(10)},
        "f8": "select",
    }
    kinds = [
        value for tag, name, value in HtmlFacts(html).attributes if (tag, name) == ("input", "type")
    ]
    assert kinds == [
        *("text", "email", "date", "password", "number", "number", "checkbox"),
        *["radio"] * 3,
        *["checkbox"] * 2,
    ]
    assert html.count(" checked") == 3
    assert 'value="2026-01-31"' in html
    assert 'min="1" max="9"' in html
    assert "cannot be filled in here" in html
    assert "the notebook does not keep it" in html
    acts = [value for _, name, value in HtmlFacts(html).attributes if name == "data-act"]
    assert acts == ["decline", "dismiss"]
    assert shown.page.said[-1] == "demo asks: Some details"


@proves("ELIC-1")
def test_words_beside_the_fields_do_not_draw_the_form_anew():
    shown = Shown(every_field())
    errors = {"n": "Please fill this in.", "k": "Choose."}
    assert shown.apply(e.AnswerRefused("a1", errors))
    wrong = [operation for operation in shown.operations if operation["op"] == "wrong"]
    assert wrong == [
        {"op": "wrong", "id": shown.ident, "words": {"0": errors["n"], "9": "Choose."}}
    ]
    assert not any(operation["op"] == "put" for operation in shown.operations)
    assert f'data-wrong="0">{errors["n"]}<' in shown.html
    assert shown.html.count('aria-invalid="true"') == 3  # the line, and both choices
    assert shown.page.said[-1] == "Please fill this in.; Choose."
    # The same mistake again is told again: the page waits for a word.
    shown.apply(e.AnswerRefused("a1", dict(errors)))
    assert [op["op"] for op in shown.operations].count("wrong") == 1
    assert shown.document.snapshot()[-1] == wrong[0]
    shown.apply(e.ElicitationSettled("a1", "cancel", "you"))
    assert not any(op["op"] == "wrong" for op in shown.document.snapshot())


@proves("ELIC-1")
def test_an_answer_takes_the_forms_place_live_and_in_the_record():
    shown = Shown(every_field())
    assert "It waits for your answer. %acp wait" in shown.record()["text/html"]
    content = {"n": "Ann", "p": "••••", "b": False, "c": "l", "k": ["l", "r"], "i": 3}
    shown.apply(e.ElicitationSettled("a1", "accept", "you", content))
    assert "form" not in HtmlFacts(shown.html).tags
    for html in (shown.html, shown.record()["text/html"]):
        text = "".join(HtmlFacts(html).texts)
        for words in ("Some details", "Sent", "by you", "Name word: Ann", "Password: ••••"):
            assert words in text
        for words in ("Sure: no", "Side: Left", "Pets: Left, Right", "Cups: 3"):
            assert words in text
    for kind in ("text/plain", "text/markdown"):
        assert "Some details: Sent, by you" in shown.record()[kind]
        assert "Pets: Left, Right" in shown.record()[kind]


@proves("ELIC-1")
@pytest.mark.parametrize(
    ("action", "words"), [("decline", "Declined"), ("cancel", "Not answered: cancelled")]
)
def test_a_refusal_is_told(action, words):
    shown = Shown(every_field())
    shown.apply(e.ElicitationSettled("a1", action, "nobody can be asked here"))
    for html in (shown.html, shown.record()["text/html"]):
        assert words in html
        assert "nobody can be asked here" in html
        assert "by nobody" not in html


@proves("ELIC-2")
def test_a_page_is_shown_with_its_host_and_opened_by_a_link_only():
    url = "https://xn--pypal-4ve.example/in?x=1&y=2"
    shown = Shown(page=UrlRequest("w1", url))
    facts = HtmlFacts(shown.html)
    links = {name: value for tag, name, value in facts.attributes if tag == "a"}
    assert links["href"] == url
    assert links["target"] == "_blank"
    assert links["rel"] == "noopener noreferrer"
    assert links["data-act"] == "open"
    text = "".join(facts.texts)
    assert url in text
    assert "Host xn--pypal-4ve.example" in text
    assert "p\u0430ypal.example" in text
    assert "src" not in {name for _, name, _ in facts.attributes}
    shown.apply(e.ElicitationSettled("a1", "accept", "you"))
    assert "Opened" in shown.html
    shown.apply(e.UrlCompleted("w1"))
    record = shown.record()
    assert "Opened, and done there" in record["text/html"]
    assert "href" not in {name for _, name, _ in HtmlFacts(record["text/html"]).attributes}
    assert url in record["text/plain"]


@proves("ELIC-2")
def test_an_address_that_must_not_be_opened_has_no_link():
    shown = Shown(page=UrlRequest("w1", "javascript:alert(1)"))
    facts = HtmlFacts(shown.html)
    assert "a" not in facts.tags
    assert "It is no web address" in "".join(facts.texts)


@pytest.mark.parametrize("word", HOSTILE.values(), ids=HOSTILE.keys())
def test_nothing_an_agent_writes_becomes_more_than_text(word):
    for form, page in ((every_field(word), None), (None, UrlRequest(word, word))):
        shown = Shown(form, page, message=word, agent=word)
        names = set(controls(shown.html))
        assert names <= {f"f{number}" for number in range(11)}
        assert HtmlFacts(shown.html).dangers == []
        shown.apply(e.AnswerRefused("a1", {"n": word}))
        shown.apply(e.ElicitationSettled("a1", "accept", word, {"n": word, "c": word}))
        assert HtmlFacts(shown.html).dangers == []
        record = shown.record()
        assert HtmlFacts(record["text/html"]).dangers == []
        for text in record.values():
            text.encode("utf-8")


@proves("ELIC-1")
def test_what_a_page_sends_is_read_by_place():
    shown = Shown(every_field())
    elicitation = shown.document.elicitation(shown.ident)
    values = {"f0": "Ann", "f6": True, "f9": ["l"], "f99": "x", "constructor": "y"}
    assert given_values(elicitation, values) == {"n": "Ann", "b": True, "k": ["l"]}
    assert given_values(elicitation, ["no", "object"]) == {}
    assert shown.document.elicitation("e99") is None
    shown.apply(e.ElicitationSettled("a1", "cancel", "you"))
    assert shown.document.elicitation(shown.ident) is None


LONG = f"Agree to read{' and only that' * 200}; but all"


def controls_html(html, tag):
    return re.findall(rf"<{tag}[^>]*>", html)


@proves("ELIC-1")
@pytest.mark.parametrize(
    "form",
    [
        lambda: (Form(()), LONG),
        lambda: (Form((), title=LONG), "m"),
        lambda: (Form((), description=LONG), "m"),
        lambda: (Form((FormField("x", "boolean", LONG),)), "m"),
        lambda: (Form((FormField("x", "text", "X", LONG),)), "m"),
        lambda: (Form((FormField("x", "text", "X", default=LONG),)), "m"),
        lambda: (Form((FormField("x", "unknown", LONG),)), "m"),
        lambda: (Form((FormField("x", "choice", "X", choices=(Choice("a", LONG),)),)), "m"),
        lambda: (Form((FormField("x", "choice", "X", choices=(Choice("a", "A", LONG),)),)), "m"),
    ],
)
def test_nothing_of_an_open_form_is_cut(form):
    fields, message = form()
    assert LONG in "".join(HtmlFacts(Shown(fields, message=message).html).texts)


@proves("ELIC-1")
def test_padding_in_a_message_is_counted_and_sending_needs_the_end_to_be_seen():
    shown = Shown(Form(()), message="Confirm." + "\n" * 200 + "Everything.")
    text = "".join(HtmlFacts(shown.html).texts)
    assert "⋯ 199 blank lines" in text
    assert "Everything." in text
    form, submit = controls_html(shown.html, "form")[0], controls_html(shown.html, "button")[0]
    assert 'data-effect="allow"' in form
    assert 'data-effect="allow"' in submit
    assert "data-effect" not in controls_html(shown.html, "button")[1]
    link = controls_html(Shown(page=UrlRequest("w1", "https://a.example/")).html, "a")[0]
    assert 'data-effect="allow"' in link


@proves("ELIC-1")
def test_what_a_line_holds_already_is_shown_if_the_line_would_hide_it():
    text = Form((FormField("x", "text", "X", default="ls\u200b"),))
    assert "Filled in: ls[U+200B]" in "".join(HtmlFacts(Shown(text).html).texts)
    assert "Filled in" not in Shown(Form((FormField("x", "text", "X", default="ls"),))).html


@proves("ELIC-2")
def test_the_end_of_a_host_is_shown_wherever_the_host_is():
    host = f"accounts.example.{'a' * 60}.{'b' * 60}.evil.example"
    text = "".join(HtmlFacts(Shown(page=UrlRequest("w1", f"https://{host}/")).html).texts)
    assert text.count(host) == 3


def long_form(fields=1, choices=1):
    offered = tuple(Choice(str(n), f"C{n}") for n in range(choices))
    return Form(tuple(FormField(f"n{n}", "choice", "F", choices=offered) for n in range(fields)))


@pytest.mark.parametrize(
    ("form", "rest"),
    [
        (long_form(fields=30_000), "29,800 more fields and 29,800 more choices"),
        (long_form(choices=80_000), "79,000 more choices"),
        (long_form(fields=100, choices=20), "1,000 more choices"),
    ],
)
def test_a_form_without_end_is_cut_and_can_only_be_declined_or_filled_in_python(form, rest):
    html = Shown(form).html
    assert f"too long to be shown whole ({rest}), so it can only be declined here" in html
    assert "session.questions[0].form.fields, .fill({...})" in html
    assert html.count("<fieldset") + html.count("<select") <= 200
    assert html.count("C") <= 1_100
    acts = [value for tag, name, value in HtmlFacts(html).attributes if name == "data-act"]
    assert acts == ["decline", "dismiss"]
    assert "Submit" not in html
    assert not is_whole(form)


def test_a_form_within_the_limits_is_whole():
    form = long_form(fields=200, choices=5)
    html = Shown(form).html
    assert "Submit" in html
    assert "too long" not in html
    assert is_whole(form)


def test_the_chosen_of_many_choices_are_on():
    field = FormField("k", "choices", "Pets", choices=MANY, default=["3", "5"])
    html = Shown(Form((field,))).html
    assert html.count(" checked") == 2
    assert value_words(field, ["3", "x"]) == "Month 3, x"


@pytest.mark.parametrize("what", ["form", "page"])
def test_a_message_that_is_not_shown_whole_can_only_be_declined(what):
    message = "words " * 60_000 + "and the end"
    asked = (
        {"page": UrlRequest("w1", "https://a.example/")} if what == "page" else {"form": Form(())}
    )
    html = Shown(**asked, message=message).html
    assert "can only be declined here" in html
    assert "and the end" not in html
    if what == "page":
        assert "href" not in html
    else:
        assert re.search(r'data-effect="allow" disabled', html)
