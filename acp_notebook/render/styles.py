"""Inline styles of the record, by look.

A saved notebook that is not trusted passes a sanitizer which drops style sheets and every value
that is not in its list: `var()` and `calc()` are gone, hex colours and `rgba()` stay. One notebook
is read in light and dark themes. So surfaces are faint grey veils over whatever is below, text
keeps the reader's own colour, and the few colours have a middle lightness that reads on both.
"""

from __future__ import annotations

from typing import Final

GREEN: Final = "#2f8a4c"
RED: Final = "#d0453e"
AMBER: Final = "#a8730f"
BLUE: Final = "#3a7bd0"
GREY: Final = "#808488"

_LINE: Final = "1px solid rgba(128,128,128,0.3)"
_VEIL: Final = "rgba(128,128,128,0.08)"
_MONO: Final = "font-family:Menlo,Consolas,DejaVu Sans Mono,monospace;font-size:12px"
_CLIP: Final = "overflow:auto;max-height:360px"

STYLES: Final[dict[str, str]] = {
    "head": f"display:flex;flex-wrap:wrap;gap:4px 10px;align-items:baseline;font-size:12px;"
    f"color:{GREY};margin:0 0 6px 0",
    "foot": f"display:flex;flex-wrap:wrap;gap:4px 10px;align-items:baseline;font-size:12px;"
    f"color:{GREY};margin:10px 0 2px 0;border-top:{_LINE};padding:6px 0 0 0",
    "agent-name": "font-weight:600",
    "muted": f"color:{GREY}",
    "small": "font-size:12px",
    "entry": "margin:8px 0 0 0",
    "prompt": f"color:{GREY};font-size:12px;margin:0 0 6px 0",
    "thought": f"color:{GREY};font-size:12px",
    "thought-body": f"border-left:2px solid rgba(128,128,128,0.3);padding:2px 0 2px 12px;"
    f"margin:4px 0 0 4px;color:{GREY}",
    "card": f"border:{_LINE};border-radius:6px;padding:0",
    "card-line": f"border:{_LINE};border-radius:6px;padding:5px 10px",
    "card-body": f"border-top:{_LINE};padding:8px 10px",
    "fold-head": "cursor:pointer;padding:5px 10px",
    "fold-line": "cursor:pointer;padding:1px 0",
    "code-box": f"padding:8px 10px;margin:6px 0;overflow:auto;background:{_VEIL};border-radius:4px",
    "code-pre": f"{_MONO};background:transparent;margin:0;padding:0;line-height:1.45",
    "code-text": "background:transparent;padding:0",
    "task-list": "list-style:none;padding:0 0 0 6px;margin:6px 0",
    "field": "margin:3px 0 0 0",
    "chip": f"border:{_LINE};border-radius:9px;padding:0 6px;margin:0 0 0 6px;font-size:11px;"
    f"color:{GREY}",
    "badge": f"border:{_LINE};border-radius:9px;padding:0 6px;font-size:11px;color:{GREY}",
    "place": "margin:0 10px 0 0",
    "tool-line": "padding:5px 10px",
    "kind": f"color:{GREY};font-size:12px",
    "title": "font-weight:500",
    "mono": _MONO,
    "words": "white-space:nowrap;font-size:12px",
    "end": "float:right",
    "tone-good": f"color:{GREEN}",
    "tone-bad": f"color:{RED}",
    "tone-warn": f"color:{AMBER}",
    "tone-busy": f"color:{BLUE}",
    "tone-plain": f"color:{GREY}",
    "part": "margin:6px 0 0 0",
    "part-label": f"color:{GREY};font-size:12px;margin:6px 0 2px 0",
    "pre": f"{_MONO};{_CLIP};white-space:pre-wrap;overflow-wrap:break-word;margin:0;"
    f"padding:6px 8px;background:{_VEIL};border-radius:4px",
    "term": f"{_MONO};{_CLIP};white-space:pre-wrap;overflow-wrap:break-word;margin:0;"
    f"padding:6px 8px;background:{_VEIL};border-radius:4px;line-height:1.4",
    "diff": f"{_MONO};{_CLIP};background:{_VEIL};border-radius:4px;line-height:1.45",
    "diff-line": "display:block;white-space:pre-wrap;overflow-wrap:break-word;padding:0 8px",
    "diff-add": "background:rgba(46,160,67,0.18)",
    "diff-del": "background:rgba(218,54,51,0.16)",
    "diff-hunk": f"color:{GREY}",
    "diff-file": f"color:{GREY}",
    "file": f"{_MONO};padding:3px 0",
    "plus": f"color:{GREEN};{_MONO}",
    "minus": f"color:{RED};{_MONO}",
    "plan-list": "list-style:none;margin:0;padding:6px 10px",
    "plan-item": "margin:2px 0;padding:0;list-style:none",
    "is-done": f"color:{GREY}",
    "is-dropped": f"color:{GREY};text-decoration:line-through",
    "is-now": "font-weight:500",
    "error": f"border:1px solid {RED};border-radius:6px;padding:8px 10px",
    "notice": f"border-left:3px solid {GREY};padding:2px 0 2px 10px",
    "notice-warn": f"border-left:3px solid {AMBER}",
    "notice-bad": f"border-left:3px solid {RED}",
    "image": "max-width:100%;height:auto;max-height:480px;margin:4px 0",
    "link": "overflow-wrap:break-word",
    "left-out": f"color:{GREY};font-size:12px;margin:4px 0 0 0",
    "fg-1": f"color:{RED}",
    "fg-2": f"color:{GREEN}",
    "fg-3": f"color:{AMBER}",
    "fg-4": f"color:{BLUE}",
    "fg-5": "color:#a35bc0",
    "fg-6": "color:#1f8a96",
    "fg-7": f"color:{GREY}",
    "fg-0": f"color:{GREY}",
    "bold": "font-weight:600",
    "faint": "opacity:0.7",
    "italic": "font-style:italic",
    "underline": "text-decoration:underline",
    "reverse": "background:rgba(128,128,128,0.35)",
    "mark": "background:rgba(128,128,128,0.28);border-radius:2px;text-decoration:underline",
    "diff-number": (
        f"display:inline-block;width:36px;margin:0 8px 0 0;text-align:right;color:{GREY}"
    ),
    "diff-hidden": "padding:0 8px",
    "footnotes": f"border-top:{_LINE};margin:10px 0 0 0;font-size:12px;color:{GREY}",
    "json-name": f"color:{BLUE};{_MONO}",
    "json-inner": f"margin:0 0 0 6px;padding:0 0 0 12px;border-left:{_LINE}",
    "table": "overflow:auto;max-height:360px",
    "grid": "border-collapse:collapse;font-size:12px",
    "cell": f"padding:2px 8px;text-align:left;border-bottom:{_LINE}",
    "cell-number": "text-align:right",
    "snippet": "",
}
