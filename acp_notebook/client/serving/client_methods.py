"""The table of methods that this client serves, and the capabilities that advertise them.

Both stand in one place so that they cannot differ (INIT-5). Knows no method's meaning.
"""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any, TypeVar

from acp_notebook.client.live.live_session import LiveSession
from acp_notebook.jsonrpc import INTERNAL_ERROR, INVALID_PARAMS, IncomingRequest, RpcError
from acp_notebook.protocol.client_calls import ClientCall
from acp_notebook.protocol.dialect import ClientCapabilities
from acp_notebook.protocol.elicitation import COMPLETE, CREATE
from acp_notebook.protocol.fields import Malformed
from acp_notebook.protocol.routing import REQUEST_PERMISSION

logger = logging.getLogger(__name__)

Q = TypeVar("Q")
R = TypeVar("R")

# Takes a request of the agent, its session and its params; answers now or later, exactly once.
ClientMethod = Callable[[IncomingRequest, LiveSession, dict[str, Any]], None]
AsyncClientMethod = Callable[[IncomingRequest, LiveSession, Q], Awaitable[R]]
# Takes the sessions of the connection and a notification's params.
Listener = Callable[[list[LiveSession], dict[str, Any]], None]

_running: set[asyncio.Task[None]] = set()  # a loop holds its tasks weakly


def serve_async(call: ClientCall[Q, R], work: AsyncClientMethod[Q, R]) -> ClientMethod:
    """Make a method that answers with the result or the error of async work.

    The work may raise `RpcError`, and `Malformed` for unreadable params.
    """

    async def run(incoming: IncomingRequest, session: LiveSession, params: dict[str, Any]) -> None:
        try:
            result = await work(incoming, session, call.read(params))
        except RpcError as error:
            incoming.fail(error.code, error.message, error.data)
        except Malformed as error:
            incoming.fail(INVALID_PARAMS, f"{incoming.method}: {error}")
        except Exception:
            logger.exception("The request %r could not be served.", incoming.method)
            incoming.fail(INTERNAL_ERROR, "Internal error: the request could not be served.")
        else:
            incoming.respond(call.write(result))

    def serve(incoming: IncomingRequest, session: LiveSession, params: dict[str, Any]) -> None:
        task = asyncio.get_running_loop().create_task(run(incoming, session, params))
        _running.add(task)
        task.add_done_callback(_running.discard)

    return serve


def _url_completed(sessions: list[LiveSession], params: dict[str, Any]) -> None:
    for session in sessions:
        session.url_completed(params)


def _default_offer() -> ClientCapabilities:
    # A login in a terminal needs a pseudo-terminal, which only POSIX has.
    return ClientCapabilities(forms=True, urls=True, terminal_login=os.name == "posix")


@dataclass(slots=True)
class ClientMethods:
    """Methods by name. Permission requests, forms and urls are always served."""

    capabilities: ClientCapabilities = field(default_factory=_default_offer)
    requests: dict[str, ClientMethod] = field(
        default_factory=lambda: {
            REQUEST_PERMISSION: lambda asked, live, params: live.ask_permission(asked, params),
            CREATE: lambda asked, live, params: live.ask_elicitation(asked, params),
        }
    )
    notifications: dict[str, Listener] = field(default_factory=lambda: {COMPLETE: _url_completed})
    on_closed: list[Callable[[LiveSession], None]] = field(default_factory=list)
    """Called with each session that has ended: closed, deleted, replaced, lost, or never opened."""

    def session_ended(self, session: LiveSession) -> None:
        """Notify the listeners of the end of a session."""
        for listener in self.on_closed:
            listener(session)
