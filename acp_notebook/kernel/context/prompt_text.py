r"""A prompt's text: fills in each `{expr}` and finds the mentions.

The rule must leave JSON, code and formulas alone, so `{expr}` is filled in only if all of these
hold; any other text in braces is sent unchanged:

- it is outside code (fences, backticks), URLs and formulas (`$...$`, `\(...\)`, `\[...\]`), and is
  no argument of a TeX command (`\frac{a}{b}`) or exponent (`x^{n}`);
- it is one Python expression on one line that names, calls, indexes or computes something, followed
  by `!r` or `:format` as in f-strings; a constant, a tuple, a set or a dict does not count;
- every name in it exists, and at least one is the user's own.

`{{expr}}` sends `{expr}`, and `\@name` sends `@name`. Filled-in values are not searched for
mentions. Knows namespaces, not IPython.
"""

from __future__ import annotations

import ast
import builtins
import re
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from acp_notebook.errors import UsageError
from acp_notebook.kernel.context.mentions import (
    Mention,
    Span,
    Spans,
    find_mentions,
    hidden_spans,
)

_FORMULA = re.compile(
    r"\$\$.{1,4000}?\$\$|\$(?![\s$])[^$\n]*?(?<![\s\\])\$(?!\d)|\\\(.{1,4000}?\\\)|\\\[.{1,4000}?\\\]",
    re.DOTALL,
)
# An expression is one line and short, so that a text full of braces is read in linear time.
_BRACES = re.compile(r"(?P<double>\{\{)?(?P<body>(?(double)|\{)[^{}\n]{1,1000})(?(double)\}\}|\})")
_LINE = re.compile(rf"{_BRACES.pattern}|\$(?P<dollar>\$)?(?P<name>[^\W\d]\w*)")
_TEX_BEFORE = re.compile(r"(?:\\[A-Za-z]+\*?(?:\{[^{}\n]*\}|\[[^\]\n]*\])*|\^|\\)$")
# Conversion and format spec as in f-strings: the format language, or a date's.
_SPEC = re.compile(
    r"(?P<conversion>![rsa])?"
    r"(?P<format>:(?!\s)(?:(?:.?[<>=^])?[-+]?z?#?0?\d*[,_]?(?:\.\d+)?[a-zA-Z%]?|%.+))?$"
)
_ESCAPED = re.compile(r"\\@")
# How many characters before a brace are searched for a TeX command.
_LOOK_BACK = 200
_COMPUTED = (
    ast.Name,
    ast.Attribute,
    ast.Subscript,
    ast.Call,
    ast.BinOp,
    ast.UnaryOp,
    ast.IfExp,
    ast.Compare,
    ast.BoolOp,
)
_CONVERSIONS: dict[str, Callable[[Any], str]] = {"r": repr, "s": str, "a": ascii}
_NOT_FILLED = (ast.Await, ast.Yield, ast.YieldFrom, ast.NamedExpr)


@dataclass(frozen=True, slots=True)
class PromptText:
    """The text to send, and its mentions."""

    text: str
    mentions: tuple[Mention, ...]


@dataclass(frozen=True, slots=True)
class _Expression:
    code: ast.expr
    source: str
    conversion: str
    spec: str


def read_prompt(prompt: str, namespace: Mapping[str, Any]) -> PromptText:
    """Fill in the expressions and find the mentions of a prompt.

    Raises:
        UsageError: An expression fails.
    """
    hidden = hidden_spans(prompt)
    quiet = Spans(hidden + [match.span() for match in _FORMULA.finditer(prompt)])
    pieces: list[tuple[Span, str]] = []
    for match in _BRACES.finditer(prompt):
        start = match.start()
        is_tex = _TEX_BEFORE.search(prompt[max(0, start - _LOOK_BACK) : start]) is not None
        if is_tex or start in quiet:
            continue
        filled = _filled(match, namespace)
        if filled is not None:
            pieces.append((match.span(), filled))
    spans = [span for span, _ in pieces]
    mentions = find_mentions(prompt, hidden + spans)
    taken = Spans(hidden + spans)
    pieces += [
        (match.span(), "@") for match in _ESCAPED.finditer(prompt) if match.start() not in taken
    ]
    return PromptText(_put_in(prompt, pieces), tuple(mentions))


