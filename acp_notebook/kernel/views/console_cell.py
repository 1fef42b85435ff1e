"""A turn at a console without widgets: text is printed as it comes, `input` asks questions.

For plain `ipython` and for consoles of a kernel. The waiting thread prints. Knows no wire.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from acp_notebook.client.live.elicitation_request import ElicitationRequest
from acp_notebook.client.live.permission_request import PermissionRequest
from acp_notebook.errors import UsageError
from acp_notebook.kernel.views.console_form import ask_at_console, drop_typed_ahead
from acp_notebook.kernel.waiting.pump import run_on_main
from acp_notebook.session.changes import EntryChanged, SessionChange
from acp_notebook.session.selection import Selection

if TYPE_CHECKING:
    from acp_notebook.client.agent import Agent
    from acp_notebook.client.live.question import Question
    from acp_notebook.client.turn import Turn
    from acp_notebook.render.text.console import ConsoleText
    from acp_notebook.session.state import EntryKey
    from acp_notebook.session.updates import PermissionOption

logger = logging.getLogger(__name__)


class ConsoleAudience:
    """The console as an audience: asks questions at its prompt, one after another."""

    can_ask = True

    def __init__(self, agent: Agent) -> None:
        self._thread = agent.thread
        self._agent_name = agent.label

    def ask(self, question: Question) -> None:
        """Ask on the main thread, and settle by the typed answer."""
        if isinstance(question, PermissionRequest):
            answer: Future[Any] = run_on_main(self._choice(question))
        else:
            assert isinstance(question, ElicitationRequest)
            request = question.request
            answer = run_on_main(lambda: ask_at_console(request, self._agent_name))
        answer.add_done_callback(lambda _: self._thread.post(lambda: _take(question, answer)))

    def _choice(self, question: PermissionRequest) -> Callable[[], str | None]:
        from acp_notebook.render.text.console import NOT_WHOLE, question_text

        state = question.session.state
        permission, options = state.permissions[question.request.permission_id], question.options
        text = question_text(state, permission, self._agent_name)
        is_whole = not text.endswith(NOT_WHOLE)
        return lambda: choose_at_console(
            text, options, lambda: question.is_open, only_rejects=not is_whole
        )


def _take(question: Question, answer: Future[Any]) -> None:
    given = None
    try:
        given = answer.result()
    except Exception as error:  # noqa: BLE001 - an interrupt, or no thread that could ask
        logger.info("The question at the console was given up: %s", error)
    if isinstance(question, ElicitationRequest):
        if given is None:
            question.cancel("the question was interrupted")
        elif given[0] == "accept" and question.form is not None:
            question.submit(given[1])
        else:
            question.reply(given[0])
    elif given is None:
        question.give_up("nobody answered at the console")
    else:
        with suppress(UsageError):  # the question was settled meanwhile
            question.answer(given)


class ConsoleCell:
    """Prints one turn. Made on the waiting thread."""

    def __init__(self, turn: Turn) -> None:
        self._turn = turn
        self._live = turn.session.live
        self._thread = turn.session.agent.thread
        self._selection = Selection.of_turn(self._live.state, turn.prompt_id)
        self._text: ConsoleText | None = None
        self._due: dict[EntryKey, None] = {}
        self._printing: Future[None] | None = None
        self._is_concluded = False

    def show_live(self) -> None:
        """Print the turn so far, then new text as it comes."""
        from acp_notebook.render.text.console import ConsoleText

        def begin() -> None:
            self._text = ConsoleText(self._live.state, self._live.timings)
            self._due = dict.fromkeys(self._live.state.entries_of(self._turn.prompt_id))
            self._subscription = self._live.subscribe(self._note)

        self._thread.call(begin)
        self._print()

    def _note(self, changes: list[SessionChange]) -> None:
        own = filter(self._selection.is_own, changes)
        self._due |= {change.key: None for change in own if isinstance(change, EntryChanged)}
        is_printed_soon = self._printing is not None and not self._printing.done()
        # Without a waiting thread, the next wait prints it.
        if self._due and self._turn.waiters and not is_printed_soon:
            self._printing = run_on_main(self._print)

    def _print(self) -> None:
        words = self._thread.call(self._take_due)
        if words:
            print(words, end="", flush=True)  # noqa: T201 - a console is where this runs

    def _take_due(self) -> str:
        keys, self._due = self._due, {}
        return self._text.more(keys) if self._text is not None else ""

    def prepare_wait(self) -> None:
        """Print the text that came while no thread waited."""
        if not self._is_concluded:
            self._print()

    def conclude(self, *, is_waited: bool) -> bool:
        """Print the rest and the outcome, once; only the waiting thread prints."""
        if self._is_concluded or not is_waited:
            return self._is_concluded
        self._is_concluded = True
        self._print()
        print(self._thread.call(self._ending))  # noqa: T201 - a console is where this runs
        return True

    def _ending(self) -> str:
        from acp_notebook.render.header import Ending

        self._subscription.close()
        turn, state = self._turn, self._live.state
        prompt = state.prompts[turn.prompt_id]
        background = len(state.background or ())
        ending = Ending(prompt.stop_reason, prompt.failure, turn.elapsed_s, turn.usage, background)
        assert self._text is not None
        return self._text.end(turn.session.agent.label, ending).rstrip("\n")


def choose_at_console(
    text: str,
    options: tuple[PermissionOption, ...],
    is_open: Callable[[], bool],
    *,
    only_rejects: bool = False,
) -> str | None:
    """Ask for an option and return its id; None if nobody answers."""
    from acp_notebook.render.text.console import option_names, typed_place

    names = option_names(options)
    drop_typed_ahead()
    print(f"\n{text}")  # noqa: T201 - a console is where this runs
    while is_open():
        try:
            line = input("Choose a number: ").strip()
        except (EOFError, OSError):
            return None
        place = typed_place(line, names)
        option = options[place] if place is not None else None
        if option is not None and (option.kind.startswith("reject") or not only_rejects):
            return option.option_id
    return None
