"""Whether an agent may change something through this client now. Knows no file and no process.

The agent asks for its tool call itself, so a write or a command is not asked about again. It has to
belong to a turn that goes on and is not stopped, and the policy `reject` allows none.
"""

from __future__ import annotations

from acp_notebook.client.live.live_session import LiveSession
from acp_notebook.jsonrpc import INVALID_PARAMS, RpcError
from acp_notebook.session import updates as u
from acp_notebook.session.admission import Admission, NotAdmitted, admit

_NO_TURN = "No turn is going on. Nothing was done. Wait for the user's next prompt."
_REJECTED = "Not allowed (policy reject). Nothing was done. Ask the user what they want instead."


def ask_leave(session: LiveSession, what: str) -> Admission:
    """Return the turn that a request belongs to; the session shows a refusal.

    Args:
        session: The session, or a child session of it, that the request came for.
        what: The request in words, such as "write notes.txt".

    Raises:
        RpcError: The request is refused.
    """
    owner = session.owner
    try:
        admission = admit(owner.state)
    except NotAdmitted as refusal:
        reason = str(refusal)
    else:
        is_rejected = owner.respondents.policy == "reject"
        reason = _NO_TURN if admission.is_background else _REJECTED if is_rejected else ""
        if not reason:
            return admission
    session.apply([u.Notice("warning", f"Refused to {what}", reason)])
    raise RpcError(INVALID_PARAMS, reason)
