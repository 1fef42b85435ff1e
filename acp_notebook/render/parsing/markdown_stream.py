"""Markdown in pieces, rendered so that nothing finished is parsed or sent again. Knows no page.

1. Everything before the parser's last top-level block is finished. A block that a blank line closes
   is finished with it. Only complete lines count: half a line may still change its meaning.
2. A short open tail is rendered with each piece. A long one (a paragraph or a fence of 100 kB) is
   rendered only when it has grown by half; in between new text is appended plain. So the whole cost
   is linear, and the last rendering is exact.
3. A pull takes a slice at most, so that a message of a megabyte never holds its thread for long. It
   has a budget of time. A slice that costs more is halved for the next pulls, since the machine may
   be slow; a tail that costs more stays plain, and its next rendering is put off.
4. A link reference after its use changes finished blocks, and so do a footnote and a formula with
   something like a block in it: these are settled at the end.

However the text was cut into pieces, the final HTML is that of `render_markdown`, unless a part was
too costly.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, Final

from markdown_it.token import Token
from markupsafe import Markup

from acp_notebook.budget import Budget, TooCostly
from acp_notebook.characters import mark_prose
from acp_notebook.render.markup import clean, visible
from acp_notebook.render.parsing.markdown import (
    COSTLY_CODE,
    PARSING_SECONDS,
    PLAIN_CODE,
    environment,
    parse,
    plain_tokens,
    render_exactly,
    render_tokens,
    sanitize,
    was_costly,
)

SLICE_CHARS: Final = 16_000
SHORTEST_SLICE_CHARS: Final = 2_000
SHORT_TAIL_CHARS: Final = 1_500
GROWTH: Final = 1.5
TAIL_LIMIT_CHARS: Final = 300_000

_CLOSED_BY_BLANK = frozenset({"paragraph_open", "table_open", "blockquote_open"})
_CLOSED_AT_ONCE = frozenset({"heading_open", "hr"})
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})[ \t]*")
_LIST_MARK = re.compile(r"[-+*>]|\d{1,9}[.)]|\s")
_FOOTNOTE = re.compile(r"\[\^[^\]\n]{1,500}\]:")
# The closing tags at the end of the tail; plain text is inserted before them.
_TRAILING_TAGS = re.compile(
    r"(?:(?:</code>(?=</pre>)|</(?:p|li|[uo]l|blockquote|pre|div|t[dr]|tbody|table|h\d)>)\s*)+\Z"
)


@dataclass(slots=True)
class Delta:
    """An increment: finished HTML, a new tail, or plain text after the tail."""

    done: list[Markup] = field(default_factory=list)
    tail: Markup | None = None
    more: str = ""
    is_rewritten: bool = False
    """Whether `done` replaces all finished HTML."""


class MarkdownStream:
    """One growing text; `slot` is the page's place for plain text after the tail."""

    def __init__(self, slot: str = "") -> None:
        self.parsed_chars = 0
        self.waiting_chars = 0
        """What was fed and not yet pulled."""
        self._slot = slot
        self._slice_chars = SLICE_CHARS
        self._source: list[str] = []
        self._fed: list[str] = []
        self._open = ""
        self._settled_at = 0
        self._references: dict[str, Any] = {}
        self._done: list[Markup] = []
        self._tail = Markup("")
        self._tail_chars = 0
        self._more = ""
        self._fence = ""
        self._is_list = False
        self._half = ""
        self._is_doubtful = False
        self._patient_until = 0
        self._has_costly_code = False

    @property
    def done(self) -> Markup:
        """The finished HTML so far."""
        return Markup("").join(self._done)

    @property
    def tail(self) -> Markup:
        """The open tail as last rendered."""
        return self._tail

    @property
    def more(self) -> str:
        """The plain text after the tail."""
        return self._more

    def feed(self, text: str) -> None:
        """Add a piece, without parsing."""
        self._fed.append(text)
        self.waiting_chars += len(text)

    def pull(self, budget: Budget | None = None) -> Delta:
        """Return the increment for the next slice of the pieces since the last pull."""
        piece = self._take(self._slice_chars)
        if not piece:
            return Delta()
        before = len(self._open)
        self._open += piece
        grown = len(self._open) - self._tail_chars
        is_due = len(self._open) <= SHORT_TAIL_CHARS or grown >= self._tail_chars * (GROWTH - 1)
        if not is_due and (len(self._open) < self._patient_until or not self._may_close(before)):
            return self._append_plain(piece)
        try:
            delta = self._settle(
                piece, budget or Budget(PARSING_SECONDS), is_whole=budget is not None
            )
        except TooCostly:
            self._put_back(piece)
            return Delta()
        # What looks like the end of a long tail may be none, again and again.
        is_vain = not is_due and not delta.done
        self._patient_until = int(len(self._open) * GROWTH) if is_vain else 0
        return delta

    def finish(self, budget: Budget | None = None) -> Delta:
        """Return the last increment."""
        self._open += self._take()
        half = clean(self._half).replace("\r", "\n")
        self._source.append(half)
        self._open, self._half = self._open + half, ""
        before = len(self._done)
        spent = budget or Budget(PARSING_SECONDS)
        env = self._environment(spent)
        tokens = self._parse(self._open, env)
        if tokens:
            self._done.append(sanitize(render_tokens(tokens, env)))
        self._open, self._tail, self._tail_chars, self._more = "", Markup(""), 0, ""
        source = "".join(self._source)
        if env["references"] or self._is_doubtful or _FOOTNOTE.search(source):
            whole = render_exactly(source, spent)
            if whole is not None and whole != self.done:
                self._done = [whole]
                return Delta([whole], self._tail, is_rewritten=before > 0)
        return Delta(self._done[before:], self._tail)

    def _take(self, limit: int | None = None) -> str:
        fed = "".join(self._fed)
        text = self._half + fed[:limit]
        self._fed = [fed[limit:]] if limit is not None and len(fed) > limit else []
        self.waiting_chars = sum(map(len, self._fed))
        self._half = ""
        # Half a surrogate pair, or half a line ending, waits for its other half.
        if text and ("\ud800" <= text[-1] <= "\udbff" or text[-1] == "\r"):
            text, self._half = text[:-1], text[-1]
        text = clean(text).replace("\r\n", "\n").replace("\r", "\n")
        if text:
            self._source.append(text)
        return text

    def _put_back(self, piece: str) -> None:
        """Leave a slice to the next pulls, which take half as much each."""
        self._open = self._open[: -len(piece)]
        self._source.pop()
        self._fed.insert(0, piece + self._half)
        self.waiting_chars += len(self._fed[0])
        self._half = ""
        self._slice_chars //= 2

    def _append_plain(self, piece: str) -> Delta:
        shown = visible(piece) if self._fence else mark_prose(piece)
        self._more += shown
        return Delta(more=shown)

    def _may_close(self, start: int) -> bool:
        """Whether complete new lines can end a long block, so that parsing is worth it."""
        # From the line before the first new one, which may be blank.
        for _ in range(2):
            start = self._open.rfind("\n", 0, max(start, 0)) + 1 if start > 0 else 0
            start -= 1
        end = self._open.rfind("\n") + 1
        lines = self._open[max(start + 1, 0) : end].split("\n")[:-1]
        if self._fence:
            return any(_closes(line, self._fence) for line in lines)
        if not self._is_list:
            return any(not line.strip() for line in lines)
        return any(
            not above.strip() and line.strip() and not _LIST_MARK.match(line)
            for above, line in pairwise(lines)
        )

    def _settle(self, piece: str, budget: Budget, *, is_whole: bool) -> Delta:
        """Render the text with a new piece.

        Raises:
            TooCostly: A part of the piece may do, unless it has to be taken as a whole.
        """
        delta = Delta()
        end = self._open.rfind("\n") + 1
        if end > self._settled_at:
            is_long = len(piece) > SHORTEST_SLICE_CHARS and 2 * len(piece) > len(self._open)
            delta.done = self._cut(end, budget, is_final=is_whole or not is_long)
        env = self._environment(budget)
        env[PLAIN_CODE] = self._has_costly_code
        tail = sanitize(render_tokens(self._parse(self._open, env), env))
        self._has_costly_code |= COSTLY_CODE in env
        if was_costly(env) and self._tail and not delta.done:
            # The tail as it was, with plain text behind it, is more than a plain one.
            self._tail_chars = len(self._open)
            return self._append_plain(piece)
        self._tail = self._with_slot(tail) if self._open else Markup("")
        self._tail_chars, self._more = len(self._open), ""
        delta.tail = self._tail
        return delta

    def _cut(self, end: int, budget: Budget, *, is_final: bool) -> list[Markup]:
        lines = self._open[:end].split("\n")
        env = self._environment(budget)
        tokens = self._parse(self._open[:end], env)
        if was_costly(env) and not is_final:
            raise TooCostly
        starts = [
            index for index, token in enumerate(tokens) if token.level == 0 and token.nesting >= 0
        ]
        self._settled_at = end
        self._fence, self._is_list = "", False
        if not starts:
            return []
        last = tokens[starts[-1]]
        self._is_list = last.type.endswith("_list_open")
        first_line, last_line = last.map or [0, 0]
        finished, line = tokens[: starts[-1]], first_line
        if _is_closed(last, lines):
            finished, line = tokens, last_line
        elif last.type == "fence":
            self._fence = last.markup
        above = max((token.map[1] for token in finished if token.map), default=0)
        line = self._keep_references(env["references"], above, line)
        if not finished:
            return []
        html = sanitize(render_tokens(finished, env))
        self._is_doubtful |= _cuts_formula("\n".join(lines[:line]))
        self._open = "\n".join(lines[line:]) + self._open[end:]
        self._settled_at = self._open.rfind("\n") + 1
        self._has_costly_code = False
        self._done.append(html)
        return [html]

    def _keep_references(self, found: dict[str, Any], above: int, line: int) -> int:
        """Keep the references above the cut, and return the line of the cut."""
        # A reference that ends right at the cut may still get a title, so it stays open.
        for reference in found.values():
            start, end = reference.get("map") or (0, 0)
            if end == line and start >= above:
                line = start
                break
        for name, reference in found.items():
            if (reference.get("map") or (0, 0))[1] <= line:
                self._references.setdefault(name, reference)
        return line

    def _environment(self, budget: Budget) -> dict[str, Any]:
        return {**environment(budget), "references": dict(self._references)}

    def _parse(self, text: str, env: dict[str, Any]) -> list[Token]:
        if len(text) > TAIL_LIMIT_CHARS:
            return plain_tokens(text, env)
        self.parsed_chars += len(text)
        return parse(text, env)

    def _with_slot(self, html: Markup) -> Markup:
        if not self._slot:
            return html
        match = _TRAILING_TAGS.search(html)
        where = match.start() if match else len(html)
        place = Markup('<span data-slot="{}"></span>').format(self._slot)
        return html[:where] + place + html[where:]


def _cuts_formula(text: str) -> bool:
    """Whether a formula may continue after the text, so that the cut may be wrong."""
    return text.count("$$") % 2 == 1 or text.count("\\[") != text.count("\\]")


def _is_closed(block: Token, lines: list[str]) -> bool:
    """Whether no later line can extend the last block."""
    if block.type in _CLOSED_AT_ONCE:
        return True
    start, end = block.map or [0, 0]
    if block.type == "fence":
        return end - start > 1 and _closes(lines[end - 1], block.markup)
    # The last element of `lines` follows the last line ending.
    return block.type in _CLOSED_BY_BLANK and any(not line.strip() for line in lines[end:-1])


def _closes(line: str, markup: str) -> bool:
    match = _FENCE.fullmatch(line)
    return match is not None and match[1][0] == markup[0] and len(match[1]) >= len(markup)
