"""The card of a kernel tool in the turn's cell: the code, who allowed it, and the result.

A tool call that this client adds to the session's model, so that view, record and `Turn` show it
beside the agent's own calls. Its id is out of the agent's reach (`IdNamespace`), and after its end
the card stays as it is. Usable from any thread. Knows no tool.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from acp_notebook.kernel.context.text import fenced
from acp_notebook.render.markup import visible
from acp_notebook.session import updates as u
from acp_notebook.session.content import ContentBlock, TextBlock
from acp_notebook.session.state import ALLOWED_META, CELL_META, OPEN_META

if TYPE_CHECKING:
    from acp_notebook.client.live.live_session import LiveSession

_numbers = itertools.count(1)


class ToolCard:
    """One card, which is shown as pending until `begin`."""

    def __init__(self, live: LiveSession, name: str, title: str, code: str) -> None:
        self.id = u.ToolCallId(f"{u.OWN_CALL}{next(_numbers)}")
        self._live = live
        self._code = u.ContentItem(TextBlock(fenced(visible(code), "python")))
        self._update(
            name=name, title=title, kind="execute", status="pending", content=(self._code,)
        )

    def begin(self, allowed_by: str = "") -> None:
        """Show the call as running, and who allowed it."""
        meta = {ALLOWED_META: allowed_by} if allowed_by else u.UNSET
        self._update(status="in_progress", meta=meta)

    def end(self, status: str, content: Iterable[ContentBlock] = ()) -> None:
        """Show the end of the call: its status (completed, failed, cancelled) and output."""
        items = tuple(u.ContentItem(block) for block in content)
        self._update(status=status, content=(self._code, *items))

    def propose(self, code: str) -> None:
        """Show the code as a proposed cell, with the command that inserts it."""
        self._update(
            kind="other",
            status="completed",
            content=(
                self._code,
                u.ContentItem(TextBlock("`%acp insert` puts it into a new cell.")),
            ),
            meta={CELL_META: code, OPEN_META: True},
        )

    def _update(self, **fields: Any) -> None:
        live, update = self._live, u.ToolCallUpdate(self.id, **fields)
        live.connection.thread.post(lambda: live.apply([update]))
