"""Permission requests as HTML and as one line: the open question, or the answer.

Knows no document.
"""

from __future__ import annotations

from markupsafe import Markup

from acp_notebook.render.entries.content import code_part, json_fold, text_part
from acp_notebook.render.entries.json_view import json_part
from acp_notebook.render.entries.tool_call import render_command, tool_body, tool_title
from acp_notebook.render.labels import WAITS, answer_words, by_words, chosen_option, is_lasting
from acp_notebook.render.markup import Theme, label, visible
from acp_notebook.session.state import Permission, SessionState
from acp_notebook.session.updates import (
    CodeSubject,
    CommandSubject,
    PermissionOption,
    ToolCallSubject,
    UnknownSubject,
)

_TITLE_LIMIT_CHARS = 2_000
_DIGIT_KEYS = 9


def permission_line(permission: Permission) -> str:
    """Return question and answer in one line."""
    line = f"{label(permission.request.title)}: {answer_words(permission).text}"
    answer = permission.answer
    return f"{line} · {label(by_words(answer.by))}" if answer else line


def render_permission(
    theme: Theme, state: SessionState, permission: Permission, ident: str
) -> Markup:
    """Render the question with a button for each option, or one line with the answer."""
    request = permission.request
    if not permission.is_open:
        return _answered(theme, permission, ident)
    title = theme(
        "div",
        "ask-title",
        theme("span", "ask-mark", "?", aria_hidden="true"),
        " ",
        visible(request.title[:_TITLE_LIMIT_CHARS]),
    )
    parts = [title]
    if request.description:
        parts.append(text_part(theme, request.description))
    parts += _subject(theme, state, permission, ident)
    if theme.is_static:
        parts.append(theme("div", "muted small", WAITS))
        return theme("div", "card card-line", *parts)
    parts.append(_buttons(theme, request.options, ident))
    return theme(
        "div",
        "ask",
        *parts,
        role="group",
        tabindex="0",
        data_keys=ident,
        data_key=f"{ident}.ask",
        aria_label=f"Permission: {label(request.title)}",
    )


def _answered(theme: Theme, permission: Permission, ident: str) -> Markup:
    request, answer = permission.request, permission.answer
    words = answer_words(permission)
    by = [label(by_words(answer.by), 80)] if answer and answer.by else []
    title = theme("span", "", theme.titled(request.title), dir="auto")
    line = Markup(" · ").join([theme.wording(words), *by, title])
    option = chosen_option(permission, answer) if answer else None
    detail = []
    if option is not None and option.name.casefold() not in words.text.casefold():
        detail.append(theme("div", "field", f"Answer: {label(option.name, 120)}"))
    detail += [text_part(theme, request.description)] if request.description else []
    match request.subject:
        case CommandSubject(command=command, cwd=cwd):
            detail.append(render_command(theme, command, cwd))
        case CodeSubject(code=code, language=language):
            detail.append(code_part(theme, visible(code), language))
        case UnknownSubject(raw=raw):
            detail.append(json_part(theme, raw, f"{ident}.s"))
        case _:
            pass  # a tool call has a card of its own
    if not detail:
        return theme("div", "answered", line)
    return theme.fold("answered", line, theme("div", "answered-body", *detail), key=ident)


def subject_ident(ident: str) -> str:
    """Return the page's name of the tool call inside a permission entry."""
    return f"{ident}.s"


def _subject(theme: Theme, state: SessionState, permission: Permission, ident: str) -> list[Markup]:
    match permission.request.subject:
        case ToolCallSubject(tool_call_id=tool_call_id):
            call = state.tool_calls.get(tool_call_id)
            if call is None:
                return [theme("div", "muted small", f"Tool call {label(tool_call_id, 80)}")]
            title = theme("div", "muted small", theme.titled(tool_title(call)), dir="auto")
            body = tool_body(theme, state, call, subject_ident(ident), is_open=True)
            return [title, theme("div", "ask-subject", *body)] if body else [title]
        case CommandSubject(command=command, cwd=cwd):
            return [render_command(theme, command, cwd)]
        case CodeSubject(code=code, language=language):
            return [code_part(theme, visible(code), language)]
        case UnknownSubject(type=kind, raw=raw):
            title_words = f"About something of the unknown type {label(kind, 60)}"
            return [json_fold(theme, title_words, raw, f"{ident}.s")]
        case None:
            return []


def _buttons(theme: Theme, options: tuple[PermissionOption, ...], ident: str) -> Markup:
    primary = next((o for o in options if o.kind == "allow_once"), None)
    buttons = [
        _button(theme, option, number, ident, is_primary=option is primary)
        for number, option in enumerate(options)
    ]
    return theme("div", "ask-buttons", *buttons)


def _button(
    theme: Theme, option: PermissionOption, number: int, ident: str, *, is_primary: bool
) -> Markup:
    effect = option.kind.partition("_")[0]
    effect = effect if effect in {"allow", "reject"} else "other"
    glyph = {"allow": "✓", "reject": "✗", "other": "•"}[effect]
    lasting = Markup("")
    if is_lasting(option):
        meaning = "This answer holds for later requests too, not only for this one"
        lasting = theme("span", "badge", "from now on", title=meaning)
    digit = theme("kbd", "", str(number + 1), aria_hidden="true") if number < _DIGIT_KEYS else ""
    return theme(
        "button",
        f"button {effect}" + (" primary" if is_primary else ""),
        theme("span", "glyph", glyph, aria_hidden="true"),
        theme("span", "button-label", label(option.name, 120) or f"Option {number + 1}"),
        lasting,
        digit,
        type="button",
        data_act="answer",
        data_id=ident,
        data_n=str(number),
        data_key=f"{ident}.b{number}",
        data_primary=is_primary,
    )
