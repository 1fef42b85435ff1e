"""What an agent asks outside of any session, shown in the cell that waits for the agent.

Such questions come with a start or a login: a page to open, a code to fill in. The view appears
with the first of them, and a record takes its place when the wait is over.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from acp_notebook.kernel.views.cell_view import CellView
from acp_notebook.kernel.waiting.pump import run_on_main
from acp_notebook.session.changes import SessionChange
from acp_notebook.session.elicitation import Action, ElicitationId
from acp_notebook.session.state import EntryKey
from acp_notebook.session.updates import PermissionId, PromptId, ToolCallId

if TYPE_CHECKING:
    from acp_notebook.client.agent import Agent
    from acp_notebook.client.live.live_session import LiveSession


class LobbyCell:
    """Shows the questions of one lobby in one cell. Made on the thread that waits."""

    def __init__(self, agent: Agent) -> None:
        self._agent = agent
        self._view = CellView(agent.thread.loop)
        self._lobby: LiveSession | None = None
        self._first = 0

    def note(self, changes: list[SessionChange]) -> None:
        """Something was asked or answered; on the agent thread."""
        self._view.changed(changes)
        if self._lobby is None and self._agent.lobby is not None:
            self._lobby = self._agent.lobby
            timeline = self._lobby.state.timeline
            self._first = next(
                (
                    number
                    for number, key in enumerate(timeline)
                    if key.kind == "elicitation"
                    and self._lobby.state.elicitations[ElicitationId(key.id)].is_open
                ),
                len(timeline),
            )
            run_on_main(self._show)

    def _show(self) -> None:
        from acp_notebook.render.document import TurnDocument

        lobby, label = self._lobby, self._agent.label
        assert lobby is not None
        document = self._agent.thread.call(
            lambda: TurnDocument(lobby.state, lobby.state.timeline[self._first :], agent_name=label)
        )
        self._view.open(document, _LobbyActions(lobby), f"{label} asks something")

    def close(self) -> None:
        """Put the record in the place of the view; on the thread that waited."""
        if self._view.is_shown:
            self._view.put(self._agent.thread.call(self._record))
            self._agent.thread.call(self._view.close)

    def _record(self) -> dict[str, str]:
        from acp_notebook.render.entries.elicitation import elicitation_line, render_elicitation
        from acp_notebook.render.markup import join, record_theme

        assert self._lobby is not None
        theme = record_theme()
        theme.agent_name = self._agent.label
        keys: list[EntryKey] = self._lobby.state.timeline[self._first :]
        asked = [
            self._lobby.state.elicitations[ElicitationId(key.id)]
            for key in keys
            if key.kind == "elicitation"
        ]
        html = join(*(theme("div", "entry", render_elicitation(theme, each, "")) for each in asked))
        return {
            "text/html": str(html),
            "text/plain": "\n".join(elicitation_line(each) for each in asked),
        }


class _LobbyActions:
    """What a reader can do there: answer forms and pages."""

    def __init__(self, lobby: LiveSession) -> None:
        self._lobby = lobby

    def fill(self, elicitation_id: ElicitationId, given: dict[str, Any]) -> None:
        self._lobby.elicitations.fill(elicitation_id, given)

    def reply(self, elicitation_id: ElicitationId, action: Action) -> None:
        self._lobby.elicitations.answer(elicitation_id, action)

    def answer(self, permission_id: PermissionId, option_id: str) -> None:
        """No permission is asked for outside of sessions."""

    def withdraw(self, prompt_id: PromptId) -> None:
        """No prompt is sent there."""

    def cancel_tool_call(self, tool_call_id: ToolCallId) -> None:
        """No tool is called there."""

    def stop(self) -> None:
        """There is no work to stop."""

    def set_option(self, option_id: str, value: str, settled: Callable[[], object]) -> None:
        """There is no session to set up."""


@contextmanager
def lobby_shown(agent: Agent) -> Iterator[None]:
    """Show what the agent asks outside of sessions, while something of it is waited for."""
    cell = LobbyCell(agent)
    agent.thread.call(lambda: agent.lobby_listeners.append(cell.note))
    try:
        yield
    finally:
        agent.thread.call(lambda: agent.lobby_listeners.remove(cell.note))
        cell.close()
