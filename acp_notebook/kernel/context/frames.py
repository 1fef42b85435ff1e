"""Describing pandas and polars frames: schema, nulls, summary, first and last rows.

A frame is never copied whole: nulls and summary of a long frame come from evenly spaced rows, and
the description says so. Both libraries are read into the same facts, which are written for as many
columns as the budget allows. Imports neither library; knows no agent.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from acp_notebook.kernel.context.kinds import (
    NeedsCode,
    is_from,
    is_plain,
    type_name,
)
from acp_notebook.kernel.context.libraries import (
    axes_of,
    has_foreign_columns_in_polars,
    is_known_index,
    name_of_foreign,
    shape_of,
)
from acp_notebook.kernel.context.own_frames import (
    has_plain_values,
    own_frame,
    plain_cell,
)
from acp_notebook.kernel.context.plain_repr import bounded_repr
from acp_notebook.kernel.context.text import bounded, markdown_table, table_cell

EDGE_ROWS = 5
MAX_COLUMNS = 200
MAX_SERIES_VALUES = 10
# A longer or larger frame is summarized from a sample of about SAMPLE_ROWS.
LONG_ROWS = 1_000_000
LONG_CELLS = 5_000_000
SAMPLE_ROWS = 100_000
_is_pandas = is_from("pandas", "DataFrame", "Series")
_is_polars = is_from("polars", "DataFrame")
_is_polars_series = is_from("polars", "Series")
# How many columns the summary and the rows show, tried in turn until the text fits.
_WIDTHS = (40, 24, 16, 10, 6, 3, 1)


_ASKS_EXTENSIONS = (
    "Not read: extension types are registered in polars, and naming types runs their code."
)


@dataclass(frozen=True, slots=True)
class FrameFacts:
    """The facts of a frame. `summary` maps a column's position to its statistics."""

    kind: str
    rows: int
    columns: int
    schema: list[tuple[str, str, str]]
    summary: dict[int, dict[str, Any]]
    first: list[Sequence[Any]]
    last: list[Sequence[Any]]
    note: str = ""
    index: list[Any] | None = None
    """The index labels of `first` and `last`; None without an index."""


def describe_pandas(frame: Any, budget: int) -> str:
    """Describe a pandas DataFrame in at most `budget` characters."""
    index = axes_of(frame)[-1]
    try:
        frame, left_out = own_frame(frame)
    except NeedsCode as reason:
        return f"pandas DataFrame, not read: {reason}"
    count = min(frame.shape[1], MAX_COLUMNS)
    sample, note = _sampled(frame, len(frame), lambda step: frame.iloc[::step, :count], count)
    schema, summary = [], {}
    for position in range(count):
        column = sample.iloc[:, position]
        name = _label(frame.columns[position])
        schema.append((name, str(column.dtype), _pandas_nulls(column)))
        if position < _WIDTHS[0]:
            summary[position] = _pandas_statistics(column)
    first, last = frame.head(EDGE_ROWS), _tail(frame, len(frame))
    facts = FrameFacts(
        f"pandas DataFrame, index {type_name(index).rpartition('.')[2]}",
        len(frame),
        frame.shape[1],
        schema,
        summary,
        _pandas_rows(first, count),
        _pandas_rows(last, count),
        note + left_out,
        [*first.index, *last.index],
    )
    return _write(facts, budget)


def _label(name: Any) -> str:
    return str(name) if is_plain(name) else bounded_repr(name)


def _pandas_statistics(column: Any) -> dict[str, Any]:
    """Return a column's statistics; they hash and compare, which foreign objects must not do."""
    return _statistics(column.describe) if has_plain_values(column) else {}


def describe_polars(frame: Any, budget: int) -> str:
    """Describe a polars DataFrame in at most `budget` characters."""
    if has_foreign_columns_in_polars():
        size = f"{frame.height:,} rows × {frame.width:,} columns"  # noqa: RUF001
        return f"polars DataFrame, {size}. {_ASKS_EXTENSIONS}"
    count = min(frame.width, MAX_COLUMNS)
    shown = frame[:, :count]
    sample, note = _sampled(shown, frame.height, shown.gather_every, count)
    nulls = sample.null_count().row(0) if count and frame.height else [0] * count
    schema = [
        (str(name), str(dtype), f"{null_count:,}")
        for name, dtype, null_count in zip(shown.columns, shown.dtypes, nulls, strict=True)
    ]
    summary = {
        position: _statistics(functools.partial(_polars_statistics, sample.to_series(position)))
        for position in range(min(count, _WIDTHS[0]))
    }
    facts = FrameFacts(
        "polars DataFrame",
        frame.height,
        frame.width,
        schema,
        summary,
        shown.head(EDGE_ROWS).rows(),
        _tail(shown, frame.height).rows(),
        note,
    )
    return _write(facts, budget)


