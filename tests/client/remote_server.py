"""Serves the test agent of the official Python SDK over that SDK's own server, on loopback.

`python remote_server.py`: prints the port, then serves WebSocket and Streamable HTTP at /acp. Its
sessions outlive a connection. `[[big:BYTES]]` says so many bytes at once, `[[who]]` tells the
headers of the last connection.
"""

from __future__ import annotations

import asyncio
import functools
import json
import socket
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent / "agents"))

import acp
import sdk_agent
import uvicorn
from acp import schema
from acp.http import server
from acp.http.asgi import create_asgi_app

# Otherwise the server does not serve `session/resume`, and offers no way to ask for it.
server.AgentSideConnection = functools.partial(
    server.AgentSideConnection, use_unstable_protocol=True
)
SESSIONS: dict[str, sdk_agent.Session] = {}
HEADERS: list[dict[str, str]] = []


class ServedTurn(sdk_agent.Turn):
    async def do_big(self, argument: str) -> None:
        await self.do_say("é" * (int(argument) // 2))

    async def do_who(self, _argument: str) -> None:
        await self.do_say(json.dumps(HEADERS[-1]))


sdk_agent.Turn = ServedTurn


class ServedAgent(sdk_agent.ScriptedAgent):
    """One for each connection; the sessions are common."""

    def __init__(self, connection: Any) -> None:
        super().__init__()
        self._client = connection
        self._sessions = SESSIONS

    async def initialize(self, protocol_version: int, **more: Any) -> acp.InitializeResponse:
        answer = await super().initialize(protocol_version, **more)
        offered = schema.SessionCapabilities(resume=schema.SessionResumeCapabilities())
        answer.agent_capabilities.session_capabilities = offered
        return answer

    async def resume_session(self, session_id: str, **_: Any) -> Any:
        if session_id not in self._sessions:
            raise acp.RequestError(-32002, "Resource not found")
        self._sessions[session_id].cancelled = None  # its turn went with the old connection
        # The server learns of a session by the answer that names it; the schema does not.
        return {"sessionId": session_id}


def main() -> None:
    app = create_asgi_app(ServedAgent)

    async def noting(scope: Any, receive: Any, send: Any) -> None:
        if "headers" in scope:
            HEADERS.append({key.decode(): value.decode() for key, value in scope["headers"]})
        await app(scope, receive, send)

    listener = socket.create_server(("127.0.0.1", 0))
    print(listener.getsockname()[1], flush=True)
    config = uvicorn.Config(noting, log_level="warning", ws="websockets-sansio", lifespan="off")
    config.ws_max_size = 64 * 1024 * 1024
    asyncio.run(uvicorn.Server(config).serve([listener]))


if __name__ == "__main__":
    main()
