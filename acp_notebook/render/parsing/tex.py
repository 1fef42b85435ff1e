r"""Which TeX only draws a formula of a size that fits its text. Knows no Markdown.

In a record Jupyter's MathJax draws, and its TeX does more: it links, styles, defines for the whole
page, and makes room of any size (`\rule{3000em}{3000em}`). So commands are allowed by name: the
symbols, and what puts symbols together without a length. Nothing here can be made larger by a
number.
"""

from __future__ import annotations

import re
from typing import Final

_COMMAND = re.compile(r"\\(?:[A-Za-z]+|[\s\S]|\Z)")
# A length after the end of a row.
_ROW_LENGTH = re.compile(r"\\(?:\\|cr\b)\s*\*?\s*\[")
_ENVIRONMENT = re.compile(r"\\(?:begin|end)\s*(?:\{([^{}]*)\})?")
# The columns of an array may have a width, and a number of repetitions.
_ARRAY = re.compile(r"\\begin\s*\{array\}(?!\s*(?:\[[tcb]\]\s*)?\{[lcr|: ]*\})")
_NAMED: Final = frozenset(
    r"""
    \frac \dfrac \tfrac \cfrac \binom \dbinom \tbinom \sqrt \root \of \over \atop \choose \stackrel
    \overset \underset \substack \overline \underline \overbrace \underbrace \overrightarrow
    \overleftarrow \overleftrightarrow \underrightarrow \underleftarrow \xrightarrow \xleftarrow
    \hat \widehat \check \tilde \widetilde \acute \grave \dot \ddot \dddot \ddddot \breve \bar \vec
    \mathring \mathrm \mathbf \mathit \mathsf \mathtt \mathcal \mathbb \mathfrak \mathscr
    \mathnormal \boldsymbol \bm \pmb \rm \bf \it \sf \tt \cal \text \textrm \textbf \textit \textsf
    \texttt \textnormal \mbox \operatorname \mathop \mathbin \mathrel \mathopen \mathclose
    \mathpunct \mathord \mathinner \left \right \middle \big \Big \bigg \Bigg \bigl \Bigl \biggl
    \Biggl \bigr \Bigr \biggr \Biggr \bigm \Bigm \biggm \Biggm \limits \nolimits \displaystyle
    \textstyle \scriptstyle \scriptscriptstyle \quad \qquad \enspace \thinspace \negthinspace
    \medspace \thickspace \nobreakspace \space \boxed \cancel \bcancel \xcancel \phantom \hphantom
    \vphantom \smash \not \prime \begin \end \hline \cr \tag \notag \nonumber \pmod \bmod \mod \pod
    \arccos \arcsin \arctan \arg \cos \cosh \cot \coth \csc \deg \det \dim \exp \gcd \hom \inf \ker
    \lg \lim \liminf \limsup \ln \log \max \min \Pr \sec \sin \sinh \sup \tan \tanh \injlim \projlim
    \varlimsup \varliminf \varinjlim \varprojlim \argmax \argmin \bra \ket \braket
    """.split()  # noqa: SIM905
)
_SIGNS: Final = frozenset("\\,:;!> {}|_&#%$\n")
_ENVIRONMENTS: Final = frozenset(
    """
    matrix pmatrix bmatrix Bmatrix vmatrix Vmatrix smallmatrix cases rcases array aligned gathered
    split align align* gather gather* equation equation* multline multline* eqnarray eqnarray*
    """.split()  # noqa: SIM905
)


def only_draws(tex: str) -> bool:
    """Whether every command is known to draw, and none takes a length."""
    # A comment could stand between the end of a row and its length.
    if _ROW_LENGTH.search(tex) or _ARRAY.search(tex) or "%" in _COMMAND.sub("", tex):
        return False
    names = {match[1] for match in _ENVIRONMENT.finditer(tex)}
    return names <= _ENVIRONMENTS and all(map(_draws, set(_COMMAND.findall(tex))))


def _draws(command: str) -> bool:
    from latex2mathml.symbols_parser import SYMBOLS

    return command[1:] in _SIGNS or command in _NAMED or command in SYMBOLS
