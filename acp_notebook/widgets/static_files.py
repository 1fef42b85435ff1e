"""What goes into the page, as text: its styles, and its modules joined into the one a widget takes.

Knows the form that the modules are kept in, not what they do: they import from siblings only and
by the same name, what is exported is exported where it is declared, and no string goes over several
lines. What is written otherwise stays as it is, and the joined module does not load.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

STATIC: Final = Path(__file__).parent / "static"
_IMPORT: Final = re.compile(r"(?m)^import \{\s*\w+(?:,\s*\w+)*\s*\} from '\./(\w+\.js)';\n")
_EXPORT: Final = re.compile(r"(?m)^export (?=const |function |class )")
# Every view takes its module along: reasons, types and indents stay here.
_COMMENT: Final = re.compile(r"(?m)/\*\*[\s\S]*?\*/|^ *//.*")
_INDENT: Final = re.compile(r"(?m)^\s+")


def read_static(name: str) -> str:
    """Read a file of the page."""
    return (STATIC / name).read_text(encoding="utf-8")


def join_modules(entry: str) -> str:
    """Join a module and all that it imports, each behind what it imports itself."""
    joined: dict[str, str] = {}

    def add(name: str) -> None:
        source = read_static(name)
        for sibling in _IMPORT.findall(source):
            if sibling not in joined:
                add(sibling)
        joined[name] = _EXPORT.sub("", _IMPORT.sub("", source))

    add(entry)
    return _INDENT.sub("", _COMMENT.sub("", "".join(joined.values())))
