"""An agent's Markdown -> safe HTML. Knows no streams; see `markdown_stream`.

Two walls: the parser makes no raw HTML and only links of a few schemes; its HTML then passes a
sanitizer with a short allow-list. A remote image becomes a link, so that reading never fetches.

Parsing has a budget of time, which the parser's own rules ask. A part that would cost more is shown
plain, and a line below says so.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from typing import Any, Final, cast

import nh3
from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock
from markdown_it.rules_core import StateCore
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token
from markupsafe import Markup, escape
from mdit_py_plugins.footnote import footnote_plugin

from acp_notebook.budget import Budget, TooCostly
from acp_notebook.characters import mark_prose
from acp_notebook.render.markup import clean, visible, whole_label
from acp_notebook.render.parsing.code import framed, highlight, plain_block, remark
from acp_notebook.render.parsing.formula import (
    AS_TEX,
    BUDGET,
    MATH_ATTRIBUTES,
    MATH_TAGS,
    understand_formulas,
)

# A longer paragraph stays plain: inline rules are not linear in hostile text.
INLINE_LIMIT_CHARS: Final = 30_000
PARSING_SECONDS: Final = 0.12
PLAIN_CODE: Final = "acp_plain_code"
"""The key in `env` that leaves all code plain."""
COSTLY_CODE: Final = "acp_costly_code"
"""The key in `env` for whether some code was too costly."""
_COSTLY: Final = "acp_costly"
_PARTLY_PLAIN: Final = "shown plain in part: too costly to format"
DATA_IMAGE_LIMIT_CHARS: Final = 1_000_000

_LINK = re.compile(r"(?:https?://|mailto:)[^\s\x00-\x1f]*", re.IGNORECASE)
_DATA_IMAGE = re.compile(r"data:image/(?:png|jpeg|gif|webp);base64,[A-Za-z0-9+/=]+")
_TASK = re.compile(r"\[([ xX])\][ \t\n\v\f\r]+")

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


def render_markdown(text: str, *, as_tex: bool = False, budget: Budget | None = None) -> Markup:
    """Return the HTML of a whole text; with `as_tex` formulas stay TeX for Jupyter."""
    env = {**environment(budget), AS_TEX: as_tex}
    return sanitize(render_tokens(_parsed(clean(text), env, has_footnotes=True), env))


def render_exactly(text: str, budget: Budget) -> Markup | None:
    """Return the HTML of a whole clean text; None if any part would stay plain."""
    env = environment(budget)
    tokens = _parsed(text, env, has_footnotes=True)
    if was_costly(env):
        return None
    html = sanitize(render_tokens(tokens, env))
    return None if COSTLY_CODE in env else html


def environment(budget: Budget | None = None) -> dict[str, Any]:
    """Return a new `env` for `parse` and `render_tokens`, with a budget."""
    return {BUDGET: budget or Budget(PARSING_SECONDS)}


def was_costly(env: dict[str, Any]) -> bool:
    """Whether a part stayed plain."""
    return _COSTLY in env


def parse(text: str, env: dict[str, Any]) -> list[Token]:
    """Return the tokens of a piece of clean text, without footnotes; `env` has link references."""
    return _parsed(text, env, has_footnotes=False)


def _parsed(text: str, env: dict[str, Any], *, has_footnotes: bool) -> list[Token]:
    try:
        return _parser(has_footnotes=has_footnotes).parse(text, env)
    except TooCostly:
        return plain_tokens(text, env)


def plain_tokens(text: str, env: dict[str, Any]) -> list[Token]:
    """Return the token of a text whose blocks stay unknown, and note that in `env`."""
    env[_COSTLY] = True
    return [Token("code_block", "", 0, content=text, map=[0, text.count("\n") + 1])]


def parse_blocks(text: str, budget: Budget) -> list[Token]:
    """Return only the block tokens of a clean text, for less than half the cost.

    Raises:
        TooCostly: The budget is spent.
    """
    return _block_parser().parse(text, {BUDGET: budget})


def render_tokens(tokens: Sequence[Token], env: dict[str, Any]) -> str:
    """Return the first wall's HTML, which still has to pass `sanitize`."""
    parser = _parser(has_footnotes=True)
    html = cast("str", parser.renderer.render(tokens, parser.options, env))
    return html + str(remark(_PARTLY_PLAIN)) if was_costly(env) and tokens else html


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
    understand_formulas(parser)
    _keep_budget(parser)
    if has_footnotes:
        _understand_footnotes(parser)
    # `_tame` decides about links.
    parser.validateLink = lambda url: True  # type: ignore[method-assign]  # noqa: ARG005
    parser.core.ruler.at("inline", _parse_inline)
    parser.core.ruler.after("inline", "acp_tasks", _mark_tasks)
    parser.core.ruler.push("acp_tame", _tame)
    parser.add_render_rule("fence", _fence)
    parser.add_render_rule("code_block", _fence)
    parser.add_render_rule("code_inline", _code_span)
    parser.add_render_rule("text", _prose)
    parser.add_render_rule("acp_task", _task_mark)
    parser.add_render_rule("table_open", lambda *_: '<div class="acp-table"><table>\n')
    parser.add_render_rule("table_close", lambda *_: "</table></div>\n")
    return parser


