"""Cards for questions of a session without an open view. Knows no wire.

A card appears in the cell that opened the session, prompted it last, or waits for the agent's start
or login: for a quiet turn, an agent's own work between turns, a login. A record replaces the card
when all its questions are answered.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from typing import TYPE_CHECKING

from acp_notebook.kernel.front_end import present_front_end, present_kernel
from acp_notebook.kernel.views.actions import SessionActions
from acp_notebook.kernel.views.cell_view import CellView
from acp_notebook.kernel.waiting.pump import run_on_main
from acp_notebook.kernel.waiting.shell_channel import find_shell_channel
from acp_notebook.session.changes import EntryChanged, SessionChange
from acp_notebook.session.elicitation import ElicitationId
from acp_notebook.session.selection import Selection
from acp_notebook.session.state import EntryKey

if TYPE_CHECKING:
    from acp_notebook.client.agent import Agent
    from acp_notebook.client.live.live_session import LiveSession, Subscription
    from acp_notebook.client.live.question import Question
    from acp_notebook.render.document import TurnDocument


# A card's record is made on the agent thread, for which others wait.
_RECORD_SECONDS = 0.1


class QuestionCard:
    """The questions of one session in one cell. Used on the agent thread, except `show`."""

    def __init__(self, live: LiveSession, agent_name: str) -> None:
        self._live = live
        self._agent_name = agent_name
        self._view: CellView | None = None
        self._asked: dict[EntryKey, None] = dict.fromkeys(live.state.asked)
        self._pending = dict(self._asked)
        self._selection = Selection(live.state, lambda key: key in self._asked)
        self._subscription: Subscription | None = live.subscribe(self._note)

    @property
    def is_over(self) -> bool:
        """Whether all questions are answered, and the record stands in the card's place."""
        return self._subscription is None

    def shows(self, question: Question) -> bool:
        """Whether the card shows a question."""
        return question.session is self._live

    def show(self) -> None:
        """Display the card; on the thread that runs the cell."""
        thread = self._live.connection.thread
        if thread.call(lambda: self.is_over):
            return
        view = CellView(thread)
        document = thread.call(self._document)
        view.open(document, SessionActions(self._live), f"{self._agent_name} asks something")
        thread.call(lambda: self._opened(view))

    def _document(self) -> TurnDocument:
        from acp_notebook.render.document import TurnDocument

        return TurnDocument(
            self._live.state,
            agent_name=self._agent_name,
            timings=self._live.timings,
            began_s=time.monotonic(),
            owns=self._selection.owns,
            slots=("head", "now"),
        )

    def _opened(self, view: CellView) -> None:
        self._view = view
        view.changed([EntryChanged(key) for key in self._selection.entries()])
        self._note([])

    def _note(self, changes: list[SessionChange]) -> None:
        keys = [change.key for change in changes if isinstance(change, EntryChanged)]
        fresh = dict.fromkeys(filter(self._live.state.is_open_question, keys))
        self._asked |= fresh
        self._pending |= fresh
        if self._view is not None:
            self._view.changed(self._selection.select(changes))
        while self._pending and not self._is_pending(next(iter(self._pending))):
            del self._pending[next(iter(self._pending))]
        if not self._pending and self._subscription is not None:
            self._subscription.close()
            self._subscription = None
            if self._view is not None:
                self._view.put(self._record())

    def _is_pending(self, key: EntryKey) -> bool:
        """Whether a question is open, or the agent has yet to confirm an opened url."""
        if self._live.state.is_open_question(key):
            return True
        asked = self._live.state.elicitations.get(ElicitationId(key.id))
        if key.kind != "elicitation" or asked is None or asked.request.url_request is None:
            return False
        is_opened = asked.answer is not None and asked.answer.action == "accept"
        return is_opened and not asked.is_completed and self._live.state.is_connected

    def _record(self) -> dict[str, str]:
        from acp_notebook.budget import Credit
        from acp_notebook.render.record import record_bundle

        return record_bundle(
            self._live.state,
            list(self._asked),
            agent_name=self._agent_name,
            stop_reason=None,
            ending=False,
            # The agent thread makes it, so that even ordinary texts are charged.
            credit=Credit(_RECORD_SECONDS, ordinary=0.0),
        )


class QuestionPlace:
    """The present cell as an audience, which shows questions in cards. Made in that cell."""

    can_ask = True

    def __init__(self, agent: Agent) -> None:
        self._agent = agent
        self._cards: list[QuestionCard] = []
        kernel = present_kernel()
        channel = find_shell_channel(kernel)[0] if kernel is not None else None
        self._in_cell: Callable[[], AbstractContextManager[None]] = nullcontext
        if channel is not None:
            self._in_cell = partial(channel.output_for, channel.parent)

    def ask(self, question: Question) -> None:
        """Show a card, unless a card of the session is open, which shows the question too."""
        self._cards = [card for card in self._cards if not card.is_over]
        if any(card.shows(question) for card in self._cards):
            return
        card = QuestionCard(question.session, self._agent.label)
        self._cards.append(card)
        shown = run_on_main(lambda: self._show(card))
        shown.add_done_callback(lambda _: self._agent.thread.post(lambda: _shown(question, shown)))

    def _show(self, card: QuestionCard) -> None:
        # The main thread may serve another cell, or none, when it runs this.
        with self._in_cell():
            card.show()


def _shown(question: Question, shown: Future[None]) -> None:
    if shown.exception() is not None:
        question.give_up(f"the question could not be shown: {shown.exception()}")


def show_questions(agent: Agent, *, but: LiveSession | None = None) -> None:
    """Show all open questions of an agent in the present cell, one card per session.

    Only in a notebook: a console has asked already, and a headless notebook has no reader.
    """
    if present_front_end() != "notebook":
        return

    def cards() -> list[QuestionCard]:
        asking = [
            live for live in agent.connection.routes.sessions if live.questions and live is not but
        ]
        return [QuestionCard(live, agent.label) for live in asking]

    for card in agent.thread.call(cards):
        card.show()
