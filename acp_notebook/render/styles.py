"""Inline styles of the record, by look, with the sizes of the live view's style sheet.

For an untrusted notebook Jupyter's sanitizer drops style sheets and every value that is not in its
list: `var()` and `calc()` go, hex colours and `rgba()` stay. The same notebook is read in light and
dark themes. So surfaces are faint grey veils, text keeps the reader's own colour, and the few other
colours have a middle lightness that is readable on both. A better value from the theme follows the
plain one, for trusted notebooks. Knows no element.
"""

from __future__ import annotations

from typing import Final

GREEN: Final = "#2f8a4c"
RED: Final = "#d0453e"
AMBER: Final = "#a8730f"
BLUE: Final = "#3a7bd0"
GREY: Final = "#808488"

_SOFT: Final = f"color:{GREY};color:var(--jp-ui-font-color2)"
_TEXT: Final = "color:var(--jp-ui-font-color1)"
_EDGE: Final = "rgba(128,128,128,0.3)"
_LINE: Final = f"1px solid {_EDGE}"
_RULE: Final = f"border-top:{_LINE}"
_VEIL: Final = "rgba(128,128,128,0.12)"
_MONO: Final = (
    "font-family:monospace;font-family:var(--jp-code-font-family,monospace);font-size:12px"
)
_BOX: Final = (
    f"{_MONO};{_TEXT};overflow:auto;max-height:360px;margin:0;padding:8px 10px;line-height:1.45;"
    f"background:{_VEIL};border-radius:4px"
)
_WRAP: Final = "white-space:pre-wrap;overflow-wrap:break-word"
_CLIP: Final = "overflow:hidden;text-overflow:ellipsis;white-space:nowrap"
_PILL: Final = (
    f"display:inline-block;border:{_LINE};border-radius:9px;padding:0 6px;font-size:11px;"
    f"line-height:16px;white-space:nowrap;{_SOFT}"
)
_ROW: Final = "display:flex;align-items:center;min-width:0"

