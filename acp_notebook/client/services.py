"""What this client serves to an agent: a table of methods, and the offer that names them.

What is advertised and what is answered come from one place, so that they cannot differ (INIT-5).
Knows no method's meaning.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from acp_notebook.client.live_session import LiveSession
from acp_notebook.jsonrpc import IncomingRequest
from acp_notebook.protocol.dialect import ClientOffer

# A request of the agent, the session it is about (None: none is open yet), and its params. It is
# answered by this call or later, exactly once.
Service = Callable[[IncomingRequest, LiveSession, dict[str, Any]], None]
# A notification's params.
Listener = Callable[[dict[str, Any]], None]


def _ask(incoming: IncomingRequest, session: LiveSession, params: dict[str, Any]) -> None:
    session.ask(incoming, params)


@dataclass(slots=True)
class Services:
    """Methods by name. Permission requests are served always."""

    offer: ClientOffer = field(default_factory=ClientOffer)
    requests: dict[str, Service] = field(
        default_factory=lambda: {"session/request_permission": _ask}
    )
    notifications: dict[str, Listener] = field(default_factory=dict)
