"""Describing a value to an agent within a budget: schema and summary before data.

Text only; pictures are in `pictures`. A library is looked up among the imported modules, so that
nothing is imported to describe a value, nor may its `repr` raise. Knows no agent.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable
from typing import Any

from acp_notebook.kernel.context import frames
from acp_notebook.kernel.context.text import bounded, bounded_repr, fenced, type_name

# Characters of one description; about a quarter as many tokens.
BUDGET_CHARS = 6_000
# A text that the user names is sent as it is, so it may be longer than a description.
TEXT_BUDGET_CHARS = 24_000
# Elements of an array; in a longer one, statistics that would copy it use a sample.
LONG_ARRAY = 1_000_000

Describer = Callable[[Any, int], str]


def describe(value: Any, budget: int = BUDGET_CHARS) -> str:
    """Return a Markdown description of a value, at most `budget` characters long.

    A string is returned unchanged up to `TEXT_BUDGET_CHARS`.
    """
    if type(value) is str:
        return bounded(value, max(budget, TEXT_BUDGET_CHARS))
    try:
        # Even `isinstance` may run the value's code: a `__class__` property.
        describer = next((each for is_kind, each in _KINDS if is_kind(value)), _describe_object)
        return bounded(describer(value, budget), budget)
    except Exception as error:  # noqa: BLE001 - a user's object may fail anywhere
        return f"A {type_name(value)} that cannot be shown: {type(error).__name__} in its own code."


def is_from(module: str, *names: str) -> Callable[[Any], bool]:
    """Return a test for instances of these classes of a module, which imports nothing."""

    def is_kind(value: Any) -> bool:
        loaded = sys.modules.get(module)
        kinds = tuple(getattr(loaded, name) for name in names if hasattr(loaded, name))
        return bool(kinds) and isinstance(value, kinds)

    return is_kind


def _array(array: Any, budget: int) -> str:
    numpy = sys.modules["numpy"]
    facts = [f"numpy array, shape {array.shape}, dtype {array.dtype}"]
    if array.size and (array.dtype.kind in "iufb"):
        facts.append(_array_statistics(numpy, array))
    with numpy.printoptions(threshold=60, edgeitems=3):
        return f"{', '.join(facts)}\n\n{fenced(bounded(repr(array), budget))}"


def _array_statistics(numpy: Any, array: Any) -> str:
    with numpy.errstate(all="ignore"):
        if array.dtype.kind == "f" and numpy.isnan(array.min()):
            part = array if array.size <= LONG_ARRAY else array.flat[:: array.size // LONG_ARRAY]
            known = part[~numpy.isnan(part)]
            missing = f"{part.size - known.size:,} of {part.size:,} values are NaN"
            where = "" if part.size == array.size else " (a sample)"
            if not known.size:
                return missing + where
            return f"{missing}{where}, min {known.min()}, max {known.max()}, mean {known.mean()}"
        return f"min {array.min()}, max {array.max()}, mean {array.mean()}"


def _callable(value: Any, budget: int) -> str:
    kind = "class" if isinstance(value, type) else "function"
    name = getattr(value, "__qualname__", type_name(value))
    try:
        source = inspect.getsource(value).rstrip()
    except (OSError, TypeError):
        return f"{kind} {name}\n\n{inspect.getdoc(value) or ''}".rstrip()
    return f"{kind} {name}\n\n{fenced(bounded(source, budget - 200), 'python')}"


def _describe_object(value: Any, budget: int) -> str:
    markdown = _own_markdown(value)
    if markdown is not None:
        return f"{type_name(value)}\n\n{markdown}"
    if isinstance(value, (list, tuple, dict, set, frozenset)):
        text, size = bounded_repr(value), f", {len(value):,} items"
    else:
        text, size = repr(value), ""
    return f"{type_name(value)}{size}\n\n{fenced(bounded(text, budget - 200))}"


def _own_markdown(value: Any) -> str | None:
    if isinstance(value, type) or getattr(type(value), "_repr_markdown_", None) is None:
        return None
    markdown = value._repr_markdown_()
    if isinstance(markdown, tuple) and markdown:
        markdown = markdown[0]
    return markdown if isinstance(markdown, str) and markdown.strip() else None


def _turn(turn: Any, budget: int) -> str:
    return bounded(turn.to_markdown(), budget)


_KINDS: tuple[tuple[Callable[[Any], bool], Describer], ...] = (
    (is_from("pandas", "DataFrame"), frames.describe_pandas),
    (is_from("pandas", "Series"), frames.describe_pandas_series),
    (is_from("polars", "DataFrame"), frames.describe_polars),
    (is_from("polars", "LazyFrame"), frames.describe_lazy),
    (is_from("polars", "Series"), frames.describe_polars_series),
    (is_from("numpy", "ndarray"), _array),
    (is_from("acp_notebook.client.turn", "Turn"), _turn),
    (is_from("acp_notebook.kernel.magic.turn_cache", "RecordedTurn"), _turn),
    (
        lambda value: (
            inspect.isfunction(value) or inspect.ismethod(value) or isinstance(value, type)
        ),
        _callable,
    ),
)
