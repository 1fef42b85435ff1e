"""A `repr` of bounded width and depth that runs no code of the values: foreign ones are named.

Knows the built-in containers and what may be inside them.
"""

from __future__ import annotations

import builtins
import collections
import dataclasses
import enum
import reprlib
from collections.abc import Iterable
from itertools import islice
from types import BuiltinFunctionType, MethodType, ModuleType
from typing import Any, Final

from acp_notebook.kernel.context.kinds import (
    ABSENT,
    are_plain,
    class_attribute,
    derives,
    instance_dict,
    is_exactly,
    is_from,
    is_function,
    is_scalar,
    name_of,
    stored,
    type_name,
)
from acp_notebook.kernel.context.libraries import array_repr, is_known_array, shape_of

MOST_ITEMS: Final = 30
MOST_CHARS: Final = 400
MOST_LEVELS: Final = 4

_is_array: Final = is_from("numpy", "ndarray")
_is_table: Final = is_from("pandas", "DataFrame", "Series")
_CONTAINERS: Final = (dict, list, tuple, set, frozenset, collections.deque)


def bounded_repr(value: Any) -> str:
    """Return a `repr` of limited width and depth, without foreign code."""
    return _REPR.repr(value)


def is_container(value: Any) -> bool:
    """Whether a value is a built-in container or derived from one."""
    return derives(value, *_CONTAINERS)


def size_of(container: Any) -> int:
    """Return how many items a built-in container or one derived from it holds."""
    base = next(kind for kind in _CONTAINERS if derives(container, kind))
    return base.__len__(container)


