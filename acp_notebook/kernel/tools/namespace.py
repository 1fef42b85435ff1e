"""The user's variables: their names, one-line summaries, and the changes that code made.

Knows IPython's shell; knows no agent.
"""

from __future__ import annotations

import ast
import sys
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from enum import EnumMeta
from operator import itemgetter
from types import ModuleType
from typing import Any, Final

from acp_notebook.kernel.context.kinds import NeedsCode, derives, is_exactly, is_from
from acp_notebook.kernel.context.libraries import is_known_array, shape_of
from acp_notebook.kernel.context.own_frames import may_be_hashed, own_frame
from acp_notebook.kernel.context.parts import NoPart, attribute_of, item_of
from acp_notebook.kernel.context.plain_repr import bounded_repr, size_of
from acp_notebook.kernel.context.sources import own_variables
from acp_notebook.kernel.tools.results import ToolFailure

MAX_FINGERPRINT_ITEMS: Final = 10_000
MAX_FINGERPRINT_BYTES: Final = 20_000_000
MAX_LINE_CHARS: Final = 100
_MISSING: Final = object()
_COMPARED_IDS: Final = frozenset(map(id, (bool, int, float, str, bytes, type(None))))
_is_frame: Final = is_from("pandas", "DataFrame", "Series")
_is_array: Final = is_from("numpy", "ndarray")
_OF_IPYTHON: Final = frozenset({"In", "Out", "exit", "quit", "get_ipython", "open"})


def user_variables(shell: Any) -> Iterator[tuple[str, Any]]:
    """Yield the user's variables by name, without modules, private names and IPython's own."""
    for name, value in sorted(own_variables(shell).items(), key=itemgetter(0)):
        if name not in _OF_IPYTHON and not derives(value, ModuleType):
            yield name, value


def in_a_line(value: Any) -> str:
    """Return a value's size or beginning in one line, without running its code."""
    shape = shape_of(value)
    if shape is not None:
        return " × ".join(f"{size:,}" for size in shape) or "scalar"  # noqa: RUF001
    if derives(value, bytes):
        return f"{bytes.__len__(value):,} items"
    if derives(value, list, tuple, dict, set, frozenset):
        return f"{size_of(value):,} items"
    if derives(value, str):
        words = repr(str.__getitem__(value, slice(MAX_LINE_CHARS + 1)))
        return f"{str.__len__(value):,} characters, {_shortened(words)}"
    if derives(type(value), EnumMeta):
        return _shortened(bounded_repr(value))
    if is_exactly(value, bool, int, float, complex, type(None)):
        try:
            return _shortened(repr(value))
        except ValueError:  # an integer with too many digits
            return "a very large number"
    return ""