STYLES: Final[dict[str, str]] = {
    # The page, its first and its last line
    "record": "font-size:13px;line-height:1.5;padding:2px 0 4px 4px",
    "head": f"{_ROW};flex-wrap:wrap;gap:0 10px;min-height:26px;font-size:12px;{_SOFT}",
    "who": "display:flex;align-items:center;flex:1 1 0;min-width:80px;gap:10px",
    "facts": f"{_ROW};flex-wrap:wrap;gap:0 10px;min-height:22px;font-size:12px;{_SOFT}",
    "agent-name": f"flex:0 1 auto;min-width:0;font-weight:600;{_TEXT};{_CLIP}",
    "session-title": f"flex:1 1 0;min-width:0;max-width:420px;{_CLIP}",
    "usage": f"{_ROW};gap:6px;white-space:nowrap",
    "bar": f"display:inline-block;flex:0 1 56px;width:56px;height:4px;border-radius:2px;"
    f"overflow:hidden;background:{_EDGE}",
    "bar-fill": f"display:block;height:4px;border-radius:2px;background:{BLUE}",
    "now": f"{_ROW};flex:none;margin-left:auto;gap:8px",
    "closing": "margin:8px 0 0 0",
    # Words
    "muted": _SOFT,
    "small": "font-size:12px",
    "title": "font-weight:500;overflow-wrap:break-word",
    "mono": f"{_MONO};overflow-wrap:break-word",
    "num": "font-variant-numeric:tabular-nums",
    "words": "display:inline-flex;align-items:center;gap:4px;white-space:nowrap;font-size:12px",
    "glyph": "display:inline-block;min-width:1em;text-align:center",
    "tone-good": f"color:{GREEN}",
    "tone-bad": f"color:{RED}",
    "tone-warn": f"color:{AMBER}",
    "tone-busy": f"color:{BLUE}",
    "tone-plain": _SOFT,
    "chip": f"{_PILL};margin:0 0 0 6px;max-width:100%;overflow:hidden;text-overflow:ellipsis;"
    "vertical-align:bottom",
    "badge": _PILL,
    "code-name": f"{_MONO};padding:1px 4px;border-radius:3px;background:{_VEIL}",
    "left-out": f"{_SOFT};font-size:12px;margin:4px 0 0 0",
    # Entries
    "entry": "margin:8px 0 0 0",
    "prompt": f"{_SOFT};font-size:12px;overflow-wrap:break-word",
    "prompt-line": f"display:inline-block;max-width:92%;{_CLIP};vertical-align:bottom",
    "chevron": f"font-weight:700;color:{BLUE}",
    "thought": f"{_SOFT};font-size:12px",
    "thought-words": "font-weight:500",
    "snippet": "margin:0 0 0 8px",
    "thought-body": f"border-left:2px solid {_EDGE};padding:0 0 0 12px;margin:4px 0 2px 4px",
    "answered": f"{_SOFT};font-size:12px",
    "answered-body": "margin:2px 0 2px 14px",
    "card": f"border:{_LINE};border-radius:6px",
    "card-line": "padding:5px 10px",
    "card-body": f"{_RULE};padding:6px 10px 10px 10px",
    "fold-head": "display:block;list-style:none;cursor:pointer;padding:5px 10px",
    "fold-line": f"cursor:pointer;padding:1px 0;font-size:12px;{_SOFT}",
    "fold-clip": _CLIP,
    "tool-line": f"{_ROW};flex-wrap:wrap;gap:0 8px;padding:5px 10px",
    "tool-row": f"{_ROW};flex-wrap:wrap;gap:0 8px",
    "tool-title": "flex:1 1 120px;min-width:0",
    "icon": "flex:none;width:15px;height:15px;margin:0",
    "end": "display:inline-flex;align-items:center;gap:8px;margin-left:auto;font-size:12px",
    "part": "margin:6px 0 0 0",
    "field": "margin:3px 0 0 0",
    "field-name": "margin:0 6px 0 0",
    "place": f"margin:0 10px 0 0;{_SOFT}",
    "pre": f"{_BOX};{_WRAP}",
    "term": f"{_BOX};{_WRAP}",
    "command": f"margin:0 0 2px 0;{_WRAP}",
    "image": "display:block;max-width:100%;height:auto;max-height:480px;margin:4px 0;"
    "border-radius:4px",
    "link": "overflow-wrap:break-word",
    "error": f"border:1px solid {RED};border-left-width:4px;border-radius:6px;padding:8px 12px",
    "notice": f"border-left:3px solid {_EDGE};padding:1px 0 1px 10px;overflow-wrap:break-word",
    "notice-warn": f"border-left-color:{AMBER}",
    "notice-bad": f"border-left-color:{RED}",
    "ask-title": "font-weight:600",
    # Plans
    "plan-row": f"{_ROW};gap:8px",
    "plan-name": "flex:none",
    "plan-count": "margin:0 auto 0 0;white-space:nowrap",
    "plan-list": "list-style:none;margin:0;padding:2px 10px 8px 10px",
    "plan-item": "display:flex;align-items:baseline;gap:8px;margin:0;padding:1px 0;list-style:none",
    "is-done": _SOFT,
    "is-dropped": f"{_SOFT};text-decoration:line-through",
    "is-now": "font-weight:500",
    # Diffs
    "file": f"{_MONO};{_TEXT};overflow-wrap:break-word",
    "plus": f"color:{GREEN};{_MONO}",
    "minus": f"color:{RED};{_MONO}",
    "diff": f"{_BOX};padding:4px 0",
    "diff-line": f"display:block;{_WRAP};padding:0 10px 0 52px;text-indent:-44px",
    "diff-number": "display:inline-block;width:34px;margin:0 10px 0 0;text-indent:0;"
    f"text-align:right;{_SOFT}",
    "diff-add": f"background:rgba(46,160,67,0.18);box-shadow:inset 3px 0 {GREEN}",
    "diff-del": f"background:rgba(218,54,51,0.16);box-shadow:inset 3px 0 {RED}",
    "diff-hunk": _SOFT,
    "diff-file": _SOFT,
    "mark": "background:rgba(128,128,128,0.28);border-radius:2px;text-decoration:underline",
    # Terminals
    "fg-0": _SOFT,
    "fg-1": f"color:{RED}",
    "fg-2": f"color:{GREEN}",
    "fg-3": f"color:{AMBER}",
    "fg-4": f"color:{BLUE}",
    "fg-5": "color:#a35bc0",
    "fg-6": "color:#1f8a96",
    "fg-7": _SOFT,
    "bold": "font-weight:700",
    "faint": "opacity:0.7",
    "italic": "font-style:italic",
    "underline": "text-decoration:underline",
    "reverse": "background:rgba(128,128,128,0.35)",
    # JSON
    "json-name": f"color:{BLUE};{_MONO};overflow-wrap:break-word",
    "json-inner": f"margin:1px 0 3px 4px;padding:0 0 0 12px;border-left:{_LINE}",
    "branch": "margin:3px 0 0 0",
    "table": "overflow:auto;max-width:100%;max-height:420px",
    "grid": "border-collapse:collapse;font-size:12.5px;margin:0",
    "row": "background:transparent",
    "cell": f"padding:4px 10px;text-align:left;line-height:1.5;border-bottom:{_LINE}",
    "cell-head": "font-weight:600;border-bottom-width:2px",
    "cell-number": "text-align:right",
    # Markdown
    "md": "font-size:14px;font-size:var(--jp-content-font-size1,14px);line-height:1.6;"
    "overflow-wrap:break-word",
    "md-small": f"font-size:12.5px;{_SOFT}",
}

