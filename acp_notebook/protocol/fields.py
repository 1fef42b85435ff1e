"""Reading members of wire objects: strict where the schema requires, lenient where it allows.

Both schemas mark optional members "default on error": a value of the wrong type counts as missing.
A required member of the wrong type makes the whole object malformed, and nothing else. Knows no
message.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from acp_notebook.session.updates import UNSET, Patch

logger = logging.getLogger(__name__)

Json = Mapping[str, Any]
T = TypeVar("T")


class Malformed(ValueError):
    """A known wire object that breaks its schema, with the place in the message."""


def as_object(value: Any, what: str) -> Json:
    """Return the value if it is an object.

    Raises:
        Malformed: The value is something else.
    """
    if not isinstance(value, Mapping):
        raise Malformed(f"{what} must be an object, got {kind_of(value)}")
    return value


def text(raw: Json, key: str) -> str:
    """Return a required string member.

    Raises:
        Malformed: The member is absent or of another type.
    """
    value = raw.get(key)
    if not isinstance(value, str):
        raise Malformed(f"{key} must be a string, got {kind_of(value)}")
    return value


def whole_number(raw: Json, key: str) -> int:
    """Return a required integer member; 3.0 is read as 3, the same number in JSON.

    Raises:
        Malformed: The member is absent or of another type.
    """
    value = raw.get(key)
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if not isinstance(value, int) or isinstance(value, bool):
        raise Malformed(f"{key} must be an integer, got {kind_of(value)}")
    return value


def array(raw: Json, key: str) -> list[Any]:
    """Return a required array member.

    Raises:
        Malformed: The member is absent or of another type.
    """
    value = raw.get(key)
    if not isinstance(value, list):
        raise Malformed(f"{key} must be an array, got {kind_of(value)}")
    return value


def optional_text(raw: Json, key: str) -> str | None:
    """Return a string member, or None."""
    value = raw.get(key)
    return value if isinstance(value, str) else None


def optional_object(raw: Json, key: str) -> Json | None:
    """Return an object member, or None."""
    value = raw.get(key)
    return value if isinstance(value, Mapping) else None


def optional_array(raw: Json, key: str) -> list[Any]:
    """Return an array member, or an empty list."""
    value = raw.get(key)
    return value if isinstance(value, list) else []


def optional_int(raw: Json, key: str) -> int | None:
    """Return an integer member, or None."""
    value = raw.get(key)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def patch(raw: Json, key: str, read: Callable[[Any], T]) -> Patch[T]:
    """Return a three-state member: absent or unreadable keeps, null clears, else the value."""
    if key not in raw:
        return UNSET
    if raw[key] is None:
        return None
    try:
        return read(raw[key])
    except Malformed:
        return UNSET


def patch_text(raw: Json, key: str) -> Patch[str]:
    """Return a three-state string."""
    return patch(raw, key, as_text)


def patch_object(raw: Json, key: str) -> Patch[Json]:
    """Return a three-state object."""
    return patch(raw, key, lambda value: as_object(value, key))


def as_text(value: Any) -> str:
    """Return the value if it is a string.

    Raises:
        Malformed: The value is something else.
    """
    if not isinstance(value, str):
        raise Malformed(f"expected a string, got {kind_of(value)}")
    return value


def valid_items(values: Any, read: Callable[[Any], T]) -> tuple[T, ...]:
    """Read an array item by item; a malformed item is logged and left out.

    Raises:
        Malformed: The value is no array.
    """
    if not isinstance(values, list):
        raise Malformed(f"expected an array, got {kind_of(values)}")
    good = []
    for value in values:
        try:
            good.append(read(value))
        except Malformed as error:
            logger.info("An item of an array was left out: %s", error)
    return tuple(good)


def kind_of(value: Any) -> str:
    """Return a JSON value's type in words, for messages."""
    names = {dict: "an object", list: "an array", str: "a string", bool: "a boolean"}
    if value is None:
        return "nothing"
    return names.get(type(value), "a number")


def given(**members: Any) -> dict[str, Any]:
    """Return the members that are not None."""
    return {key: value for key, value in members.items() if value is not None}
