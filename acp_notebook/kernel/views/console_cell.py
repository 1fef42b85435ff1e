"""A turn at a console: its text is printed as it comes, and questions are asked by `input`.

For plain `ipython` and for consoles of a kernel, which have no widgets. Everything is printed by
the thread that waits. Knows no wire.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import Future
from typing import TYPE_CHECKING

from acp_notebook.kernel.waiting.pump import run_on_main
from acp_notebook.session.changes import EntryChanged, SessionChange
from acp_notebook.session.timings import Timings

if TYPE_CHECKING:
    from acp_notebook.client.turn import Turn
    from acp_notebook.render.text.console import ConsoleText
    from acp_notebook.session.state import EntryKey
    from acp_notebook.session.updates import PermissionOption


class ConsoleCell:
    """Prints one turn. Made on the thread that waits for it."""

    def __init__(self, turn: Turn) -> None:
        self.turn = turn
        self._thread = turn.session.agent.thread
        self._timings = Timings(time.monotonic() - turn.elapsed_s)
        self._text: ConsoleText | None = None
        self._due: dict[EntryKey, None] = {}
        self._printing: Future[None] | None = None
        self._is_concluded = False

    @property
    def is_concluded(self) -> bool:
        """Whether the end was printed."""
        return self._is_concluded

    def show_live(self) -> None:
        """Print what there is so far."""
        from acp_notebook.render.text.console import ConsoleText

        def begin() -> None:
            state = self.turn.session.live.state
            self._text = ConsoleText(state, self._timings)
            self._due = dict.fromkeys(state.entries_of(self.turn.prompt_id))

        self._thread.call(begin)
        self.print()

    def note(self, changes: list[SessionChange]) -> None:
        """Something of this turn changed; on the agent thread."""
        self._timings.note(self.turn.session.live.state, changes, time.monotonic())
        self._due |= {change.key: None for change in changes if isinstance(change, EntryChanged)}
        is_printed_soon = self._printing is not None and not self._printing.done()
        # Without somebody who waits it is printed by the next one who does.
        if self._due and self.turn.waiters and not is_printed_soon:
            self._printing = run_on_main(self.print)

    def print(self) -> None:
        """Print what is due; on the thread that waits."""
        words = self._thread.call(self._take)
        if words:
            print(words, end="", flush=True)  # noqa: T201 - a console is where this runs

    def _take(self) -> str:
        keys, self._due = self._due, {}
        return self._text.more(keys) if self._text is not None else ""

    def conclude(self) -> None:
        """Print the rest and how it ended; once."""
        if self._is_concluded:
            return
        self._is_concluded = True
        self.print()
        print(self._thread.call(self._ending))  # noqa: T201 - a console is where this runs

    def _ending(self) -> str:
        from acp_notebook.render.header import Ending

        turn, state = self.turn, self.turn.session.live.state
        prompt = state.prompts[turn.prompt_id]
        ending = Ending(
            prompt.stop_reason,
            prompt.failure,
            turn.elapsed_s,
            state.usage,
            len(state.background or ()),
        )
        assert self._text is not None
        return self._text.end(turn.session.agent.label, ending).rstrip("\n")


def choose_at_console(
    text: str, options: tuple[PermissionOption, ...], is_open: Callable[[], bool]
) -> str | None:
    """Ask which option to choose; its id, or None if nobody answers."""
    print(f"\n{text}")  # noqa: T201 - a console is where this runs
    while is_open():
        try:
            line = input("Choose a number: ").strip()
        except (EOFError, OSError):
            return None
        for number, option in enumerate(options, 1):
            if line in (str(number), option.name):
                return option.option_id
    return None