def _shortened(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= MAX_LINE_CHARS else f"{line[:MAX_LINE_CHARS]}…"


def find_value(shell: Any, path: str) -> Any:
    """Return the value at a path: `df`, `df.price`, `config["a"][0]`.

    Raises:
        ToolFailure: There is no such value, or the path has other parts than names, attributes and
            constant keys.
    """
    try:
        tree = ast.parse(path.strip(), mode="eval")
    except (SyntaxError, ValueError, RecursionError):
        raise ToolFailure(_no_path(path)) from None
    try:
        return _walk(shell, tree.body, path)
    except ToolFailure:
        raise
    except NoPart as part:
        raise ToolFailure(f"{path} is not there: there is no {part}.") from None
    except NeedsCode as reason:
        raise ToolFailure(
            f"{path} cannot be inspected: {reason}, and looking runs no code. "
            "Use run_code, which asks the user."
        ) from None
    except Exception as error:  # noqa: BLE001 - a library may fail anywhere
        raise ToolFailure(f"{path} is not there: {type(error).__name__}.") from None


def _walk(shell: Any, node: ast.expr, path: str) -> Any:
    match node:
        case ast.Name(id=name):
            if name not in shell.user_ns:
                raise ToolFailure(
                    f"There is no variable {name!r} in the kernel. list_variables shows all."
                )
            return shell.user_ns[name]
        case ast.Attribute(value=inner, attr=attribute) if not attribute.startswith("_"):
            return attribute_of(_walk(shell, inner, path), attribute)
        case ast.Subscript(value=inner, slice=key):
            return item_of(_walk(shell, inner, path), _key(key, path))
        case _:
            raise ToolFailure(_no_path(path))


def _key(node: ast.expr, path: str) -> Any:
    try:
        return ast.literal_eval(node)
    except (ValueError, TypeError):
        raise ToolFailure(_no_path(path)) from None


def _no_path(path: str) -> str:
    return (
        f"{path[:200]!r} is not a variable's name or a path such as df.price or config['a'][0]. "
        "For anything computed use run_code."
    )


@dataclass(frozen=True, slots=True)
class Changes:
    """The names of new, changed and deleted variables."""

    new: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    deleted: tuple[str, ...] = ()

    @property
    def words(self) -> str:
        """The changes in one line; empty without changes."""
        kinds = (("new", self.new), ("changed", self.changed), ("deleted", self.deleted))
        parts = [f"{kind} {', '.join(names)}" for kind, names in kinds if names]
        return f"Variables: {'; '.join(parts)}" if parts else ""


class Snapshot:
    """The variables before code runs.

    A variable counts as changed if it is another object or its content differs; content that is
    too large to compare counts as changed if the code assigns to a part of it.
    """

    def __init__(self, shell: Any, source: str) -> None:
        self._values = dict(user_variables(shell))
        self._prints = {name: _fingerprint(value) for name, value in self._values.items()}
        self._assigned = frozenset(_assigned_into(source))

    def changes(self, shell: Any) -> Changes:
        """Return the difference between the snapshot and the present variables."""
        after = dict(user_variables(shell))
        return Changes(
            tuple(name for name in after if name not in self._values),
            tuple(
                name
                for name, value in after.items()
                if name in self._values and self._is_changed(name, value)
            ),
            tuple(name for name in self._values if name not in after),
        )

    def _is_changed(self, name: str, value: Any) -> bool:
        if value is not self._values[name]:
            return True
        before = self._prints[name]
        if before is _MISSING:
            return name in self._assigned
        return bool(before != _fingerprint(value))


def _fingerprint(value: Any) -> Any:
    """Return a value that differs when the content does, or `_MISSING` if that is expensive."""
    try:
        if derives(value, list, dict, set):
            return _of_container(value)
        if _is_frame(value):
            return _of_frame(value)
        return _of_array(value) if _is_array(value) else _MISSING
    except Exception:  # noqa: BLE001 - a library may fail anywhere
        return _MISSING


def _of_container(value: Any) -> Any:
    if size_of(value) > MAX_FINGERPRINT_ITEMS:
        return _MISSING
    if derives(value, dict):
        return [(_of_item(key), _of_item(item)) for key, item in dict.items(value)]
    held = list.__iter__(value) if derives(value, list) else set.__iter__(value)
    return [_of_item(item) for item in held]


def _of_item(item: Any) -> Any:
    return item if id(type(item)) in _COMPARED_IDS else id(item)


def _of_frame(value: Any) -> Any:
    value, left_out = own_frame(value)
    if left_out or value.size > MAX_FINGERPRINT_ITEMS * 10 or not may_be_hashed(value):
        return _MISSING
    names = list(value.columns) if value.ndim > 1 else [value.name]
    hashes = sys.modules["pandas"].util.hash_pandas_object(value)
    return list(map(bounded_repr, names)), value.shape, int(hashes.sum())


def _of_array(value: Any) -> Any:
    if not is_known_array(value) or value.dtype.hasobject or value.nbytes > MAX_FINGERPRINT_BYTES:
        return _MISSING
    return (
        value.shape,
        str(value.dtype),
        zlib.crc32(sys.modules["numpy"].ascontiguousarray(value).tobytes()),
    )


def _assigned_into(source: str) -> Iterator[str]:
    """Yield the names whose items or attributes the code assigns, deletes or changes in place."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError):
        return
    for node in ast.walk(tree):
        if isinstance(node, (ast.Subscript, ast.Attribute)) and not isinstance(node.ctx, ast.Load):
            yield from _base_name(node)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            if any(keyword.arg == "inplace" for keyword in node.keywords):
                yield from _base_name(node.func)
        elif isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
            yield node.target.id


def _base_name(node: ast.expr) -> Iterator[str]:
    while isinstance(node, (ast.Subscript, ast.Attribute)):
        node = node.value
    if isinstance(node, ast.Name):
        yield node.id
