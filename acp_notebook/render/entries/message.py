"""Messages and thoughts in a record, and the line of a folded thought. Knows no live view."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from markupsafe import Markup

from acp_notebook.render.entries.content import BLOCKS_SHOWN, markdown_part, render_block
from acp_notebook.render.entries.json_view import rest_remark
from acp_notebook.render.labels import spent_words
from acp_notebook.render.markup import Theme, label
from acp_notebook.session.content import ContentBlock, TextBlock, text_of
from acp_notebook.session.state import EntryKey, Message

MESSAGE_LIMIT_CHARS: Final = 400_000
SNIPPET_CHARS: Final = 110


def thought_words(theme: Theme, key: EntryKey, *, is_active: bool) -> str:
    """Return the words for a thought: `Thinking…`, `Thought for 4.2 s`."""
    if is_active:
        return "Thinking…"
    span = theme.spans.get(key)
    spent = spent_words(span.seconds if span else None)
    return f"Thought for {spent}" if spent else "Thought"


def thought_head(theme: Theme, key: EntryKey, text: str, *, is_active: bool) -> Markup:
    """Render the line of a thought, with the beginning of its text."""
    look = "thought-words is-active" if is_active else "thought-words"
    words = theme("span", look, thought_words(theme, key, is_active=is_active))
    clock = Markup("")
    if is_active and key in theme.spans:
        clock = theme("span", "num", "", data_since=f"{theme.spans[key].began_s:.1f}")
    snippet = label(text.replace("**", ""), SNIPPET_CHARS)
    return Markup(" ").join([words + clock, theme("span", "snippet muted", snippet, dir="auto")])


def render_message(
    theme: Theme, content: Sequence[ContentBlock], ident: str, looks: str = "md"
) -> Markup:
    """Render a message's content."""
    parts: list[Markup] = []
    run: list[str] = []
    others = 0
    for number, block in enumerate(content):
        others += not isinstance(block, TextBlock)
        if isinstance(block, TextBlock):
            run.append(block.text)
        elif others <= BLOCKS_SHOWN:
            parts += _text_run(theme, run)
            parts.append(render_block(theme, block, f"{ident}.m{number}"))
    parts += _text_run(theme, run)
    parts += filter(None, [rest_remark(theme, others - BLOCKS_SHOWN, "parts of a message")])
    return theme("div", looks, *parts, dir="auto") if parts else Markup("")


def _text_run(theme: Theme, run: list[str]) -> list[Markup]:
    text = "".join(run)
    run.clear()
    if not text:
        return []
    rest = len(text) - MESSAGE_LIMIT_CHARS
    html = markdown_part(theme, text[:MESSAGE_LIMIT_CHARS])
    return [html + rest_remark(theme, rest, "characters of a message")]


def render_thought(theme: Theme, message: Message, ident: str) -> Markup:
    """Render a folded thought."""
    content = message.content
    body = render_message(theme, content, ident, "md md-small")
    if not body:
        return body
    first = text_of(content)[: 2 * SNIPPET_CHARS]
    key = EntryKey("thought", message.message_id)
    head = thought_head(theme, key, first, is_active=False)
    return theme.fold("thought", head, theme("div", "thought-body", body), key=ident)
