"""Which session a message is about, read alike in every version.

Knows no session.
"""

from __future__ import annotations

from typing import Any

from acp_notebook.protocol.fields import Json


def read_update(params: Json) -> tuple[str, Any]:
    """The session id and the update of a `session/update`; neither is checked."""
    return str(params.get("sessionId")), params.get("update")


def scope_of(params: Json) -> tuple[str | None, int | str | None]:
    """The session id of a request's params, else the id of the request of ours that it is about.

    Both are None for a request that names neither.
    """
    request_id = params.get("requestId")
    if "sessionId" in params:
        return str(params["sessionId"]), None
    return None, request_id if isinstance(request_id, (int, str)) else None


def opened_session_id(answer: Any) -> str | None:
    """The session id in the answer to `session/new`; None if there is none."""
    session_id = answer.get("sessionId") if isinstance(answer, dict) else None
    return session_id if isinstance(session_id, str) else None
