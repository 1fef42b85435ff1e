"""Whom a message of the agent concerns: the ids in its params, without what it says.

Both versions write them alike. Knows no session.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from acp_notebook.protocol.fields import Json, optional_text
from acp_notebook.session.updates import SessionId

UPDATE: Final = "session/update"
REQUEST_PERMISSION: Final = "session/request_permission"


class SessionScope(NamedTuple):
    """A question that belongs to a session; None: the params name none that can be one."""

    session_id: SessionId | None


class RequestScope(NamedTuple):
    """A question that belongs to a request of this client's, such as a login."""

    request_id: int | str


def read_update(params: Json) -> tuple[SessionId, Any]:
    """The session that a `session/update` is for, and the update as the session's reader takes it.

    An id that is no text is one that no session has.
    """
    return SessionId(str(params.get("sessionId"))), params.get("update")


def request_scope(params: Json) -> SessionScope | RequestScope:
    """What a request of the agent belongs to; a session, if it names both."""
    request_id = params.get("requestId")
    if "sessionId" in params or not isinstance(request_id, (int, str)):
        session_id = optional_text(params, "sessionId")
        return SessionScope(SessionId(session_id) if session_id is not None else None)
    return RequestScope(request_id)


def opened_session_id(answer: Any) -> SessionId | None:
    """The id in the answer to `session/new`, or None if it has none."""
    found = optional_text(answer, "sessionId") if isinstance(answer, dict) else None
    return SessionId(found) if found is not None else None
