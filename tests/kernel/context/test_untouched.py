"""Looking at values runs no code of theirs, however hostile, but a `repr` where that is said."""

from __future__ import annotations

import collections
import ctypes
import dataclasses
import datetime as dt
import fractions
import functools
import importlib.util
import io
import sys
import types
import unittest.mock
import uuid
import weakref
from contextlib import contextmanager, suppress
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from matplotlib.figure import Figure

from acp_notebook.errors import UsageError
from acp_notebook.kernel.context.describe import describe
from acp_notebook.kernel.context.kinds import is_scalar, type_name
from acp_notebook.kernel.context.mentions import find_mentions
from acp_notebook.kernel.context.plain_repr import bounded_repr
from acp_notebook.kernel.context.sources import Notebook, resolve
from acp_notebook.kernel.context.text import table_cell
from acp_notebook.kernel.magic import completions
from acp_notebook.kernel.tools.namespace import Snapshot, find_value, in_a_line, user_variables
from acp_notebook.kernel.tools.results import ToolFailure

SAID = {"__repr__"}
SPECIAL = sorted(
    {
        *(name for kind in (object, int, str, dict, list, set, np.ndarray, type(iter([])), type)
          for name in dir(kind) if name.startswith("__")),
        "__getattr__", "__missing__", "__bool__", "__iter__", "__next__", "__call__", "__get__",
        "__set__", "__delete__", "__enter__", "__exit__", "__await__", "__fspath__", "__index__",
        "__array__", "__array_interface__", "__array_struct__", "__array_function__",
        "__array_ufunc__", "__dataframe__", "__arrow_c_stream__", "__complex__", "__round__",
        "__instancecheck__", "__subclasscheck__", "__length_hint__", "__copy__", "__deepcopy__",
        "_repr_html_", "_repr_png_", "_repr_mimebundle_", "_ipython_display_", "shape", "columns",
        "dtype", "size", "items", "keys", "price", "_fields", "to_csv", "name",
    }
    - {"__new__", "__init__", "__init_subclass__", "__set_name__", "__slots__", "__doc__",
       "__prepare__", "__mro_entries__", "__abstractmethods__", "__del__", "__module__",
       "__qualname__", "__annotations__", "__weakref__", "__array_finalize__", "__basicsize__",
       "__dictoffset__", "__flags__", "__itemsize__", "__weakrefoffset__", "__base__", "__bases__",
       "__text_signature__", "__array_priority__"}
)  # fmt: skip
PROPERTIES = {"__class__", "__dict__", "__mro__", "__name__", "shape", "columns", "dtype", "size",
              "price", "_fields", "name", "__array_interface__", "__array_struct__"}  # fmt: skip
# Only a class's body can give these.
OF_BODY = {"__class__", "__dict__", "__mro__", "__name__"}


class Touched(BaseException):
    """Raised by what must not run; no `except Exception` hides it."""


class Trap:
    """Makes classes whose every method is hostile once it is armed, and notes which ran."""

    def __init__(self, names=frozenset(SPECIAL)):
        self.touched = []
        self._names = names
        self._kinds = []
        self._is_armed = False

    def kind(self, *bases, meta=False, **own):
        """A class; with `meta`, of a metaclass that is as hostile."""
        body = {name: self._member(name) for name in OF_BODY & self._names if not bases}
        if meta:
            kind = type("Meta", (type,), {"__name__": self._member("meta __name__")})(
                "Hostile", bases, body | own
            )
            self._kinds += [(kind, ""), (type(kind), "meta ")]
        else:
            kind = type("Hostile", bases, body | own)
            self._kinds.append((kind, ""))
        return kind

    def _member(self, name):
        def run(*given, **_named):
            if not self._is_armed and name == "__class__":
                return type(given[0])
            if not self._is_armed:
                raise AttributeError(name)
            self.touched.append(name)
            raise Touched(name)

        return property(run) if name.split()[-1] in PROPERTIES else run

    @contextmanager
    def armed(self):
        self._is_armed = True
        for kind, word in self._kinds:
            for name in self._names - OF_BODY:
                type.__setattr__(kind, name, self._member(word + name))
        try:
            yield
        finally:
            for kind, _ in reversed(self._kinds):
                for name in self._names - OF_BODY:
                    type.__delattr__(kind, name)
            self._is_armed = False


@pytest.fixture
def trap():
    return Trap()


