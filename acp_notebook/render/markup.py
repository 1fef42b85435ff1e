"""HTML through a `Theme`, which escapes every text. Knows no session's state.

The live view has a style sheet, so a look becomes a class name there; the record must do without
one, so a look becomes an inline style. The same functions make both.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from markupsafe import Markup, escape

from acp_notebook.budget import Budget, Credit
from acp_notebook.characters import mark_all, mark_name
from acp_notebook.render.colours import colour_style
from acp_notebook.render.icons import icon_address
from acp_notebook.render.inline_style import with_inline_styles
from acp_notebook.render.labels import Wording, size_words
from acp_notebook.render.styles import STYLES
from acp_notebook.session.timings import Span

_VOID = frozenset({"br", "img", "hr", "input"})
# An untrusted notebook keeps these, and they work without a script.
_STATIC_ATTRIBUTES = frozenset(
    {"href", "rel", "target", "src", "alt", "title", "open", "colspan", "scope", "dir", "tabindex"}
)
# Jupyter reads these as mathematics, even in a record's prices and paths.
_MATH_SIGN = re.compile(r"\$|\\(?=[(\[]|begin|ref|eqref)")
_MATH_OR_TAG = re.compile(r"<span class=\"acp-tex\">[^<]*</span>|<[^>]*>|" + _MATH_SIGN.pattern)
_CODE = re.compile("(?<!`)`([^`]+)`(?!`)")
# Folds whose line is clipped, never wrapped.
_CLIPPED_FOLDS = frozenset({"thought", "prompt"})
# A record's boxes are about 20 lines high.
_CLIPPED_LINES = 18
# Including the second set of control characters, some of which are escapes to terminals.
_UNSAFE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff]")


def clean(text: str) -> str:
    """Return text that JSON and HTML can carry.

    The halves of a surrogate pair from two chunks are joined; lone halves and control characters
    become U+FFFD.
    """
    if not _UNSAFE.search(text):
        return text
    joined = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return _UNSAFE.sub("\ufffd", joined)


def label(text: str, limit: int = 200) -> str:
    """Return one line of limited length, with characters that hide or mislead marked."""
    shown = whole_label(text[: limit * 4])
    return shown if len(shown) <= limit else shown[: limit - 1].rstrip() + "…"


def whole_label(text: str) -> str:
    """Return one line with the same marks, of any length, for what somebody has to agree to."""
    return mark_name(" ".join(clean(text).split()))


def visible(text: str) -> str:
    """Return code, a command or a text to approve, with what hides or misleads marked."""
    return mark_all(clean(text))


@dataclass(frozen=True, slots=True)
class Limits:
    """How much of something long is shown before a remark about the rest."""

    text_chars: int
    json_chars: int
    terminal_lines: int
    diff_lines: int
    image_chars: int
    """Base64 characters of one image."""
    images_total_chars: int
    line_chars: int = 2_000
    """Characters of one line of a diff."""
    name_chars: int = 200
    """Characters of a path or a title."""


# The agent thread draws the live view, one entry at a time; nobody's work waits for a record.
_LIVE_SECONDS = 0.12
_RECORD_SECONDS = 2.0
LIVE_LIMITS = Limits(60_000, 20_000, 400, 2_000, 12_000_000, 60_000_000)
RECORD_LIMITS = Limits(20_000, 10_000, 200, 600, 1_500_000, 4_000_000)


@dataclass(slots=True)
class Theme:
    """Makes elements with class names (live) or inline styles (record)."""

    is_static: bool
    limits: Limits
    is_over: bool = False
    """Whether the turn is over, so that finished work is folded."""
    unfolds: bool = False
    """Whether nothing is folded, as in what a person is asked about."""
    agent_name: str = "The agent"
    """The agent's name in questions."""
    spans: Mapping[Any, Span] = field(default_factory=dict)
    """Start and end of entries, by key."""
    folder: str = ""
    """The notebook's folder, the base of files that a page can open."""
    left_out: list[str] = field(default_factory=list)
    """Phrases for everything that the record leaves out."""
    budget: Budget = field(default_factory=lambda: Budget(_LIVE_SECONDS))
    """The time for the formatting of one entry; what is beyond stays plain."""
    is_hasty: bool = False
    """Whether there is no time at all for formatting."""
    credit: Credit | None = None
    """The time for the texts of a record, all together."""
    _images_chars: int = 0

    def __call__(
        self, tag: str, looks: str = "", *children: str | Markup, **attributes: str | bool | None
    ) -> Markup:
        """Make an element; plain strings inside are escaped."""
        # Tags and names of attributes are literals of this package; everything else is escaped.
        opening = f"<{tag}{self._attributes(looks, attributes)}>"
        if tag in _VOID:
            return Markup(opening)  # noqa: S704
        return Markup(f"{opening}{join(*children)}</{tag}>")  # noqa: S704

    def _attributes(self, looks: str, attributes: dict[str, str | bool | None]) -> str:
        parts = [self._style(looks)]
        for name, value in attributes.items():
            if value is None or value is False:
                continue
            key = name.rstrip("_").replace("_", "-")
            if not self.is_static or key in _STATIC_ATTRIBUTES:
                text = "" if value is True else clean(str(value))
                parts.append(f' {key}="{escape(text)}"')
        return "".join(parts)

    def _style(self, looks: str) -> str:
        if not looks:
            return ""
        if self.is_static:
            styles = [STYLES[look] for look in looks.split() if look in STYLES]
            styles += [style] if (style := colour_style(looks, is_static=True)) else []
            style = ";".join(styles)
            return f' style="{escape(style)}"' if style else ""
        colour = f' style="{style}"' if (style := colour_style(looks, is_static=False)) else ""
        names = " ".join("acp-" + look for look in looks.split() if not look.startswith("rgb-"))
        return (f' class="{escape(names)}"' if names else "") + colour

    def markdown(self, html: Markup, *, is_whole: bool = False) -> Markup:
        """Return rendered Markdown, in the record with inline styles."""
        return with_inline_styles(str(html), is_whole=is_whole) if self.is_static else html

    def scrolled(self, lines: int) -> dict[str, str]:
        """Return the attribute that lets keys scroll a record's clipped box."""
        return {"tabindex": "0"} if self.is_static and lines > _CLIPPED_LINES else {}

    def slot(self, name: str, looks: str = "") -> Markup:
        """Make an empty place that later operations fill (live only)."""
        return self("div", looks, data_slot=name)

    def wording(self, words: Wording) -> Markup:
        """Make glyph and text in the colour of their tone."""
        return self(
            "span",
            f"words tone-{words.tone}",
            self("span", f"glyph spin-{words.tone}", words.glyph, aria_hidden="true"),
            " ",
            label(words.text),
        )

    def fold(
        self, looks: str, summary: Markup, *body: str | Markup, key: str, is_open: bool = False
    ) -> Markup:
        """Make a `<details>`; with `key` the page keeps it open across a replacement."""
        kinds = looks.split()
        line = "fold-line fold-clip" if _CLIPPED_FOLDS.intersection(kinds) else "fold-line"
        is_open = is_open or self.unfolds
        head = self("summary", "fold-head" if "card" in kinds else line, summary)
        return self("details", looks, head, *body, data_key=key, open=is_open)

    def icon(self, kind: str, word: str) -> Markup:
        """Make the icon of a tool kind; `word` is the alternative text."""
        if self.is_static:
            return self("img", "icon", src=icon_address(kind), alt=word)
        said = self("span", "kind", word) if word else ""
        return self("span", f"icon icon-{kind}", aria_hidden="true") + said

    def titled(self, text: str, limit: int = 200) -> Markup:
        """Make one line of limited length, with text between backticks as code."""
        # Every second piece stood between two backticks.
        pieces = _CODE.split(label(text, limit))
        return join(
            *(
                self("code", "code-name", piece) if number % 2 else piece
                for number, piece in enumerate(pieces)
            )
        )

    def bar(self, share: float) -> Markup:
        """Make a bar for a share from 0 to 1, which the words beside it repeat."""
        percent = round(100 * min(1.0, max(0.0, share)))
        inner = f"{self._style('bar-fill')[:-1]};" if self.is_static else ' style="'
        # A width is a number, the only style without a look.
        fill = Markup(f'<span{inner}width:{percent}%"></span>')  # noqa: S704
        return self("span", "bar", fill, aria_hidden="true")

    @contextmanager
    def time_for(self, chars: int) -> Iterator[Budget]:
        """Give the budget for the formatting of a text of this size."""
        if self.credit is None:
            yield self.budget
            return
        with self.credit.spend(chars) as budget:
            yield budget

    def accepts_image(self, chars: int, what: str) -> bool:
        """Whether an image of this many base64 characters fits; if not, it is noted as left out."""
        fits = chars <= self.limits.image_chars
        if fits and self._images_chars + chars <= self.limits.images_total_chars:
            self._images_chars += chars
            return True
        self.left_out.append(f"{what} ({size_words(chars * 3 // 4)})")
        return False


def join(*children: str | Markup) -> Markup:
    """Join children; plain strings are escaped."""
    return Markup("").join(
        child if isinstance(child, Markup) else escape(clean(child)) for child in children
    )


def without_stray_math(html: Markup) -> Markup:
    """Return the HTML without mathematics for Jupyter, except real formulas."""
    if not _MATH_SIGN.search(html):
        return html
    # A delimiter alone in an element has no partner.
    return Markup(  # noqa: S704  # adds elements without attributes around single characters
        _MATH_OR_TAG.sub(
            lambda m: m[0] if m[0].startswith("<") else f"<span>{m[0]}</span>", str(html)
        )
    )


def live_theme() -> Theme:
    """Return a theme for the live view."""
    return Theme(is_static=False, limits=LIVE_LIMITS)


def record_theme(credit: Credit | None = None) -> Theme:
    """Return a theme for the record; by default there is time for it."""
    return Theme(
        is_static=True,
        limits=RECORD_LIMITS,
        is_over=True,
        budget=Budget(_RECORD_SECONDS),
        credit=credit or Credit(_RECORD_SECONDS),
    )
