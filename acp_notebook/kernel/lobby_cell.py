"""What an agent asks outside of any session, shown in the cell that waits for the agent.

Such questions come with a start or a login: a page to open, a code to fill in. The view appears
with the first of them, and a record takes its place when the wait is over.
"""

from __future__ import annotations

import asyncio
import contextvars
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from acp_notebook.kernel.comm_route import keep_front_end_route
from acp_notebook.kernel.pump import run_on_main
from acp_notebook.session.changes import SessionChange
from acp_notebook.session.elicitation import Action, ElicitationId
from acp_notebook.session.state import EntryKey
from acp_notebook.session.updates import PermissionId, PromptId, ToolCallId

if TYPE_CHECKING:
    from acp_notebook.client.agent import Agent
    from acp_notebook.client.live_session import LiveSession


class LobbyCell:
    """Shows the questions of one lobby in one cell. Made on the thread that waits."""

    def __init__(self, agent: Agent) -> None:
        self._agent = agent
        self._loop = agent.thread.loop
        self._context = contextvars.copy_context()
        self._lobby: LiveSession | None = None
        self._first = 0
        self._handle: Any = None
        self._presenter: Any = None

    def note(self, changes: list[SessionChange]) -> None:
        """Something was asked or answered; on the agent thread."""
        if self._presenter is not None:
            self._context.copy().run(self._presenter.changed, changes)
        elif self._lobby is None and self._agent.lobby is not None:
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
        from IPython.display import display

        from acp_notebook.render.document import TurnDocument
        from acp_notebook.widgets.turn_view import TurnPresenter

        lobby, label = self._lobby, self._agent.label
        assert lobby is not None
        document = self._agent.thread.call(
            lambda: TurnDocument(lobby.state, lobby.state.timeline[self._first :], agent_name=label)
        )
        self._presenter = TurnPresenter(
            document, _LobbyActions(lobby), post=self._post, call_later=self._call_later
        )
        keep_front_end_route(self._presenter.view.comm)
        bundle = self._presenter.view._repr_mimebundle_()
        data = bundle[0] if isinstance(bundle, tuple) else bundle
        data["text/plain"] = f"{label} asks something"
        self._handle = display(data, raw=True, display_id=True)

    def _post(self, work: Callable[[], object]) -> None:
        self._loop.call_soon_threadsafe(work, context=self._context.copy())

    def _call_later(self, delay_s: float, work: Callable[[], object]) -> asyncio.TimerHandle:
        return self._loop.call_later(delay_s, work, context=self._context.copy())

    def close(self) -> None:
        """Put the record in the place of the view; on the thread that waited."""
        if self._handle is None:
            return
        self._handle.update(self._agent.thread.call(self._record), raw=True)
        self._agent.thread.call(self._presenter.close)

    def _record(self) -> dict[str, str]:
        from acp_notebook.render.elicitation import elicitation_line, render_elicitation
        from acp_notebook.render.markup import join, record_paper

        assert self._lobby is not None
        paper = record_paper()
        paper.agent_name = self._agent.label
        keys: list[EntryKey] = self._lobby.state.timeline[self._first :]
        asked = [
            self._lobby.state.elicitations[ElicitationId(key.id)]
            for key in keys
            if key.kind == "elicitation"
        ]
        html = join(*(paper("div", "entry", render_elicitation(paper, each, "")) for each in asked))
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
