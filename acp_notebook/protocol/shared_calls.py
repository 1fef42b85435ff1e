"""Calls and answers that both versions share. Knows neither version."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from acp_notebook.protocol import fields
from acp_notebook.protocol.content import write_block
from acp_notebook.protocol.dialect import (
    AuthMethod,
    Call,
    Implementation,
    ListedSession,
    SessionPage,
    SessionSetup,
)
from acp_notebook.protocol.fields import Json, given, optional_text
from acp_notebook.session.content import ContentBlock


class SharedCalls:
    """The common part of both dialects."""

    def new_session(self, setup: SessionSetup) -> Call:
        """`session/new`."""
        servers = [self.mcp_server(server) for server in setup.mcp_servers]
        params: dict[str, Any] = {"cwd": setup.cwd, "mcpServers": servers}
        if setup.directories:
            params["additionalDirectories"] = list(setup.directories)
        return Call("session/new", params)

    def mcp_server(self, server: Json) -> dict[str, Any]:
        """Return an entry of `mcpServers` with its type (SESS-2)."""
        return dict(server)

    def prompt(self, session_id: str, content: Sequence[ContentBlock]) -> Call:
        """`session/prompt`."""
        prompt = [write_block(block) for block in content]
        return Call("session/prompt", {"sessionId": session_id, "prompt": prompt})

    def cancel(self, session_id: str) -> Call:
        """`session/cancel`, a notification."""
        return Call("session/cancel", {"sessionId": session_id})

    def list_sessions(self, cwd: str | None, cursor: str | None) -> Call:
        """One page of `session/list`."""
        return Call("session/list", given(cwd=cwd, cursor=cursor))

    def read_sessions(self, answer: Any) -> SessionPage:
        """Read a page of sessions, and the cursor of the next one."""
        raw = answer if isinstance(answer, dict) else {}
        found = fields.valid_items(fields.optional_array(raw, "sessions"), _listed)
        return SessionPage(found, optional_text(raw, "nextCursor"))

    def close_session(self, session_id: str) -> Call:
        """`session/close`."""
        return Call("session/close", {"sessionId": session_id})

    def delete_session(self, session_id: str) -> Call:
        """`session/delete`."""
        return Call("session/delete", {"sessionId": session_id})

    def permission_outcome(self, option_id: str | None) -> dict[str, Any]:
        """Return the result for a permission request; None is the outcome `cancelled` (PERM-2)."""
        if option_id is None:
            return {"outcome": {"outcome": "cancelled"}}
        return {"outcome": {"outcome": "selected", "optionId": option_id}}


def _listed(value: Any) -> ListedSession:
    raw = fields.as_object(value, "session")
    return ListedSession(
        fields.text(raw, "sessionId"),
        optional_text(raw, "cwd") or "",
        optional_text(raw, "title"),
        optional_text(raw, "updatedAt"),
    )


def implementation(raw: Json) -> Implementation:
    """Read an implementation, whose name and version may be missing."""
    return Implementation(
        optional_text(raw, "name") or "agent",
        optional_text(raw, "version") or "",
        optional_text(raw, "title"),
    )


def auth_method(raw: Json, id_key: str, env: Sequence[tuple[str, str]]) -> AuthMethod:
    """Read a login method; the versions differ in the id's name and the environment's form.

    Raises:
        Malformed: The method has no id.
    """
    method_id = fields.text(raw, id_key)
    return AuthMethod(
        method_id,
        optional_text(raw, "name") or method_id,
        optional_text(raw, "type") or "agent",
        optional_text(raw, "description"),
        tuple(arg for arg in fields.optional_array(raw, "args") if isinstance(arg, str)),
        tuple(env),
        raw,
    )
