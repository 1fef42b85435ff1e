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
from itertools import islice
from typing import Any

from acp_notebook.kernel.context.kinds import (
    are_plain,
    derives,
    is_from,
    is_of,
    is_plain,
    loaded,
    type_name,
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
    frame, left_out = _known_columns(own_frame(frame))
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
        f"pandas DataFrame, index {type(frame.index).__name__}",
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


def own_frame(frame: Any) -> Any:
    """Return a pandas object whose steps run no foreign code, with the same data.

    Each step copies the objects in `attrs` deeply and hashes the labels of columns.
    """
    if frame.attrs:
        frame = type(frame)(frame)
    if frame.ndim == 1:
        return frame if is_plain(frame.name) else type(frame)(frame, name=bounded_repr(frame.name))
    if not are_plain(frame.columns):
        frame = type(frame)(frame)
        labels = list(frame.columns)
        frame.columns = [each if is_plain(each) else bounded_repr(each) for each in labels]
    return frame


def _known_columns(frame: Any) -> tuple[Any, str]:
    """Leave out columns whose type is a user's own, and return a note that names them."""
    kinds = frame.dtypes.tolist()
    known = [position for position, kind in enumerate(kinds) if _is_known_dtype(kind)]
    if len(known) == len(kinds):
        return frame, ""
    unknown = sorted(set(range(len(kinds))) - set(known))[:MAX_COLUMNS]
    names = ", ".join(
        f"{table_cell(frame.columns[position])} ({type_name(kinds[position])})"
        for position in unknown
    )
    return frame.iloc[:, known], f" (and columns of types of their own: {names})"


def may_be_hashed(frame: Any) -> bool:
    """Whether hashing all of a pandas object runs no foreign code."""
    columns = [frame.iloc[:, n] for n in range(frame.shape[1])] if frame.ndim > 1 else [frame]
    return has_plain_values(frame.index) and all(
        _is_known_dtype(column.dtype) and has_plain_values(column) for column in columns
    )


def _is_known_dtype(dtype: Any) -> bool:
    return derives(dtype, *_numpy_dtype()) or is_of(type(dtype), "pandas")


def _numpy_dtype() -> tuple[type, ...]:
    found = loaded("numpy").get("dtype")
    return () if found is None else (found,)


def _label(name: Any) -> str:
    return str(name) if is_plain(name) else bounded_repr(name)


def _pandas_statistics(column: Any) -> dict[str, Any]:
    """Return a column's statistics; they hash and compare, which foreign objects must not do."""
    return _statistics(column.describe) if has_plain_values(column) else {}


def has_plain_values(column: Any) -> bool:
    """Whether a pandas column or index holds nothing foreign, which hashing it would run."""
    categories = getattr(column.dtype, "categories", None)
    held = column if categories is None else categories
    return held.dtype != object or are_plain(held.to_numpy().tolist())


def describe_polars(frame: Any, budget: int) -> str:
    """Describe a polars DataFrame in at most `budget` characters."""
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


def describe_lazy(frame: Any, budget: int) -> str:
    """Describe a polars LazyFrame by its schema; nothing is computed."""
    columns = islice(frame.collect_schema().items(), MAX_COLUMNS)
    table = markdown_table(["column", "dtype"], [(name, str(dtype)) for name, dtype in columns])
    return bounded(f"polars LazyFrame, not computed\n\n{table}", budget)


def describe_pandas_series(series: Any, budget: int) -> str:
    """Describe a pandas Series in at most `budget` characters."""
    series = own_frame(series)
    if not _is_known_dtype(series.dtype):
        return (
            f"pandas Series of {len(series):,} values of their own type {type_name(series.dtype)}"
        )
    sample, note = _sampled(series, len(series), lambda step: series.iloc[::step])
    nulls = f"{int(sample.isna().sum()):,} null{note}"
    summary = _pandas_statistics(sample)
    return bounded(_series_text("pandas", series, nulls, "Summary", summary), budget)


def describe_polars_series(series: Any, budget: int) -> str:
    """Describe a polars Series in at most `budget` characters."""
    sample, note = _sampled(series, len(series), series.gather_every)
    nulls = f"{series.null_count():,} null"
    summary = _statistics(functools.partial(_polars_statistics, sample))
    return bounded(_series_text("polars", series, nulls, f"Summary{note}", summary), budget)


def frame_cells(value: Any) -> int:
    """Return how many cells a frame or series has; 1 for another value."""
    return math.prod(value.shape) if is_table(value) else 1


def is_table(value: Any) -> bool:
    """Whether a value is a pandas or polars frame or series."""
    return _is_pandas(value) or _is_polars(value) or _is_polars_series(value)


def frame_csv(frame: Any) -> str | None:
    """Return a whole pandas or polars frame or series as CSV, or None for another value."""
    if _is_pandas(frame):
        return str(own_frame(frame).to_csv())
    if _is_polars(frame):
        return str(frame.write_csv())
    return str(frame.to_frame().write_csv()) if _is_polars_series(frame) else None


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
