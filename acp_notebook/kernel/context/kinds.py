"""What a value is, found out without running any code of its own.

`isinstance`, `getattr` and even `type(value).__name__` may run code of the value's class or
metaclass, and a class may claim any name. Here types are compared by identity, read through the
slots of `type`, and a library's are those in its imported modules. Imports no library.
"""

from __future__ import annotations

import datetime as dt
import decimal
import fractions
import pathlib
import sys
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping
from types import FunctionType, GetSetDescriptorType, MemberDescriptorType, ModuleType
from typing import Any, Final

ABSENT: Final = object()


class NeedsCode(Exception):
    """Only code of the user's own could tell; the message says why."""


_mro: Callable[[type], tuple[type, ...]] = type.__dict__["__mro__"].__get__
_members: Callable[[type], Mapping[str, Any]] = type.__dict__["__dict__"].__get__
_module: Callable[[type], Any] = type.__dict__["__module__"].__get__
_qualname: Callable[[type], str] = type.__dict__["__qualname__"].__get__

_PATHS: Final = (pathlib.PurePosixPath(), pathlib.PureWindowsPath(), pathlib.Path())
_NUMBERS: Final = (bool, int, float, complex)
_SCALARS: Final = (
    *_NUMBERS,
    type(None),
    type(...),
    str,
    bytes,
    bytearray,
    range,
    dt.date,
    dt.timedelta,
    dt.timezone,
    decimal.Decimal,
    fractions.Fraction,
    uuid.UUID,
    *map(type, _PATHS),
)
# Hashing a class may run its metaclass's code, so its id stands for it.
_SCALAR_IDS: Final = frozenset(map(id, _SCALARS))
_TIME_IDS: Final = frozenset(map(id, (dt.datetime, dt.time)))


def derives(value: Any, *kinds: type) -> bool:
    """Whether the value's real type is one of these classes or a subclass."""
    return inherits(type(value), *kinds)


def inherits(kind: type, *kinds: type) -> bool:
    """Whether a class is one of these or a subclass."""
    for base in _mro(kind):
        for each in kinds:
            if base is each:
                return True
    return False


def is_exactly(value: Any, *kinds: type) -> bool:
    """Whether the value's real type is one of these classes."""
    return any(type(value) is kind for kind in kinds)


def type_name(value: Any) -> str:
    """Return the name of the value's type, with its module unless that is `builtins`."""
    return name_of(type(value))


def name_of(kind: type) -> str:
    """Return a class's name, with its module unless that is `builtins`."""
    module, name = module_of(kind), qualified_name(kind)
    return f"{module}.{name}" if module not in {"", "builtins"} else name


def qualified_name(kind: type) -> str:
    """Return a class's name within its module."""
    return str.__str__(_qualname(kind))


def module_of(kind: type) -> str:
    """Return the name of the module that a class claims; empty if it is none."""
    module = _module(kind)
    return module if type(module) is str else ""


def class_members(kind: type) -> Mapping[str, Any]:
    """Return what a class itself has, unbound."""
    return _members(kind)


def class_attribute(kind: type, name: str) -> Any:
    """Return what a class or its bases have under a name, unbound, or `ABSENT`."""
    for base in _mro(kind):
        found = _members(base).get(name, ABSENT)
        if found is not ABSENT:
            return found
    return ABSENT


def class_names(kind: type) -> list[str]:
    """Return the names of a class's own and inherited attributes."""
    return [name for base in _mro(kind) for name in _members(base) if type(name) is str]


def instance_dict(value: Any) -> dict[str, Any]:
    """Return the attributes that the object itself holds; empty if it has none."""
    found = class_attribute(type(value), "__dict__")
    if is_exactly(found, GetSetDescriptorType, MemberDescriptorType):
        held = found.__get__(value)
        return held if derives(held, dict) else {}
    return {}


def stored(value: Any, name: str) -> Any:
    """Return the attribute that the object holds, in its dictionary or a slot, or `ABSENT`."""
    slot = class_attribute(type(value), name)
    if is_exactly(slot, MemberDescriptorType):
        try:
            return slot.__get__(value)
        except AttributeError:
            return ABSENT
    return dict.get(instance_dict(value), name, ABSENT)


def loaded(module: str) -> dict[str, Any]:
    """Return the names of a module without loading anything; empty if it is not imported."""
    found = sys.modules.get(module)
    if type(found) is ModuleType:
        return found.__dict__
    return instance_dict(found) if derives(found, ModuleType) else {}


