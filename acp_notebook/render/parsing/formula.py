r"""TeX formulas in Markdown -> MathML, which browsers draw without a font or a script.

Reads `$x$`, `$$x$$`, `\(x\)` and `\[x\]`. The MathML passes the sanitizer like all HTML. A record
has TeX instead: Jupyter's sanitizer drops MathML, but Jupyter renders TeX. Knows no entry.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

from markupsafe import escape
from mdit_py_plugins.dollarmath import dollarmath_plugin

from acp_notebook.characters import mark_prose
from acp_notebook.render.markup import visible
from acp_notebook.render.parsing.tex import only_draws

if TYPE_CHECKING:
    from collections.abc import Sequence

    from markdown_it import MarkdownIt
    from markdown_it.rules_block import StateBlock
    from markdown_it.rules_inline import StateInline
    from markdown_it.token import Token

FORMULA_LIMIT_CHARS: Final = 2_000
# Jupyter typesets a record's formulas in the page's own thread.
_TEX_FORMULAS: Final = 500
_TEX_COUNT: Final = "acp_tex_count"
BUDGET: Final = "acp_budget"
"""The key of the budget in the parser's `env`."""
AS_TEX: Final = "acp_tex"
"""The key in the parser's `env` that keeps formulas as TeX, with Jupyter's delimiters."""
MATH_TAGS: Final = frozenset(
    [
        *("math", "mrow", "mi", "mo", "mn", "mtext", "mspace", "mstyle", "mpadded", "mphantom"),
        *("msup", "msub", "msubsup", "mover", "munder", "munderover", "mfrac", "msqrt", "mroot"),
        *("mtable", "mtr", "mtd", "menclose"),
    ]
)
MATH_ATTRIBUTES: Final[dict[str, set[str]]] = {
    "math": {"display"},
    "mo": {"stretchy", "fence", "form", "separator", "accent", "movablelimits", "lspace", "rspace"},
    "mi": {"mathvariant"},
    "mspace": {"width", "linebreak"},
    "mfrac": {"linethickness"},
    "mstyle": {"displaystyle", "scriptlevel"},
    "mtd": {"columnalign"},
    "mtable": {"columnalign", "displaystyle"},
}
_INLINE = re.compile(r"\\\((.{1,2000}?)\\\)", re.DOTALL)
_DISPLAY_LINE = re.compile(r" {0,3}\\\[[ \t]*(.*)")


def understand_formulas(parser: MarkdownIt) -> None:
    """Add the rules for formulas to a Markdown parser."""
    dollarmath_plugin(
        parser,
        allow_labels=False,
        allow_space=False,
        allow_digits=False,
        allow_blank_lines=False,
        double_inline=True,
    )
    parser.inline.ruler.before("escape", "acp_tex_inline", _inline_rule)
    parser.block.ruler.before(
        "fence", "acp_tex_block", _block_rule, {"alt": ["paragraph", "reference", "blockquote"]}
    )
    parser.add_render_rule("math_inline", _render_inline)
    parser.add_render_rule("math_inline_double", _render_display)
    parser.add_render_rule("math_block", _render_block)


def _inline_rule(state: StateInline, silent: bool) -> bool:
    if not state.src.startswith("\\(", state.pos):
        return False
    match = _INLINE.match(state.src, state.pos, state.posMax)
    if match is None:
        return False
    if not silent:
        token = state.push("math_inline", "math", 0)
        token.content, token.markup = match[1].strip(), "\\("
    state.pos = match.end()
    return True


def _block_rule(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    if state.is_code_block(start):
        return False
    first = state.src[state.bMarks[start] + state.tShift[start] : state.eMarks[start]]
    match = _DISPLAY_LINE.fullmatch(first)
    if match is None:
        return False
    lines, line, text = [], start, match[1]
    while "\\]" not in text:
        lines.append(text)
        line += 1
        if line >= end or state.isEmpty(line) or state.sCount[line] < state.blkIndent:
            return False
        text = state.src[state.bMarks[line] + state.tShift[line] : state.eMarks[line]]
    body, _, rest = text.partition("\\]")
    if rest.strip():
        return False
    if not silent:
        token = state.push("math_block", "math", 0)
        token.block, token.map = True, [start, line + 1]
        token.content, token.markup = "\n".join([*lines, body]).strip(), "\\["
        state.line = line + 1
    return True


def _render_inline(_self: Any, tokens: Sequence[Token], index: int, _options: Any, env: Any) -> str:
    return _formula(tokens[index].content, env, is_block=False)


def _render_display(
    _self: Any, tokens: Sequence[Token], index: int, _options: Any, env: Any
) -> str:
    return _formula(tokens[index].content, env, is_block=True)


def _render_block(_self: Any, tokens: Sequence[Token], index: int, _options: Any, env: Any) -> str:
    return f'<div class="acp-formula">{_formula(tokens[index].content, env, is_block=True)}</div>\n'


def _formula(tex: str, env: dict[str, Any], *, is_block: bool) -> str:
    """MathML, or TeX for Jupyter; the source as code if it cannot be drawn."""
    tex = tex.strip()
    drawn = None
    if is_tame(tex) and mark_prose(tex) == tex and not env[BUDGET].is_spent:
        drawn = _marked_tex(tex, env, is_block) if env.get(AS_TEX) else _mathml(tex, is_block)
    return f"<code>{escape(visible(tex))}</code>" if drawn is None else drawn


def is_tame(tex: str) -> bool:
    """Whether a formula is short and only draws; any other is shown as source."""
    return 0 < len(tex) <= FORMULA_LIMIT_CHARS and only_draws(tex)


def _marked_tex(tex: str, env: dict[str, Any], is_block: bool) -> str | None:
    number = env[_TEX_COUNT] = env.get(_TEX_COUNT, 0) + 1
    if "$" in tex or number > _TEX_FORMULAS:
        return None
    sign = "$$" if is_block else "$"
    return f'<span class="acp-tex">{sign}{escape(tex)}{sign}</span>'


@lru_cache(maxsize=512)
def _mathml(tex: str, is_block: bool) -> str | None:
    from latex2mathml.converter import convert

    # The converter does not escape text in its XML.
    source = tex.replace("<", r"\lt ").replace(">", r"\gt ")
    try:
        return str(convert(source, display="block" if is_block else "inline"))
    except Exception:  # noqa: BLE001  # hostile text makes the converter raise anything
        return None
