"""One connection to one agent process or address: start, handshake, end. On the agent thread.

The end shows in two ways, in either order: a pipe closes, or the process exits. Neither is enough
alone. Output written just before an exit may still be unread, and a child of the agent may hold the
pipe open for ever; so after the first sign the pipe is read on for at most `STAGE_S`. A pipe may
also close before the process has an exit status, so the endpoint is stopped, which waits for the
status and kills what remains, before the sessions learn the reason. A new process means a new
connection. Knows sessions as receivers, not what they do with an update.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections import deque
from collections.abc import Iterable
from typing import Any

from acp_notebook.client.agent_thread import AgentThread
from acp_notebook.client.agents.launch import Launch
from acp_notebook.client.connection.endpoint import Endpoint, open_endpoint
from acp_notebook.client.connection.redaction import Redaction
from acp_notebook.client.connection.session_routes import SessionRoutes
from acp_notebook.client.connection.stdio_process import STAGE_S
from acp_notebook.client.live.audience import Respondents
from acp_notebook.client.live.live_session import LiveSession
from acp_notebook.client.serving.client_methods import ClientMethods
from acp_notebook.errors import (
    AUTH_REQUIRED_CODE,
    AgentError,
    AgentExited,
    AuthRequired,
    RequestFailed,
)
from acp_notebook.jsonrpc import OVERSIZED, Connection, ConnectionLost, RecordingTransport, RpcError
from acp_notebook.protocol import negotiate
from acp_notebook.protocol.dialect import Call, ClientCapabilities, Implementation
from acp_notebook.session import updates as u
from acp_notebook.trace.recording import Direction, Recording
from acp_notebook.version import __version__

logger = logging.getLogger(__name__)

MAX_NOISE_LINES = 200

CLIENT = Implementation("acp_notebook", __version__, "acp_notebook")


class AgentConnection:
    """A started agent. Used on the agent thread unless noted."""

    def __init__(
        self, launch: Launch, thread: AgentThread, methods: ClientMethods, respondents: Respondents
    ) -> None:
        self.launch = launch
        self.thread = thread
        self.methods = methods
        self.recording = Recording(time.monotonic)
        self._redaction = Redaction()
        self.noise: deque[str] = deque(maxlen=MAX_NOISE_LINES)
        self.negotiated: negotiate.Negotiated | None = None
        self.endpoint: Endpoint | None = None
        self.routes = SessionRoutes(methods, self._redaction, self.recording)
        self._rpc: Connection | None = None
        self._respondents = respondents
        self._is_closing = False

    def redact(self, words: Iterable[str]) -> None:
        """Redact strings in the recording, in the sessions and in all that the agent says."""
        self._redaction.add(words)

    def retire(self, words: Iterable[str]) -> None:
        """Note that strings to redact are valid no more; see `Redaction.retire`."""
        self._redaction.retire(words)

    @property
    def stderr(self) -> str:
        """The last part of the agent's stderr, redacted."""
        text = self.endpoint.stderr.text if self.endpoint is not None else ""
        return self._redaction.in_text(text)

    @property
    def rpc(self) -> Connection:
        """The open JSON-RPC connection.

        Raises:
            ConnectionLost: There is none.
        """
        if self._rpc is None:
            raise ConnectionLost("The agent is not connected.")
        return self._rpc

    @property
    def facts(self) -> negotiate.Negotiated:
        """The agent's answer to `initialize`.

        Raises:
            AgentError: The agent has not answered yet.
        """
        if self.negotiated is None:
            raise AgentError("The agent is not connected.")
        return self.negotiated

    @property
    def capabilities(self) -> ClientCapabilities:
        """The capabilities that this client serves and advertises (INIT-5)."""
        return self.methods.capabilities

    @property
    def is_alive(self) -> bool:
        """Whether requests can be sent to the agent."""
        return self._rpc is not None and not self._rpc.ended

    async def open(self) -> negotiate.Negotiated:
        """Start the process and negotiate; one retry with a fresh process for v1 (INIT-3).

        Raises:
            AgentError: The agent cannot be started, ended, or shares no version. Its process is
                ended.
        """
        try:
            self.negotiated = await self._negotiate(self.launch.protocol)
            self.routes.scope = LiveSession(self, self.negotiated.dialect, self._respondents)
        except BaseException:
            await self.close()
            raise
        return self.negotiated

    async def _negotiate(self, asked: int) -> negotiate.Negotiated:
        try:
            return await self._start_and_initialize(asked)
        except (RequestFailed, AgentExited) as refused:
            fallback = negotiate.version_to_retry(asked)
            if fallback is None or self._is_closing:
                raise
            logger.info("The agent refused both shapes (%s); asking for v1 alone.", refused)
        await self._end_process()
        return await self._start_and_initialize(fallback)

    async def _start_and_initialize(self, version: int) -> negotiate.Negotiated:
        launch = self.launch
        endpoint = await open_endpoint(launch)
        if self._is_closing:
            # `close` came before there was a process to end.
            await endpoint.stop()
            raise AgentExited(f"The start of the agent {launch.name} was given up.")
        transport = RecordingTransport(
            endpoint.transport, self._record, redact_received=self._redaction.in_received
        )
        rpc = Connection(
            transport,
            on_request=self.routes.request,
            on_notification=self.routes.notification,
            on_noise=self._on_noise,
        )
        endpoint.on_unread = self._on_unread
        self.endpoint, self._rpc = endpoint, rpc
        self.thread.spawn(self._run(endpoint, rpc))
        method, params = negotiate.initialize(
            CLIENT, version=version, served=self.methods.capabilities
        )
        try:
            answer = await rpc.request(method, params)
        except ConnectionLost:
            raise await self._exit_error(endpoint, "before it answered `initialize`") from None
        except RpcError as error:
            refusal = negotiate.read_refusal(error.code, error.data, asked=version)
            if refusal is not None and negotiate.version_to_retry(version) is None:
                raise refusal from None
            raise RequestFailed(method, error.code, error.message, error.data) from None
        return negotiate.read_answer(answer, asked=version)

    def _record(self, direction: Direction, frame: bytes) -> None:
        self.recording.record(direction, self._redaction.in_bytes(frame))

    async def _run(self, endpoint: Endpoint, rpc: Connection) -> None:
        reading = self.thread.spawn(rpc.run())
        exited = self.thread.spawn(endpoint.exited())
        await asyncio.wait({reading, exited}, return_when=asyncio.FIRST_COMPLETED)
        await asyncio.wait({reading}, timeout=STAGE_S)
        await endpoint.stop()
        await rpc.aclose()
        exited.cancel()
        if self._is_closing or rpc is not self._rpc:
            return
        error = await self._exit_error(endpoint, "")
        self.routes.lose(str(error.args[0]), error.stderr_tail)

    async def _exit_error(self, endpoint: Endpoint, when: str) -> AgentExited:
        await endpoint.wait()
        reason = f"The agent {self.launch.name} {endpoint.ending}"
        reason = f"{reason} {when}." if when else f"{reason}."
        step = self.launch.advice if when else self.launch.comeback
        return AgentExited(f"{reason} {step}", status=endpoint.status, stderr_tail=self.stderr)

    async def request(self, call: Call) -> Any:
        """Send a call and wait for its result.

        Raises:
            AuthRequired: The agent wants a login first.
            RequestFailed: Any other error answer.
            AgentExited: The agent ended before it answered.
        """
        try:
            return await self.rpc.request(call.method, call.params)
        except ConnectionLost:
            if self.endpoint is None:
                raise
            raise await self._exit_error(self.endpoint, f"during `{call.method}`") from None
        except RpcError as error:
            kind = AuthRequired if error.code == AUTH_REQUIRED_CODE else RequestFailed
            raise kind(call.method, error.code, error.message, error.data) from None

    async def close(self) -> None:
        """End the connection and the process tree. May be called more than once."""
        self._is_closing = True
        self.routes.lose(f"The agent {self.launch.name} was ended.")
        await self._end_process()

    def end(self, reason: str) -> None:
        """Kill the process at once and give its sessions the reason; a prompt restarts it."""
        self.routes.lose(reason)
        self.kill_now()
        self.thread.spawn(self.close())

    async def _end_process(self) -> None:
        rpc, self._rpc = self._rpc, None
        if rpc is not None:
            await rpc.aclose()
        if self.endpoint is not None:
            await self.endpoint.stop()

    def kill_now(self) -> None:
        """Kill the process tree at once, for the exit of this process; on any thread."""
        if self.endpoint is not None:
            self.endpoint.kill_now()

    def _on_unread(self, size: int) -> None:
        notice = u.Notice(
            "warning",
            f"The agent {self.launch.name} does not read what is sent to it",
            f"{size} bytes wait for it. It may be busy; Stop ends its work, and a second Stop "
            "ends its process.",
        )
        for session in self.routes.sessions:
            if session.state.open_prompts:
                session.apply([notice])

    def _on_noise(self, kind: str, text: str) -> None:
        text = self._redaction.in_text(text)
        self.noise.append(f"{kind}: {text[:500]}")
        logger.debug("Noise on the agent's stdout: %s: %s", kind, text[:500])
        if kind == OVERSIZED:
            for session in self.routes.sessions:
                session.apply([u.Violation("the connection", text)])