def look_at(value, shell, log):
    """Everything that looks at a variable `x`."""
    shell.user_ns["x"] = value
    type_name(value), in_a_line(value), table_cell(value), bounded_repr(value)
    list(user_variables(shell))
    completions._kind(value), completions._parts_of(value)
    Snapshot(shell, "x.a = 1").changes(shell)
    describe(value)
    resolve(find_mentions("@x")[0], Notebook(shell, log), ".")


def walk_into(shell, log):
    """Every kind of path from the variable `x`; what is at its end is described."""
    for path in ("x.price", "x.a", "x.shape", "x['a']", "x[0]", "x[1, 2]", "x.a.b[0]"):
        with suppress(ToolFailure):
            describe(find_value(shell, path))
    for prompt in ("@x.price", "@x.a", '@x["a"]', "@x[0]"):
        with suppress(UsageError):
            resolve(find_mentions(prompt)[0], Notebook(shell, log), ".")


def untouched(trap, value, shell, log, allowed=frozenset()):
    trap.touched.clear()
    try:
        with trap.armed():
            look_at(value, shell, log)
            by_looking = set(trap.touched)
            walk_into(shell, log)
    finally:
        shell.user_ns.pop("x", None)
    assert by_looking <= allowed
    assert set(trap.touched) <= SAID


@dataclasses.dataclass(eq=False)
class Holder:
    a: Any


class Pair(NamedTuple):
    a: Any
    b: Any


def inside(value, key):
    """The value in everything that holds others and is shown."""
    return {
        "list": [value, [value]],
        "tuple": (value, (1, value)),
        "dict": {"a": value, "b": {"c": value}},
        "key": {key: 1, "a": [2]},
        "set": {key},
        "frozenset": frozenset({key, 1}),
        "deque": collections.deque([value]),
        "defaultdict": collections.defaultdict(list, {"a": value}),
        "ordered": collections.OrderedDict(a=value),
        "namedtuple": Pair(value, 1),
        "in dataclass": [Holder(value)],
        "in namespace": [types.SimpleNamespace(a=value)],
        "in error": [ValueError(value)],
        "in partial": [functools.partial(print, value)],
        "in method": [types.MethodType(print, value)],
        "array": np.array([value, None], dtype=object),
        "array 0d": np.array(value, dtype=object).reshape(()),
    }


def frames_of(value, key):
    cells = pd.Series([None, 1], dtype=object)
    cells.iloc[0] = value
    table = pd.DataFrame({"price": [1.5, 2.5]})
    table["a"] = cells
    labelled = pd.DataFrame({"price": [1.5, 2.5]}, index=pd.Index([key, "a"], dtype=object))
    wide = pd.DataFrame([[1, 2]], columns=pd.Index([key, "price"], dtype=object))
    remarked = pd.DataFrame({"price": [1]})
    remarked.attrs["why"] = value
    categories = pd.Series(pd.Categorical.from_codes([0, 1], pd.Index([key, "a"], dtype=object)))
    return {
        "name": pd.Series([1, 2], name=key),
        "cells": table,
        "series": cells,
        "labels": labelled,
        "columns": wide,
        "attrs": remarked,
        "categories": categories,
        "category": pd.DataFrame({"a": categories}),
        "polars": pl.DataFrame({"a": pl.Series("a", [value, value], dtype=pl.Object)}),
    }


@pytest.mark.parametrize("meta", [False, True], ids=["class", "metaclass"])
def test_an_object_runs_its_repr_at_most(trap, shell, log, meta):
    untouched(trap, trap.kind(meta=meta)(), shell, log, SAID)


@pytest.mark.parametrize("meta", [False, True], ids=["class", "metaclass"])
def test_a_class_runs_nothing(trap, shell, log, meta):
    untouched(trap, trap.kind(meta=meta), shell, log)


@pytest.mark.parametrize("place", inside(0, 0))
def test_what_is_in_a_container_runs_nothing(trap, shell, log, place):
    value = trap.kind()()
    # What `partial` and the like hold is shown by their own `repr`, but not where they are parts.
    untouched(trap, inside(value, value)[place], shell, log)


IN_FRAME = ("name", "cells", "series", "labels", "columns", "attrs", "categories", "category")


@pytest.mark.parametrize("place", [*IN_FRAME, "polars"])
def test_what_is_in_a_frame_runs_nothing(trap, shell, log, place):
    value = trap.kind()()
    untouched(trap, frames_of(value, value)[place], shell, log)


