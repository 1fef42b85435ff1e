"""What goes into the page, as text: its styles, and its JavaScript as the one module a widget takes.

Knows the form that the modules are kept in, not what they do: they import from siblings only and
by the same name, and what is exported is exported where it is declared; no text of theirs goes over
several lines. What is written otherwise stays as it is, and the joined module does not load.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

STATIC: Final = Path(__file__).parent / "static"
_IMPORT: Final = re.compile(r"^import \{\s*\w+(?:,\s*\w+)*\s*\} from '\./(\w+\.js)';\n", re.M)
_EXPORT: Final = re.compile(r"^export (?=const |function |class )", re.M)
# Every view takes its module along: reasons, types and indents stay here.
_COMMENT: Final = re.compile(r"/\*\*[\s\S]*?\*/|^ *//.*", re.M)
_SPACE: Final = re.compile(r"^\s+", re.M)


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
    return _SPACE.sub("", _COMMENT.sub("", "".join(joined.values())))
