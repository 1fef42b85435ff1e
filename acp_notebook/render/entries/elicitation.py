"""A form or url request -> HTML: the form or link while open, then the answer. Checks no values.

Controls are named by their position in the form, so that no agent's word becomes a name.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from markupsafe import Markup

from acp_notebook.render.entries.consent import shown_text, text_to_allow, whole
from acp_notebook.render.entries.content import json_fold, text_part
from acp_notebook.render.labels import WAITS, Wording, by_words, count_words
from acp_notebook.render.markup import Theme, join, label, whole_label
from acp_notebook.render.parsing.web_address import WebAddress, read_address
from acp_notebook.session.elicitation import Elicitation
from acp_notebook.session.form import HIDDEN, Choice, Form, FormField

VALUE_LIMIT_CHARS: Final = 500
_DEFAULT_CHARS: Final = 40
_NOT_WHOLE: Final = "This is too long to be shown whole, so it can only be declined here."
FIELDS_SHOWN: Final = 200
CHOICES_SHOWN: Final = 1_000
"""Of all fields of a form together."""
# Up to this many choices are radio buttons; more are a menu.
RADIO_LIMIT: Final = 5
_INPUT_TYPES = {"email": "email", "uri": "url", "date": "date"}
_HINTS = {"date-time": "2026-01-31T18:00:00Z", "uri": "https://", "email": "name@example.org"}


def elicitation_words(elicitation: Elicitation) -> Wording:
    """Return the words for the answer, or for the open request."""
    answer, is_page = elicitation.answer, elicitation.request.url_request is not None
    if answer is None:
        return Wording("Waiting for your answer", "?", "warn")
    if answer.action == "decline":
        return Wording("Declined", "✗", "bad")
    if answer.action != "accept":
        return Wording("Not answered: cancelled", "⊘", "plain")
    if not is_page:
        return Wording("Sent", "✓", "good")
    if elicitation.is_completed:
        return Wording("Opened, and done there", "✓", "good")
    return Wording("Opened", "✓", "good")


def value_words(item: FormField, value: Any) -> str:
    """Return a value in words, with the titles of choices."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, (list, tuple)):
        titles = {choice.value: choice.title for choice in reversed(item.choices)}
        return ", ".join(titles.get(each, str(each)) for each in value) or "none"
    return item.title_of(value)


def answer_lines(elicitation: Elicitation) -> list[tuple[str, str]]:
    """Return title and value of each field in the answer."""
    content = elicitation.answer.content if elicitation.answer is not None else None
    return [
        (
            label(item.title, 120),
            label(value_words(item, (content or {})[item.name]), VALUE_LIMIT_CHARS),
        )
        for item in elicitation.request.fields
        if item.name in (content or {})
    ]


def elicitation_line(elicitation: Elicitation) -> str:
    """Return request and answer in one line."""
    line = f"{label(elicitation.request.message)}: {elicitation_words(elicitation).text}"
    if elicitation.answer is not None:
        line += f", {label(by_words(elicitation.answer.by), 80)}"
    if elicitation.request.url is not None:
        line += f" ({label(elicitation.request.url, 300)})"
    filled = "; ".join(f"{title}: {value}" for title, value in answer_lines(elicitation))
    return f"{line} ({filled})" if filled else line


def render_elicitation(theme: Theme, elicitation: Elicitation, ident: str) -> Markup:
    """Render an open form or url with its controls, or its answer."""
    request = elicitation.request
    if not elicitation.is_open:
        return _answered(theme, elicitation, ident)
    who = theme("div", "muted small", f"{label(theme.agent_name, 80)} asks you")
    asked = theme if theme.is_static else whole(theme)
    title = theme(
        "div",
        "ask-title",
        theme("span", "ask-mark", "?", aria_hidden="true"),
        " ",
        text_to_allow(asked, request.message),
    )
    if theme.is_static:
        remark = theme("div", "muted small", WAITS)
        return theme("div", "card card-line", who, title, remark)
    body = (
        _form(asked, request.form, ident)
        if request.form is not None
        else _page(asked, read_address(request.url or ""), ident)
    )
    return theme(
        "form",
        "ask form",
        who,
        title,
        *body,
        novalidate=True,
        autocomplete="off",
        data_ask=True,
        data_form=ident,
        data_effect="allow",
        aria_label=f"{label(theme.agent_name, 80)} asks: {label(request.message)}",
    )


