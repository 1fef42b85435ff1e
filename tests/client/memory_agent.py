"""An agent inside the test's own process: all of the client over a `MemoryTransport`.

It keeps every message of the client, answers by a table that a test may change, and asks and tells
what the test says. Both versions. Everything it does happens on the agent thread, as the transport
demands; a test calls it from its own thread.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import itertools
import json

import pytest

import acp_notebook as acp
from acp_notebook.client.agent_thread import shared_thread
from acp_notebook.client.connection.stdio_process import StderrTail
from acp_notebook.jsonrpc import MemoryTransport

BOUND_S = 20.0
SESSION = "memory-session"
LATER = object()  # an answer that the test gives itself
MODES = {"currentModeId": "ask", "availableModes": [{"id": "ask", "name": "Ask"}]}
CHOICES = [{"value": "small", "name": "Small"}, {"value": "large", "name": "Large"}]
OPTIONS = {
    1: [
        {"id": "size", "name": "Size", "type": "select", "currentValue": "small",
         "options": CHOICES},
        {"id": "loud", "name": "Loud", "type": "boolean", "currentValue": False},
    ],
    2: [
        {"configId": "size", "name": "Size", "type": "select", "currentValue": "small",
         "options": CHOICES},
        {"configId": "loud", "name": "Loud", "type": "boolean", "currentValue": False},
    ],
}  # fmt: skip


class RefusedError(Exception):
    """Raised in an answer: the JSON-RPC error to send."""

    def __init__(self, code, message="refused", data=None):
        super().__init__(message)
        self.error = {"code": code, "message": message, **({"data": data} if data else {})}


class Endpoint:
    """What the client takes for a started agent."""

    def __init__(self):
        self.pid = None
        self.status = "exit code 0"
        self.ending = "ended with exit code 0"
        self.stderr = StderrTail()
        self.transport, self.far = MemoryTransport.pair()
        self._gone = asyncio.Event()

    async def exited(self):
        await self._gone.wait()

    async def wait(self):
        await self._gone.wait()

    async def stop(self):
        self._gone.set()
        await self.far.aclose()

    def kill_now(self):
        shared_thread().submit(self.stop())


class MemoryAgent:
    """Speaks one version; `answers` is method -> function of the params."""

    def __init__(self, version):
        self.version = version
        self.heard = []
        self.asked = {}  # id -> method of its own requests
        self.answers = {
            "initialize": lambda _: self.introduction(),
            "session/new": lambda _: {"sessionId": SESSION, **self.set_up()},
            "session/load": lambda _: self.set_up(),
            "session/resume": lambda _: self.set_up(),
            "session/list": self._page,
            "session/set_config_option": lambda _: {"configOptions": OPTIONS[version]},
            "session/prompt": lambda _: self._done(),
        }
        self.prompts = []  # the ids of those that wait for an answer
        self._numbers = itertools.count()
        self._waiting = {}
        self._wants = []
        self._turns = 0

    # what it is

    def introduction(self):
        if self.version == 1:
            prompt = {"image": True, "audio": True, "embeddedContext": True}
            session = {key: {} for key in ("list", "resume", "close", "delete")}
            return {
                "protocolVersion": 1,
                "agentCapabilities": {
                    "loadSession": True,
                    "promptCapabilities": prompt,
                    "sessionCapabilities": session,
                    "auth": {"logout": {}},
                },
                "authMethods": [{"id": "key", "name": "By key"}],
            }
        prompt = {key: {} for key in ("image", "audio", "embeddedContext")}
        return {
            "protocolVersion": 2,
            "info": {"name": "memory", "version": "1"},
            "capabilities": {"session": {"prompt": prompt, "delete": {}}},
            "authMethods": [{"methodId": "key", "name": "By key", "type": "agent"}],
        }

    def set_up(self):
        modes = {"modes": MODES} if self.version == 1 else {}
        return {"configOptions": OPTIONS[self.version], **modes}

    def _page(self, params):
        if params.get("cursor") is None:
            return {"sessions": [{"sessionId": "old", "cwd": "/"}], "nextCursor": "next"}
        return {"sessions": [{"sessionId": "older", "cwd": "/"}]}

    def _done(self):
        if self.version == 1:
            return {"stopReason": "end_turn"}
        self._turns += 1
        message_id = f"user-{self._turns}"
        shared_thread().loop.call_soon(self._run_and_end, message_id)
        return {"messageId": message_id}

    def _run_and_end(self, message_id):
        self._tell({"sessionUpdate": "user_message", "messageId": message_id, "content": []})
        self._tell({"sessionUpdate": "state_update", "state": "running"})
        self._tell({"sessionUpdate": "state_update", "state": "idle", "stopReason": "end_turn"})

    # the wire, on the agent thread

    async def open(self, _launch):
        """Stands in for `open_endpoint`."""
        endpoint = Endpoint()
        self._far = endpoint.far
        shared_thread().spawn(self._serve(endpoint.far))
        return endpoint

    async def _serve(self, far):
        while (frame := await far.receive()) is not None:
            self._hear(json.loads(frame))

    def _hear(self, message):
        self.heard.append(message)
        method = message.get("method")
        if method is None:
            self._waiting.setdefault(message["id"], []).append(message)
        elif "id" in message:
            self._answer(message, method)
        for holds, found in list(self._wants):
            if not found.done() and holds():
                found.set_result(None)

    def _answer(self, message, method):
        if method == "session/prompt":
            self.prompts.append(message["id"])
        try:
            result = self.answers.get(method, lambda _: {})(message["params"])
        except RefusedError as refused:
            self._send({"id": message["id"], "error": refused.error})
            return
        if result is not LATER:
            self._send({"id": message["id"], "result": result})

    def _send(self, message):
        self._far.send(json.dumps({"jsonrpc": "2.0", **message}).encode())

    def _tell(self, update, session_id=SESSION):
        params = {"sessionId": session_id, "update": update}
        self._send({"method": "session/update", "params": params})

    # what a test says, on its own thread

    def send(self, message):
        """Send a message as it is."""
        shared_thread().call(lambda: self._send(message))

    def send_bytes(self, *frames):
        """Send frames as they are."""
        shared_thread().call(lambda: [self._far.send(frame) for frame in frames])

    def tell(self, update, session_id=SESSION):
        """Send an update."""
        shared_thread().call(lambda: self._tell(update, session_id))

    def until(self, holds):
        """Wait until this holds of what was heard; it is asked at each message of the client."""
        found = concurrent.futures.Future()

        def begin():
            self._wants.append((holds, found))
            if holds():
                found.set_result(None)

        shared_thread().call(begin)
        found.result(BOUND_S)

    def until_heard(self, method):
        """Wait for a call of the client."""
        self.until(lambda: any(message.get("method") == method for message in self.heard))

    def begin(self, method, params):
        """Send a request; its id."""
        request_id = next(self._numbers)  # from 0, as agents do
        self.asked[request_id] = method
        self.send({"id": request_id, "method": method, "params": params})
        return request_id

    def wait(self, request_id):
        """The one answer to a request."""
        self.until(lambda: request_id in self._waiting)
        (answer,) = self.answers_to(request_id)
        return answer

    def ask(self, method, **params):
        """Send a request about the session and wait for its answer."""
        return self.wait(self.begin(method, {"sessionId": SESSION, **params}))

    def answers_to(self, request_id):
        """Every answer that the client gave to a request."""
        return shared_thread().call(lambda: list(self._waiting.get(request_id, [])))

    def settle(self):
        """Until the client has read everything that was sent so far: it still answers."""
        assert self.ask("_settle")["error"]["code"] == -32601

    def end_turn(self, stop_reason="end_turn"):
        """End the work that a prompt waits for."""
        if self.version == 1:
            request_id = self.prompts.pop()
            self.send({"id": request_id, "result": {"stopReason": stop_reason}})
        else:
            idle = {"sessionUpdate": "state_update", "state": "idle", "stopReason": stop_reason}
            self.tell(idle)

    def hold_prompts(self):
        """Let the next prompts run until `end_turn`."""

        def held(_):
            if self.version == 1:
                return LATER
            self._turns += 1
            message_id = f"user-{self._turns}"
            user = {"sessionUpdate": "user_message", "messageId": message_id, "content": []}
            shared_thread().loop.call_soon(self._tell, user)
            running = {"sessionUpdate": "state_update", "state": "running"}
            shared_thread().loop.call_soon(self._tell, running)
            return {"messageId": message_id}

        self.answers["session/prompt"] = held


@pytest.fixture
def meet(monkeypatch):
    """Starts the client with a `MemoryAgent` for its agent."""
    clients = []

    def start(agent, name=None, **options):
        monkeypatch.setattr(
            "acp_notebook.client.connection.agent_connection.open_endpoint", agent.open
        )
        command = None if name else ["memory"]
        clients.append(acp.start(name, command=command, label="memory", **options))
        return clients[-1]

    yield start
    for client in clients:
        client.quit()
