"""Writing v1 calls and reading v1's initialize answer."""

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
from acp_notebook.protocol.v1 import wire
from acp_notebook.protocol.v1.normalize import MODE_OPTION_ID, MODEL_OPTION_ID, V1Reader
from acp_notebook.session.content import ContentBlock, optional_text, write_block
from acp_notebook.session.updates import ConfigOption


class V1Dialect(SharedCalls):
    """ACP v1 as the client speaks it."""

    version = 1
    # Agents refuse, cancel or mix a second prompt: it waits in this client.
    takes_prompts_while_busy = False
    may_use_client = True

    def reader(self) -> V1Reader:
        """A reader for a new session."""
        return V1Reader()

    def new_session(self, setup: SessionSetup) -> Call:
        """`session/new`. A stdio MCP server carries no type here (SESS-2)."""
        params: wire.NewSessionRequest = {
            "cwd": setup.cwd,
            "mcpServers": [_mcp_server(server) for server in setup.mcp_servers],
        }
        if setup.directories:
            params["additionalDirectories"] = list(setup.directories)
        return _call("session/new", params)

    def resume(
        self, session_id: str, setup: SessionSetup, capabilities: Capabilities, *, replay: bool
    ) -> Call | None:
        """`session/load` replays, `session/resume` does not; each where it is offered."""
        is_offered = capabilities.replay if replay else capabilities.resume
        if not is_offered:
            return None
        method = "session/load" if replay else "session/resume"
        return Call(method, {"sessionId": session_id, **self.new_session(setup).params})

    def login(self, method_id: str) -> Call:
        """`authenticate`, for methods of type `agent` only (AUTH-2)."""
        return Call("authenticate", {"methodId": method_id})

    def logout(self) -> Call:
        """`logout`."""
        return Call("logout", {})

    def cancel_tool_call(self, session_id: str, tool_call_id: str) -> Call | None:
        """Not in v1."""
        del session_id, tool_call_id
        return None

    def cancel_terminal(self, session_id: str, terminal_id: str) -> Call | None:
        """Not in v1."""
        del session_id, terminal_id
        return None

    def prompt(self, session_id: str, content: Sequence[ContentBlock]) -> Call:
        """`session/prompt`."""
        params: wire.PromptRequest = {
            "sessionId": session_id,
            "prompt": [write_block(block) for block in content],
        }
        return _call("session/prompt", params)

    def cancel(self, session_id: str) -> Call:
        """`session/cancel`."""
        params: wire.CancelNotification = {"sessionId": session_id}
        return _call("session/cancel", params)

    def set_option(self, session_id: str, option: ConfigOption, value: str | bool) -> Call:
        """`session/set_mode` for the option made of modes, else `session/set_config_option`."""
        if option.id == MODE_OPTION_ID:
            mode: wire.SetSessionModeRequest = {"sessionId": session_id, "modeId": str(value)}
            return _call("session/set_mode", mode)
        if option.id == MODEL_OPTION_ID:
            return Call("session/set_model", {"sessionId": session_id, "modelId": str(value)})
        params: wire.SetSessionConfigOptionRequest = {
            "sessionId": session_id,
            "configId": option.id,
            "value": value,
        }
        if isinstance(value, bool):
            params["type"] = "boolean"
        return _call("session/set_config_option", params)


def write_capabilities(served: ClientCapabilities) -> dict[str, Any]:
    """What this client serves, in v1's words: booleans, and objects for newer things."""
    written: dict[str, Any] = {
        "fs": {
            "readTextFile": served.read_files,
            "writeTextFile": served.write_files,
        },
        "terminal": served.terminals,
        "session": {"configOptions": {"boolean": {}}, "notices": {}, "compaction": {}},
    }
    if served.terminal_login:
        written["auth"] = {"terminal": True}
    modes = elicitation_modes(served)
    if modes:
        written["elicitation"] = modes
    return written


def read_capabilities(answer: Json) -> Capabilities:
    """What a v1 agent offers: booleans, and objects under `sessionCapabilities` (INIT-4)."""
    offered = fields.optional_object(answer, "agentCapabilities") or {}
    prompt = fields.optional_object(offered, "promptCapabilities") or {}
    mcp = fields.optional_object(offered, "mcpCapabilities") or {}
    session = fields.optional_object(offered, "sessionCapabilities") or {}
    auth = fields.optional_object(offered, "auth") or {}
    return Capabilities(
        image=prompt.get("image") is True,
        audio=prompt.get("audio") is True,
        embedded_context=prompt.get("embeddedContext") is True,
        mcp_http=mcp.get("http") is True,
        mcp_sse=mcp.get("sse") is True,
        mcp_stdio=True,
        list_sessions=isinstance(session.get("list"), dict),
        resume=isinstance(session.get("resume"), dict),
        replay=offered.get("loadSession") is True,
        close=isinstance(session.get("close"), dict),
        delete=isinstance(session.get("delete"), dict),
        additional_directories=isinstance(session.get("additionalDirectories"), dict),
        logout=isinstance(auth.get("logout"), dict),
    )


def read_info(answer: Json) -> Implementation:
    """Who the agent says it is; v1 leaves that out often."""
    info = fields.optional_object(answer, "agentInfo") or {}
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
    method_id = fields.text(raw, "id")
    env = fields.optional_object(raw, "env") or {}
    return AuthMethod(
        method_id,
        optional_text(raw, "name") or method_id,
        optional_text(raw, "type") or "agent",
        optional_text(raw, "description"),
        tuple(arg for arg in fields.optional_array(raw, "args") if isinstance(arg, str)),
        tuple((key, item) for key, item in env.items() if isinstance(item, str)),
        raw,
    )


def _mcp_server(server: Json) -> dict[str, Any]:
    if server.get("type") == "stdio":
        return {key: value for key, value in server.items() if key != "type"}
    return dict(server)


def _call(method: str, params: Any) -> Call:
    return Call(method, cast("dict[str, Any]", params))
