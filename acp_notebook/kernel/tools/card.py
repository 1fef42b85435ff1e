"""The card of a tool's work in the turn's cell: what will run, what came of it.

A tool call of the session's model that this client makes itself, so that view, record and `Turn`
show it as they show the agent's. Usable from any thread.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Final

from acp_notebook.kernel.context.text import fenced
from acp_notebook.render.markup import visible
from acp_notebook.session import updates as u
from acp_notebook.session.content import ContentBlock, TextBlock
from acp_notebook.session.state import CELL_META, OPEN_META

if TYPE_CHECKING:
    from acp_notebook.client.live.live_session import LiveSession

ID_PREFIX: Final = "notebook-"
_numbers = itertools.count(1)


class ToolCard:
    """One card."""

    def __init__(self, live: LiveSession, name: str, title: str, code: str) -> None:
        self.id = u.ToolCallId(f"{ID_PREFIX}{next(_numbers)}")
        self._live = live
        self._code = u.ContentItem(TextBlock(fenced(visible(code), "python")))
        self._update(
            name=name, title=title, kind="execute", status="pending", content=(self._code,)
        )

    def begin(self) -> None:
        """It runs."""
        self._update(status="in_progress")

    def end(self, status: str, content: Iterable[ContentBlock] = ()) -> None:
        """It is over: `completed`, `failed` or `cancelled`."""
        items = tuple(u.ContentItem(block) for block in content)
        self._update(status=status, content=(self._code, *items))

    def propose(self, code: str) -> None:
        """Say that the code is offered as a cell."""
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
