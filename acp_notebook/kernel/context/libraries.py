"""Which arrays, indexes and types of the data libraries run their own library's code only.

A library calls what a user derived from its classes: a pandas column of an extension type, an index
of a derived class, a time zone. Each part is told by its real type before it is asked anything.
Imports no library.
"""

from __future__ import annotations

import sys
from typing import Any, Final

from acp_notebook.kernel.context.kinds import (
    ABSENT,
    class_attribute,
    derives_from,
    inherits,
    is_exactly,
    is_from,
    is_known_zone,
    is_of,
    is_plain,
    loaded,
    stored,
    type_name,
)

_is_array: Final = is_from("numpy", "ndarray")
_is_index: Final = is_from("pandas", "Index")
_is_labelled: Final = is_from("pandas", "DataFrame", "Series")
_is_offset: Final = is_from("pandas._libs.tslibs.offsets", "BaseOffset")
_is_numpy_dtype: Final = derives_from("numpy", "dtype")
_is_arrow_struct: Final = is_from("pyarrow.lib", "StructType", "UnionType")
_is_xarray: Final = is_from("xarray", "DataArray")
_SHAPED: Final = (
    is_from("numpy", "ndarray", "generic"),
    is_from("polars", "DataFrame", "Series"),
    is_from("scipy.sparse", "sparray", "spmatrix"),
    is_from("torch", "Tensor"),
)


def shape_of(value: Any) -> tuple[int, ...] | None:
    """Return the shape of a data library's object, or None if it is none or its own code knows."""
    if _is_xarray(value):
        return shape_of(stored(stored(value, "_variable"), "_data"))
    if _is_index(value) or _is_labelled(value):
        axes = [value] if _is_index(value) else axes_of(value)[::-1]
        return tuple(map(len, axes)) if all(map(is_known_index, axes)) else None
    if not any(is_kind(value) for is_kind in _SHAPED):
        return None
    shape = tuple(value.shape)
    return shape if all(is_exactly(size, int) for size in shape) else None


def axes_of(frame: Any) -> list[Any]:
    """Return the indexes of a pandas frame (columns first) or series, as they are."""
    return list(stored(frame, "_mgr").axes)


def is_known_frame(frame: Any) -> bool:
    """Whether all of a pandas frame or series is of kinds that run pandas' code only."""
    arrays = stored(frame, "_mgr").arrays
    return all(map(is_known_index, axes_of(frame))) and all(map(is_known_array, arrays))


def is_known_index(index: Any) -> bool:
    """Whether a pandas index and its labels are of kinds that run pandas' code only."""
    if not _is_index(index):
        return False
    levels = stored(index, "_levels")
    if levels is not ABSENT:
        return all(map(is_known_index, list.__iter__(levels)))
    labels, step = stored(index, "_data"), stored(index, "_freq")
    if step is not ABSENT and not _is_known_part(step):
        return False
    return is_exactly(stored(index, "_range"), range) or is_known_array(labels)


def is_known_array(array: Any) -> bool:
    """Whether what an array or an index does runs numpy's or pandas' code only."""
    if _is_index(array):
        return is_known_index(array)
    if _is_array(array):
        base = stored(array, "_baseclass")  # what a masked array makes of its data
        is_whole = base is ABSENT or is_of(base, "numpy")
        # Those that numpy derives look closely at the objects that they hold.
        is_simple = type(array).__base__ is object or not array.dtype.hasobject
        return is_whole and is_simple and is_known_dtype(array.dtype)
    if not is_of(type(array), "pandas"):
        return False
    return is_known_dtype(array.dtype) and _is_known_part(getattr(array, "freq", None))


def is_known_dtype(dtype: Any) -> bool:
    """Whether a column's type, and all that it is made of, is its library's own."""
    if _is_numpy_dtype(dtype):
        return _is_known_numpy_dtype(dtype)
    parts = class_attribute(type(dtype), "_metadata")
    if not is_of(type(dtype), "pandas") or not is_exactly(parts, tuple):
        return False
    return all(_is_known_part(getattr(dtype, part, ABSENT)) for part in parts)


def _is_known_numpy_dtype(dtype: Any) -> bool:
    void = loaded("numpy")["void"]  # only records can be of a class that a user derived
    if inherits(dtype.type, void) and not is_of(dtype.type, "numpy"):
        return False
    if dtype.subdtype is not None:
        return _is_known_numpy_dtype(dtype.subdtype[0])
    return all(_is_known_numpy_dtype(dtype[name]) for name in dtype.names or ())


def _is_known_part(part: Any) -> bool:
    if is_plain(part) or is_known_zone(part) or _is_offset(part):
        return True
    return is_known_dtype(part) or is_known_index(part) or _is_known_arrow_type(part)


def _is_known_arrow_type(kind: Any) -> bool:
    if not is_of(type(kind), "pyarrow"):
        return False
    if _is_arrow_struct(kind):
        return all(_is_known_arrow_type(field.type) for field in kind)
    inner = (getattr(kind, name, ABSENT) for name in ("value_type", "key_type", "item_type"))
    return all(each is ABSENT or _is_known_arrow_type(each) for each in inner)


def has_foreign_columns_in_polars() -> bool:
    """Whether a user's own types are registered in polars, which asks them for each column."""
    registered = loaded("polars.datatypes.extension").get("_REGISTRY", {})
    return not all(
        is_exactly(kind, str) or is_of(kind, "polars") for kind in dict.values(registered)
    )


def array_repr(array: Any) -> str:
    """Return numpy's `repr` of a known array, whatever formats a user has set."""
    with sys.modules["numpy"].printoptions():
        return repr(array)


def name_of_foreign(part: Any) -> str:
    """Return the type that makes an index or an array foreign."""
    held = stored(part, "_data") if _is_index(part) and is_of(type(part), "pandas") else part
    return type_name(part if held is ABSENT else held)
