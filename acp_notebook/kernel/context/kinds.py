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
from collections.abc import Callable, Iterable, Mapping
from types import FunctionType, GetSetDescriptorType, MemberDescriptorType, ModuleType
from typing import Any, Final

ABSENT: Final = object()

_mro: Callable[[type], tuple[type, ...]] = type.__dict__["__mro__"].__get__
_members: Callable[[type], Mapping[str, Any]] = type.__dict__["__dict__"].__get__
_module: Callable[[type], Any] = type.__dict__["__module__"].__get__
_qualname: Callable[[type], str] = type.__dict__["__qualname__"].__get__

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
    *(type(each) for each in (pathlib.PurePosixPath(), pathlib.PureWindowsPath(), pathlib.Path())),
)
# Hashing a class may run its metaclass's code, so its id stands for it.
_SCALAR_IDS: Final = frozenset(map(id, _SCALARS))
_TIME_IDS: Final = frozenset(map(id, (dt.datetime, dt.time)))


def derives(value: Any, *kinds: type) -> bool:
    """Whether the value's real type is one of these classes or a subclass."""
    for base in _mro(type(value)):
        for kind in kinds:
            if base is kind:
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
_SHAPED: Final = (
    is_from("numpy", "ndarray", "generic"),
    is_from("pandas", "DataFrame", "Series", "Index"),
    is_from("polars", "DataFrame", "Series"),
    is_from("scipy.sparse", "sparray", "spmatrix"),
    is_from("torch", "Tensor"),
    is_from("xarray", "DataArray"),
)
_is_zone: Final = is_from("zoneinfo", "ZoneInfo")


def is_scalar(value: Any) -> bool:
    """Whether a value is a text, a number, a time or the like, whose own code is harmless."""
    if id(type(value)) in _SCALAR_IDS:
        return True
    if id(type(value)) in _TIME_IDS or _is_pandas_scalar(value):
        zone = getattr(value, "tzinfo", None)
        return zone is None or is_exactly(zone, dt.timezone) or _is_zone(zone)
    if _is_numpy_scalar(value):
        return not value.dtype.hasobject
    return _is_missing(value)


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
    if _SCALAR_IDS.issuperset(map(id, map(type, held))):
        return True
    return all(is_plain(each) for each in held if id(type(each)) not in _SCALAR_IDS)


def shape_of(value: Any) -> tuple[int, ...] | None:
    """Return the shape of a data library's object, or None."""
    if not any(is_kind(value) for is_kind in _SHAPED):
        return None
    shape = tuple(value.shape)
    return shape if all(is_exactly(size, int) for size in shape) else None


def is_function(value: Any) -> bool:
    """Whether a value is a function written in Python."""
    return type(value) is FunctionType
