"""The prompt queue of one open session: one prompt runs at a time, the others wait.

For each prompt: accept it, send its user message and the running state, run the author's function,
and end the turn with idle, whatever happened. Knows this order; not the forms on the wire.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import TypeAlias

from acp_notebook.agent_kit import updates
from acp_notebook.agent_kit.session import TITLE_LIMIT
from acp_notebook.agent_kit.session_client import SessionClient
from acp_notebook.agent_kit.turn import Turn
from acp_notebook.agent_kit.updates import Block
from acp_notebook.jsonrpc import (
    INTERNAL_ERROR,
    REQUEST_CANCELLED,
    ConnectionLost,
    IncomingRequest,
    RpcError,
)

logger = logging.getLogger(__name__)

_Prompt: TypeAlias = tuple[IncomingRequest, Turn]


class PromptQueue:
    """Runs the prompts of one session, on one connection."""

    def __init__(
        self, client: SessionClient, *, reply: Callable[[Turn], Awaitable[object]], pace_s: float
    ) -> None:
        self.client = client
        self._reply = reply
        self._pace_s = pace_s
        self._waiting: deque[_Prompt] = deque()
        self._turn: Turn | None = None
        self._task: asyncio.Task[None] | None = None
        self._is_begun = False

    def prompt(self, request: IncomingRequest, blocks: Sequence[Block]) -> None:
        """Queue a prompt; it runs when the earlier ones have ended."""
        prompt = (request, Turn(self.client, blocks, self._pace_s))
        self._waiting.append(prompt)
        request.on_cancel = partial(self._withdraw, prompt)
        if self._task is None:
            self._start()

    def cancel(self) -> None:
        """Cancel the running turn and the waiting prompts, if there are any."""
        for request, _ in self._waiting:
            request.fail(REQUEST_CANCELLED, "The prompt was cancelled before its turn came.")
        self._waiting.clear()
        if self._turn is not None and self._task is not None and not self._turn.cancelled:
            self._turn.cancelled = True
            # A task that is cancelled before it starts never runs and would answer no prompt.
            if self._is_begun:
                self._task.cancel()

    async def aclose(self) -> None:
        """Cancel all prompts and wait until the running turn has ended."""
        self.cancel()
        if self._task is not None:
            await asyncio.wait({self._task})

    def _withdraw(self, prompt: _Prompt) -> None:
        if prompt in self._waiting:
            self._waiting.remove(prompt)
        else:
            self.cancel()

    def _start(self) -> None:
        request, self._turn = self._waiting.popleft()
        self._is_begun = False
        self._task = asyncio.create_task(self._run(request, self._turn))
        self._task.add_done_callback(self._ended)

    def _ended(self, _task: asyncio.Task[None]) -> None:
        self._turn = self._task = None
        if self._waiting:
            self._start()

    async def _run(self, request: IncomingRequest, turn: Turn) -> None:
        client, session = self.client, self.client.session
        error: RpcError | None = None
        self._is_begun = True
        client.wire.accept(request)
        client.send(updates.user_message(session.new_id("message"), turn.blocks))
        client.send(updates.state("running"))
        try:
            if not turn.cancelled:
                if session.title is None and turn.text:
                    await turn.title(" ".join(turn.text.split())[:TITLE_LIMIT])
                await self._reply(turn)
        except asyncio.CancelledError:
            logger.debug("The turn was cancelled.")
        except Exception as failure:  # noqa: BLE001 - the author's code; the turn must end
            error = _reported_error(failure, turn)
        # Nothing is awaited from here on, so that no second cancel can interfere.
        stop_reason = "cancelled" if turn.cancelled else turn.stop_reason
        turn.settle_tools("failed" if error else "cancelled" if turn.cancelled else "completed")
        client.send(client.wire.finish(request, stop_reason, error))


def _reported_error(failure: Exception, turn: Turn) -> RpcError | None:
    """Return the error to report; `None` if the cause is a cancel or a lost connection."""
    if turn.cancelled or isinstance(failure, ConnectionLost):
        # Libraries raise all sorts of errors when they are cancelled; none is worth reporting.
        logger.debug("The turn was given up.", exc_info=failure)
        return None
    logger.error("The agent's function failed.", exc_info=failure)
    if isinstance(failure, RpcError):
        return failure
    return RpcError(INTERNAL_ERROR, f"{type(failure).__name__}: {failure}")
