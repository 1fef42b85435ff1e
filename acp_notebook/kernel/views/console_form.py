"""Forms and urls at a console: one question per field, repeated until valid. Knows no agent.

Runs on the main thread, while the cell waits. Never opens a url itself.
"""

from __future__ import annotations

import getpass
import sys
from collections.abc import Iterable
from contextlib import suppress
from typing import Any

from acp_notebook.render.entries.consent import shown_text
from acp_notebook.render.entries.elicitation import value_words
from acp_notebook.render.markup import label, whole_label
from acp_notebook.render.parsing.web_address import read_address
from acp_notebook.render.text.agent_text import beside_ours
from acp_notebook.render.text.console import typed_place
from acp_notebook.session.elicitation import Action, ElicitationRequested
from acp_notebook.session.form import Form, FormField
from acp_notebook.session.form_answer import FORMAT_HINTS, read_answer

DECLINE, CANCEL = "!decline", "!cancel"
Answer = tuple[Action, dict[str, Any]]


class _GivenUp(Exception):
    """The user declined or cancelled at a question."""

    def __init__(self, action: Action) -> None:
        super().__init__(action)
        self.action: Action = action


def ask_at_console(request: ElicitationRequested, agent_name: str) -> Answer:
    """Ask for a form or a url; return the action and the values of a form."""
    drop_typed_ahead()
    _say(f"\n{beside_ours(label(agent_name, 80))} asks: {shown_text(request.message, '  ')}")
    try:
        if request.form is not None:
            return "accept", _fill(request.form)
        return _open(request.url or "")
    except _GivenUp as choice:
        return choice.action, {}


def drop_typed_ahead() -> None:
    """Drop the lines typed before a question stood there, which would answer it."""
    try:
        import termios
    except ImportError:  # Windows
        return
    # Without a terminal of this process's own nothing is typed ahead.
    with suppress(termios.error, OSError, ValueError):
        if sys.stdin.isatty():
            termios.tcflush(sys.stdin.fileno(), termios.TCIFLUSH)


def _open(url: str) -> Answer:
    address = read_address(url)
    _say(f"  {address.shown}\n  Host: {address.host or 'none'}")
    for warning in address.warnings:
        _say(f"  ! {warning}")
    if address.href is None:
        _question(f"It cannot be opened. {DECLINE} or {CANCEL}: ")
        return "decline", {}
    _question(f"Open it yourself, then press Enter ({DECLINE} or {CANCEL} instead): ")
    return "accept", {}


def _fill(form: Form) -> dict[str, Any]:
    _introduce(form)
    _say(f"Enter alone takes what stands in brackets. {DECLINE} and {CANCEL} end the questions.")
    given: dict[str, Any] = {}
    missing: Iterable[FormField] = form.fields
    while True:
        for item in missing:
            if item.kind != "unknown":
                given[item.name] = _ask(item)
        answer = read_answer(form, given)
        if not answer.errors:
            return answer.values
        missing = [item for item in form.fields if item.name in answer.errors]
        for item in missing:
            _say(f"! {whole_label(item.title)}: {answer.errors[item.name]}")
        if all(item.kind == "unknown" for item in missing):
            raise _GivenUp("decline")


def _introduce(form: Form) -> None:
    if form.title:
        _say(f"  {whole_label(form.title)}")
    if form.description:
        _say(f"  {shown_text(form.description, '  ')}")
    for item in form.fields:
        if item.kind == "unknown":
            _say(f"  {whole_label(item.title)}: a field of a kind that cannot be filled in here")


def _ask(item: FormField) -> Any:
    mark = "*" if item.is_required else ""
    if item.description:
        _say(f"  ({whole_label(item.description)})")
    for number, choice in enumerate(item.choices, 1):
        more = f" ({whole_label(choice.description)})" if choice.description else ""
        _say(f"  {number} {whole_label(choice.title)}{more}")
    default = "" if item.default is None else f" [{whole_label(value_words(item, item.default))}]"
    title = beside_ours(whole_label(item.title))
    line = _question(f"{title}{mark}{_hint(item)}{default}: ", item.is_secret)
    if not line:
        return item.default
    if item.kind == "boolean":
        words = {"y": True, "yes": True, "true": True, "n": False, "no": False, "false": False}
        return words.get(line.lower(), line)
    if item.kind == "choice":
        return _chosen(item, line)
    if item.kind == "choices":
        return [_chosen(item, part.strip()) for part in line.split(",") if part.strip()]
    return line


def _hint(item: FormField) -> str:
    hints = {"boolean": " (y/n)", "choice": " (number)", "choices": " (numbers, with commas)"}
    if item.format in FORMAT_HINTS:
        return f" ({FORMAT_HINTS[item.format]})"
    return hints.get(item.kind, "")


def _chosen(item: FormField, line: str) -> str:
    place = typed_place(line, [whole_label(choice.title) for choice in item.choices])
    if place is not None:
        return item.choices[place].value
    # The values are not shown, so nobody means one of them.
    while any(choice.value == line for choice in item.choices):
        line += "?"
    return line


def _question(words: str, is_secret: bool = False) -> str:
    line = (getpass.getpass(words) if is_secret else input(words)).strip()
    if line == DECLINE:
        raise _GivenUp("decline")
    if line == CANCEL:
        raise _GivenUp("cancel")
    return line


def _say(text: str) -> None:
    print(text)  # noqa: T201 - a console is where this runs
