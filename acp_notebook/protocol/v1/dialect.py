"""Writing v1 calls and reading v1's answer to `initialize`. Knows no session's state."""

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
from acp_notebook.protocol.shapes import OPTIONAL_UPDATES
from acp_notebook.protocol.shared_calls import SharedCalls, auth_method, implementation
from acp_notebook.protocol.v1.client_calls import CLIENT_CALLS
from acp_notebook.protocol.v1.normalize import MODE_OPTION_ID, MODEL_OPTION_ID, V1Reader
from acp_notebook.session.updates import ConfigOption


class V1Dialect(SharedCalls):
    """ACP v1 on the client's side."""

    version = 1
    # Agents refuse, cancel or mix up a second prompt, so it waits in this client.
    takes_prompts_while_busy = False
    client_calls: ClientCalls | None = CLIENT_CALLS

    def reader(self) -> V1Reader:
        """Return a reader for a new session."""
        return V1Reader()

    def mcp_server(self, server: Json) -> dict[str, Any]:
        """Return an entry of `mcpServers`, for stdio without a type (SESS-2)."""
        is_stdio = server.get("type") == "stdio"
        return {key: item for key, item in server.items() if not (is_stdio and key == "type")}

    def resume(
        self, session_id: str, setup: SessionSetup, capabilities: Capabilities, *, replay: bool
    ) -> Call | None:
        """`session/load` replays, `session/resume` does not; each if it is offered."""
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

    def set_option(self, session_id: str, option: ConfigOption, value: str | bool) -> Call:
        """`session/set_mode` for the option made of modes, else `session/set_config_option`."""
        if option.id == MODE_OPTION_ID:
            return Call("session/set_mode", {"sessionId": session_id, "modeId": str(value)})
        if option.id == MODEL_OPTION_ID:
            return Call("session/set_model", {"sessionId": session_id, "modelId": str(value)})
        params: dict[str, Any] = {"sessionId": session_id, "configId": option.id, "value": value}
        if isinstance(value, bool):
            params["type"] = "boolean"
        return Call("session/set_config_option", params)


def write_offer(client: Json, served: ClientCapabilities) -> dict[str, Any]:
    """Return the members of `initialize` that a v1 agent reads."""
    return {"clientInfo": client, "clientCapabilities": write_capabilities(served)}


def is_spoken_in(_: Json) -> bool:
    """Whether an answer to `initialize` is v1's: nothing in it is required."""
    return True


def write_capabilities(served: ClientCapabilities) -> dict[str, Any]:
    """Return this client's capabilities in v1's form: booleans, and objects for newer ones."""
    return given(
        fs={"readTextFile": served.read_files, "writeTextFile": served.write_files},
        terminal=served.terminals,
        session={"configOptions": {"boolean": {}}, **OPTIONAL_UPDATES},
        auth={"terminal": True} if served.terminal_login else None,
        elicitation=elicitation_modes(served) or None,
    )


def read_capabilities(answer: Json) -> Capabilities:
    """Read an agent's capabilities: booleans, and objects in `sessionCapabilities` (INIT-4)."""
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
    """Read the agent's identity, which many v1 agents omit."""
    return implementation(fields.optional_object(answer, "agentInfo") or {})


def read_auth_method(value: Any) -> AuthMethod:
    """Read an entry of `authMethods`.

    Raises:
        Malformed: The method has no id.
    """
    raw = fields.as_object(value, "auth method")
    env = fields.optional_object(raw, "env") or {}
    pairs = [(name, item) for name, item in env.items() if isinstance(item, str)]
    return auth_method(raw, "id", pairs)


VERSION = Version(
    V1Dialect(), write_offer, is_spoken_in, read_info, read_capabilities, read_auth_method
)
