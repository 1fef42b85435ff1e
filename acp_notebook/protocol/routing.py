"""The ids in a message that decide its receiver, the same in both versions. Knows no session."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from acp_notebook.protocol.fields import Json, optional_text
from acp_notebook.session.updates import SessionId

UPDATE: Final = "session/update"
REQUEST_PERMISSION: Final = "session/request_permission"


class SessionScope(NamedTuple):
    """A request about a session; None if the params have no readable session id."""

    session_id: SessionId | None


class RequestScope(NamedTuple):
    """A request about a request of this client, such as a login."""

    request_id: int | str


def read_update(params: Json) -> tuple[SessionId, Any]:
    """Return the session id of a `session/update`, and the update; a bad id matches no session."""
    return SessionId(str(params.get("sessionId"))), params.get("update")


def request_scope(params: Json) -> SessionScope | RequestScope:
    """Return the scope of an agent's request; the session, if it names both."""
    request_id = params.get("requestId")
    if "sessionId" in params or not isinstance(request_id, (int, str)):
        session_id = optional_text(params, "sessionId")
        return SessionScope(SessionId(session_id) if session_id is not None else None)
    return RequestScope(request_id)


def session_id_in(value: Any) -> SessionId | None:
    """Return the session id in params or in the answer to `session/new`, or None."""
    found = optional_text(value, "sessionId") if isinstance(value, dict) else None
    return SessionId(found) if found is not None else None
