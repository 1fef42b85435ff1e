"""The input of a form -> the values to send, or the errors by field. Pure.

`jsonschema` checks against rules that were read and bounded: no agent can make it fetch a
reference or hang in a pattern.
"""

from __future__ import annotations

import datetime as dt
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Final
from urllib.parse import urlsplit

from acp_notebook.session.form import Form, FormField

PATTERN_TIMEOUT_S: Final = 0.5
_EMAIL = re.compile(r"[^@\s]+@[^@\s.]+(\.[^@\s.]+)*")
_DATE = re.compile(r"\d{4}-\d\d-\d\d")
_DATE_TIME = re.compile(r"\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)")
_URI = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:[A-Za-z0-9._~:/?#\[\]@!$&'()*+,;=%-]+")
FORMAT_HINTS: Final = {
    "email": "an e-mail address, such as name@example.org",
    "uri": "a full address, such as https://example.org/",
    "date": "a date, such as 2026-01-31",
    "date-time": "a date and time with its zone, such as 2026-01-31T18:00:00Z",
}


@dataclass(frozen=True, slots=True)
class FormAnswer:
    """Values and errors by field name."""

    values: dict[str, Any] = field(default_factory=dict)
    errors: dict[str, str] = field(default_factory=dict)


def read_answer(form: Form, given: Mapping[str, Any]) -> FormAnswer:
    """Convert and check the input of a form, by field name.

    Numbers may be text; an empty text is no value; a missing field has its default.
    """
    answer = FormAnswer()
    validator = _validator()
    for item in form.fields:
        try:
            value = _value(item, given.get(item.name, item.default))
        except ValueError as error:
            answer.errors[item.name] = str(error)
            continue
        if value is not None:
            answer.values[item.name] = value
        wrong = _what_is_wrong(item, value, validator)
        if wrong:
            answer.errors[item.name] = wrong
    for name in given.keys() - {item.name for item in form.fields}:
        answer.errors[str(name)] = "The form has no such field."
    return answer


def _value(item: FormField, given: Any) -> Any:
    if given is None:
        return None
    if item.kind in {"number", "integer"}:
        return _number(item, given)
    if item.kind == "choices":
        values = list(given) if isinstance(given, (list, tuple, set)) else given
        is_needed = item.is_required or not item.rules.get("minItems")
        return values if values or is_needed else None
    if given == "" and item.kind in {"text", "choice"}:
        return None
    return given


def _number(item: FormField, given: Any) -> int | float | None:
    words = "a whole number" if item.kind == "integer" else "a number"
    if isinstance(given, str):
        if not given.strip():
            return None
        try:
            given = float(given) if item.kind == "number" else _whole(given)
        except ValueError:
            raise ValueError(f"This must be {words}.") from None
    if isinstance(given, bool) or not isinstance(given, (int, float)) or not math.isfinite(given):
        raise ValueError(f"This must be {words}.")
    if item.kind == "integer" and isinstance(given, float) and given.is_integer():
        return int(given)
    return given


def _whole(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        value = float(text)
        if not value.is_integer():
            raise
        return int(value)


def _what_is_wrong(item: FormField, value: Any, validator: Any) -> str:
    if value is None:
        if not item.is_required:
            return ""
        if item.kind == "unknown":
            return "This field cannot be filled in here, but the agent needs it. Decline, please."
        return "Please choose." if item.choices else "Please fill this in."
    if item.kind == "unknown":
        return ""
    error = next(validator(item.rules).iter_errors(value), None)
    return _in_words(error, item) if error is not None else ""


@cache
def _validator() -> Any:
    import jsonschema

    checker = jsonschema.FormatChecker(formats=())
    for name, holds in _FORMATS.items():
        checker.checks(name)(holds)
    extended = jsonschema.validators.extend(
        jsonschema.Draft202012Validator, {"pattern": _check_pattern}
    )
    return lambda rules: extended(rules, format_checker=checker)


def _check_pattern(_validator: Any, pattern: str, value: Any, _schema: Any) -> Any:
    """Check `pattern` in bounded time; an unreadable or too slow one is no rule."""
    import jsonschema
    import regex

    try:
        found = regex.search(pattern, value, timeout=PATTERN_TIMEOUT_S)
    except (regex.error, TimeoutError, TypeError):
        return
    if found is None:
        yield jsonschema.ValidationError("does not match", validator="pattern")


def _is_date(value: object) -> bool:
    if not isinstance(value, str) or not _DATE.fullmatch(value):
        return not isinstance(value, str)
    return _parses(dt.date.fromisoformat, value)


def _is_date_time(value: object) -> bool:
    if not isinstance(value, str) or not _DATE_TIME.fullmatch(value):
        return not isinstance(value, str)
    return _parses(dt.datetime.fromisoformat, value.upper())


def _parses(read: Any, value: str) -> bool:
    try:
        read(value)
    except ValueError:
        return False
    return True


def _is_uri(value: object) -> bool:
    if not isinstance(value, str):
        return True
    return bool(_URI.fullmatch(value)) and _parses(urlsplit, value)


def _is_email(value: object) -> bool:
    return not isinstance(value, str) or bool(_EMAIL.fullmatch(value))


_FORMATS: Final = {"date": _is_date, "date-time": _is_date_time, "uri": _is_uri, "email": _is_email}


def _in_words(error: Any, item: FormField) -> str:
    limit = item.rules.get(error.validator)
    match error.validator:
        case "minLength":
            return f"At least {limit} characters, please."
        case "maxLength":
            return f"At most {limit} characters, please."
        case "minimum":
            return f"This must be {limit} or more."
        case "maximum":
            return f"This must be {limit} or less."
        case "minItems":
            return f"Choose at least {limit}, please."
        case "maxItems":
            return f"Choose at most {limit}, please."
        case "format":
            return f"This must be {FORMAT_HINTS.get(str(limit), str(limit))}."
        case "pattern":
            return f"This must match the pattern {item.rules.get('pattern')}"
        case "enum":
            return "This is not one of the choices."
        case _:
            return f"This must be of the type {item.rules.get('type')}."
