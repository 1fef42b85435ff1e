"""Writing v2 calls and reading v2's initialize answer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from acp_notebook.protocol import fields
from acp_notebook.protocol.dialect import (
    AuthMethod,
    Call,
    Capabilities,
    ClientCapabilities,
    Implementation,
    SessionSetup,
    elicitation_modes,
)
from acp_notebook.protocol.fields import Json
from acp_notebook.protocol.shared_calls import SharedCalls
from acp_notebook.protocol.v2 import wire
from acp_notebook.protocol.v2.normalize import V2Reader
from acp_notebook.session.content import ContentBlock, optional_text, write_block
from acp_notebook.session.updates import ConfigOption


class V2Dialect(SharedCalls):
    """ACP v2 as the client speaks it."""

    version = 2
    takes_prompts_while_busy = True
    may_use_client = False

    def reader(self) -> V2Reader:
        """A reader for a new session."""
        return V2Reader()

    def new_session(self, setup: SessionSetup) -> Call:
        """`session/new`. Every MCP server entry carries its type (SESS-2)."""
        params: wire.NewSessionRequest = {
            "cwd": setup.cwd,
            "mcpServers": [dict(server) for server in setup.mcp_servers],
        }
        if setup.directories:
            params["additionalDirectories"] = list(setup.directories)
        return _call("session/new", params)

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
        """`tool_call/cancel`, where the call advertises it (TOOL-9)."""
        return Call("tool_call/cancel", {"sessionId": session_id, "toolCallId": tool_call_id})

    def cancel_terminal(self, session_id: str, terminal_id: str) -> Call | None:
        """`terminal/cancel`, where the terminal advertises it."""
        return Call("terminal/cancel", {"sessionId": session_id, "terminalId": terminal_id})

    def prompt(self, session_id: str, content: Sequence[ContentBlock]) -> Call:
        """`session/prompt`."""
        params: wire.PromptRequest = {
            "sessionId": session_id,
            "prompt": [write_block(block) for block in content],
        }
        return _call("session/prompt", params)

    def cancel(self, session_id: str) -> Call:
        """`session/cancel`."""
        params: wire.CancelSessionNotification = {"sessionId": session_id}
        return _call("session/cancel", params)

    def set_option(self, session_id: str, option: ConfigOption, value: str | bool) -> Call:
        """`session/set_config_option`."""
        params: wire.SetSessionConfigOptionRequest = {
            "sessionId": session_id,
            "configId": option.id,
            "type": "boolean" if isinstance(value, bool) else "id",
            "value": value,
        }
        return _call("session/set_config_option", params)


def write_capabilities(served: ClientCapabilities) -> dict[str, Any]:
    """What this client serves, in v2's words: an object marks what is there."""
    written: dict[str, Any] = {}
    if served.terminal_login:
        written["auth"] = {"terminal": {}}
    modes = elicitation_modes(served)
    if modes:
        written["elicitation"] = modes
    return written


def read_capabilities(answer: Json) -> Capabilities:
    """What a v2 agent offers: an object is supported, absent and null are not (INIT-4)."""
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
    """Who the agent says it is."""
    info = fields.optional_object(answer, "info") or {}
    return Implementation(
        optional_text(info, "name") or "agent",
        optional_text(info, "version") or "",
        optional_text(info, "title"),
    )


def read_auth_method(value: Any) -> AuthMethod:
    """One entry of `authMethods`.

    Raises:
        Malformed: It has no id.
    """
    raw = fields.as_object(value, "auth method")
    method_id = fields.text(raw, "methodId")
    env = [item for item in fields.optional_array(raw, "env") if isinstance(item, dict)]
    return AuthMethod(
        method_id,
        optional_text(raw, "name") or method_id,
        optional_text(raw, "type") or "agent",
        optional_text(raw, "description"),
        tuple(arg for arg in fields.optional_array(raw, "args") if isinstance(arg, str)),
        tuple((fields.text(item, "name"), fields.text(item, "value")) for item in env),
        raw,
    )


def _call(method: str, params: Any) -> Call:
    return Call(method, cast("dict[str, Any]", params))
