"""A record's HTML from a file, made inert: nothing runs, fetches, leaves its place or typesets.

A file may come from anybody. What our own renderer never writes is dropped: any other tag, class,
attribute, and every declaration of a style that is not, word for word, one of `styles`. Knows no
file.
"""

from __future__ import annotations

import re
from functools import cache
from html import unescape
from typing import Final

import nh3
from markupsafe import Markup

from acp_notebook.render import styles
from acp_notebook.render.icons import icon_address
from acp_notebook.render.labels import KINDS
from acp_notebook.render.markup import without_stray_math
from acp_notebook.render.parsing.formula import is_tame
from acp_notebook.render.parsing.markdown import is_data_image, is_safe_link

_TAGS: Final = frozenset(
    """
    div span p br hr h1 h2 h3 h4 h5 h6 ul ol li blockquote pre code em strong s sup a img table
    thead tbody tr th td details summary
    """.split()  # noqa: SIM905
)
_ATTRIBUTES: Final = {"style", "title", "dir", "class", "role", "aria-label", "tabindex", "scope"}
_MORE: Final = {
    "a": {"href", "target"},
    "img": {"src", "alt"},
    "details": {"open"},
    "ol": {"start"},
    "td": {"colspan"},
}
_VALUES: Final = {
    "dir": re.compile("auto|ltr|rtl"),
    "role": re.compile("img|group"),
    "tabindex": re.compile("0"),
    "scope": re.compile("col|row"),
    "target": re.compile("_blank"),
    "open": re.compile(""),
    "start": re.compile(r"\d{1,9}"),
    "colspan": re.compile(r"\d{1,2}"),
}
# Values that are computed: a colour of a program's, a share of a bar, a column's side.
_COMPUTED: Final = re.compile(
    r"color:#[0-9a-f]{6}|width:(?:\d{1,2}|100)%|text-align:(?:left|right|center)|margin-bottom:0"
    r"|margin:0 0 6px 0"
)
_CLASSES: Final = frozenset({*styles.CLASSES, "acp-tex", "acp-formula", "task-list-item"})
_FORMULA: Final = re.compile(r'<span class="acp-tex">([^<]*)</span>')
_DELIMITED: Final = re.compile(r"(\$\$?)([^$]+)\1")


def stored_html(html: str) -> Markup:
    """Return the HTML with only what our own renderer writes."""
    cleaned = nh3.clean(
        html,
        tags=set(_TAGS),
        attributes={tag: _ATTRIBUTES | _MORE.get(tag, set()) for tag in _TAGS},
        attribute_filter=_keep,
        url_schemes={"http", "https", "mailto", "data"},
        set_tag_attribute_values={"a": {"target": "_blank"}},
        link_rel="noopener noreferrer",
    )
    # Outside of formulas `$` stands for itself, as in the record.
    return without_stray_math(Markup(_FORMULA.sub(_tame_formula, cleaned)))  # noqa: S704


def _keep(tag: str, name: str, value: str) -> str | None:
    if name in _VALUES:
        return value if _VALUES[name].fullmatch(value) else None
    if name == "style":
        return ";".join(filter(_is_ours, value.split(";"))) or None
    if name == "class":
        return " ".join(filter(_is_inert, value.split())) or None
    if name == "src":
        is_shown = is_data_image(value) or value in _icons()
        return value if tag == "img" and is_shown else None
    if name == "href":
        return value if is_safe_link(value) else None
    return value


def _is_ours(declaration: str) -> bool:
    return declaration in _declarations() or _COMPUTED.fullmatch(declaration) is not None


def _is_inert(name: str) -> bool:
    return name in _CLASSES or name in _short_names()


@cache
def _declarations() -> frozenset[str]:
    looks = (styles.STYLES, styles.MARKDOWN, styles.INSIDE, styles.CLASSES)
    return frozenset(part for each in looks for style in each.values() for part in style.split(";"))


@cache
def _short_names() -> frozenset[str]:
    from pygments.token import STANDARD_TYPES

    return frozenset(filter(None, STANDARD_TYPES.values()))


@cache
def _icons() -> frozenset[str]:
    return frozenset(map(icon_address, KINDS))


def _tame_formula(match: re.Match[str]) -> str:
    delimited = _DELIMITED.fullmatch(unescape(match[1]))
    is_formula = delimited is not None and is_tame(delimited[2])
    return match[0] if is_formula else f"<span>{match[1]}</span>"
