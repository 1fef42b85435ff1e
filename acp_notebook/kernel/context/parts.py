"""The parts of a value, an attribute or an item, taken without running any code of its own.

What an object computes, such as a property, is named and not computed. Knows the data libraries'
frames and arrays, whose parts are theirs to compute.
"""

from __future__ import annotations

import collections
from collections.abc import Iterable
from types import (
    FunctionType,
    GetSetDescriptorType,
    MemberDescriptorType,
    MethodDescriptorType,
    ModuleType,
)
from typing import Any, Final

from acp_notebook.kernel.context.frames import is_table
from acp_notebook.kernel.context.kinds import (
    ABSENT,
    NeedsCode,
    are_plain,
    class_attribute,
    class_names,
    derives,
    instance_dict,
    is_exactly,
    is_from,
    is_plain,
    is_scalar,
    stored,
)
from acp_notebook.kernel.context.libraries import (
    axes_of,
    has_foreign_columns_in_polars,
    is_known_array,
    is_known_index,
    shape_of,
)
from acp_notebook.kernel.context.own_frames import has_plain_values, own_frame

_is_pandas: Final = is_from("pandas", "DataFrame", "Series")
_is_index: Final = is_from("pandas", "Index")
# A LazyFrame is not meant: for its schema polars may call the functions of the query.
_is_polars: Final = is_from("polars", "DataFrame", "Series")
_is_array: Final = is_from("numpy", "ndarray")
# What these libraries compute themselves, from their own data.
_OF_LIBRARY: Final = frozenset(
    ("shape", "size", "ndim", "dtype", "dtypes", "columns", "index", "name", "values", "T")
) | {"schema", "height", "width", "real", "imag"}
_TYPES: Final = frozenset({"dtype", "dtypes", "schema"})
# A frame or an index gives them as they are.
_STORED: Final = frozenset({"columns", "index", "name", "ndim"})
_SEQUENCES: Final = (list, tuple, str, bytes, bytearray, collections.deque)


class NoPart(Exception):
    """There is no such part."""


def attribute_of(value: Any, name: str) -> Any:
    """Return an attribute.

    Raises:
        NoPart: There is none.
        NeedsCode: It is computed.
    """
    if is_scalar(value):
        try:
            return getattr(value, name)
        except AttributeError:
            raise NoPart(name) from None
    if derives(value, ModuleType):
        return _of_module(value, name)
    if derives(value, type):
        return _unbound(class_attribute(value, name), name, value)
    if _is_pandas(value) or _is_index(value) or _is_polars(value) or _is_array(value):
        return _of_library(value, name)
    held, found = stored(value, name), class_attribute(type(value), name)
    if held is not ABSENT and (not _computes(found) or is_exactly(found, MemberDescriptorType)):
        return held
    if is_exactly(found, MemberDescriptorType):
        raise NoPart(name)
    return _unbound(found, name, type(value))


def _of_module(module: Any, name: str) -> Any:
    found = dict.get(instance_dict(module), name, ABSENT)
    if found is ABSENT and dict.get(instance_dict(module), "__getattr__") is not None:
        raise NeedsCode(f"the module may compute {name!r}")
    if found is ABSENT:
        raise NoPart(name)
    return found


def _of_library(value: Any, name: str) -> Any:
    found = class_attribute(type(value), name)
    if name in _OF_LIBRARY and found is not ABSENT:
        return getattr(_readable(value, name), name)
    if is_exactly(found, FunctionType):
        return found
    # A library's `__getattr__` finds columns and nothing else.
    return item_of(value, name) if found is ABSENT else _unbound(found, name, type(value))


def _readable(value: Any, name: str) -> Any:
    """Return what a library's object has its attribute from, without code of the user's own."""
    if name in _STORED:
        return value
    if _is_pandas(value):
        own, left_out = own_frame(value)
        if not left_out:
            return own
    elif _is_polars(value):
        if not (name in _TYPES and has_foreign_columns_in_polars()):
            return value
    elif is_known_array(value):
        return value
    raise NeedsCode(f"{name!r} is computed by types of its own")


def _unbound(found: Any, name: str, kind: type) -> Any:
    """Return what a class has under a name, if reading it runs no code."""
    if found is ABSENT:
        if class_attribute(kind, "__getattr__") is not ABSENT:
            raise NeedsCode(f"its {name!r}, if there is one, is computed")
        raise NoPart(name)
    if is_exactly(found, staticmethod, classmethod):
        return found.__func__
    if is_exactly(found, FunctionType, MethodDescriptorType):
        return found
    if is_exactly(found, property):
        raise NeedsCode(f"{name!r} is a property")
    if is_exactly(found, GetSetDescriptorType, MemberDescriptorType) or _computes(found):
        raise NeedsCode(f"{name!r} is computed")
    if class_attribute(type(found), "__get__") is not ABSENT:
        raise NeedsCode(f"{name!r} is computed")
    return found


def _computes(found: Any) -> bool:
    """Whether a class's attribute comes before what the object holds: a data descriptor."""
    return found is not ABSENT and (
        class_attribute(type(found), "__set__") is not ABSENT
        or class_attribute(type(found), "__delete__") is not ABSENT
    )


def item_of(value: Any, key: Any) -> Any:
    """Return an item under a literal key.

    Raises:
        NoPart: There is none.
        NeedsCode: It is computed.
    """
    if derives(value, dict):
        return _of_dict(value, key)
    if _is_pandas(value):
        return _of_pandas(value, key)
    try:
        for kind in _SEQUENCES:
            if derives(value, kind):
                return kind.__getitem__(value, key)
        if _is_polars(value) or is_known_index(value) or is_exactly(value, range):
            return value[key]
        if _is_array(value) and is_known_array(value):
            return value[key]
    except Exception as error:
        raise NoPart(key) from error
    if class_attribute(type(value), "__getitem__") is not ABSENT:
        raise NeedsCode("its items are computed")
    raise NoPart(key)


def _of_dict(value: Any, key: Any) -> Any:
    if are_plain(dict.keys(value)):
        found = dict.get(value, key, ABSENT)
    else:  # comparing with a foreign key would run its code
        pairs = dict.items(value)
        found = next((held for each, held in pairs if is_plain(each) and each == key), ABSENT)
    if found is ABSENT:
        raise NoPart(key)
    return found


def _of_pandas(value: Any, key: Any) -> Any:
    own, left_out = own_frame(value)
    labels = axes_of(value)[0]
    if not is_known_index(labels) or not has_plain_values(labels):
        raise NeedsCode("its labels are objects of another kind")
    try:
        return own[key]
    except Exception as error:
        if left_out:
            raise NeedsCode(f"what it leaves out is not read{left_out}") from None
        raise NoPart(key) from error


def names_in(value: Any) -> Iterable[str]:
    """Return the names of a value's parts, for suggestions."""
    return [*own_names(value), *class_names(type(value))]


def own_names(value: Any) -> list[str]:
    """Return the columns, keys or attributes that a value holds itself."""
    if derives(value, dict):
        names = dict.keys(value)
    elif is_table(value) and class_attribute(type(value), "columns") is not ABSENT:
        names = value.columns if shape_of(value) else []
    else:
        names = dict.keys(instance_dict(value))
    return [name for name in names if type(name) is str]
