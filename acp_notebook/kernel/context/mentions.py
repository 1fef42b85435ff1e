r"""Finding `@mentions` in a prompt.

A mention is `@name` (a variable; also `@df.price`, `@models["best"]` and, for a whole frame,
`@df:csv`), `@file:PATH`, `@error`, `@cell[N]`, `@out[N]` or `@cells:N`. An `@` is no mention inside
a word (an email address), a URL or code (fences and backticks), as a decorator, or after a
backslash (`\@name` sends `@name`). Pure text: does not know which names exist.
"""

from __future__ import annotations

import re
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


def hidden_spans(prompt: str) -> list[Span]:
    """Return the parts of a prompt that hold no mentions: code, URLs, decorators."""
    return [match.span() for match in _HIDDEN.finditer(prompt)]


def is_hidden(position: int, spans: list[Span]) -> bool:
    """Whether a position is in one of the spans."""
    return any(start <= position < end for start, end in spans)


def find_mentions(prompt: str, hidden: list[Span] | None = None) -> list[Mention]:
    """Return the mentions of a prompt, in order, without repetitions.

    Args:
        prompt: The text as the user wrote it.
        hidden: The spans to skip; by default `hidden_spans`.
    """
    hidden = hidden_spans(prompt) if hidden is None else hidden
    found: dict[str, Mention] = {}
    for match in _MENTION.finditer(prompt):
        if not is_hidden(match.start(), hidden):
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