def _form(theme: Theme, form: Form, ident: str) -> list[Markup]:
    parts = []
    if form.title:
        parts.append(theme("div", "form-title", whole_label(form.title)))
    if form.description:
        parts.append(text_part(theme, shown_text(form.description)))
    shown = _shown_fields(form)
    parts += [_field(theme, item, number, f"{ident}.f{number}") for number, item in shown]
    if not is_whole(form):
        parts.append(theme("div", "notice notice-warn", _left_out_words(form, shown)))
        return [*parts, _buttons(theme, Markup(""), ident)]
    if any(item.is_secret for item in form.fields):
        words = "What you type in a hidden field goes to the agent; the notebook does not keep it."
        parts.append(theme("div", "muted small", words))
    if any(item.is_required for item in form.fields):
        parts.append(theme("div", "muted small", "* is needed"))
    if theme.left_out:
        parts.append(theme("div", "notice notice-warn", _NOT_WHOLE))
    submit = theme(
        "button",
        "button allow primary",
        theme("span", "button-label", "Submit"),
        type="submit",
        data_id=ident,
        data_key=f"{ident}.submit",
        data_effect="allow",
        disabled=bool(theme.left_out),
        aria_disabled="true",
    )
    return [*parts, _buttons(theme, submit, ident)]


def is_whole(form: Form) -> bool:
    """Whether all of a form is shown, so that the page may send it."""
    choices = sum(len(item.choices) for item in form.fields)
    return len(form.fields) <= FIELDS_SHOWN and choices <= CHOICES_SHOWN


def _shown_fields(form: Form) -> list[tuple[int, FormField]]:
    found, left = [], CHOICES_SHOWN
    for number, item in enumerate(form.fields[:FIELDS_SHOWN]):
        found.append((number, replace(item, choices=item.choices[:left])))
        left = max(0, left - len(item.choices))
    return found


def _left_out_words(form: Form, shown: list[tuple[int, FormField]]) -> str:
    choices = sum(len(item.choices) for item in form.fields)
    choices -= sum(len(item.choices) for _, item in shown)
    rest = {"more field": len(form.fields) - len(shown), "more choice": choices}
    words = " and ".join(count_words(count, what) for what, count in rest.items() if count)
    return (
        f"This form is too long to be shown whole ({words}), so it can only be declined here. "
        "In Python: session.questions[0].form.fields, .fill({...})"
    )


def _buttons(theme: Theme, first: Markup, ident: str) -> Markup:
    decline = _button(theme, "Decline", "reject", ident, "decline")
    cancel = _button(theme, "Cancel", "other", ident, "dismiss")
    return theme("div", "ask-buttons", first, decline, cancel)


def _button(theme: Theme, words: str, look: str, ident: str, act: str) -> Markup:
    return theme(
        "button",
        f"button {look}",
        theme("span", "button-label", words),
        type="button",
        data_act=act,
        data_id=ident,
        data_key=f"{ident}.{act}",
        aria_disabled="true",
    )


def _field(theme: Theme, item: FormField, number: int, key: str) -> Markup:
    if item.kind == "unknown":
        title = f"{whole_label(item.title)}: a field of a kind that cannot be filled in here"
        inner = join(json_fold(theme, title, dict(item.raw), key))
    elif item.kind == "boolean":
        inner = _checkbox(theme, item, number, key)
    elif item.kind == "choices" or (item.kind == "choice" and len(item.choices) <= RADIO_LIMIT):
        inner = _group(theme, item, number, key)
    else:
        control = (
            _select(theme, item, number, key) if item.choices else _input(theme, item, number, key)
        )
        inner = theme("label", "field-label", _title(theme, item), control)
    wrong = theme("div", "wrong", data_wrong=str(number))
    return theme("div", "input", inner, _description(theme, item), _default(theme, item), wrong)


def _title(theme: Theme, item: FormField) -> Markup:
    mark = theme("span", "needed", " *", title="is needed") if item.is_required else ""
    return theme("span", "field-title", whole_label(item.title), mark, dir="auto")


def _description(theme: Theme, item: FormField) -> Markup:
    if not item.description:
        return Markup("")
    return theme("div", "muted small", whole_label(item.description), dir="auto")


def _default(theme: Theme, item: FormField) -> Markup:
    """Render the value that stands in a line already, where the line does not show all of it."""
    text = item.default
    if item.choices or item.is_secret or not isinstance(text, str):
        return Markup("")
    shown = shown_text(text)
    if len(shown) <= _DEFAULT_CHARS and shown == text:
        return Markup("")
    return theme("div", "muted small", "Filled in: ", theme("span", "mono pre", shown))


def _shared(item: FormField, number: int, key: str) -> dict[str, Any]:
    return {
        "name": f"f{number}",
        "data_key": key,
        "aria_required": "true" if item.is_required else None,
        "aria_description": label(item.description, 500) if item.description else None,
    }


