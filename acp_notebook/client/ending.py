"""The end of agents, within a bounded time whatever hangs. Knows no process and no notebook.

The agent thread ends agents in stages and gives back all that they took. If it does not within
`PATIENCE_S`, because it is busy or because an agent withstands, or if the user interrupts, the
processes are killed from the caller's thread.
"""

from __future__ import annotations

import concurrent.futures
import time
from collections.abc import Iterable
from contextlib import suppress
from typing import Protocol

from acp_notebook.client.host import current_host
from acp_notebook.errors import WaitInterrupted

PATIENCE_S = 4.0
# For the agent thread to notice that processes were killed.
NOTICE_S = 0.5


class Ending(Protocol):
    """An agent, as something that ends."""

    label: str

    def begin_to_end(self) -> concurrent.futures.Future[None]:
        """Begin to end it on the agent thread."""

    def kill_now(self) -> None:
        """Kill its processes at once; on any thread."""


def end_all(agents: Iterable[Ending]) -> list[str]:
    """End agents, all at the same time, and return the labels of those that were killed.

    Raises:
        WaitInterrupted: The wait was interrupted; what still ran is killed.
    """
    ends = [(agent, agent.begin_to_end()) for agent in agents]
    interrupted = False
    try:
        _wait_for([work for _, work in ends], PATIENCE_S)
    except KeyboardInterrupt:
        interrupted = True
    stuck = [(agent, work) for agent, work in ends if not work.done()]
    for agent, _ in stuck:
        agent.kill_now()
    killed = [agent.label for agent, _ in stuck]
    with suppress(KeyboardInterrupt):
        _wait_for([work for _, work in stuck], NOTICE_S)
    if interrupted:
        words = (
            f"Interrupted, so killed at once: {', '.join(killed)}." if killed else "Interrupted."
        )
        raise WaitInterrupted(words)
    for _, work in ends:
        if work.done():
            work.result()
    return killed


def _wait_for(works: list[concurrent.futures.Future[None]], seconds: float) -> None:
    deadline = time.monotonic() + seconds
    for work in works:
        if not work.done():
            current_host().wait(work, max(0.0, deadline - time.monotonic()))
