"""An agent's Markdown -> safe HTML. Knows no streams; see `markdown_stream`.

Two walls: the parser makes no raw HTML and only links of a few schemes; its HTML then passes a
sanitizer with a short allow-list. A remote image becomes a link, so that reading never fetches.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from typing import Any, Final, cast

import nh3
from markdown_it import MarkdownIt
from markdown_it.rules_core import StateCore
from markdown_it.token import Token
from markupsafe import Markup, escape
from mdit_py_plugins.footnote import footnote_plugin
from mdit_py_plugins.tasklists import tasklists_plugin

from acp_notebook.render.markup import clean
from acp_notebook.render.parsing.code import code_block
from acp_notebook.render.parsing.formula import (
    AS_TEX,
    MATH_ATTRIBUTES,
    MATH_TAGS,
    understand_formulas,
)

# A longer paragraph stays plain: inline rules are not linear in hostile text.
INLINE_LIMIT_CHARS: Final = 30_000
DATA_IMAGE_LIMIT_CHARS: Final = 1_000_000

_LINK = re.compile(r"(?:https?://|mailto:)[^\s\x00-\x1f]*", re.IGNORECASE)
_DATA_IMAGE = re.compile(r"data:image/(?:png|jpeg|gif|webp);base64,[A-Za-z0-9+/=]+")

_BLOCK_TAGS = ["p", "br", "hr", "h1", "h2", "h3", "h4", "h5", "h6", "ul", "ol", "li", "blockquote"]
_INLINE_TAGS = ["pre", "code", "em", "strong", "s", "sup", "a", "img", "span", "div"]
_TABLE_TAGS = ["table", "thead", "tbody", "tr", "th", "td"]
_TAGS: Final = frozenset([*_BLOCK_TAGS, *_INLINE_TAGS, *_TABLE_TAGS]) | MATH_TAGS
_ATTRIBUTES: Final[dict[str, set[str]]] = {
    **MATH_ATTRIBUTES,
    "a": {"href", "target", "title"},
    "img": {"src", "alt", "title"},
    "span": {"class", "title", "role", "aria-label"},
    "div": {"class"},
    "ul": {"class"},
    "li": {"class"},
    "ol": {"start"},
    "th": {"style"},
    "td": {"style"},
}


def is_safe_link(address: str) -> bool:
    """Whether the scheme is `http`, `https` or `mailto`."""
    return _LINK.fullmatch(address) is not None


def is_data_image(address: str) -> bool:
    """Whether the address is a `data:` url of a bitmap image, within the limit."""
    return len(address) <= DATA_IMAGE_LIMIT_CHARS and _DATA_IMAGE.fullmatch(address) is not None


def render_markdown(text: str, *, as_tex: bool = False) -> Markup:
    """Return the HTML of a whole text; with `as_tex` formulas stay TeX for Jupyter."""
    env: dict[str, Any] = {AS_TEX: as_tex}
    return sanitize(render_tokens(_parser(has_footnotes=True).parse(clean(text), env), env))


def parse(text: str, env: dict[str, Any]) -> list[Token]:
    """Return the tokens of a piece of clean text, without footnotes; `env` has link references."""
    return _parser(has_footnotes=False).parse(text, env)


def parse_blocks(text: str) -> list[Token]:
    """Return only the block tokens of a clean text, for less than half the cost."""
    return _block_parser().parse(text)


def render_tokens(tokens: Sequence[Token], env: dict[str, Any]) -> str:
    """Return the first wall's HTML, which still has to pass `sanitize`."""
    parser = _parser(has_footnotes=True)
    return cast("str", parser.renderer.render(tokens, parser.options, env))


def sanitize(html: str) -> Markup:
    """Drop everything outside the allow-list: the second wall."""
    has_image = "src=" in html
    return Markup(  # noqa: S704  # this call is what makes it safe
        nh3.clean(
            html,
            tags=set(_TAGS),
            attributes=_ATTRIBUTES,
            attribute_filter=_keep_attribute if has_image or "style=" in html else None,
            url_schemes={"http", "https", "mailto"} | ({"data"} if has_image else set()),
            link_rel="noopener noreferrer",
        )
    )