def fill_line(line: str, namespace: Mapping[str, Any]) -> str:
    """Fill the user's own variables into the line of a magic: `{expr}` and `$name`.

    In the manner of IPython, whose own expansion evaluates whatever stands in braces, and takes
    a minute for 80,000 characters.

    Raises:
        UsageError: An expression fails.
    """
    pieces: list[tuple[Span, str]] = []
    for match in _LINE.finditer(line):
        filled = _filled(match, namespace) if match["name"] is None else None
        if match["name"] in namespace:
            filled = f"${match['name']}" if match["dollar"] else str(namespace[match["name"]])
        if filled is not None:
            pieces.append((match.span(), filled))
    return _put_in(line, pieces)


def _filled(braces: re.Match[str], namespace: Mapping[str, Any]) -> str | None:
    """Return what a pair of braces becomes; None if it stays."""
    body = braces["body"].removeprefix("{")
    expression = _expression(body, namespace)
    if expression is None:
        return None
    return f"{{{body}}}" if braces["double"] else _fill(expression, namespace)


def _put_in(prompt: str, pieces: list[tuple[Span, str]]) -> str:
    parts, position = [], 0
    for (start, end), text in sorted(pieces):
        parts += [prompt[position:start], text]
        position = end
    return "".join([*parts, prompt[position:]])


def _expression(body: str, namespace: Mapping[str, Any]) -> _Expression | None:
    """Return the expression in a pair of braces, or None if it must not be filled in."""
    for source, conversion, spec in _splits(body):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # the text may not be Python at all
                tree = ast.parse(source, mode="eval").body
        except (SyntaxError, ValueError, MemoryError, RecursionError):
            continue
        if isinstance(tree, _COMPUTED) and _is_known(tree, namespace):
            return _Expression(tree, source, conversion, spec)
        return None
    return None


def _splits(body: str) -> Iterator[tuple[str, str, str]]:
    """Return all splits into expression, conversion and format spec; the unsplit body first."""
    if body != body.strip():
        return
    yield body, "", ""
    for position in (index for index, char in enumerate(body) if char in "!:"):
        match = _SPEC.match(body, position)
        if match is not None and position:
            conversion = (match["conversion"] or "").lstrip("!")
            yield body[:position], conversion, (match["format"] or "").removeprefix(":")


def _is_known(tree: ast.expr, namespace: Mapping[str, Any]) -> bool:
    """Whether all names of an expression exist, at least one in the user's namespace."""
    nodes = list(ast.walk(tree))
    if any(isinstance(node, _NOT_FILLED) for node in nodes):
        return False
    bound = {
        node.id
        for node in nodes
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load)
    } | {node.arg for node in nodes if isinstance(node, ast.arg)}
    names = {node.id for node in nodes if isinstance(node, ast.Name)} - bound
    return any(name in namespace for name in names) and all(
        name in namespace or hasattr(builtins, name) for name in names
    )


def _fill(expression: _Expression, namespace: Mapping[str, Any]) -> str:
    try:
        code = compile(ast.Expression(expression.code), "<prompt>", "eval")
        value = eval(code, {**namespace})  # noqa: S307 - the user's own expression, as in a cell
        convert = _CONVERSIONS.get(expression.conversion)
        return format(value if convert is None else convert(value), expression.spec)
    except Exception as error:  # noqa: BLE001 - whatever the user's expression raises
        raise UsageError(
            f"{{{expression.source}}} in the prompt cannot be filled in: "
            f"{type(error).__name__}: {error}. To send it as it stands, double the braces: "
            f"{{{{{expression.source}}}}}"
        ) from None
