r"""Finding `@mentions` in a prompt.

A mention is `@name` (a variable; also `@df.price`, `@models["best"]` and, for all of a frame,
`@df:csv`), `@file:PATH`, `@error`, `@cell[N]`, `@out[N]` or `@cells:N`. No mention is an `@` inside
a word (an email address), in an address, in code (fences and backticks), at the head of a decorated
function, or behind a backslash (`\@name` sends `@name`). Pure text: whether a name exists is not
known here.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

MentionKind = Literal["variable", "file", "error", "cell", "out", "cells"]
Span = tuple[int, int]

_NAME = r"[^\W\d]\w*"
# Steps from a name to what it holds. A subscript is a literal: nothing is computed.
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
    """One mention; `text` is how it stands in the prompt, `form` how much of it is wanted."""

    kind: MentionKind
    value: str
    text: str
    start: int
    form: Literal["", "csv"] = ""


def hidden_spans(prompt: str) -> list[Span]:
    """The parts of a prompt in which nothing is a mention: code, addresses, decorators."""
    return [match.span() for match in _HIDDEN.finditer(prompt)]


def is_hidden(position: int, spans: list[Span]) -> bool:
    """Whether a position lies in one of the spans."""
    return any(start <= position < end for start, end in spans)


def find_mentions(prompt: str, hidden: list[Span] | None = None) -> list[Mention]:
    """The mentions of a prompt, in order, each once.

    Args:
        prompt: The text as the user wrote it.
        hidden: Where not to look; by default `hidden_spans`.
    """
    hidden = hidden_spans(prompt) if hidden is None else hidden
    found: dict[str, Mention] = {}
    for match in _MENTION.finditer(prompt):
        if not is_hidden(match.start(), hidden):
            mention = _mention(match)
            found.setdefault(mention.text, mention)
    return list(found.values())


def steps_of(path: str) -> tuple[str, list[str | int]]:
    """A variable's name, and the attributes (`.name`) and keys that lead on from it.

    Attributes come with their dot, so that they differ from keys.
    """
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