def describe_lazy(_frame: Any, _budget: int) -> str:
    """Name a polars LazyFrame: even its schema may take functions of the user's."""
    return (
        "polars LazyFrame, not computed; not even its schema, for which polars may call functions "
        "of the query. Use run_code for collect_schema() or collect()."
    )


def describe_pandas_series(series: Any, budget: int) -> str:
    """Describe a pandas Series in at most `budget` characters."""
    try:
        series, left_out = own_frame(series)
    except NeedsCode as reason:
        shape = shape_of(series)
        size = f" of {shape[0]:,} values" if shape else ""
        return f"pandas Series{size}, not read: {reason}"
    sample, note = _sampled(series, len(series), lambda step: series.iloc[::step])
    nulls = f"{int(sample.isna().sum()):,} null{note}{left_out}"
    summary = _pandas_statistics(sample)
    return bounded(_series_text("pandas", series, nulls, "Summary", summary), budget)


def describe_pandas_index(index: Any, budget: int) -> str:
    """Describe a pandas index in at most `budget` characters."""
    if not is_known_index(index):
        return f"pandas Index, not read: its labels are of {name_of_foreign(index)}"
    names = ", ".join(map(bounded_repr, index.names))
    first = ", ".join(table_cell(label) for label in index[:MAX_SERIES_VALUES])
    head = f"pandas {type(index).__name__} {names}, {len(index):,} labels of {index.dtype}"
    return bounded(f"{head}\n\nFirst labels: {first}", budget)


def describe_polars_series(series: Any, budget: int) -> str:
    """Describe a polars Series in at most `budget` characters."""
    if has_foreign_columns_in_polars():
        return f"polars Series of {len(series):,} values. {_ASKS_EXTENSIONS}"
    sample, note = _sampled(series, len(series), series.gather_every)
    nulls = f"{series.null_count():,} null"
    summary = _statistics(functools.partial(_polars_statistics, sample))
    return bounded(_series_text("polars", series, nulls, f"Summary{note}", summary), budget)


def frame_cells(value: Any) -> int:
    """Return how many cells a frame or series has; 1 for another value."""
    return math.prod(shape_of(value) or (1,)) if is_table(value) else 1


def is_table(value: Any) -> bool:
    """Whether a value is a pandas or polars frame or series."""
    return _is_pandas(value) or _is_polars(value) or _is_polars_series(value)


def frame_csv(frame: Any) -> str | None:
    """Return a whole pandas or polars frame or series as CSV, or None for another value.

    Raises:
        NeedsCode: A part of it is of a type of the user's own.
    """
    if _is_pandas(frame):
        own, left_out = own_frame(frame)
        if left_out:
            raise NeedsCode(f"it is not all read{left_out}")
        return str(_with_plain_cells(own).to_csv())
    if _is_polars(frame):
        return str(frame.write_csv())
    return str(frame.to_frame().write_csv()) if _is_polars_series(frame) else None


def _with_plain_cells(frame: Any) -> Any:
    """Name the foreign objects in a frame's cells and labels, which writing would print."""
    if not has_plain_values(frame.index):
        frame.index = list(map(plain_cell, frame.index))
    frame.index.names = list(map(plain_cell, frame.index.names))
    if frame.ndim == 1:
        plain = has_plain_values(frame)
        return frame if plain else type(frame)(_plain_cells(frame), frame.index, name=frame.name)
    for position in range(frame.shape[1]):
        column = frame.iloc[:, position]
        if not has_plain_values(column):
            frame.isetitem(position, _plain_cells(column))
    return frame


def _plain_cells(column: Any) -> list[Any]:
    return list(map(plain_cell, column.tolist()))


