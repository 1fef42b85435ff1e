"""A compaction of the agent's context as words and HTML. Knows no document."""

from __future__ import annotations

from markupsafe import Markup

from acp_notebook.render.entries.content import render_blocks
from acp_notebook.render.labels import Wording
from acp_notebook.render.markup import Theme, label
from acp_notebook.session.state import Compaction, SessionState

_COMPACTIONS: dict[str, Wording] = {
    "in_progress": Wording("Shortening the conversation", "◐", "busy"),
    "completed": Wording("The conversation was shortened", "✓", "plain"),
    "failed": Wording("The conversation could not be shortened", "✗", "bad"),
}


def compaction_words(status: str) -> Wording:
    """Return the words for a compaction's status."""
    return _COMPACTIONS.get(status) or Wording(f"Compaction: {status}", "◐", "busy")


def render_compaction(theme: Theme, _: SessionState, compaction: Compaction, ident: str) -> Markup:
    """Render a line, with the summary folded behind it."""
    words = theme.wording(compaction_words(compaction.status))
    if compaction.error:
        words += " " + theme("span", "muted small", label(compaction.error))
    if not compaction.summary:
        return theme("div", "line muted", words)
    body = render_blocks(theme, compaction.summary, f"{ident}.c")
    return theme.fold("fold", words, *body, key=ident)
