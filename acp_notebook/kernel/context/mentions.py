r"""Finding `@mentions` in a prompt.

A mention is `@name` (a variable; also `@df.price`, `@models["best"]` and, for a whole frame,
`@df:csv`), `@file:PATH`, `@error`, `@cell[N]`, `@out[N]` or `@cells:N`. An `@` is no mention inside
a word (an email address), a URL or code (fences and backticks), as a decorator, or after a
backslash (`\@name` sends `@name`). Pure text: does not know which names exist.
"""

from __future__ import annotations

import bisect
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

MentionKind = Literal["variable", "file", "error", "cell", "out", "cells"]
Span = tuple[int, int]

_NAME = r"[^\W\d]\w*"
# Steps from a name to its attributes and items. A subscript is a literal: nothing is computed.
_STEP = rf"""\.{_NAME} | \[(?:-?\d+ | "[^"\n]*" | '[^'\n]*')\]"""
_MENTION = re.compile(
    rf"""(?<![\w@\\.])@(?:
        file:(?:"(?P<quoted>[^"\n]+)"|(?P<path>[^\s,;"']*[^\s,;"'.:!?)\]*]))
      | cells:(?P<cells>\d+)
      | (?P<kind>cell|out)\[(?P<index>-?\d+)\]
      | (?P<name>{_NAME}(?:{_STEP})*)(?::(?P<form>csv)\b)?
    )""",
    re.VERBOSE,
)
_HIDDEN = re.compile(
    r"""^[ \t]*(?P<fence>`{3,}|~{3,})(?:.*?)(?:^[ \t]*(?P=fence)[`~]*[ \t]*$|\Z)
      | (?<!`)(?P<wide>`{3,})(?!`).*?(?<!`)(?P=wide)(?!`)
      | (?<!`)(?P<ticks>`+)(?!`)[^\n]*?(?<!`)(?P=ticks)(?!`)
      | \b[A-Za-z][\w+.-]{0,20}://[^\s<>"']+
      | ^[ \t]*@[^\n]+\n(?=[ \t]*(?:@|def\b|async[ \t]+def\b|class\b))
    """,
    re.DOTALL | re.MULTILINE | re.VERBOSE,
)
_STEPS = re.compile(
    rf"""\.(?P<attribute>{_NAME})
      | \[(?:(?P<index>-?\d+) | "(?P<key>[^"\n]*)" | '(?P<other>[^'\n]*)')\]
    """,
    re.VERBOSE,
)


@dataclass(frozen=True, slots=True)
class Mention:
    """One mention: `text` is its spelling in the prompt; with the form `csv` all data is sent."""

    kind: MentionKind
    value: str
    text: str
    start: int
    form: Literal["", "csv"] = ""


class Spans:
    """Parts of a text, to ask which positions are inside; they may overlap."""

    def __init__(self, spans: Iterable[Span]) -> None:
        self._starts: list[int] = []
        self._ends: list[int] = []
        for start, end in sorted(spans):
            if self._ends and start <= self._ends[-1]:
                self._ends[-1] = max(end, self._ends[-1])
            else:
                self._starts.append(start)
                self._ends.append(end)

    def __contains__(self, position: int) -> bool:
        index = bisect.bisect_right(self._starts, position) - 1
        return index >= 0 and position < self._ends[index]


def hidden_spans(prompt: str) -> list[Span]:
    """Return the parts of a prompt that hold no mentions: code, URLs, decorators."""
    return [match.span() for match in _HIDDEN.finditer(prompt)]


def find_mentions(prompt: str, hidden: Iterable[Span] | None = None) -> list[Mention]:
    """Return the mentions of a prompt, in order, without repetitions.

    Args:
        prompt: The text as the user wrote it.
        hidden: The spans to skip; by default `hidden_spans`.
    """
    spans = Spans(hidden_spans(prompt) if hidden is None else hidden)
    found: dict[str, Mention] = {}
    for match in _MENTION.finditer(prompt):
        if match.start() not in spans:
            mention = _mention(match)
            found.setdefault(mention.text, mention)
    return list(found.values())


def steps_of(path: str) -> tuple[str, list[str | int]]:
    """Split a path into the variable's name, its attributes (with their dot) and its keys."""
    name = re.match(_NAME, path)
    assert name is not None, path
    steps: list[str | int] = []
    for match in _STEPS.finditer(path, name.end()):
        if match["attribute"]:
            steps.append("." + match["attribute"])
        elif match["index"]:
            steps.append(int(match["index"]))
        else:
            steps.append(match["key"] if match["key"] is not None else match["other"])
    return name[0], steps


def _mention(match: re.Match[str]) -> Mention:
    text, start = match[0], match.start()
    if match["quoted"] or match["path"]:
        return Mention("file", match["quoted"] or match["path"], text, start)
    if match["cells"]:
        return Mention("cells", match["cells"], text, start)
    if match["kind"]:
        return Mention("cell" if match["kind"] == "cell" else "out", match["index"], text, start)
    if match["name"] == "error" and not match["form"]:
        return Mention("error", "", text, start)
    return Mention("variable", match["name"], text, start, "csv" if match["form"] else "")
