"""The running agents and their end, within a bounded time whatever hangs. Knows no notebook.

The agent thread ends agents in stages and gives back all that they took. If it does not within
`PATIENCE_S`, because it is busy or because an agent withstands, or if the user interrupts, the
processes are killed from the caller's thread.
"""

from __future__ import annotations

import atexit
import concurrent.futures
import itertools
import os
import time
import weakref
from collections.abc import Iterable
from contextlib import suppress
from typing import TYPE_CHECKING

from acp_notebook.client.host import current_host
from acp_notebook.client.interrupted import WaitInterrupted

if TYPE_CHECKING:
    from acp_notebook.client.agent import Agent

PATIENCE_S = 3.5
# For the agent thread to notice that processes were killed.
NOTICE_S = 0.5


_living: weakref.WeakValueDictionary[int, Agent] = weakref.WeakValueDictionary()
_numbers = itertools.count()


def register(agent: Agent) -> None:
    """Have an agent ended at the latest when this process exits."""
    _living[next(_numbers)] = agent


def running_agents() -> list[Agent]:
    """Return the agents of this process that were not ended, in the order of their start."""
    return [agent for agent in list(_living.values()) if not agent.has_quit]


def end_all(agents: Iterable[Agent]) -> list[str]:
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


@atexit.register
def _kill_all() -> None:
    for agent in list(_living.values()):
        agent.kill_now()


if hasattr(os, "register_at_fork"):  # not on Windows
    # The agents stay with the process that started them, and live on when a fork of it exits.
    os.register_at_fork(after_in_child=_living.clear)