@pytest.mark.parametrize(
    "base",
    [dict, list, tuple, set, frozenset, str, bytes, int, float, collections.defaultdict,
     collections.OrderedDict, collections.Counter, collections.deque, types.ModuleType,
     dt.datetime, np.ndarray, pd.DataFrame, pd.Series, Exception],
    ids=lambda kind: kind.__name__,
)  # fmt: skip
def test_what_derives_from_a_known_kind_runs_its_repr_at_most(trap, shell, log, base):
    arguments = {
        types.ModuleType: ("m",),
        dt.datetime: (2024, 1, 1),
        np.ndarray: ((2, 2),),
    }.get(base, ())
    kind = trap.kind(base)
    value = kind(*arguments)
    untouched(trap, value, shell, log, SAID)


def test_a_figure_is_drawn_where_the_user_names_it_and_inspected_without(trap, shell):
    shell.user_ns["x"] = trap.kind(Figure)()
    with trap.armed():
        describe(find_value(shell, "x"))
        in_a_line(shell.user_ns.pop("x"))
    assert set(trap.touched) <= SAID


def test_a_name_or_a_module_that_is_claimed_is_not_believed(trap, shell, log):
    for module, name in (("pandas", "DataFrame"), ("numpy", "ndarray"), ("builtins", "list"),
                         ("polars.dataframe.frame", "DataFrame"), ("torch", "Tensor")):  # fmt: skip
        kind = trap.kind(__module__=module, __qualname__=name)
        untouched(trap, kind(), shell, log, SAID)
        untouched(trap, [kind()], shell, log)


class OwnDtype(pd.api.extensions.ExtensionDtype):
    name, type, kind = "own", object, "O"

    @classmethod
    def construct_array_type(cls):
        return OwnArray


class OwnArray(pd.api.extensions.ExtensionArray):
    """Three cells whose every reading counts."""

    dtype, nbytes = OwnDtype(), 0

    def __init__(self):
        self.read = 0

    def __len__(self):
        return 3

    def __getitem__(self, key):
        self.read += 1
        return OwnArray() if isinstance(key, slice) else 1

    def isna(self):
        self.read += 1
        return np.zeros(3, bool)

    def copy(self):
        return self


def test_columns_of_a_users_own_type_are_named_and_not_read(shell, log):
    array = OwnArray()
    frame = pd.DataFrame({"price": [1, 2, 3], "own": pd.Series(array, copy=False)})
    array.read = 0
    told = describe(frame)
    assert "3 rows × 1 columns (and columns of types of their own: own (" in told  # noqa: RUF001
    assert "| price | int64 | 0 |" in told
    assert "Series of 3 values, not read: its values are of their own type" in describe(
        frame["own"]
    )
    look_at(frame, shell, log)
    assert array.read == 0


class WithSlots:
    __slots__ = ("a",)


def hold(**held):
    return types.SimpleNamespace(**held)


def test_what_an_object_holds_is_found_and_what_it_computes_is_named(shell):
    slotted = WithSlots()
    slotted.a = [1, 2]

    class Shop:
        @property
        def price(self):
            raise Touched

        @staticmethod
        def sell():
            return "sold"

        @functools.cached_property
        def stock(self):
            raise Touched

    shop = Shop()
    shop.a = slotted
    shell.user_ns |= {
        "shop": shop,
        "slotted": slotted,
        "empty": WithSlots(),
        "when": dt.date(2024, 1, 1),
    }
    assert find_value(shell, "shop.a.a[1]") == 2
    assert find_value(shell, "when.year") == 2024
    assert 'return "sold"' in describe(find_value(shell, "shop.sell"))
    for path, words in (
        ("shop.price", "'price' is a property"),
        ("shop.stock", "'stock' is computed"),
        ("shop.nothing", "there is no nothing"),
        ("empty.a", "there is no a"),
        ("slotted[0]", "there is no 0"),
    ):
        with pytest.raises(ToolFailure, match=words):
            find_value(shell, path)
    with pytest.raises(ToolFailure, match="Use run_code, which asks the user"):
        find_value(shell, "shop.price")


