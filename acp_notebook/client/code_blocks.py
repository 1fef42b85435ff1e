"""The fenced code blocks of a reply. Knows nothing of turns: text in, blocks out."""

from __future__ import annotations

import re
from dataclasses import dataclass

_FENCE = re.compile(r"^(`{3,}|~{3,})([^\n`]*)\n(.*?)^\1[`~]*[ \t]*$", re.DOTALL | re.MULTILINE)


@dataclass(frozen=True, slots=True)
class CodeBlock:
    """A fenced block of the agent's reply."""

    language: str
    code: str


def find_code_blocks(text: str) -> list[CodeBlock]:
    """Return the fenced blocks of a text, in order."""
    return [CodeBlock(match[2].strip(), match[3]) for match in _FENCE.finditer(text + "\n")]