def _pandas_nulls(column: Any) -> str:
    try:
        return f"{int(column.isna().sum()):,}"
    except Exception:  # noqa: BLE001 - one odd column must not hide the others
        return "?"


def _pandas_rows(part: Any, count: int) -> list[Sequence[Any]]:
    columns = [part.iloc[:, position].tolist() for position in range(count)]
    return [[column[row] for column in columns] for row in range(len(part))]


def _polars_statistics(series: Any) -> Any:
    table = series.describe()
    return zip(table.to_series(0).to_list(), table.to_series(1).to_list(), strict=True)


def _sampled(
    whole: Any, rows: int, every: Callable[[int], Any], columns: int = 1
) -> tuple[Any, str]:
    """Return all rows, or evenly spaced rows of a long frame and a note that says so."""
    if rows <= SAMPLE_ROWS or (rows <= LONG_ROWS and rows * columns <= LONG_CELLS):
        return whole, ""
    step = rows // SAMPLE_ROWS
    return every(step), f" (nulls and summary are those of every {step}th row)"


def _tail(frame: Any, rows: int) -> Any:
    return frame.tail(EDGE_ROWS if rows > 2 * EDGE_ROWS else 0)


def _statistics(describe: Callable[[], Any]) -> dict[str, Any]:
    """Return a column's statistics, or an empty dict if it cannot be described."""
    try:
        described = describe()
        return {
            str(name): value for name, value in getattr(described, "items", described.__iter__)()
        }
    except Exception:  # noqa: BLE001 - for example, lists in a column cannot be counted
        return {}


def _series_text(library: str, series: Any, nulls: str, title: str, summary: dict[str, Any]) -> str:
    facts = ", ".join(f"{name} {table_cell(value)}" for name, value in summary.items()) or "none"
    first = ", ".join(table_cell(value) for value in series.head(MAX_SERIES_VALUES))
    name = bounded_repr(series.name)
    head = f"{library} Series {name}, {len(series):,} values of {series.dtype}, {nulls}"
    return f"{head}\n\n{title}: {facts}\n\nFirst values: {first}"


def _write(facts: FrameFacts, budget: int) -> str:
    text = ""
    for width in _WIDTHS:
        text = "\n\n".join(_parts(facts, width))
        if len(text) <= budget:
            return text
    return bounded(text, budget)


def _parts(facts: FrameFacts, width: int) -> Iterator[str]:
    size = f"{facts.rows:,} rows × {facts.columns:,} columns"  # noqa: RUF001
    yield f"{facts.kind}, {size}{facts.note}"
    schema = facts.schema[: 4 * width]
    yield markdown_table(["column", "dtype", "nulls"], schema) + _unshown(facts, len(schema))
    shown = range(min(width, len(facts.schema)))
    names = [facts.schema[position][0] for position in shown]
    described = {position: facts.summary[position] for position in shown if facts.summary[position]}
    for title, statistics in _by_kind(described):
        table = [
            [names[position], *(facts.summary[position].get(name, "") for name in statistics)]
            for position in described
            if list(facts.summary[position]) == statistics
        ]
        yield f"{title}:\n\n{markdown_table(['column', *statistics], table)}"
    for title, rows, offset in (
        (f"First {len(facts.first)} rows", facts.first, 0),
        (f"Last {len(facts.last)} rows", facts.last, len(facts.first)),
    ):
        if rows:
            yield f"{title}{_unshown(facts, len(names))}:\n\n{_rows(facts, rows, offset, names)}"


def _by_kind(described: dict[int, dict[str, Any]]) -> list[tuple[str, list[str]]]:
    """Return the different sets of statistics: numbers have other ones than texts."""
    kinds = dict.fromkeys(tuple(facts) for facts in described.values())
    return [("Numbers" if "mean" in kind else "Others", list(kind)) for kind in list(kinds)[:4]]


def _rows(facts: FrameFacts, rows: list[Sequence[Any]], offset: int, names: list[str]) -> str:
    width = len(names)
    if facts.index is None:
        return markdown_table(names, [row[:width] for row in rows])
    labels = facts.index[offset : offset + len(rows)]
    return markdown_table(
        ["", *names], [[label, *row[:width]] for label, row in zip(labels, rows, strict=True)]
    )


def _unshown(facts: FrameFacts, shown: int) -> str:
    return f" (the first {shown} columns)" if shown < facts.columns else ""
