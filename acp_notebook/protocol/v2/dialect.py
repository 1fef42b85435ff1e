"""Writing v2 calls and reading v2's answer to `initialize`. Knows no session's state."""

from __future__ import annotations

from typing import Any

from acp_notebook.protocol import fields
from acp_notebook.protocol.client_calls import ClientCalls
from acp_notebook.protocol.dialect import (
    AuthMethod,
    Call,
    Capabilities,
    ClientCapabilities,
    Implementation,
    SessionSetup,
    Version,
    elicitation_modes,
)
from acp_notebook.protocol.fields import Json, given
from acp_notebook.protocol.shared_calls import SharedCalls, auth_method, implementation
from acp_notebook.protocol.v2.normalize import V2Reader
from acp_notebook.session.updates import ConfigOption


class V2Dialect(SharedCalls):
    """ACP v2 on the client's side."""

    version = 2
    takes_prompts_while_busy = True
    client_calls: ClientCalls | None = None

    def reader(self) -> V2Reader:
        """Return a reader for a new session."""
        return V2Reader()

    def resume(
        self, session_id: str, setup: SessionSetup, capabilities: Capabilities, *, replay: bool
    ) -> Call | None:
        """`session/resume`, which every v2 agent with sessions serves."""
        if not capabilities.resume:
            return None
        params: dict[str, Any] = {"sessionId": session_id, **self.new_session(setup).params}
        if replay:
            params["replayFrom"] = {"type": "start"}
        return Call("session/resume", params)

    def login(self, method_id: str) -> Call:
        """`auth/login`, for methods of type `agent` only (AUTH-2)."""
        return Call("auth/login", {"methodId": method_id})

    def logout(self) -> Call:
        """`auth/logout`."""
        return Call("auth/logout", {})

    def cancel_tool_call(self, session_id: str, tool_call_id: str) -> Call | None:
        """`tool_call/cancel`, for calls that advertise it (TOOL-9)."""
        return Call("tool_call/cancel", {"sessionId": session_id, "toolCallId": tool_call_id})

    def cancel_terminal(self, session_id: str, terminal_id: str) -> Call | None:
        """`terminal/cancel`, for terminals that advertise it."""
        return Call("terminal/cancel", {"sessionId": session_id, "terminalId": terminal_id})

    def set_option(self, session_id: str, option: ConfigOption, value: str | bool) -> Call:
        """`session/set_config_option`."""
        params: dict[str, Any] = {
            "sessionId": session_id,
            "configId": option.id,
            "type": "boolean" if isinstance(value, bool) else "id",
            "value": value,
        }
        return Call("session/set_config_option", params)


def write_offer(client: Json, served: ClientCapabilities) -> dict[str, Any]:
    """Return the members of `initialize` that a v2 agent reads."""
    return {"info": client, "capabilities": write_capabilities(served)}


def is_spoken_in(answer: Json) -> bool:
    """Whether an answer to `initialize` has v2's members: several agents only echo the number."""
    return isinstance(answer.get("info"), dict) and isinstance(answer.get("capabilities"), dict)


def write_capabilities(served: ClientCapabilities) -> dict[str, Any]:
    """Return this client's capabilities in v2's form, where an object marks support."""
    return given(
        auth={"terminal": {}} if served.terminal_login else None,
        elicitation=elicitation_modes(served) or None,
    )


def read_capabilities(answer: Json) -> Capabilities:
    """Read an agent's capabilities: an object is supported, absent and null are not (INIT-4)."""
    offered = fields.optional_object(answer, "capabilities") or {}
    session = fields.optional_object(offered, "session")
    if session is None:
        return Capabilities(sessions=False)
    prompt = fields.optional_object(session, "prompt") or {}
    mcp = fields.optional_object(session, "mcp") or {}
    return Capabilities(
        image=isinstance(prompt.get("image"), dict),
        audio=isinstance(prompt.get("audio"), dict),
        embedded_context=isinstance(prompt.get("embeddedContext"), dict),
        mcp_http=isinstance(mcp.get("http"), dict),
        mcp_stdio=isinstance(mcp.get("stdio"), dict),
        list_sessions=True,
        resume=True,
        replay=True,
        close=True,
        delete=isinstance(session.get("delete"), dict),
        additional_directories=isinstance(session.get("additionalDirectories"), dict),
        logout=bool(answer.get("authMethods")),
    )


def read_info(answer: Json) -> Implementation:
    """Read the agent's identity."""
    return implementation(fields.optional_object(answer, "info") or {})


def read_auth_method(value: Any) -> AuthMethod:
    """Read an entry of `authMethods`.

    Raises:
        Malformed: The method has no id.
    """
    raw = fields.as_object(value, "auth method")
    env = [item for item in fields.optional_array(raw, "env") if isinstance(item, dict)]
    pairs = [(fields.text(item, "name"), fields.text(item, "value")) for item in env]
    return auth_method(raw, "methodId", pairs)


VERSION = Version(
    V2Dialect(), write_offer, is_spoken_in, read_info, read_capabilities, read_auth_method
)