def test_looking_adds_no_key_and_loads_no_module(shell, log, tmp_path, monkeypatch):
    (tmp_path / "late_module.py").write_text("raise SystemExit\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    spec = importlib.util.find_spec("late_module")
    loader = importlib.util.LazyLoader(spec.loader)
    spec.loader = loader
    late = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "late_module", late)
    loader.exec_module(late)
    counts = collections.defaultdict(lambda: pytest.fail("called"))
    for value in (counts, late, [late]):
        look_at(value, shell, log)
        walk_into(shell, log)
    assert dict(counts) == {}
    assert type(late).__name__ == "_LazyModule"


def test_nothing_is_consumed_read_or_followed(shell, log):
    numbers, lines = (n for n in range(3)), io.StringIO("one\ntwo")
    target = Holder(1)
    mock = unittest.mock.MagicMock(name="mock")
    foreign = (weakref.proxy(target), mock, unittest.mock.call.a, (ctypes.c_int * 3)())
    views = (memoryview(b"abc"), types.MappingProxyType({"a": 1}))
    for value in (numbers, iter([1]), lines, *foreign, *views):
        look_at(value, shell, log)
        walk_into(shell, log)
        bounded_repr([value])
    assert list(numbers) == [0, 1, 2]
    assert lines.tell() == 0
    assert mock.mock_calls == []
    assert "price" not in mock._mock_children


@pytest.mark.parametrize("error", [SystemExit, GeneratorExit, MemoryError, RecursionError, Touched])
def test_a_repr_that_raises_anything_is_contained(error):
    def fail(_self):
        raise error

    kind = type("Odd", (), {"__repr__": fail})
    assert f"{error.__name__} in its own code" in describe(kind())
    with pytest.raises(KeyboardInterrupt):
        describe(
            type("Stop", (), {"__repr__": lambda _: (_ for _ in ()).throw(KeyboardInterrupt)})()
        )


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_no_choice_of_methods_lets_code_run(shell, log, data):
    trap = Trap(frozenset(data.draw(st.sets(st.sampled_from(SPECIAL)))))
    bases = data.draw(st.sampled_from([(), (dict,), (list,), (str,), (int,)]))
    value = trap.kind(*bases, meta=data.draw(st.booleans()))()
    trees = st.recursive(
        st.just([value]),
        lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(), inner, max_size=2),
    )
    untouched(trap, data.draw(trees), shell, log)


RAN: list[str] = []


class Tattling(OwnArray):
    """Notes all that is asked of it."""

    def __getattribute__(self, name):
        RAN.append(name)
        return object.__getattribute__(self, name)

    def __len__(self):
        RAN.append("__len__")
        return 3

    def __getitem__(self, key):
        RAN.append("__getitem__")
        return super().__getitem__(key)


class OwnIndex(pd.Index):
    def __len__(self):
        RAN.append("__len__")
        return super().__len__()

    def __iter__(self):
        RAN.append("__iter__")
        return super().__iter__()

    def __getitem__(self, key):
        RAN.append("__getitem__")
        return super().__getitem__(key)

    def _view(self):
        RAN.append("_view")
        return super()._view()


class OwnZone(dt.tzinfo):
    def utcoffset(self, _when):
        RAN.append("utcoffset")
        return dt.timedelta(0)

    def dst(self, _when):
        RAN.append("dst")
        return dt.timedelta(0)

    def tzname(self, _when):
        RAN.append("tzname")
        return "own"


class OwnDay(pd.offsets.Day):
    @property
    def freqstr(self):
        RAN.append("freqstr")
        return "D"

    def __mul__(self, other):
        RAN.append("__mul__")
        return super().__mul__(other)


class OwnCell:
    """A cell or a label with a name of its own, which is asked for nothing."""

    def __hash__(self):
        RAN.append("__hash__")
        return 1

    def __eq__(self, _other):
        RAN.append("__eq__")
        return False

    def __str__(self):
        RAN.append("__str__")
        return "cell"

    def __deepcopy__(self, _memo):
        RAN.append("__deepcopy__")
        return self


def own_index():
    return OwnIndex._simple_new(np.array([5, 6, 7]))