_MARGIN: Final = "margin:0 0 0.6em 0"
_HEADING: Final = "margin:1em 0 0.6em 0;font-weight:600;line-height:1.3"
_LIST: Final = f"{_MARGIN};padding:0 0 0 1.6em"

MARKDOWN: Final[dict[str, str]] = {
    "p": _MARGIN,
    "h1": f"{_HEADING};font-size:1.35em",
    "h2": f"{_HEADING};font-size:1.2em",
    "h3": f"{_HEADING};font-size:1.08em",
    "h4": f"{_HEADING};font-size:1em",
    "h5": f"{_HEADING};font-size:1em",
    "h6": f"{_HEADING};font-size:1em",
    "ul": f"{_LIST};list-style-type:disc",
    "ol": f"{_LIST};list-style-type:decimal",
    "blockquote": f"{_MARGIN};padding:0 0 0 12px;border-left:3px solid {_EDGE};{_SOFT}",
    "hr": f"margin:12px 0;border:0;height:0;background:transparent;{_RULE}",
    "table": STYLES["grid"],
    "tr": STYLES["row"],
    "th": f"{STYLES['cell']};line-height:1.6;{STYLES['cell-head']}",
    "td": f"{STYLES['cell']};line-height:1.6",
    "sup": "font-size:0.75em;line-height:1",
    "code": f"padding:1px 4px;border-radius:3px;background:{_VEIL};font-size:0.9em",
}
"""Styles of rendered Markdown, by tag."""

INSIDE: Final[dict[str, str]] = {
    "li p": "margin:0.1em 0",
    "li ul": f"{_LIST};list-style-type:disc;margin:0.1em 0",
    "li ol": f"{_LIST};list-style-type:decimal;margin:0.1em 0",
    "div pre": f"{_BOX};max-height:none;white-space:pre",
    "pre code": "padding:0;background:transparent;font-size:12px;white-space:pre",
}
"""Styles inside of another tag, instead of its own."""

CLASSES: Final[dict[str, str]] = {
    "highlight": "margin:8px 0;background:transparent",
    "contains-task-list": "list-style:none;padding:0 0 0 0.4em",
    "acp-task": "margin:0 4px 0 0",
    "acp-footnotes": f"{_RULE};margin:1em 0 0 0;font-size:0.9em;{_SOFT}",
    "acp-table": f"{STYLES['table']};{_MARGIN}",
    "acp-ref": f"border-bottom:1px dotted {GREY}",
    "acp-left-out": STYLES["left-out"],
}
"""What is added by class."""