class _PlainRepr(reprlib.Repr):
    def __init__(self) -> None:
        super().__init__()
        self.maxlevel = MOST_LEVELS
        self.maxdict = self.maxlist = self.maxtuple = self.maxset = MOST_ITEMS
        self.maxfrozenset = self.maxarray = self.maxdeque = MOST_ITEMS
        self.maxstring = self.maxother = MOST_CHARS

    def repr1(self, x: Any, level: int) -> str:
        if is_scalar(x):
            return self._scalar(x, level)
        if derives(x, type):
            return f"<class {name_of(x)!r}>"
        if derives(type(x), enum.EnumMeta):
            held = instance_dict(x)
            name, value = held.get("_name_"), self.repr1(held.get("_value_"), level - 1)
            return f"<{_short_name(x)}.{self.repr1(name, 0)[1:-1]}: {value}>"
        return self._container(x, level) if is_container(x) else self._other(x, level)

    def _scalar(self, x: Any, level: int) -> str:
        try:
            if is_exactly(x, str, int):
                return str(super().repr1(x, level))
            return self._shortened(builtins.repr(x))
        except ValueError:  # a number with too many digits
            return f"<{type_name(x)}>"

    def _container(self, x: Any, level: int) -> str:
        text = self._items(x, level)
        if is_exactly(x, collections.deque) and x.maxlen is not None:
            return f"{text[:-1]}, maxlen={x.maxlen})"
        if is_exactly(x, *_CONTAINERS):
            return text
        name, fields = _short_name(x), class_attribute(type(x), "_fields")
        if derives(x, tuple) and is_exactly(fields, tuple) and are_plain(fields):
            pairs = zip(fields, islice(tuple.__iter__(x), MOST_ITEMS), strict=False)
            return self._named(name, pairs, level)
        if derives(x, collections.defaultdict):
            factory = collections.defaultdict.__dict__["default_factory"].__get__(x)
            return f"{name}({self.repr1(factory, level - 1)}, {text})"
        return f"{name}({text})"

    def _items(self, x: Any, level: int) -> str:
        if derives(x, dict):
            return self._dict(x, level)
        base: Any = next(kind for kind in _CONTAINERS if derives(x, kind))
        if base is set or base is frozenset:
            held = list(base.__iter__(x))
            return self._set(_sorted(held) if are_plain(held) else held, base, level)
        part = base(islice(base.__iter__(x), MOST_ITEMS + 1))
        if base is list:
            return self.repr_list(part, level)
        return self.repr_tuple(part, level) if base is tuple else self.repr_deque(part, level)

    def _set(self, held: list[Any], base: type, level: int) -> str:
        if not held:
            return f"{base.__name__}()"
        if level <= 0:
            return f"{base.__name__}({{...}})" if base is frozenset else "{...}"
        texts = [self.repr1(each, level - 1) for each in held[:MOST_ITEMS]]
        text = ", ".join([*texts, *(["..."] if len(held) > MOST_ITEMS else [])])
        return f"frozenset({{{text}}})" if base is frozenset else f"{{{text}}}"

    def _dict(self, x: Any, level: int) -> str:
        if not size_of(x):
            return "{}"
        if level <= 0:
            return "{...}"
        keys = list(dict.keys(x))
        if are_plain(keys):
            items = [(key, dict.get(x, key)) for key in _sorted(keys)[: MOST_ITEMS + 1]]
        else:
            items = list(islice(dict.items(x), MOST_ITEMS + 1))
        texts = [
            f"{self.repr1(key, level - 1)}: {self.repr1(value, level - 1)}"
            for key, value in items[:MOST_ITEMS]
        ]
        return f"{{{', '.join([*texts, *(['...'] if len(items) > MOST_ITEMS else [])])}}}"

    def _named(self, name: str, pairs: Iterable[tuple[str, Any]], level: int) -> str:
        if level <= 0:
            return f"{name}(...)"
        return f"{name}({', '.join(f'{key}={self.repr1(x, level - 1)}' for key, x in pairs)})"

    def _other(self, x: Any, level: int) -> str:
        if _is_array(x) and not x.dtype.hasobject and is_known_array(x):
            return self._shortened(array_repr(x))
        if _is_array(x) or _is_table(x):
            shape = shape_of(x)
            size = "of its own" if shape is None else " × ".join(map(str, shape))  # noqa: RUF001
            return f"<{type_name(x)} {size}>"
        if is_function(x) or is_exactly(x, BuiltinFunctionType):
            return self._shortened(builtins.repr(x))
        if is_exactly(x, MethodType):
            return f"<bound method {self.repr1(x.__func__, level)}>"
        if derives(x, ModuleType):
            module = instance_dict(x)
            place = f" from {file!r}" if type(file := module.get("__file__")) is str else ""
            return f"<module {self.repr1(module.get('__name__'), level)}{place}>"
        if derives(x, BaseException) and name_of(type(x)).isidentifier():
            arguments = BaseException.__dict__["args"].__get__(x)
            shown = ", ".join(self.repr1(each, level - 1) for each in arguments[:MOST_ITEMS])
            return f"{name_of(type(x))}({shown})"
        fields = _shown_fields(type(x))
        if fields:
            held = ((name, stored(x, name)) for name in fields[:MOST_ITEMS])
            pairs = [(name, value) for name, value in held if value is not ABSENT]
            return self._named(_short_name(x), pairs, level)
        return f"<{type_name(x)} object>"

    def _shortened(self, text: str) -> str:
        if len(text) <= MOST_CHARS:
            return text
        head = (MOST_CHARS - 3) // 2
        return f"{text[:head]}...{text[-(MOST_CHARS - 3 - head) :]}"


def _shown_fields(kind: type) -> list[str]:
    """Return the fields of a dataclass that its `repr` shows, if that is a generated one."""
    fields, method = (class_attribute(kind, each) for each in ("__dataclass_fields__", "__repr__"))
    if not is_exactly(fields, dict) or not is_function(method):
        return []
    generated: Any = dict.get(instance_dict(method), "__wrapped__")
    if not is_function(generated) or generated.__code__.co_filename != "<string>":
        return []
    return [
        name
        for name, each in dict.items(fields)
        if type(name) is str and is_exactly(each, dataclasses.Field) and each.repr is True
    ]


def _short_name(value: Any) -> str:
    return name_of(type(value)).rpartition(".")[2]


def _sorted(values: list[Any]) -> list[Any]:
    """Return plain values in order, as far as they have one."""
    try:
        return sorted(values)
    except Exception:  # noqa: BLE001 - numbers and texts, for example
        return values


_REPR: Final = _PlainRepr()
