"""A user's function, sync or async, on the kernel's own event loop. Knows no agent."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable
from typing import Any

from acp_notebook.client.user_functions import call_sync_or_async


def call_on_kernel_loop(function: Callable[..., Any], *args: Any) -> Any:
    """Call it; an awaitable is awaited on the kernel's own loop, which is already running.

    That needs nest-asyncio2 (the kept fork, which ipykernel 7 itself depends on). It is applied
    here, at the first async function, and not before: it patches asyncio for the whole process.
    """
    result = function(*args)
    if not inspect.isawaitable(result):
        return result
    try:
        loop = asyncio.get_running_loop()
    except RuntimeError:
        return call_sync_or_async(lambda: result)
    import nest_asyncio2

    nest_asyncio2.apply(loop)
    return loop.run_until_complete(_await(result))


async def _await(awaitable: Any) -> Any:
    return await awaitable