def _keep_attribute(_tag: str, name: str, value: str) -> str | None:
    if name == "src":
        return value if is_data_image(value) else None
    if name == "href":
        return value if is_safe_link(value) else None
    if name == "style":
        return value if re.fullmatch(r"text-align:(?:left|right|center)", value) else None
    return value


@cache
def _parser(*, has_footnotes: bool) -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": False, "linkify": False, "typographer": False})
    parser.enable(["table", "strikethrough"])
    tasklists_plugin(parser)
    understand_formulas(parser)
    if has_footnotes:
        _understand_footnotes(parser)
    # `_tame` decides about links.
    parser.validateLink = lambda url: True  # type: ignore[method-assign]  # noqa: ARG005
    parser.core.ruler.at("inline", _parse_inline)
    parser.core.ruler.push("acp_tame", _tame)
    parser.add_render_rule("fence", _fence)
    parser.add_render_rule("code_block", _fence)
    parser.add_render_rule("html_inline", _task_mark)
    parser.add_render_rule("table_open", lambda *_: '<div class="acp-table"><table>\n')
    parser.add_render_rule("table_close", lambda *_: "</table></div>\n")
    return parser


@cache
def _block_parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": False}).enable("table")
    parser.core.ruler.enableOnly(["normalize", "block"])
    return parser


def _understand_footnotes(parser: MarkdownIt) -> None:
    # Numbers instead of links: ids of several messages in one page would clash.
    footnote_plugin(parser, inline=False)
    parser.add_render_rule(
        "footnote_ref", lambda _, tokens, index, *__: f"<sup>{tokens[index].meta['id'] + 1}</sup>"
    )
    parser.add_render_rule("footnote_block_open", lambda *_: '<div class="acp-footnotes"><ol>\n')
    parser.add_render_rule("footnote_block_close", lambda *_: "</ol></div>\n")
    parser.add_render_rule("footnote_open", lambda *_: "<li>")
    parser.add_render_rule("footnote_close", lambda *_: "</li>\n")
    parser.add_render_rule("footnote_anchor", lambda *_: "")


def _parse_inline(state: StateCore) -> None:
    for token in state.tokens:
        if token.type != "inline":
            continue
        token.children = []
        if len(token.content) > INLINE_LIMIT_CHARS:
            token.children.append(Token("text", "", 0, content=token.content))
        else:
            state.md.inline.parse(token.content, state.md, state.env, token.children)


def _tame(state: StateCore) -> None:
    """Make links outside the web inert, and remote images links."""
    for token in state.tokens:
        if token.children:
            token.children = _tame_inline(token.children)


def _tame_inline(children: list[Token]) -> list[Token]:
    result: list[Token] = []
    open_link: Token | None = None
    for token in children:
        if token.type == "link_open":
            open_link = token
            _dress_link(token)
        elif token.type == "link_close" and open_link is not None:
            token.tag = open_link.tag
            open_link = None
        elif token.type == "image":
            result += _image(token, inside_link=open_link is not None)
            continue
        result.append(token)
    return result


def _dress_link(token: Token) -> None:
    address = str(token.attrGet("href") or "")
    if is_safe_link(address):
        token.attrSet("target", "_blank")
    else:
        token.tag = "span"
        token.attrs = {"class": "acp-ref", "title": address}


def _image(token: Token, *, inside_link: bool) -> list[Token]:
    address = str(token.attrGet("src") or "")
    if is_data_image(address):
        return [token]
    text = token.content or "image"
    if inside_link or not is_safe_link(address):
        return [Token("text", "", 0, content=text)]
    opening = Token("link_open", "a", 1, attrs={"href": address, "target": "_blank"})
    return [opening, Token("text", "", 0, content=f"image: {text}"), Token("link_close", "a", -1)]


def _fence(_self: Any, tokens: Sequence[Token], index: int, *_: Any) -> str:
    token = tokens[index]
    words = token.info.split(maxsplit=1)
    return code_block(token.content, words[0].lower() if words else "")


def _task_mark(_self: Any, tokens: Sequence[Token], index: int, *_: Any) -> str:
    # The parser makes no raw HTML: this is a task list's check box, or text to escape.
    content = tokens[index].content
    if "task-list-item-checkbox" not in content:
        return escape(content)
    mark, words = ("☑", "done") if "checked=" in content else ("☐", "to do")
    return f'<span class="acp-task" role="img" aria-label="{words}">{mark}</span>'
