"""The prompt queue of one open session: one prompt at a time, the others wait.

A prompt is accepted, its user message and the running state are told, the author's function runs,
and idle ends the turn, whatever happened. Knows the order of these; not their form on the wire.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from functools import partial

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


class _Prompt:
    def __init__(self, request: IncomingRequest, blocks: Sequence[Block]) -> None:
        self.request = request
        self.blocks = blocks


class PromptQueue:
    """Works off the prompts of one session that a client has open."""

    def __init__(
        self, client: SessionClient, *, reply: Callable[[Turn], Awaitable[object]], pace_s: float
    ) -> None:
        self.session = client.session
        self._client = client
        self._reply = reply
        self._pace_s = pace_s
        self._waiting: deque[_Prompt] = deque()
        self._turn: Turn | None = None
        self._task: asyncio.Task[None] | None = None
        self._is_begun = False

    def prompt(self, request: IncomingRequest, blocks: Sequence[Block]) -> None:
        """Take a prompt; it runs when those before it have ended."""
        prompt = _Prompt(request, blocks)
        self._waiting.append(prompt)
        request.on_cancel = partial(self._withdraw, prompt)
        if self._task is None:
            self._start()

    def cancel(self) -> None:
        """Stop the turn and drop the prompts that wait. Without a turn it does nothing."""
        for prompt in self._waiting:
            prompt.request.fail(REQUEST_CANCELLED, "The prompt was cancelled before its turn came.")
        self._waiting.clear()
        if self._turn is not None and self._task is not None and not self._turn.cancelled:
            self._turn.cancelled = True
            # A task that is cancelled before it began never runs, and its prompt has no answer.
            if self._is_begun:
                self._task.cancel()

    async def aclose(self) -> None:
        """Stop everything and wait until it has stopped."""
        self.cancel()
        if self._task is not None:
            await asyncio.wait({self._task})

    def _withdraw(self, prompt: _Prompt) -> None:
        if prompt in self._waiting:
            self._waiting.remove(prompt)
        else:
            self.cancel()

    def _start(self) -> None:
        prompt = self._waiting.popleft()
        self._is_begun = False
        self._turn = Turn(self._client, prompt.blocks, self._pace_s)
        self._task = asyncio.create_task(self._run(prompt, self._turn))
        self._task.add_done_callback(self._ended)

    def _ended(self, _task: asyncio.Task[None]) -> None:
        self._turn = self._task = None
        if self._waiting:
            self._start()

    async def _run(self, prompt: _Prompt, turn: Turn) -> None:
        error: RpcError | None = None
        self._is_begun = True
        self._client.wire.accept(prompt.request)
        self._client.send(updates.user_message(self.session.new_id("message"), prompt.blocks))
        self._client.send(updates.state("running"))
        try:
            if not turn.cancelled:
                await self._name_session(turn)
                await self._reply(turn)
        except asyncio.CancelledError:
            logger.debug("The turn was cancelled.")
        except Exception as failure:  # noqa: BLE001 - the author's code; the turn must end
            error = _told(failure, turn)
        # From here nothing is awaited, so that no second stop can come between.
        stop_reason = "cancelled" if turn.cancelled else turn.stop_reason
        turn.settle_tools("failed" if error else "cancelled" if turn.cancelled else "completed")
        self._client.send(self._client.wire.finish(prompt.request, stop_reason, error))

    async def _name_session(self, turn: Turn) -> None:
        if self.session.title is None and turn.text:
            await turn.title(" ".join(turn.text.split())[:TITLE_LIMIT])


def _told(failure: Exception, turn: Turn) -> RpcError | None:
    """The failure as the client is told it; `None` if it only comes of a stop or of the end."""
    if turn.cancelled or isinstance(failure, ConnectionLost):
        # Libraries raise all sorts of errors when they are aborted: none of them is news.
        logger.debug("The turn was given up.", exc_info=failure)
        return None
    logger.error("The agent's function failed.", exc_info=failure)
    if isinstance(failure, RpcError):
        return failure
    return RpcError(INTERNAL_ERROR, f"{type(failure).__name__}: {failure}")