def is_of(kind: type, package: str) -> bool:
    """Whether a class is really one of an imported package."""
    module = module_of(kind)
    if module.partition(".")[0] != package:
        return False
    return loaded(module).get(qualified_name(kind)) is kind


def is_from(module: str, *names: str) -> Callable[[Any], bool]:
    """Return a test for these classes of a module and their subclasses in the same package.

    A class that a user derives from a library's may override anything, so it is not meant.
    """
    package = module.partition(".")[0]

    def is_kind(value: Any) -> bool:
        wanted = _named(module, names)
        for kind in _mro(type(value)) if wanted else ():
            if any(kind is each for each in wanted):
                return True
            if not is_of(kind, package):
                return False
        return False

    return is_kind


def derives_from(module: str, *names: str) -> Callable[[Any], bool]:
    """Return a test for these classes of a module and all their subclasses."""
    return lambda value: derives(value, *_named(module, names))


def _named(module: str, names: Iterable[str]) -> list[type]:
    names_there = loaded(module)
    found: Iterable[Any] = map(names_there.get, names)
    return [each for each in found if derives(each, type)]


_is_numpy_scalar: Final = is_from("numpy", "generic")
_is_pandas_scalar: Final = is_from("pandas", "Timestamp", "Timedelta", "Period")
_is_missing: Final = is_from("pandas.api.typing", "NAType", "NaTType")
_is_interval: Final = is_from("pandas", "Interval")
_is_zone: Final = is_from("zoneinfo", "ZoneInfo")
_is_dateutil_zone: Final = is_from(
    "dateutil.tz.tz", "tzutc", "tzoffset", "tzlocal", "tzrangebase", "tzfile"
)
# These keep what they were made of, which may be of a derived class.
_MADE_OF: Final = {
    id(fractions.Fraction): ("_numerator", "_denominator"),
    id(uuid.UUID): ("int",),
    **{id(type(each)): ("_raw_paths",) for each in _PATHS},
}
_PLAIN_IDS: Final = _SCALAR_IDS - set(_MADE_OF)


def is_known_zone(zone: Any) -> bool:
    """Whether a time zone is none, or of a library of zones."""
    if zone is None or is_exactly(zone, dt.timezone) or _is_zone(zone) or _is_dateutil_zone(zone):
        return True
    # pytz makes a class for each zone.
    pytz = loaded("pytz")
    of_pytz = (pytz.get("utc"), *dict.values(pytz.get("_tzinfo_cache", {})))
    return any(type(zone) is type(each) for each in of_pytz) or is_of(type(zone), "pytz")


def _made_of(value: Any) -> Iterator[Any]:
    for name in _MADE_OF[id(type(value))]:
        held = stored(value, name)
        if held is not ABSENT:  # paths keep texts from Python 3.12 on
            yield from held if is_exactly(held, list) else (held,)


def is_scalar(value: Any) -> bool:
    """Whether a value is a text, a number, a time or the like, whose own code is harmless."""
    kind = id(type(value))
    if kind in _SCALAR_IDS:
        return kind not in _MADE_OF or all(is_exactly(each, int, str) for each in _made_of(value))
    if kind in _TIME_IDS or _is_pandas_scalar(value):
        return is_known_zone(getattr(value, "tzinfo", None))
    if _is_interval(value):
        return is_scalar(value.left) and is_scalar(value.right)
    if _is_numpy_scalar(value):
        return not value.dtype.hasobject
    return _is_missing(value)


def is_scalar_kind(value: Any) -> bool:
    """Whether a value is of a kind of scalars, whatever it holds."""
    kinds = (_is_pandas_scalar, _is_numpy_scalar, _is_interval)
    return id(type(value)) in _SCALAR_IDS | _TIME_IDS or any(is_kind(value) for is_kind in kinds)


def is_plain(value: Any, depth: int = 8) -> bool:
    """Whether a value is a scalar or a built-in container of such: comparing it is harmless."""
    if is_exactly(value, tuple, list, set, frozenset):
        return depth > 0 and all(is_plain(each, depth - 1) for each in value)
    if type(value) is dict:
        inside = (*value, *value.values())
        return depth > 0 and all(is_plain(each, depth - 1) for each in inside)
    return is_scalar(value)


def are_plain(values: Iterable[Any]) -> bool:
    """Whether all values are plain; fast where all are texts, numbers and the like."""
    held = list(values)
    if _PLAIN_IDS.issuperset(map(id, map(type, held))):
        return True
    return all(is_plain(each) for each in held if id(type(each)) not in _PLAIN_IDS)


def is_function(value: Any) -> bool:
    """Whether a value is a function written in Python."""
    return type(value) is FunctionType