def with_foreign_parts():
    cell = OwnCell()
    days = pd.date_range("2024", periods=3, freq=OwnDay())
    zoned = pd.DatetimeIndex(["2024-01-01"] * 3, tz=OwnZone())
    table = pd.DataFrame({"a": [1, 2, 3]})
    remarked = pd.Series([1, 2, 3], name=cell)
    remarked.attrs["why"] = cell
    patched = pd.DataFrame({"a": [1, 2, 3]})
    object.__setattr__(patched, "head", lambda *_: RAN.append("head"))
    labels = pd.MultiIndex.from_arrays([[cell] * 3, [1, 2, 3]])
    return {
        "dtype of index": table.set_axis(pd.Index(Tattling()), axis=0),
        "dtype of columns": pd.DataFrame([[1, 2, 3]]).set_axis(pd.Index(Tattling()), axis=1),
        "dtype of column": pd.DataFrame({"a": [1, 2, 3], "own": pd.Series(Tattling(), copy=False)}),
        "dtype of series": pd.Series(Tattling(), copy=False),
        "index": pd.Index(Tattling()),
        "class of index": table.set_axis(own_index(), axis=0),
        "class of columns": pd.DataFrame([[1, 2, 3]]).set_axis(own_index(), axis=1),
        "index of series": pd.Series([1, 2, 3], index=own_index()),
        "level": table.set_axis(pd.MultiIndex([own_index()], [[0, 1, 2]]), axis=0),
        "categories": pd.Series(pd.Categorical.from_codes([0, 1, 2], own_index())),
        "frequency": table.set_axis(days, axis=0),
        "zone of index": table.set_axis(zoned, axis=0),
        "zone": pd.DataFrame({"a": pd.Series(zoned)}),
        "zone of a time": pd.Timestamp("2024-01-01", tz=OwnZone()),
        "attrs and name": remarked,
        "patched": patched,
        "labels": table.set_axis(labels, axis=0),
        "labels of columns": pd.DataFrame([[1, 2, 3]]).set_axis(labels, axis=1),
        "name of index": table.rename_axis(index=["a"]).set_axis(pd.Index([1, 2, 3], name=cell)),
        "name alone": pd.Index([1, 2, 3], name=cell),
    }


@pytest.mark.parametrize("case", with_foreign_parts())
def test_a_part_of_a_users_own_type_is_left_out_of_pandas_and_not_read(shell, log, case):
    value = with_foreign_parts()[case]
    shell.user_ns["x"] = value
    RAN.clear()
    look_at(value, shell, log)
    for path in ("x", "x.a", "x.own", "x['a']", "x['own']", "x[0]", "x.index", "x.columns", "x.T",
                 "x.values", "x.dtype", "x.dtypes", "x.shape", "x.size", "x.nothing"):  # fmt: skip
        with suppress(ToolFailure):
            found = find_value(shell, path)
            if type(found) is not OwnIndex:  # an object that is shown by its own `repr`
                describe(found)
    for mention in ("@x:csv", "@x.a:csv"):
        with suppress(UsageError):
            resolve(find_mentions(mention)[0], Notebook(shell, log), ".")
    assert RAN == []


def test_the_rest_of_a_frame_is_told_without_its_foreign_index():
    cases = with_foreign_parts()
    for case in ("dtype of index", "class of index", "frequency", "zone of index", "level"):
        told = describe(cases[case])
        assert "3 rows × 1 columns (and an index of a type of its own: " in told  # noqa: RUF001
        assert "| a | int64 | 0 |" in told
    assert "mean 2" in describe(cases["index of series"])
    assert "labelled by" in describe(cases["class of columns"])


def test_a_csv_names_foreign_objects_and_refuses_foreign_types(shell, log):
    shell.user_ns["x"] = pd.DataFrame({"a": [OwnCell(), 1]}, index=pd.Index([1, 2], name=OwnCell()))
    item = resolve(find_mentions("@x:csv")[0], Notebook(shell, log), ".")
    assert "<tests.kernel.context.test_untouched.OwnCell object>" in item.text.splitlines()[1]
    shell.user_ns["x"] = with_foreign_parts()["dtype of column"]
    with pytest.raises(UsageError, match="columns of types of their own: own"):
        resolve(find_mentions("@x:csv")[0], Notebook(shell, log), ".")


def test_looking_changes_nothing_of_the_frame():
    cell = OwnCell()
    frame = pd.DataFrame([[1, cell]], columns=pd.Index([cell, "b"], dtype=object))
    manager = frame._mgr
    describe(frame)
    assert frame._mgr is manager
    assert frame.columns[0] is cell
    assert frame.iloc[0, 1] is cell


class OwnRows(np.ndarray):
    def __array_finalize__(self, _other):
        RAN.append("__array_finalize__")

    def min(self, *given, **named):
        RAN.append("min")
        return super().min(*given, **named)


