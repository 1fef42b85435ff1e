"""Waiting for an agent's work, blocking or in async code. Knows neither turns nor sessions."""

from __future__ import annotations

import asyncio
import concurrent.futures
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from acp_notebook.client.host import current_host
from acp_notebook.client.interrupted import WaitInterrupted

CANCEL_GRACE_S = 5.0
LOOP_TURN_S = 0.2


class TurnInterrupted(WaitInterrupted):
    """An interrupt of a wait, after the turn was cancelled. Queued cells do not run."""


def wait_or_cancel(
    done: concurrent.futures.Future[None],
    timeout_s: float | None,
    *,
    cancel: Callable[[], object],
    outcome: Callable[[], str],
) -> bool:
    """Wait on the caller's thread; an interrupt cancels the work, a second one ends the wait.

    Args:
        done: Done at the end of the work.
        timeout_s: The longest wait; None waits without limit.
        cancel: Asks the agent to stop.
        outcome: Returns the outcome in a few words.

    Returns:
        False on timeout.

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
    """Wait in async code; return False on timeout. Never cancels the work itself."""
    loop = asyncio.get_running_loop()
    seen: asyncio.Future[None] = loop.create_future()

    def see() -> None:
        if not seen.done():
            seen.set_result(None)

    def on_done(_: Any) -> None:
        # The loop may be closed before the work ends.
        with suppress(RuntimeError):
            loop.call_soon_threadsafe(see)

    done.add_done_callback(on_done)
    end = None if timeout_s is None else loop.time() + timeout_s
    with current_host().attended():
        while not seen.done():
            left = LOOP_TURN_S if end is None else min(LOOP_TURN_S, end - loop.time())
            if left <= 0:
                break
            # A signal handler cancels the cell's task without waking a loop that sleeps.
            await asyncio.wait([seen], timeout=left)
    return done.done()
