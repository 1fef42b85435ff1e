"""Rendered Markdown for the record: sanitized HTML with inline styles. Knows no session."""

from __future__ import annotations

import re
from typing import Final

from markupsafe import Markup

from acp_notebook.render.styles import CLASSES, INSIDE, MARKDOWN

# The sanitizer escapes every `<` of a text, so a match is a tag of ours. A value of an attribute
# may contain one, so a tag is matched to its own end.
_TAG: Final = re.compile(r'<(/?)([a-z][a-z0-9]*)((?: [a-z-]+="[^"]*")*)>')
_STYLE: Final = re.compile(r' style="([^"]*)"')
_CLASS: Final = re.compile(r' class="([^"]*)"')
_VOID: Final = frozenset({"br", "hr", "img"})
_LAST: Final = ";margin-bottom:0"


def with_inline_styles(html: str, *, is_whole: bool = False) -> Markup:
    """Return sanitized HTML with inline styles; if `is_whole`, the last block has no margin."""
    parts: list[str] = []
    inside: list[str] = []
    at, last = 0, -1
    for match in _TAG.finditer(html):
        closing, tag, attributes = match.groups()
        parts.append(html[at : match.start()])
        at = match.end()
        if closing:
            if tag in inside:
                while inside.pop() != tag:
                    pass
            parts.append(match[0])
            continue
        last = last if inside else len(parts)
        parts.append(_styled_tag(tag, attributes, inside[-1] if inside else ""))
        if tag not in _VOID:
            inside.append(tag)
    if is_whole and last >= 0 and _STYLE.search(parts[last]):
        parts[last] = f'{parts[last][:-2]}{_LAST}">'
    return Markup("".join([*parts, html[at:]]))  # noqa: S704  # adds literals of this package


def _styled_tag(tag: str, attributes: str, parent: str) -> str:
    own = _STYLE.search(attributes)
    named = _CLASS.search(attributes)
    styles = [INSIDE.get(f"{parent} {tag}") or MARKDOWN.get(tag)]
    styles += [CLASSES.get(name) for name in named[1].split()] if named else []
    styles.append(own[1] if own else None)  # the alignment of a column
    style = ";".join(filter(None, styles))
    if not style:
        return f"<{tag}{attributes}>"
    return f'<{tag}{_STYLE.sub("", attributes)} style="{style}">'
