"""Source code -> HTML with Pygments' short class names. Knows no colours.

JupyterLab and nbconvert style those names below `.highlight`; elsewhere code stays plain.

Lexers try regular expressions at every place of a text that an agent wrote, in a language that an
agent names. Two bounds hold that together. `LANGUAGES` has only lexers of which no single step
takes long, whatever the text: a test tries each with texts made for it. Between the steps a budget
of time counts: even the lexers of C and Java need time that grows with the square of blank lines.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

from markupsafe import Markup, escape

from acp_notebook.budget import Budget, TooCostly
from acp_notebook.characters import mark_name

if TYPE_CHECKING:
    from collections.abc import Iterator

HIGHLIGHT_LIMIT_CHARS: Final = 40_000
LANGUAGES: Final = frozenset(
    """
    awk bash batch c clojure cmake common-lisp cpp csharp css cuda cython dart diff docker elixir
    erlang fortran fsharp gdscript go graphql groovy haskell html ipython java javascript json json5
    jsx julia kotlin less lua markdown mysql nginx nimrod objective-c octave perl php powershell
    properties protobuf py2tb pytb python ruby rust sas scala scheme scss sparql splus sql stan
    swift terraform tex toml tsx turtle typescript vim xml yaml zig
    """.split()  # noqa: SIM905
)
"""Pygments' first names of the highlighted languages; code in any other stays plain."""

# What ordinary code needs, several times over.
_SECONDS: Final = 0.04
_SECONDS_PER_CHAR: Final = 3.5e-6
# These read a line in one step, which takes time that grows with the square of its length, and the
# sessions much of the text before they yield anything.
SHORT_LINED: Final = frozenset({"console", "ini", "make", "pycon"})
"""First names of languages that are highlighted in short texts with short lines only."""
_SHORT_CHARS: Final = 10_000
_SHORT_LINE_CHARS: Final = 1_000
NOT_HIGHLIGHTED: Final = "not highlighted: too costly"
_TOO_LONG: Final = "not highlighted: too long"
# Some lexers make the lexers of embedded languages when they meet them.
_WARM_UP: Final = "<script>1</script><style>a{}</style>"


def code_block(code: str, language: str, budget: Budget | None = None) -> Markup:
    """Return a block of clean code, highlighted if its language is known.

    What hides or misleads in the code is marked, since a reader may run it.
    """
    code = mark_name(code)
    try:
        return framed(highlight(code, language, budget))
    except TooCostly:
        return plain_block(code)


def framed(inner: Markup) -> Markup:
    """Return the block of code around highlighted or escaped code."""
    return Markup('<div class="highlight"><pre><code>{}</code></pre></div>\n').format(inner)


def plain_block(code: str) -> Markup:
    """Return a block of code that was not highlighted, with the reason."""
    reason = _TOO_LONG if len(code) > HIGHLIGHT_LIMIT_CHARS else NOT_HIGHLIGHTED
    return framed(escape(code)) + remark(reason)


def remark(words: str) -> Markup:
    """Return a line about something that is shown plain."""
    return Markup('<div class="acp-left-out">{}</div>\n').format(words)


def highlight(code: str, language: str, budget: Budget | None = None) -> Markup:
    """Return the inside of a block of code.

    Raises:
        TooCostly: The code is too long, or its lexer takes too long.
    """
    lexer = _lexer(language) if language else None
    if lexer is None:
        return escape(code)
    if len(code) > HIGHLIGHT_LIMIT_CHARS or (
        lexer.aliases[0] in SHORT_LINED and not _is_short_lined(code)
    ):
        raise TooCostly
    seconds = _SECONDS + _SECONDS_PER_CHAR * len(code)
    spent = Budget(seconds) if budget is None else budget.part(seconds)
    # One template per token would cost as much as the lexer.
    return Markup("".join(_spans(lexer, code, spent)))  # noqa: S704


def _is_short_lined(code: str) -> bool:
    return len(code) <= _SHORT_CHARS and max(map(len, code.split("\n"))) <= _SHORT_LINE_CHARS


def _spans(lexer: Any, code: str, budget: Budget) -> Iterator[str]:
    from pygments.token import STANDARD_TYPES

    for token, value in lexer.get_tokens(code):
        budget.check()
        kind = token
        while kind not in STANDARD_TYPES:
            kind = kind.parent
        name = STANDARD_TYPES[kind]
        if name in {"", "w"}:
            yield escape(value)
        else:
            yield f'<span class="{name}">{escape(value)}</span>'


@lru_cache(maxsize=128)
def _lexer(language: str) -> Any:
    from pygments.lexers import get_lexer_by_name
    from pygments.util import ClassNotFound

    try:
        # The lexer of Markdown would use any language's for its own blocks of code.
        lexer = get_lexer_by_name(language, stripnl=False, ensurenl=False, handlecodeblocks=False)
    except ClassNotFound:
        return None
    if lexer.aliases[0] not in LANGUAGES | SHORT_LINED:
        return None
    for _ in lexer.get_tokens(_WARM_UP):
        pass
    return lexer
