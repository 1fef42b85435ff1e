"""Sizes and structure of the package: their bounds, the waivers with their reasons, and a table.

Bounded are a module's and a function's lines, the modules of one folder, and import rings: modules
that import each other in a circle, when they are imported or when a function runs.
"""

from __future__ import annotations

import ast
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

MAX_MODULE_LINES = 400
MAX_FUNCTION_LINES = 40
MAX_MODULES_OF_A_FOLDER = 16
ROOT = Path(__file__).resolve().parents[1]
PACKAGE = "acp_notebook"

# name -> why it may be longer
WAIVERS = {
    "acp_notebook/session/updates.py": "one record per kind of update; nothing but declarations",
}
# When an import runs; each kind of ring counts the kinds before it too.
KINDS = ("on import", "in functions", "for types")


@dataclass(frozen=True)
class Module:
    """One file, parsed."""

    path: str
    tree: ast.Module
    lines: int

    @property
    def name(self) -> str:
        """The dotted name; a package's is that of its folder."""
        return self.path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def read_modules() -> list[Module]:
    """All modules of the package."""
    found = []
    for path in sorted((ROOT / PACKAGE).rglob("*.py")):
        source = path.read_text(encoding="utf-8")
        name = path.relative_to(ROOT).as_posix()
        found.append(Module(name, ast.parse(source), source.count("\n")))
    return found


def too_long(modules: list[Module]) -> Iterator[str]:
    """Modules and functions above their sizes, one line each."""
    for module in modules:
        if module.lines > MAX_MODULE_LINES and module.path not in WAIVERS:
            yield f"{module.path}: {module.lines} lines"
        for node in ast.walk(module.tree):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                docstring = ast.get_docstring(node, clean=False)
                length = length_of(node) - (docstring.count("\n") + 1 if docstring else 0)
                if length > MAX_FUNCTION_LINES and f"{module.path}:{node.name}" not in WAIVERS:
                    yield f"{module.path}:{node.lineno} {node.name}: {length} lines"


def length_of(node: ast.stmt) -> int:
    """Lines from the first to the last, without decorators."""
    return (node.end_lineno or node.lineno) - node.lineno + 1


def folders(modules: list[Module]) -> Counter[str]:
    """How many modules stand in each folder, without `__init__`."""
    names = (module.path.rpartition("/") for module in modules)
    return Counter(folder for folder, _, name in names if name != "__init__.py")


def largest_class(modules: list[Module]) -> tuple[int, str]:
    """The lines of the largest class, and where it is."""
    return max(
        (length_of(node), f"{module.path}:{node.name}")
        for module in modules
        for node in ast.walk(module.tree)
        if isinstance(node, ast.ClassDef)
    )


def imports_of(module: Module, known: set[str]) -> Iterator[tuple[int, str]]:
    """The modules of the package that this one imports, each with the kind of import."""

    def visit(node: ast.AST, kind: int) -> Iterator[tuple[int, str]]:
        if isinstance(node, ast.Import):
            yield from ((kind, each.name) for each in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            parts = {f"{node.module}.{each.name}" for each in node.names} & known
            yield from ((kind, name) for name in parts or {node.module})
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            kind = max(kind, 1)
        elif isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING"):
            kind = 2
        for child in ast.iter_child_nodes(node):
            yield from visit(child, kind)

    return ((kind, name) for kind, name in visit(module.tree, 0) if name in known)


def rings(graph: dict[str, set[str]]) -> list[list[str]]:
    """The sets of modules that reach each other, the largest first."""
    reached = {name: reach(graph, name) for name in graph}
    found = {
        frozenset(other for other in reached[name] if name in reached[other])
        for name in graph
        if name in reached[name]
    }
    return sorted((sorted(ring) for ring in found), key=lambda ring: (-len(ring), ring))


def reach(graph: dict[str, set[str]], start: str) -> set[str]:
    """What can be reached by at least one import."""
    found, waiting = set[str](), [start]
    while waiting:
        new = graph[waiting.pop()] - found
        found |= new
        waiting += new
    return found


def structure(modules: list[Module]) -> tuple[list[str], list[str]]:
    """The table, and what in it is out of bounds."""
    wrong = []
    counts = folders(modules)
    fullest: dict[str, tuple[int, str]] = {}
    for folder, count in counts.items():
        package = "/".join(folder.split("/")[:2])
        fullest[package] = max(fullest.get(package, (0, "")), (count, folder))
        if count > MAX_MODULES_OF_A_FOLDER:
            wrong.append(f"{folder}: {count} modules")
    table = [f"{count:5}  modules in {folder}" for count, folder in sorted(fullest.values())[::-1]]
    length, name = largest_class(modules)
    table.append(f"{length:5}  lines of the largest class, {name}")
    known = {module.name for module in modules}
    edges = {module.name: list(imports_of(module, known)) for module in modules}
    for kind, words in enumerate(KINDS):
        graph = {
            name: {other for each, other in found if each <= kind} for name, found in edges.items()
        }
        circles = [", ".join(circle) for circle in rings(graph)]
        sizes = ", ".join(str(circle.count(",") + 1) for circle in circles) or "0"
        longest = f": {circles[0].replace(f'{PACKAGE}.', '')}" if circles else ""
        table.append(f"{sizes:>5}  modules in import rings {words}{longest}")
        if words != "for types":
            wrong += [f"import ring {words}: {each}" for each in circles]
    return table, wrong


if __name__ == "__main__":
    package = read_modules()
    table, wrong = structure(package)
    wrong = [*too_long(package), *wrong]
    print("\n".join([*table, "", *(wrong or ["Sizes and structure are within their bounds."])]))
    sys.exit(bool(wrong))
