"""A JSON value as a line, a table, or a tree of folds. Knows no entry.

Always bounded: a value of ten megabytes costs no more than its shown part.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any, Final

from markupsafe import Markup

from acp_notebook.characters import mark_output
from acp_notebook.render.labels import count_words
from acp_notebook.render.markup import Theme, clean, join, label, visible
from acp_notebook.render.parsing.code import code_block

FIELDS_LIMIT: Final = 12
LINE_LIMIT_CHARS: Final = 160
SMALL_CHARS: Final = 600
TABLE_COLUMNS: Final = 12
TABLE_ROWS: Final = 20
_CELL_CHARS: Final = 80
_TEXT_CHARS: Final = 4_000
_CHILDREN: Final = 100
_DEPTH: Final = 12
_OPEN_CHILDREN: Final = 8


def rest_remark(theme: Theme, rest: int, what: str) -> Markup:
    """Render a line about the rest that is not shown; empty without a rest."""
    if rest <= 0:
        return Markup("")
    theme.left_out.append(f"{rest:,} {what}")
    return theme("div", "left-out", f"… {rest:,} more {what} not shown")


def pre_part(theme: Theme, text: str, limit: int | None = None) -> Markup:
    """Render unformatted text, up to the theme's limit, with the characters marked that hide."""
    most = limit or theme.limits.text_chars
    shown = mark_output(clean(text[:most]))
    lines = shown.count("\n") + len(shown) // 100
    body = theme("pre", "pre", shown, **theme.scrolled(lines))
    return body + rest_remark(theme, len(text) - most, "characters")


def brief_json(value: Any, limit: int) -> str | None:
    """Return indented JSON, with other values as text; None beyond the limit."""
    if not _is_light(value, limit):
        return None
    text = json.dumps(value, indent=2, ensure_ascii=False, default=str)
    return clean(text) if len(text) <= limit else None


def _is_light(value: Any, limit: int) -> bool:
    budget = limit
    todo = [value]
    while todo and budget > 0:
        item = todo.pop()
        budget -= 2
        if isinstance(item, str):
            budget -= len(item)
        elif isinstance(item, Mapping):
            budget -= sum(len(str(name)) for name in item) if len(item) < limit else limit
            todo.extend(item.values())
        elif isinstance(item, (list, tuple)):
            budget -= len(item)
            todo.extend(item if len(item) < limit else ())
    return budget > 0


def json_part(theme: Theme, value: Any, key: str) -> Markup:
    """Render a JSON value; a string as plain text."""
    if isinstance(value, str):
        return pre_part(theme, value)
    if _is_table(value):
        return _table(theme, value)
    brief = brief_json(value, SMALL_CHARS)
    if brief is not None:
        return theme("div", "code", theme.markdown(code_block(brief, "json", theme.budget)))
    tree = _Tree(theme, key)
    html = theme("div", "tree", tree.branch(value, 0, key))
    theme.left_out += ["parts of a JSON value"] if tree.is_cut else []
    return html


def fields_part(theme: Theme, value: Any, key: str) -> Markup:
    """Render a tool's input: a flat object as named values, anything else as JSON."""
    if not isinstance(value, Mapping) or len(value) > FIELDS_LIMIT or not _is_flat(value):
        return json_part(theme, value, key)
    return join(*(_field(theme, str(name), item) for name, item in value.items()))


def _is_flat(value: Mapping[Any, Any]) -> bool:
    return bool(value) and all(
        item is None or isinstance(item, str | int | float) for item in value.values()
    )


def _field(theme: Theme, name: str, value: Any) -> Markup:
    title = theme("span", "muted small field-name", label(name, 80))
    text = value if isinstance(value, str) else json.dumps(value)
    if "\n" not in text and len(text) <= LINE_LIMIT_CHARS:
        return theme("div", "field", title, " ", theme("span", "mono", visible(text)))
    return theme("div", "field", title, pre_part(theme, visible(text)))


def _is_table(value: Any) -> bool:
    if not isinstance(value, (list, tuple)) or len(value) < 2:  # noqa: PLR2004
        return False
    head = value[:TABLE_ROWS]
    if not all(isinstance(row, Mapping) and _is_flat(row) for row in head):
        return False
    return len(_columns(head)) <= TABLE_COLUMNS


def _columns(rows: Iterable[Mapping[Any, Any]]) -> list[Any]:
    return list(dict.fromkeys(name for row in rows for name in row))


def _table(theme: Theme, rows: list[Mapping[Any, Any]]) -> Markup:
    shown = rows[:TABLE_ROWS]
    columns = _columns(shown)
    head = [_column(theme, shown, name) for name in columns]
    body = [theme("tr", "row", *(_cell(theme, row, name) for name in columns)) for row in shown]
    table = theme(
        "table", "grid", theme("thead", "", theme("tr", "", *head)), theme("tbody", "", *body)
    )
    return theme("div", "table", table) + rest_remark(theme, len(rows) - len(shown), "rows")


def _column(theme: Theme, rows: list[Mapping[Any, Any]], name: Any) -> Markup:
    looks = "cell cell-number cell-head" if any(_is_number(r.get(name)) for r in rows) else ""
    return theme("th", looks or "cell cell-head", label(str(name), 40), scope="col")


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _cell(theme: Theme, row: Mapping[Any, Any], name: Any) -> Markup:
    value = row.get(name)
    is_number = _is_number(value)
    text = value if isinstance(value, str) else "" if value is None else json.dumps(value)
    return theme("td", "cell cell-number" if is_number else "cell", label(text, _CELL_CHARS))


class _Tree:
    """Branches as `<details>`, until the budget of lines is spent."""

    def __init__(self, theme: Theme, key: str) -> None:
        self._theme = theme
        self._key = key
        self._lines = theme.limits.json_chars // 50
        self.is_cut = False

    def branch(self, value: Any, depth: int, key: str) -> Markup:
        pairs = _pairs(value)
        size = len(value)
        shown = []
        for number, (name, item) in enumerate(pairs):
            if self._lines <= 0 or number >= _CHILDREN:
                self.is_cut = True
                rest = count_words(size - number, "more")
                shown.append(self._theme("div", "left-out", f"… {rest} not shown"))
                break
            self._lines -= 1
            shown.append(self._node(name, item, depth, f"{key}.{number}"))
        return join(*shown)

    def _node(self, name: Any, item: Any, depth: int, key: str) -> Markup:
        theme = self._theme
        title = theme("span", "json-name", label(str(name), 80))
        if isinstance(item, (Mapping, list, tuple)) and item and depth < _DEPTH:
            words = count_words(len(item), "entry", "entries")
            head = join(title, " ", theme("span", "muted small", words))
            is_open = depth == 0 and len(item) <= _OPEN_CHILDREN
            inner = theme("div", "json-inner", self.branch(item, depth + 1, key))
            return theme.fold("branch", head, inner, key=key, is_open=is_open)
        if isinstance(item, str) and ("\n" in item or len(item) > LINE_LIMIT_CHARS):
            self._lines -= min(len(item), _TEXT_CHARS) // 50
            return theme("div", "field", title, pre_part(theme, item, _TEXT_CHARS))
        text = item if isinstance(item, str) else json.dumps(item, default=str)
        return theme("div", "field", title, " ", theme("span", "mono", visible(text[:500])))


def _pairs(value: Any) -> Iterable[tuple[Any, Any]]:
    return value.items() if isinstance(value, Mapping) else enumerate(value)
