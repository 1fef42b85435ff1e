"""A client at the raw wire for testing agents: it records, answers questions, and judges each
message by the official schema. It knows nothing of our own client.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field

from official_schema import official_schema

from acp_notebook.jsonrpc import Connection, RpcError

BOUND_S = 10
INFO = {"name": "wire-client", "version": "0"}
FORMS = {"elicitation": {"form": {}}}


@dataclass
class Reply:
    """Everything that came between a prompt and its end."""

    updates: list = field(default_factory=list)
    stop_reason: str | None = None
    error: object = None

    def of_kind(self, *kinds):
        return [update for update in self.updates if update["sessionUpdate"] in kinds]

    @property
    def kinds(self):
        """The kinds of update in order, each run of the same kind once."""
        kinds = [_kind(update) for update in self.updates]
        return [k for i, k in enumerate(kinds) if i == 0 or kinds[i - 1] != k]

    @property
    def text(self):
        chunks = self.of_kind("agent_message_chunk")
        return "".join(chunk["content"].get("text", "") for chunk in chunks)

    def tool(self, tool_call_id):
        """The tool call as a client holds it after all updates."""
        held = {"content": []}
        for update in self.updates:
            if update.get("toolCallId") != tool_call_id:
                continue
            if update["sessionUpdate"] == "tool_call_content_chunk":
                held["content"] = [*held["content"], update["content"]]
            else:
                held |= {key: value for key, value in update.items() if key != "sessionUpdate"}
        return held


class WireClient:
    def __init__(self, transport, version=2, *, forms=True):
        self.version = version
        self.forms = forms
        self.schema = official_schema(version)
        self.questions = []
        self.answer_question = allow
        self.updates = []
        self.noise = []
        self.session_id = None
        self._changed = asyncio.Event()
        self.connection = Connection(
            transport,
            on_request=self._on_request,
            on_notification=self._on_notification,
            on_noise=lambda kind, text: self.noise.append((kind, text)),
        )
        self._running = asyncio.create_task(self.connection.run())

    async def call(self, method, **params):
        result = await asyncio.wait_for(self.connection.request(method, params), BOUND_S)
        if method == "session/prompt" and self.version == 2:
            # The lifecycle page wants an empty body; the later schema adds a `messageId`.
            assert result == {}
        else:
            self.schema.check_result(method, result)
        return result

    async def start(self, requested=None):
        capabilities = FORMS if self.forms else {}
        params = {"protocolVersion": requested or self.version, "info": INFO, "clientInfo": INFO}
        return await self.call(
            "initialize", **params, capabilities=capabilities, clientCapabilities=capabilities
        )

    async def new_session(self, cwd="/work", servers=()):
        result = await self.call("session/new", cwd=cwd, mcpServers=list(servers))
        self.session_id = result["sessionId"]
        return result

    def send_prompt(self, prompt):
        """Send a prompt without waiting; returns the task of its end."""
        blocks = [{"type": "text", "text": prompt}] if isinstance(prompt, str) else prompt
        return asyncio.create_task(self._prompt(blocks, len(self.updates)))

    async def prompt(self, prompt):
        return await asyncio.wait_for(self.send_prompt(prompt), BOUND_S)

    async def _prompt(self, blocks, start):
        reply = Reply()
        try:
            result = await self.call("session/prompt", sessionId=self.session_id, prompt=blocks)
        except RpcError as error:
            reply.error = error
        else:
            if self.version == 2:
                idle = await self.update_after(start, lambda u: u.get("state") == "idle")
                reply.stop_reason, reply.error = idle.get("stopReason"), idle.get("error")
            else:
                reply.stop_reason = result["stopReason"]
        reply.updates = self.updates[start:]
        return reply

    async def update_after(self, start, matches):
        """Wait for an update, counted from `start`, that matches."""
        while True:
            found = [update for update in self.updates[start:] if matches(update)]
            if found:
                return found[0]
            self._changed.clear()
            await asyncio.wait_for(self._changed.wait(), BOUND_S)

    async def question(self, number=1):
        """Wait for as many questions; return the last of them."""
        while len(self.questions) < number:
            self._changed.clear()
            await asyncio.wait_for(self._changed.wait(), BOUND_S)
        return self.questions[number - 1]

    def cancel(self):
        self.connection.notify("session/cancel", {"sessionId": self.session_id})

    async def close(self):
        await self.connection.aclose()
        await asyncio.wait_for(self._running, BOUND_S)
        assert self.noise == []

    async def ended(self):
        """Wait until the agent has ended the connection."""
        await asyncio.wait_for(self._running, BOUND_S)

    def _on_notification(self, method, params):
        self.schema.check_params(method, params)
        if method == "session/update":
            self.updates.append(params["update"])
            self._changed.set()

    def _on_request(self, request):
        self.schema.check_params(request.method, request.params)
        self.questions.append(request)
        self._changed.set()
        answer = self.answer_question(request)
        if answer is not None:
            request.respond(answer)


def allow(request):
    return choose("allow") if request.method == "session/request_permission" else fill_in()


def choose(option_id):
    return {"outcome": {"outcome": "selected", "optionId": option_id}}


def fill_in(**content):
    return {"action": "accept", "content": content or {"name": "Ada", "drink": "tea"}}


def keep_waiting(_request):
    """No answer: the question stays open."""


def _kind(update):
    kind = update["sessionUpdate"]
    return update["state"] if kind == "state_update" else kind
