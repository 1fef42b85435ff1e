"""The line of a folded thought: that the agent thinks or for how long it did, and its beginning."""

from __future__ import annotations

from typing import Final

from markupsafe import Markup

from acp_notebook.render.labels import spent_words
from acp_notebook.render.markup import Paper, label
from acp_notebook.session.state import EntryKey

SNIPPET_CHARS: Final = 110


def thought_words(paper: Paper, key: EntryKey, *, is_active: bool) -> str:
    """What is said of a thought: `Thinking…`, `Thought for 4.2 s`."""
    if is_active:
        return "Thinking…"
    span = paper.spans.get(key)
    spent = spent_words(span.seconds if span else None)
    return f"Thought for {spent}" if spent else "Thought"


def thought_head(paper: Paper, key: EntryKey, text: str, *, is_active: bool) -> Markup:
    """The line, with the beginning of the text."""
    look = "thought-words is-active" if is_active else "thought-words"
    words = paper("span", look, thought_words(paper, key, is_active=is_active))
    clock = Markup("")
    if is_active and key in paper.spans:
        clock = paper("span", "num", "", data_since=f"{paper.spans[key].began_s:.1f}")
    snippet = label(text.replace("**", ""), SNIPPET_CHARS)
    return Markup(" ").join([words + clock, paper("span", "snippet muted", snippet, dir="auto")])