def _input(theme: Theme, item: FormField, number: int, key: str) -> Markup:
    rules = item.rules
    attributes = _shared(item, number, key)
    if item.kind in {"number", "integer"}:
        step = "1" if item.kind == "integer" else "any"
        attributes |= {"type": "number", "step": step}
        attributes |= {"min": _number(rules, "minimum"), "max": _number(rules, "maximum")}
    else:
        kind = "password" if item.is_secret else _INPUT_TYPES.get(item.format or "", "text")
        attributes |= {"type": kind, "placeholder": _HINTS.get(item.format or ""), "dir": "auto"}
    value = "" if item.default is None else str(item.default)
    return theme("input", "control", value=value, **attributes)


def _number(rules: Mapping[str, Any], key: str) -> str | None:
    return str(rules[key]) if key in rules else None


def _checkbox(theme: Theme, item: FormField, number: int, key: str) -> Markup:
    box = theme(
        "input", "", type="checkbox", checked=item.default is True, **_shared(item, number, key)
    )
    return theme("label", "check", box, " ", _title(theme, item))


def _select(theme: Theme, item: FormField, number: int, key: str) -> Markup:
    on = _values_on(item)
    options = [
        theme(
            "option",
            "",
            whole_label(choice.title),
            value=choice.value,
            selected=choice.value in on,
        )
        for choice in item.choices
    ]
    if item.default is None:
        options.insert(0, theme("option", "", "—", value=""))
    return theme("select", "control", *options, **_shared(item, number, key))


def _group(theme: Theme, item: FormField, number: int, key: str) -> Markup:
    is_many = item.kind == "choices"
    choices = list(item.choices)
    if not is_many and not item.is_required:
        choices.append(Choice("", "No answer"))
    on, rows = _values_on(item), []
    for place, choice in enumerate(choices):
        attributes = {
            "type": "checkbox" if is_many else "radio",
            "name": f"f{number}",
            "value": choice.value,
            "checked": choice.value in on,
            "data_key": f"{key}.{place}",
            "data_many": is_many,
        }
        words = [theme("span", "", whole_label(choice.title), dir="auto")]
        if choice.description:
            words.append(theme("span", "muted small", " " + whole_label(choice.description)))
        rows.append(theme("label", "check", theme("input", "", **attributes), " ", *words))
    legend = theme("legend", "field-title", _title(theme, item))
    return theme("fieldset", "group", legend, *rows)


def _values_on(item: FormField) -> frozenset[Any]:
    if item.kind == "choices":
        return frozenset(item.default or ())
    return frozenset({item.default if item.default is not None else ""})


def _page(theme: Theme, address: WebAddress, ident: str) -> list[Markup]:
    parts = _address(theme, address)
    if theme.left_out:
        parts.append(theme("div", "notice notice-warn", _NOT_WHOLE))
    if theme.left_out or address.href is None:
        return [*parts, _buttons(theme, Markup(""), ident)]
    first = theme(
        "a",
        "button allow primary",
        theme("span", "button-label", f"Open {whole_label(address.host)}"),
        href=address.href,
        target="_blank",
        rel="noopener noreferrer",
        data_act="open",
        data_effect="allow",
        data_id=ident,
        data_key=f"{ident}.open",
        aria_disabled="true",
    )
    remark = "It opens in a new tab, by your click only."
    return [*parts, _buttons(theme, first, ident), theme("div", "muted small", remark)]


def _address(theme: Theme, address: WebAddress) -> list[Markup]:
    parts = [theme("div", "pre address", address.shown)]
    if address.host:
        host = theme("span", "mono title", whole_label(address.host))
        parts.append(theme("div", "field", theme("span", "muted", "Host "), host))
    parts += [
        theme("div", "notice notice-warn", theme("span", "glyph tone-warn", "! "), warning)
        for warning in address.warnings
    ]
    return parts


def _answered(theme: Theme, elicitation: Elicitation, ident: str) -> Markup:
    request, answer = elicitation.request, elicitation.answer
    by = [label(by_words(answer.by), 80)] if answer is not None and answer.by else []
    title = theme("span", "", theme.titled(request.message), dir="auto")
    line = Markup(" · ").join([theme.wording(elicitation_words(elicitation)), *by, title])
    rows = [
        theme(
            "div",
            "field",
            theme("span", "muted", f"{title}: "),
            theme("span", "muted" if value == HIDDEN else "", value, dir="auto"),
        )
        for title, value in answer_lines(elicitation)
    ]
    if request.url_request is not None:
        rows = _address(theme, read_address(request.url_request.url))
    if not rows:
        return theme("div", "answered", line)
    # Sent values are unfolded; the address of a url only on demand.
    body = theme("div", "answered-body", *rows)
    return theme.fold("answered", line, body, key=ident, is_open=request.url_request is None)
