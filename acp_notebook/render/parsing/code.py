"""Source code -> HTML with Pygments' short class names. Knows no colours.

JupyterLab and nbconvert style those names below `.highlight`; elsewhere code stays plain.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

from markupsafe import Markup, escape

if TYPE_CHECKING:
    from collections.abc import Iterator

# Lexers run regular expressions over hostile text, so long code stays plain.
HIGHLIGHT_LIMIT_CHARS: Final = 40_000


def code_block(code: str, language: str) -> Markup:
    """Return a block of clean code, highlighted if its language is known."""
    return Markup('<div class="highlight"><pre><code>{}</code></pre></div>\n').format(
        highlight(code, language)
    )


def highlight(code: str, language: str) -> Markup:
    """Return the inside of a block of code."""
    lexer = _lexer(language) if language and len(code) <= HIGHLIGHT_LIMIT_CHARS else None
    if lexer is None:
        return escape(code)
    # One template per token would cost as much as the lexer.
    return Markup("".join(_spans(lexer, code)))  # noqa: S704


def _spans(lexer: Any, code: str) -> Iterator[str]:
    from pygments.token import STANDARD_TYPES

    for token, value in lexer.get_tokens(code):
        kind = token
        while kind not in STANDARD_TYPES:
            kind = kind.parent
        name = STANDARD_TYPES[kind]
        if name in {"", "w"}:
            yield escape(value)
        else:
            yield f'<span class="{name}">{escape(value)}</span>'


@lru_cache(maxsize=64)
def _lexer(language: str) -> Any:
    from pygments.lexers import get_lexer_by_name
    from pygments.util import ClassNotFound

    try:
        return get_lexer_by_name(language, stripnl=False, ensurenl=False)
    except ClassNotFound:
        return None
