"""Looking at values runs no code of theirs, however hostile, but a `repr` where that is said."""

from __future__ import annotations

import collections
import ctypes
import dataclasses
import datetime as dt
import functools
import importlib.util
import io
import sys
import types
import unittest.mock
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
from acp_notebook.kernel.context.kinds import type_name
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
    assert "3 values of their own type" in describe(frame["own"])
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
