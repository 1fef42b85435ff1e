"""One client's connection to an agent: the methods served, their version and the open sessions.

Knows JSON-RPC and the methods of ACP; the form of the answers belongs to `wire`.
"""

from __future__ import annotations

import logging
import os
import secrets
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeAlias

from acp_notebook.agent_kit.prompt_queue import PromptQueue
from acp_notebook.agent_kit.session import Session
from acp_notebook.agent_kit.session_client import SessionClient
from acp_notebook.agent_kit.wire.seam import Wire, has_member
from acp_notebook.agent_kit.wire.v1 import WireV1
from acp_notebook.agent_kit.wire.v2 import WireV2
from acp_notebook.errors import NOT_FOUND_CODE, UNSUPPORTED_VERSION_CODE
from acp_notebook.jsonrpc import (
    INVALID_PARAMS,
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    Connection,
    IncomingRequest,
    RpcError,
    Transport,
)

if TYPE_CHECKING:
    from acp_notebook.agent_kit.agent import Agent

logger = logging.getLogger(__name__)

Params: TypeAlias = dict[str, Any]


class AgentConnection:
    """Serves one client until it disconnects."""

    def __init__(self, agent: Agent, transport: Transport) -> None:
        self._agent = agent
        self._connection = Connection(
            transport,
            on_request=self._on_request,
            on_notification=self._on_notification,
            on_noise=self._on_noise,
        )
        self._wire: Wire | None = None
        self._has_forms = False
        self._open: dict[str, PromptQueue] = {}
        self._methods: dict[str, Callable[[IncomingRequest, Wire, Params], None]] = {
            "session/new": self._new_session,
            "session/list": self._list_sessions,
            "session/load": self._resume_session,
            "session/resume": self._resume_session,
            "session/close": self._close_session,
            "session/prompt": self._prompt,
            "session/set_config_option": self._set_config_option,
        }

    async def run(self) -> None:
        """Serve until the client ends the connection, then stop all running turns."""
        try:
            await self._connection.run()
        finally:
            for queue in list(self._open.values()):
                await queue.aclose()
            await self._connection.aclose()

    def _on_request(self, request: IncomingRequest) -> None:
        params = request.params if isinstance(request.params, dict) else {}
        if request.method == "initialize":
            self._initialize(request, params)
        elif self._wire is None:
            request.fail(INVALID_REQUEST, "The first request must be `initialize`.")
        elif request.method not in self._wire.methods:
            request.fail(METHOD_NOT_FOUND, f"This agent has no method {request.method!r}.")
        else:
            self._methods[request.method](request, self._wire, params)

    def _on_notification(self, method: str, params: object) -> None:
        if method == "session/cancel" and isinstance(params, dict):
            queue = self._open.get(str(params.get("sessionId")))
            if queue is not None:
                queue.cancel()

    def _on_noise(self, kind: str, text: str) -> None:
        logger.warning("The client sent something that is no message (%s): %s", kind, text)

    def _initialize(self, request: IncomingRequest, params: Params) -> None:
        requested = params.get("protocolVersion")
        if not isinstance(requested, int) or isinstance(requested, bool):
            raise RpcError(INVALID_PARAMS, "`protocolVersion` must be an integer.")
        supported = sorted(self._agent.protocols)
        spoken = [version for version in supported if version <= requested]
        if not spoken:
            raise RpcError(
                UNSUPPORTED_VERSION_CODE,
                f"This agent speaks the protocol versions {supported}, not {requested}.",
                {"requested": requested, "supported": supported},
            )
        wire: Wire = WireV1(params) if spoken[-1] == WireV1.version else WireV2()
        self._wire = wire
        self._has_forms = has_member(params, wire.client_member, "elicitation", "form")
        request.respond(
            wire.answer_initialize(self._agent.info, self._agent.accepts, self._agent.mcp)
        )

    def _new_session(self, request: IncomingRequest, wire: Wire, params: Params) -> None:
        cwd = _read_cwd(params)
        session = Session(f"sess_{secrets.token_hex(4)}", cwd, self._agent.options)
        self._agent.sessions[session.id] = session
        client = self._open_session(session, wire, params)
        self._answer_setup(request, client, {"sessionId": session.id})

    def _resume_session(self, request: IncomingRequest, wire: Wire, params: Params) -> None:
        session = self._agent.sessions.get(str(params.get("sessionId")))
        if session is None:
            raise _unknown_session(params)
        session.cwd = _read_cwd(params)
        queue = self._open.get(session.id)
        client = queue.client if queue is not None else self._open_session(session, wire, params)
        if request.method == "session/load" or _wants_replay(params):
            client.replay()
        self._answer_setup(request, client, {})

    def _open_session(self, session: Session, wire: Wire, params: Params) -> SessionClient:
        servers = params.get("mcpServers")
        session.mcp_servers = servers if isinstance(servers, list) else []
        client = SessionClient(session, self._connection, wire, has_forms=self._has_forms)
        self._open[session.id] = PromptQueue(
            client, reply=self._agent.reply, pace_s=self._agent.pace_s
        )
        return client

    def _answer_setup(self, request: IncomingRequest, client: SessionClient, head: Params) -> None:
        described, updates = client.wire.setup(client.session, self._agent.commands)
        request.respond({**head, **described})
        client.notify(updates)

    def _list_sessions(self, request: IncomingRequest, _wire: Wire, params: Params) -> None:
        cwd = params.get("cwd")
        found = [s for s in self._agent.sessions.values() if cwd is None or s.cwd == cwd]
        described = [{"sessionId": s.id, "cwd": s.cwd, "title": s.title} for s in found]
        request.respond({"sessions": described})

    def _close_session(self, request: IncomingRequest, _wire: Wire, params: Params) -> None:
        queue = self._find(params)
        del self._open[queue.client.session.id]
        queue.cancel()
        request.respond({})

    def _set_config_option(self, request: IncomingRequest, wire: Wire, params: Params) -> None:
        session = self._find(params).client.session
        try:
            session.set_option(str(params.get("configId")), params.get("value"))
        except ValueError as error:
            raise RpcError(INVALID_PARAMS, str(error)) from error
        request.respond({"configOptions": wire.options(session.described_options())})

    def _prompt(self, request: IncomingRequest, _wire: Wire, params: Params) -> None:
        queue = self._find(params)
        blocks = params.get("prompt")
        if not isinstance(blocks, list) or not all(isinstance(block, dict) for block in blocks):
            raise RpcError(INVALID_PARAMS, "`prompt` must be a list of content blocks.")
        queue.prompt(request, blocks)

    def _find(self, params: Params) -> PromptQueue:
        queue = self._open.get(str(params.get("sessionId")))
        if queue is None:
            raise _unknown_session(params)
        return queue


def _read_cwd(params: Params) -> str:
    cwd = params.get("cwd")
    if not isinstance(cwd, str) or not os.path.isabs(cwd):  # noqa: PTH117 - a string on the wire
        raise RpcError(INVALID_PARAMS, "`cwd` must be an absolute path.")
    return cwd


def _wants_replay(params: Params) -> bool:
    start = params.get("replayFrom")
    if start is None:
        return False
    if not isinstance(start, dict) or start.get("type") != "start":
        raise RpcError(INVALID_PARAMS, "`replayFrom` can only be {'type': 'start'}.")
    return True


def _unknown_session(params: Params) -> RpcError:
    session_id = str(params.get("sessionId"))
    message = f"There is no open session {session_id!r}. Begin one with `session/new`."
    return RpcError(NOT_FOUND_CODE, message, {"sessionId": session_id})
