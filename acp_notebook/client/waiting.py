"""How a user waits for an agent's work: an interrupt cancels it, a second one ends the wait.

Also the wait in async code, which leaves the event loop free. Knows neither turns nor sessions.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from acp_notebook.client.host import current_host

CANCEL_GRACE_S = 5.0


class TurnInterrupted(KeyboardInterrupt):
    """A wait was interrupted and the turn cancelled, so that queued cells do not run."""

    def _render_traceback_(self) -> list[str]:
        # IPython asks for this: one line instead of a traceback through our own code.
        return [str(self)]


def wait_or_cancel(
    done: concurrent.futures.Future[None],
    timeout_s: float | None,
    *,
    cancel: Callable[[], object],
    outcome: Callable[[], str],
) -> bool:
    """Wait on the caller's thread.

    Args:
        done: The end of the work.
        timeout_s: Seconds to wait at most; None waits without limit.
        cancel: Asks the agent to stop.
        outcome: How the work ended, in a few words.

    Returns:
        False if the time was over.

    Raises:
        TurnInterrupted: The wait was interrupted.
    """
    try:
        return current_host().wait(done, timeout_s)
    except KeyboardInterrupt:
        raise _interrupted(done, cancel, outcome) from None


def _interrupted(
    done: concurrent.futures.Future[None], cancel: Callable[[], object], outcome: Callable[[], str]
) -> TurnInterrupted:
    try:
        cancel()
        if current_host().wait(done, CANCEL_GRACE_S):
            return TurnInterrupted(f"Turn interrupted: {outcome()}.")
        return TurnInterrupted(
            "Turn interrupted, but the agent has not confirmed the cancel. It may still "
            "work; `%acp stop` once more ends its process."
        )
    except KeyboardInterrupt:
        return TurnInterrupted(
            "Stopped waiting. The cancel was sent; `%acp` shows what the agent does."
        )


async def wait_in_loop(done: concurrent.futures.Future[None], timeout_s: float | None) -> bool:
    """Wait in async code; False if the time was over. What is waited for is never cancelled."""
    loop = asyncio.get_running_loop()
    seen: asyncio.Future[None] = loop.create_future()

    def see() -> None:
        if not seen.done():
            seen.set_result(None)

    def tell(_: Any) -> None:
        # The loop may be over by the time the agent is.
        with suppress(RuntimeError):
            loop.call_soon_threadsafe(see)

    done.add_done_callback(tell)
    with current_host().attended():
        await asyncio.wait([seen], timeout=timeout_s)
    return done.done()
