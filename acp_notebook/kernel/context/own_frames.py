"""pandas objects of which every step runs pandas' code only, made of a user's frames and series.

Knows how pandas keeps a frame (`_mgr`), since its public steps already ask a foreign part.
"""

from __future__ import annotations

import sys
from typing import Any, Final

from acp_notebook.kernel.context.kinds import NeedsCode, are_plain, is_plain, stored
from acp_notebook.kernel.context.libraries import (
    axes_of,
    is_known_array,
    is_known_frame,
    is_known_index,
    name_of_foreign,
)
from acp_notebook.kernel.context.plain_repr import bounded_repr
from acp_notebook.kernel.context.text import table_cell

_MOST_NAMES: Final = 200


def own_frame(frame: Any) -> tuple[Any, str]:
    """Return a pandas object whose steps run no foreign code, with the same data, and a note.

    What is of a type of the user's own is left out, and the note names it. Each step of the
    original would copy the objects in `attrs` deeply, hash the labels of columns, and find what
    was put into the object itself in a method's place.

    Raises:
        NeedsCode: The values of a series or the labels of columns are of the user's own.
    """
    left_out = ""
    if frame.ndim == 1:
        own, left_out = _own_series(frame)
    elif is_known_frame(frame):
        own = type(frame)(frame)
        if stored(own, "_mgr") is stored(frame, "_mgr"):  # before pandas 2.2
            object.__setattr__(own, "_mgr", stored(frame, "_mgr").copy(deep=False))
    else:
        own, left_out = _without_foreign(frame)
    if own.ndim > 1 and not are_plain(own.columns):
        own.columns = list(map(plain_cell, own.columns))
    return own, left_out


def _own_series(series: Any) -> tuple[Any, str]:
    (values,), (index,) = stored(series, "_mgr").arrays, axes_of(series)
    if not is_known_array(values):
        raise NeedsCode(f"its values are of their own type {name_of_foreign(values)}")
    name = plain_cell(series.name)
    if is_known_index(index):
        return type(series)(series, name=name), ""
    return _column(values, name), _without_index(index)


def _column(values: Any, name: Any = None) -> Any:
    # Without its type pandas would look for one in the values.
    return sys.modules["pandas"].Series(values, dtype=values.dtype, name=name, copy=False)


def _without_foreign(frame: Any) -> tuple[Any, str]:
    """Put a frame together anew from the parts that are pandas' own."""
    columns, index = axes_of(frame)
    if not is_known_index(columns):
        raise NeedsCode(f"its columns are labelled by {name_of_foreign(columns)}")
    labels, known, foreign = list(columns), {}, {}
    for block in stored(frame, "_mgr").blocks:
        for row, position in enumerate(block.mgr_locs.as_array.tolist()):
            values = block.values
            if not is_known_array(values):
                foreign[position] = values
            else:
                known[position] = values[row] if values.ndim > 1 else values
    own = type(frame)({place: _column(known[place]) for place in sorted(known)}, copy=False)
    if is_known_index(index):
        own.index = index
    own.columns = [plain_cell(labels[position]) for position in sorted(known)]
    names = ", ".join(
        f"{table_cell(labels[position])} ({name_of_foreign(foreign[position])})"
        for position in sorted(foreign)[:_MOST_NAMES]
    )
    note = f" (and columns of types of their own: {names})" if foreign else ""
    return own, note + ("" if is_known_index(index) else _without_index(index))


def _without_index(index: Any) -> str:
    return f" (and an index of a type of its own: {name_of_foreign(index)})"


def may_be_hashed(frame: Any) -> bool:
    """Whether hashing all of a pandas object of `own_frame` runs no foreign code."""
    columns = [frame.iloc[:, n] for n in range(frame.shape[1])] if frame.ndim > 1 else [frame]
    return has_plain_values(frame.index) and all(map(has_plain_values, columns))


def has_plain_values(column: Any) -> bool:
    """Whether a pandas column or index holds nothing foreign, which hashing it would run."""
    categories = getattr(column.dtype, "categories", None)
    held = column if categories is None else categories
    return held.dtype != object or are_plain(held.to_numpy().tolist())


def plain_cell(value: Any) -> Any:
    """Return a cell or a label as it is, or the name of a foreign one."""
    return value if is_plain(value) else bounded_repr(value)
