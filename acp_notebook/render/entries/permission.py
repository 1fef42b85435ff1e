"""Permission requests as HTML and as one line: the open question, or the answer.

Knows no document.
"""

from __future__ import annotations

from markupsafe import Markup

from acp_notebook.render.entries.consent import (
    code_to_allow,
    shown_line,
    shown_text,
    value_to_allow,
    whole,
)
from acp_notebook.render.entries.content import text_part
from acp_notebook.render.entries.json_view import json_part
from acp_notebook.render.entries.tool_call import own_mark, render_command, tool_body, whole_title
from acp_notebook.render.labels import (
    LASTING,
    WAITS,
    answer_words,
    by_words,
    chosen_option,
    is_lasting,
    option_effect,
)
from acp_notebook.render.markup import Theme, label, whole_label
from acp_notebook.session.state import Permission, SessionState, ToolCall
from acp_notebook.session.updates import (
    CodeSubject,
    CommandSubject,
    PermissionOption,
    PermissionRequested,
    ToolCallSubject,
    UnknownSubject,
)

_NAME_CHARS = 120
_DIGIT_KEYS = 9
_OPTIONS_SHOWN = 100
_NOT_WHOLE = (
    "This is too long to be shown whole, so it can only be rejected here. "
    "In Python: session.questions[0].request, .answer(option_id)"
)


def option_name(option: PermissionOption, place: int, limit: int | None = _NAME_CHARS) -> str:
    """Return the name of the option at a place, whole if there is no limit."""
    name = whole_label(option.name) if limit is None else label(option.name, limit)
    return name or f"Option {place + 1}"


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
    asked = whole(theme)
    parts = [_asker(theme, request), *_title(asked, request.title)]
    if request.description:
        parts.append(text_part(asked, shown_text(request.description)))
    parts += _subject(asked, state, permission, ident)
    if theme.is_static:
        parts.append(theme("div", "muted small", WAITS))
        return theme("div", "card card-line", *parts)
    parts += _long_names(asked, request.options)
    if asked.left_out:
        parts.append(theme("div", "notice notice-warn", _NOT_WHOLE))
    parts.append(_buttons(theme, request.options, ident, is_whole=not asked.left_out))
    return theme(
        "div",
        "ask own" if isinstance(request.subject, CodeSubject) else "ask",
        *parts,
        role="group",
        tabindex="0",
        data_ask=True,
        data_keys=ident,
        data_key=f"{ident}.ask",
        aria_label=f"Permission: {label(request.title)}",
    )


def _asker(theme: Theme, request: PermissionRequested) -> Markup:
    agent = label(theme.agent_name, 80)
    if isinstance(request.subject, CodeSubject):
        words = f" {agent} wants to use the kernel of this notebook"
        return theme("div", "muted small", own_mark(theme), words)
    return theme("div", "muted small", f"{agent} asks you")


def _title(theme: Theme, title: str) -> list[Markup]:
    mark = theme("span", "ask-mark", "?", aria_hidden="true")
    shown = shown_line(title)
    if shown is not None:
        return [theme("div", "ask-title", mark, " ", shown)]
    # Some agents put the whole command here.
    return [theme("div", "ask-title", mark, " ", label(title)), code_to_allow(theme, title)]


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
            detail.append(code_to_allow(theme, code, language))
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
            body = tool_body(theme, state, call, subject_ident(ident), is_asked=True)
            title = _call_title(theme, permission, call)
            return [*title, theme("div", "ask-subject", *body)] if body else title
        case CommandSubject(command=command, cwd=cwd):
            return [render_command(theme, command, cwd)]
        case CodeSubject(code=code, language=language):
            return [code_to_allow(theme, code, language)]
        case UnknownSubject(type=kind, raw=raw):
            words = f"About something of the unknown type {label(kind, 60)}"
            return [theme("div", "muted small", words), value_to_allow(theme, raw)]
        case None:
            return []


def _call_title(theme: Theme, permission: Permission, call: ToolCall) -> list[Markup]:
    title = whole_title(call)
    shown = shown_line(title)
    if shown is None:
        is_said = title == permission.request.title
        return [] if is_said else [code_to_allow(theme, title)]
    return [theme("div", "muted small", theme.titled(shown, 2 * len(shown)), dir="auto")]


def _long_names(theme: Theme, options: tuple[PermissionOption, ...]) -> list[Markup]:
    """Render the names that do not fit on their buttons."""
    parts = []
    for number, option in enumerate(options[:_OPTIONS_SHOWN]):
        if option_name(option, number) != option_name(option, number, None):
            words = f"Option {number + 1} in full:"
            parts += [theme("div", "muted small", words), code_to_allow(theme, option.name)]
    return parts


def _buttons(
    theme: Theme, options: tuple[PermissionOption, ...], ident: str, *, is_whole: bool
) -> Markup:
    primary = next((o for o in options if o.kind == "allow_once"), None)
    buttons = [
        _button(theme, option, number, ident, is_primary=option is primary, is_whole=is_whole)
        for number, option in enumerate(options[:_OPTIONS_SHOWN])
    ]
    rest = len(options) - len(buttons)
    words = f"… {rest:,} more options: session.questions[0].options"
    more = [theme("div", "left-out", words)] if rest > 0 else []
    return theme("div", "ask-buttons", *buttons, *more)


def _button(
    theme: Theme,
    option: PermissionOption,
    number: int,
    ident: str,
    *,
    is_primary: bool,
    is_whole: bool,
) -> Markup:
    effect, glyph = option_effect(option)
    lasting = Markup("")
    if is_lasting(option):
        meaning = "This answer holds for later requests too, not only for this one"
        lasting = theme("span", "badge", LASTING, title=meaning)
    digit = theme("kbd", "", str(number + 1), aria_hidden="true") if number < _DIGIT_KEYS else ""
    return theme(
        "button",
        f"button {effect}" + (" primary" if is_primary else ""),
        theme("span", "glyph", glyph, aria_hidden="true"),
        theme("span", "button-label", option_name(option, number)),
        lasting,
        digit,
        type="button",
        data_act="answer",
        data_id=ident,
        data_n=str(number),
        data_effect=effect,
        disabled=effect != "reject" and not is_whole,
        # Until the page has seen the question stand still.
        aria_disabled="true",
        data_key=f"{ident}.b{number}",
        data_primary=is_primary,
    )
