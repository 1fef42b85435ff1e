"""The line of a folded thought: that the agent thinks or for how long it did, and its beginning."""

from __future__ import annotations

from typing import Final

from markupsafe import Markup

from acp_notebook.render.labels import spent_words
from acp_notebook.render.markup import Theme, label
from acp_notebook.session.state import EntryKey

SNIPPET_CHARS: Final = 110


def thought_words(theme: Theme, key: EntryKey, *, is_active: bool) -> str:
    """What is said of a thought: `Thinking…`, `Thought for 4.2 s`."""
    if is_active:
        return "Thinking…"
    span = theme.spans.get(key)
    spent = spent_words(span.seconds if span else None)
    return f"Thought for {spent}" if spent else "Thought"


def thought_head(theme: Theme, key: EntryKey, text: str, *, is_active: bool) -> Markup:
    """The line, with the beginning of the text."""
    look = "thought-words is-active" if is_active else "thought-words"
    words = theme("span", look, thought_words(theme, key, is_active=is_active))
    clock = Markup("")
    if is_active and key in theme.spans:
        clock = theme("span", "num", "", data_since=f"{theme.spans[key].began_s:.1f}")
    snippet = label(text.replace("**", ""), SNIPPET_CHARS)
    return Markup(" ").join([words + clock, theme("span", "snippet muted", snippet, dir="auto")])
