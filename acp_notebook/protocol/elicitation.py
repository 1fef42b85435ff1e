"""Reading `elicitation/create` and writing its answer. Knows neither version.

A property of an unknown type is kept whole as an unknown field. A known one that breaks its schema
makes the request malformed, because a form with wrong rules would collect wrong answers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from acp_notebook.protocol import fields
from acp_notebook.protocol.dialect import ClientCapabilities
from acp_notebook.protocol.fields import Json, Malformed, optional_text
from acp_notebook.session import updates as u
from acp_notebook.session.elicitation import Action, ElicitationId, ElicitationRequested
from acp_notebook.session.form import Choice, FieldKind, Form, FormField, UrlRequest

CREATE: Final = "elicitation/create"
COMPLETE: Final = "elicitation/complete"


def requested(
    elicitation_id: ElicitationId, params: Json, defaults: Json | None = None
) -> ElicitationRequested:
    """Read the params of a request; `defaults` are the members of a form that may be missing.

    Raises:
        Malformed: The mode is unknown, the scope is missing, or the form breaks its schema.
    """
    message = fields.text(params, "message")
    mode = fields.text(params, "mode")
    request_id = params.get("requestId")
    has_request = isinstance(request_id, (str, int)) and not isinstance(request_id, bool)
    if not isinstance(params.get("sessionId"), str) and not has_request:
        raise Malformed("sessionId or requestId must say what the question belongs to")
    tool_call_id = optional_text(params, "toolCallId")
    form = url_request = None
    if mode == "form":
        schema = fields.as_object(params.get("requestedSchema"), "requestedSchema")
        form = _form({**(defaults or {}), **schema})
    elif mode == "url":
        url_request = UrlRequest(fields.text(params, "elicitationId"), fields.text(params, "url"))
    else:
        raise Malformed(f"mode must be form or url, got {mode!r}")
    call = u.ToolCallId(tool_call_id) if tool_call_id is not None else None
    return ElicitationRequested(elicitation_id, message, form, url_request, call)


def check_mode(params: Json, served: ClientCapabilities) -> None:
    """Check that this client advertised the request's mode.

    Raises:
        Malformed: The mode was not advertised.
    """
    advertised = {"form": served.forms, "url": served.urls}
    mode = params.get("mode")
    if isinstance(mode, str) and not advertised.get(mode, False):
        raise Malformed(f"this client did not offer the mode {mode!r}")


def completed_url(params: Json) -> str | None:
    """Return the id in an `elicitation/complete`, or None."""
    return optional_text(params, "elicitationId")


def answer(action: Action, content: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return the result for a request."""
    if action != "accept" or content is None:
        return {"action": action}
    return {"action": action, "content": dict(content)}


def _form(schema: Json) -> Form:
    if schema.get("type") != "object":
        raise Malformed("requestedSchema.type must be 'object'")
    properties = fields.as_object(schema.get("properties"), "requestedSchema.properties")
    required = schema.get("required")
    needed = [] if required is None else fields.array(schema, "required")
    if not all(isinstance(name, str) for name in needed):
        raise Malformed("requestedSchema.required must hold names")
    names = frozenset(needed)
    found = [
        _field(str(name), value, is_required=name in names) for name, value in properties.items()
    ]
    return Form(tuple(found), optional_text(schema, "title"), optional_text(schema, "description"))


def _field(name: str, value: Any, *, is_required: bool) -> FormField:
    raw = fields.as_object(value, f"property {name!r}")
    read = _RULES.get(fields.text(raw, "type"))
    try:
        shown, rules, choices = read(raw) if read is not None else _unknown(raw)
    except Malformed as error:
        raise Malformed(f"property {name!r}: {error}") from None
    return FormField(
        name,
        shown,
        optional_text(raw, "title") or name,
        optional_text(raw, "description"),
        is_required,
        _default(raw.get("default"), shown, choices),
        choices,
        rules,
        raw,
    )


