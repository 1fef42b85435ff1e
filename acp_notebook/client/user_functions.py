"""Calling the user's functions, sync or async, without blocking the agents. Knows no agent."""

from __future__ import annotations

import asyncio
import concurrent.futures
import inspect
import threading
from collections.abc import Callable
from typing import Any


def run_on_own_thread(function: Callable[..., Any], *args: Any) -> concurrent.futures.Future[Any]:
    """Run a function on its own thread, and on its own loop if it is async.

    The thread is a daemon: a function that never returns must delay neither the next nor the exit.
    """
    result: concurrent.futures.Future[Any] = concurrent.futures.Future()

    def run() -> None:
        try:
            result.set_result(call_sync_or_async(function, *args))
        except BaseException as error:  # noqa: BLE001 - it belongs to the caller
            result.set_exception(error)

    threading.Thread(target=run, name="acp-user-function", daemon=True).start()
    return result


def call_sync_or_async(function: Callable[..., Any], *args: Any) -> Any:
    """Call a function; if it returns an awaitable, return the awaited value."""
    result = function(*args)
    if inspect.isawaitable(result):
        return asyncio.run(_await(result))
    return result


async def _await(awaitable: Any) -> Any:
    return await awaitable