class OwnRecord(np.void):
    def __iter__(self):
        RAN.append("__iter__")
        return iter(())


class Asked:
    def __getattribute__(self, name):
        RAN.append(name)
        return object.__getattribute__(self, name)


@pytest.mark.parametrize(
    "array",
    [
        np.ma.array(np.array([1, 2]).view(OwnRows)),
        np.zeros(2, np.dtype((OwnRecord, [("a", int)]))),
        np.zeros(2, [("inner", np.dtype((OwnRecord, [("a", int)])))]),
        np.rec.array([(1, Asked())], dtype=[("a", int), ("b", object)]),
        np.ma.array([Asked(), 1], dtype=object),
        np.array([(1, Asked())], dtype=[("a", int), ("b", object)]),
    ],
    ids=["masked", "record", "inner record", "recarray", "masked objects", "structured"],
)
def test_an_array_with_parts_of_a_users_own_type_runs_nothing(shell, log, array):
    RAN.clear()
    look_at([array], shell, log)
    look_at(array, shell, log)
    for path in ("x", "x[0]", "x.T", "x.real", "x.dtype", "x.shape"):
        shell.user_ns["x"] = array
        with suppress(ToolFailure):
            describe(find_value(shell, path))
    assert RAN == []


def test_formats_that_a_user_set_are_not_called():
    RAN.clear()
    with np.printoptions(formatter={"int": lambda x: (RAN.append("int"), str(x))[1]}):
        assert describe(np.array([1, 2]))
        assert bounded_repr([np.array([1, 2])]) == "[array([1, 2])]"
    assert RAN == []


class OwnNumber(int):
    def __repr__(self):
        RAN.append("__repr__")
        return "own"

    __str__ = __repr__

    def __hash__(self):
        RAN.append("__hash__")
        return 1


def test_what_a_scalar_was_made_of_is_looked_at(shell, log):
    half, identity = fractions.Fraction(1, 2), uuid.UUID(int=1)
    half._numerator = OwnNumber(3)
    object.__setattr__(identity, "int", OwnNumber(3))
    RAN.clear()
    for value in (half, identity, {half: 1}.values(), dt.datetime(2024, 1, 1, tzinfo=OwnZone())):
        RAN.clear()
        look_at([value], shell, log)
        if type(value) is not type({}.values()):
            look_at(value, shell, log)
        assert RAN == []
    assert is_scalar(uuid.UUID(int=1))
    assert is_scalar(fractions.Fraction(1, 2))


def test_extension_types_in_polars_are_not_asked(monkeypatch, shell, log):
    extension = pytest.importorskip("polars.datatypes.extension")

    class OwnType(pl.BaseExtension):
        def __init__(self):
            super().__init__("own", pl.Int64)

        @classmethod
        def ext_from_params(cls, *_given):
            RAN.append("ext_from_params")
            return cls()

        def _string_repr(self):
            RAN.append("_string_repr")
            return "own"

    table = pl.DataFrame({"a": [1, 2]})
    monkeypatch.setitem(extension._REGISTRY, "own", OwnType)
    for value in (table, table["a"]):
        assert "Not read: extension types are registered" in describe(value)
        shell.user_ns["x"] = value
        for path in ("x.dtypes", "x.schema", "x.dtype"):
            with pytest.raises(ToolFailure):
                find_value(shell, path)
        look_at(value, shell, log)


def test_ordinary_kinds_of_pandas_are_known():
    days = pd.date_range("2024", periods=3, tz="Europe/Oslo")
    frame = pd.DataFrame(
        {
            "zoned": days,
            "kind": pd.Categorical(["a", "b", "a"]),
            "maybe": pd.array([1, None, 3], dtype="Int64"),
            "words": pd.array(["a", "b", None], dtype="string"),
            "month": pd.period_range("2024", periods=3, freq="M"),
            "span": pd.interval_range(0, 3),
            "sparse": pd.arrays.SparseArray([0, 0, 1]),
            "object": [1, "a", None],
        },
        index=pd.MultiIndex.from_arrays([days, [1, 2, 3]]),
    )
    told = describe(frame)
    assert "of a type of its own" not in told
    assert "3 rows × 8 columns" in told  # noqa: RUF001
    for index in (days, frame.index, pd.RangeIndex(3), pd.interval_range(0, 3), pd.Index(["a"])):
        told = describe(index)
        assert "First labels: " in told
        assert "object>" not in told