_Read = tuple[FieldKind, dict[str, Any], tuple[Choice, ...]]


def _unknown(_: Json) -> _Read:
    return "unknown", {}, ()


def _text(raw: Json) -> _Read:
    rules: dict[str, Any] = {"type": "string"}
    _take(raw, rules, ("minLength", "maxLength"), _count)
    _take(raw, rules, ("pattern", "format"), fields.as_text)
    choices = _choices(raw)
    if not choices:
        return "text", rules, ()
    return "choice", {**rules, "enum": [choice.value for choice in choices]}, choices


def _number(raw: Json) -> _Read:
    rules: dict[str, Any] = {"type": "number"}
    _take(raw, rules, ("minimum", "maximum"), _real)
    return "number", rules, ()


def _integer(raw: Json) -> _Read:
    rules: dict[str, Any] = {"type": "integer"}
    _take(raw, rules, ("minimum", "maximum"), _whole)
    return "integer", rules, ()


def _several(raw: Json) -> _Read:
    items = fields.as_object(raw.get("items"), "items")
    if "anyOf" in items:
        choices = _titled(items, "anyOf")
    elif fields.text(items, "type") == "string":
        choices = _plain(items)
    else:
        return _unknown(raw)
    rules: dict[str, Any] = {"type": "array", "uniqueItems": True}
    _take(raw, rules, ("minItems", "maxItems"), _count)
    rules["items"] = {"enum": [choice.value for choice in choices]}
    return "choices", rules, choices


_RULES: dict[str, Callable[[Json], _Read]] = {
    "string": _text,
    "number": _number,
    "integer": _integer,
    "boolean": lambda _: ("boolean", {"type": "boolean"}, ()),
    "array": _several,
}


def _choices(raw: Json) -> tuple[Choice, ...]:
    if raw.get("oneOf") is not None:
        return _titled(raw, "oneOf")
    return _plain(raw) if raw.get("enum") is not None else ()


def _titled(raw: Json, key: str) -> tuple[Choice, ...]:
    options = [fields.as_object(value, "choice") for value in fields.array(raw, key)]
    if not options:
        raise Malformed(f"{key} must offer at least one choice")
    return tuple(
        Choice(
            fields.text(option, "const"),
            fields.text(option, "title"),
            optional_text(option, "description"),
        )
        for option in options
    )


def _plain(raw: Json) -> tuple[Choice, ...]:
    values = [fields.as_text(value) for value in fields.array(raw, "enum")]
    if not values:
        raise Malformed("enum must offer at least one choice")
    return tuple(Choice(value, value) for value in values)


def _take(
    raw: Json, rules: dict[str, Any], keys: tuple[str, ...], read: Callable[[Any], Any]
) -> None:
    # Absent and null both mean no rule.
    for key in keys:
        if raw.get(key) is not None:
            try:
                rules[key] = read(raw[key])
            except Malformed as error:
                raise Malformed(f"{key}: {error}") from None


def _count(value: Any) -> int:
    count = _whole(value)
    if count < 0:
        raise Malformed("expected 0 or more")
    return count


def _whole(value: Any) -> int:
    return fields.whole_number({"value": value}, "value")


def _real(value: Any) -> float | int:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise Malformed(f"expected a number, got {fields.kind_of(value)}")
    return value


def _default(value: Any, kind: FieldKind, choices: tuple[Choice, ...]) -> Any:
    known = {choice.value for choice in choices}
    if kind == "choices":
        items = value if isinstance(value, list) else []
        return [item for item in items if isinstance(item, str) and item in known] or None
    fits: dict[str, bool] = {
        "text": isinstance(value, str),
        "choice": isinstance(value, str) and value in known,
        "boolean": isinstance(value, bool),
        "integer": isinstance(value, int) and not isinstance(value, bool),
        "number": isinstance(value, (int, float)) and not isinstance(value, bool),
    }
    return value if fits.get(kind, False) else None
