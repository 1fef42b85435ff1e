"""Describing a value to an agent within a budget: schema and summary before data.

Text only; pictures are in `pictures`. Nothing is imported to describe a value. Of a value's own
code only the `repr` or `_repr_markdown_` of an object of an unknown kind runs, and may fail; what
is in a container or a frame is not asked. Knows no agent.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable
from types import FunctionType, MethodType, ModuleType
from typing import Any

from acp_notebook.kernel.context import frames
from acp_notebook.kernel.context.kinds import (
    class_attribute,
    derives,
    is_exactly,
    is_from,
    is_function,
    is_scalar,
    is_scalar_kind,
    qualified_name,
    type_name,
)
from acp_notebook.kernel.context.libraries import is_known_array
from acp_notebook.kernel.context.plain_repr import bounded_repr, is_container, size_of
from acp_notebook.kernel.context.source_text import class_source, function_source, inner_function
from acp_notebook.kernel.context.text import bounded, fenced

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
        describer = next((each for is_kind, each in _KINDS if is_kind(value)), _describe_object)
        return bounded(describer(value, budget), budget)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # noqa: BLE001 - an object's own `repr` may even exit
        return f"A {type_name(value)} that cannot be shown: {type(error).__name__} in its own code."


def _array(array: Any, budget: int) -> str:
    if not is_known_array(array):
        return f"{type_name(array)}, shape {array.shape}, of values of a type of their own"
    numpy = sys.modules["numpy"]
    facts = [f"numpy array, shape {array.shape}, dtype {array.dtype}"]
    if array.size and (array.dtype.kind in "iufb"):
        facts.append(_array_statistics(numpy, array))
    shown = {"object": bounded_repr} if array.dtype.hasobject else None
    with numpy.printoptions(threshold=60, edgeitems=3, formatter=shown):
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


def _function(function: Any, budget: int) -> str:
    if is_exactly(function, MethodType):
        function = function.__func__
        if not is_function(function):
            return f"a bound method of {type_name(function)}"
    code, name = inner_function(function).__code__, str.__str__(function.__qualname__)
    return _source(f"function {name}", function_source(code), function.__doc__, budget)


def _class(kind: Any, budget: int) -> str:
    name = qualified_name(kind)
    source, words = class_source(kind), class_attribute(kind, "__doc__")
    return _source(f"class {name}", source, words, budget)


def _source(head: str, source: str, words: Any, budget: int) -> str:
    if source:
        return f"{head}\n\n{fenced(bounded(source, budget - 200), 'python')}"
    return f"{head}\n\n{inspect.cleandoc(words) if type(words) is str else ''}".rstrip()


def _describe_object(value: Any, budget: int) -> str:
    markdown = _own_markdown(value)
    if markdown is not None:
        return f"{type_name(value)}\n\n{markdown}"
    size = ""
    if is_container(value):
        text = bounded_repr(value)
        if derives(value, list, tuple, dict, set, frozenset):
            size = f", {size_of(value):,} items"
    elif derives(value, ModuleType) or (is_scalar_kind(value) and not is_scalar(value)):
        text = bounded_repr(value)
    else:
        text = str.__str__(repr(value))  # a text of a kind of its own would be asked further
    return f"{type_name(value)}{size}\n\n{fenced(bounded(text, budget - 200))}"


def _own_markdown(value: Any) -> str | None:
    method = class_attribute(type(value), "_repr_markdown_")
    if derives(value, type) or not is_function(method):
        return None
    markdown = method(value)
    if is_exactly(markdown, tuple) and markdown:
        markdown = markdown[0]
    return markdown if type(markdown) is str and markdown.strip() else None


def _turn(turn: Any, budget: int) -> str:
    return bounded(turn.to_markdown(), budget)


_KINDS: tuple[tuple[Callable[[Any], bool], Describer], ...] = (
    (is_from("pandas", "DataFrame"), frames.describe_pandas),
    (is_from("pandas", "Series"), frames.describe_pandas_series),
    (is_from("pandas", "Index"), frames.describe_pandas_index),
    (is_from("polars", "DataFrame"), frames.describe_polars),
    (is_from("polars", "LazyFrame"), frames.describe_lazy),
    (is_from("polars", "Series"), frames.describe_polars_series),
    (is_from("numpy", "ndarray"), _array),
    (is_from("acp_notebook.client.turn", "Turn"), _turn),
    (is_from("acp_notebook.kernel.magic.turn_cache", "RecordedTurn"), _turn),
    (lambda value: is_exactly(value, FunctionType, MethodType), _function),
    (lambda value: derives(value, type), _class),
)
