"""The source of functions and classes, from the lines that Python keeps for tracebacks.

`inspect.getsource` asks every imported module and follows what an object claims to wrap, which runs
their code. Runs nothing.
"""

from __future__ import annotations

import ast
import inspect
import linecache
from collections.abc import Iterator
from types import CodeType
from typing import Any, Final

from acp_notebook.kernel.context.kinds import (
    class_members,
    instance_dict,
    is_function,
    loaded,
    module_of,
    qualified_name,
)

MOST_FILES: Final = 3


def inner_function(function: Any) -> Any:
    """Return the function that decorators have wrapped."""
    seen = {id(function)}
    while is_function(inner := dict.get(instance_dict(function), "__wrapped__")):
        if id(inner) in seen:
            break
        seen.add(id(inner))
        function = inner
    return function


def function_source(code: CodeType) -> str:
    """Return the source of a function's code; empty if it is not known."""
    lines = _lines(code.co_filename)[code.co_firstlineno - 1 :]
    return "".join(inspect.getblock(lines)).rstrip() if lines else ""


def class_source(kind: type) -> str:
    """Return the source of a class; empty if it is not known."""
    for file in _files_of(kind):
        lines = _lines(file)
        try:
            tree = ast.parse("".join(lines))
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            continue
        for name, node in _classes(tree, ""):
            if name == qualified_name(kind):
                first = min([node.lineno, *(each.lineno for each in node.decorator_list)])
                return inspect.cleandoc("\n" + "".join(lines[first - 1 : node.end_lineno]))
    return ""


def _files_of(kind: type) -> list[str]:
    """Return where a class may be defined: its module's file or, for a cell's class, a method's."""
    methods = (each for each in class_members(kind).values() if is_function(each))
    files = [loaded(module_of(kind)).get("__file__")]
    files += [each.__code__.co_filename for each in methods]
    return list(dict.fromkeys(each for each in files if type(each) is str))[:MOST_FILES]


def _lines(file: str) -> list[str]:
    linecache.checkcache(file)
    return linecache.getlines(file)


def _classes(tree: ast.AST, prefix: str) -> Iterator[tuple[str, ast.ClassDef]]:
    for node in ast.iter_child_nodes(tree):
        inner = prefix
        if isinstance(node, ast.ClassDef):
            yield prefix + node.name, node
            inner = f"{prefix}{node.name}."
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            inner = f"{prefix}{node.name}.<locals>."
        yield from _classes(node, inner)
