"""The interrupt of a wait, told in one line. Knows nothing of what was waited for."""

from __future__ import annotations

import asyncio


class WaitInterrupted(KeyboardInterrupt):
    """An interrupt of a wait. Queued cells do not run."""

    def _render_traceback_(self) -> list[str]:
        # IPython calls this: one line instead of a traceback through our own code.
        return [str(self)]


def tell_in_one_line(error: asyncio.CancelledError, words: str) -> None:
    """Let IPython print the words in place of a traceback, if the error ends a cell.

    The error stays what it is: `asyncio.timeout` takes no subclass for a cancellation.
    """
    vars(error)["_render_traceback_"] = lambda: [f"{type(error).__name__}: {words}"]
