"""Calls and answers that both versions write alike. Knows neither version."""

from __future__ import annotations

from typing import Any

from acp_notebook.protocol.dialect import Call, given


class SharedCalls:
    """The part of a dialect that is the same in both versions."""

    def list_sessions(self, cwd: str | None, cursor: str | None) -> Call:
        """One page of `session/list`."""
        return Call("session/list", given(cwd=cwd, cursor=cursor))

    def close_session(self, session_id: str) -> Call:
        """`session/close`."""
        return Call("session/close", {"sessionId": session_id})

    def delete_session(self, session_id: str) -> Call:
        """`session/delete`."""
        return Call("session/delete", {"sessionId": session_id})

    def permission_outcome(self, option_id: str | None) -> dict[str, Any]:
        """The result for a permission request; None is the outcome `cancelled` (PERM-2)."""
        if option_id is None:
            return {"outcome": {"outcome": "cancelled"}}
        return {"outcome": {"outcome": "selected", "optionId": option_id}}
