"""pandas and polars frames: what is told of them, within a budget and without a copy."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pandas as pd
import polars as pl
import pytest
from polars.io.plugins import register_io_source

from acp_notebook.kernel.context.describe import BUDGET_CHARS, describe
from acp_notebook.kernel.context.frames import frame_csv
from acp_notebook.kernel.tools.namespace import find_value
from acp_notebook.kernel.tools.results import ToolFailure

DATA = {
    "price": [1.5, 2.5, None, 4.5] * 5,
    "town": ["Oslo", "Rome", "Bonn", "Oslo"] * 5,
    "count": list(range(20)),
}


class FailsInRepr:
    def __repr__(self):
        raise ValueError("not today")


def frame_of(library):
    return library.DataFrame(DATA)


@pytest.mark.parametrize("library", [pd, pl], ids=["pandas", "polars"])
def test_a_frame_is_told_by_schema_nulls_summary_and_its_edges(library):
    told = describe(frame_of(library))
    assert f"{library.__name__} DataFrame" in told
    assert "20 rows × 3 columns" in told  # noqa: RUF001
    assert "| price | float64 | 5 |" in told.lower()
    assert "| count |" in told
    assert "2.83333" in told  # the mean of the prices
    assert "First 5 rows" in told
    assert "Last 5 rows" in told
    assert "| Rome |" in told


def test_a_pandas_table_has_its_index_labels():
    frame = pd.DataFrame({"x": range(20)}, index=[f"row {number}" for number in range(20)])
    told = describe(frame)
    assert "| row 0 | 0 |" in told
    assert "| row 19 | 19 |" in told


@pytest.mark.parametrize("budget", [500, 2_000, BUDGET_CHARS])
@pytest.mark.parametrize("library", [pd, pl], ids=["pandas", "polars"])
@pytest.mark.parametrize("columns", [1, 30, 400])
def test_a_frame_of_any_width_keeps_the_budget(library, columns, budget):
    numbers = np.arange(50.0)
    frame = library.DataFrame({f"a column called {n}": numbers for n in range(columns)})
    told = describe(frame, budget)
    assert len(told) <= budget
    assert f"{columns:,} columns" in told
    if columns == 400 and budget == BUDGET_CHARS:
        assert "(the first" in told


@pytest.mark.parametrize("library", [pd, pl], ids=["pandas", "polars"])
def test_ten_million_rows_are_neither_copied_nor_summed_up_whole(library):
    size = 10_000_000
    frame = library.DataFrame(
        {"x": np.zeros(size, "float32"), "y": np.ones(size, "int8"), "z": np.ones(size, "int8")}
    )
    tracemalloc.start()
    try:
        told = describe(frame)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert "10,000,000 rows" in told
    assert "those of every 100th row" in told
    assert peak < 10_000_000  # one of its columns alone has as many bytes
    assert len(told) <= BUDGET_CHARS


def test_a_cell_of_a_foreign_kind_is_named_and_the_others_are_shown():
    told = describe(pd.DataFrame({"odd": [FailsInRepr(), 2], "fine": ["a", "b"]}))
    assert "FailsInRepr object>" in told
    assert "| b |" in told


def test_cells_cannot_break_the_table():
    told = describe(pd.DataFrame({"a|b": ["x|y\nz", "w" * 500]}))
    assert "x\\|y z" in told
    assert "a\\|b" in told
    assert "w" * 100 not in told


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame(),
        pd.DataFrame({"x": []}),
        pd.DataFrame([[1, 2], [3, 4]], columns=["same", "same"]),
        pd.DataFrame({("a", "b"): [1], ("a", "c"): [2]}),
        pd.DataFrame({"lists": [[1], [2]], "dicts": [{}, {}]}),
        pd.DataFrame({"z": [1 + 2j], "t": [pd.Timestamp("2024-01-01")], "d": [pd.Timedelta(1)]}),
        pd.DataFrame({"c": pd.Categorical(["u", "v", None])}),
        pd.DataFrame({1: [True, False], None: [pd.NA, 1]}),
        pl.DataFrame(),
        pl.DataFrame({"x": []}),
        pl.DataFrame({"lists": [[1], [2]], "structs": [{"a": 1}, {"a": 2}]}),
    ],
    ids=range(11),
)
def test_odd_frames_are_described(frame):
    assert "cannot be shown" not in describe(frame)


@pytest.mark.parametrize("library", [pd, pl], ids=["pandas", "polars"])
def test_a_series_is_told_by_type_nulls_summary_and_first_values(library):
    told = describe(
        library.Series("prices", [1.5, None, 4.5])
        if library is pl
        else pd.Series([1.5, None, 4.5], name="prices")
    )
    assert "Series 'prices', 3 values" in told
    assert "1 null" in told
    assert "mean 3" in told
    assert "First values: 1.5, " in told


def test_a_lazy_frame_is_told_without_being_computed_and_without_its_schema(shell):
    def explode(_):
        raise AssertionError("computed")

    ran = []
    one = pl.LazyFrame({"x": [1]})
    for lazy in (
        one.map_batches(explode, schema={"x": pl.Int64}),
        one.with_columns(pl.col("x").map_batches(lambda x: (ran.append(1), x)[1])),
        one.with_columns(pl.col("x").map_elements(lambda x: (ran.append(1), x)[1])),
        register_io_source(explode, schema=lambda: (ran.append(1), {"x": pl.Int64})[1]),
    ):
        shell.user_ns["lazy"] = lazy
        assert "LazyFrame, not computed" in describe(lazy)
        for path in ("lazy.schema", "lazy.columns", "lazy.dtypes", "lazy.width", "lazy.x"):
            with pytest.raises(ToolFailure):
                find_value(shell, path)
        with pytest.raises(ToolFailure):
            find_value(shell, "lazy['x']")
    assert ran == []


def test_all_of_a_frame_can_be_had_as_csv():
    assert frame_csv(pd.DataFrame({"x": [1]})) == ",x\n0,1\n"
    assert frame_csv(pl.DataFrame({"x": [1]})) == "x\n1\n"
    assert frame_csv(pl.Series("x", [1])) == "x\n1\n"
    assert frame_csv([1]) is None