@cache
def _block_parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": False}).enable("table")
    parser.core.ruler.enableOnly(["normalize", "block"])
    _keep_budget(parser)
    return parser


def _keep_budget(parser: MarkdownIt) -> None:
    """Ask the budget wherever the parser begins a block or an inline element."""
    inside = ["paragraph", "reference", "blockquote", "list", "table"]
    parser.block.ruler.before("table", "acp_budget", _block_budget, {"alt": inside})
    parser.inline.ruler.before("text", "acp_budget", _inline_budget)


def _block_budget(state: StateBlock, _start: int, _end: int, _silent: bool) -> bool:
    state.env[BUDGET].check()
    return False


def _inline_budget(state: StateInline, _silent: bool) -> bool:
    state.env[BUDGET].check()
    return False


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
        try:
            if len(token.content) > INLINE_LIMIT_CHARS:
                raise TooCostly  # noqa: TRY301
            state.md.inline.parse(token.content, state.md, state.env, token.children)
        except TooCostly:
            state.env[_COSTLY] = True
            token.children = [Token("text", "", 0, content=token.content)]


def _mark_tasks(state: StateCore) -> None:
    """Make task list items of list items that begin with `[ ]` or `[x]`."""
    lists: list[Token] = []
    tokens = state.tokens
    for index, token in enumerate(tokens):
        if token.type.endswith("_list_open"):
            lists.append(token)
        elif token.type.endswith("_list_close"):
            lists.pop()
        elif token.type == "list_item_open" and index + 2 < len(tokens):
            first = tokens[index + 2]
            task = _TASK.match(first.content) if first.type == "inline" else None
            if task is None or tokens[index + 1].type != "paragraph_open":
                continue
            lists[-1].attrSet("class", "contains-task-list")
            token.attrSet("class", "task-list-item")
            _put_mark(first, is_done=task[1] != " ")


def _put_mark(item: Token, *, is_done: bool) -> None:
    assert item.children
    item.children[0].content = item.children[0].content[3:]
    item.children.insert(0, Token("acp_task", "", 0, info="done" if is_done else "to do"))


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
    if title := token.attrGet("title"):
        token.attrSet("title", whole_label(str(title)))
    if is_safe_link(address):
        token.attrSet("target", "_blank")
    else:
        token.tag = "span"
        token.attrs = {"class": "acp-ref", "title": whole_label(address)}


def _image(token: Token, *, inside_link: bool) -> list[Token]:
    address = str(token.attrGet("src") or "")
    if is_data_image(address):
        return [token]
    text = token.content or "image"
    if inside_link or not is_safe_link(address):
        return [Token("text", "", 0, content=text)]
    opening = Token("link_open", "a", 1, attrs={"href": address, "target": "_blank"})
    return [opening, Token("text", "", 0, content=f"image: {text}"), Token("link_close", "a", -1)]


def _fence(
    _self: Any, tokens: Sequence[Token], index: int, _options: Any, env: dict[str, Any]
) -> str:
    token = tokens[index]
    words = token.info.split(maxsplit=1)
    language = words[0].lower() if words and not env.get(PLAIN_CODE) else ""
    # A reader may run it.
    code = visible(token.content)
    try:
        return framed(highlight(code, language, env[BUDGET]))
    except TooCostly:
        env[COSTLY_CODE] = True
        return plain_block(code)


def _code_span(_self: Any, tokens: Sequence[Token], index: int, *_: Any) -> str:
    return f"<code>{escape(visible(tokens[index].content))}</code>"


def _prose(_self: Any, tokens: Sequence[Token], index: int, *_: Any) -> str:
    return str(escape(mark_prose(tokens[index].content)))


def _task_mark(_self: Any, tokens: Sequence[Token], index: int, *_: Any) -> str:
    words = tokens[index].info
    mark = "☑" if words == "done" else "☐"
    return f'<span class="acp-task" role="img" aria-label="{words}">{mark}</span>'
