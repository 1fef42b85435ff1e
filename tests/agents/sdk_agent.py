"""A test agent on the official Python SDK: ACP v1, scripted by directives in the prompt.

Run as `python sdk_agent.py`. It holds the directives of README.md that make sense in v1. It does
not know v2, and keeps no session beyond its process.
"""

from __future__ import annotations

import asyncio
import os
import re
import sys
import uuid
from dataclasses import dataclass, field
from typing import Any, cast

import acp
from acp import schema

PATTERN = re.compile(r"\[\[([\w-]+)(?::(.*?))?\]\]", re.DOTALL)
STDERR_LINE = "a line on stderr, which is for people and not for the protocol\n"
PIXEL = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGA"
    "hKmMIQAAAABJRU5ErkJggg=="
)
OPTIONS = [
    schema.PermissionOption(option_id="yes-once", name="Yes, this time", kind="allow_once"),
    schema.PermissionOption(option_id="yes-always", name="Yes, from now on", kind="allow_always"),
    schema.PermissionOption(option_id="no-once", name="No, not this time", kind="reject_once"),
    schema.PermissionOption(option_id="no-always", name="No, never", kind="reject_always"),
]


class TurnCancelled(Exception):
    """The client sent `session/cancel`."""


@dataclass
class Session:
    """One session, with the stop switch of its turn and the counters of its ids."""

    session_id: str
    cwd: str
    cancelled: asyncio.Event | None = None
    counters: dict[str, int] = field(default_factory=dict)


class Turn:
    """One prompt turn: `do_NAME` is the directive NAME."""

    def __init__(self, client: acp.Client, session: Session, prompt: list[Any]) -> None:
        self._client = client
        self._session = session
        self._prompt = prompt
        self._stopped = session.cancelled or asyncio.Event()
        self.stop_reason = "end_turn"

    async def run(self) -> None:
        """Does the directives of the prompt one after another."""
        words = "\n".join(block.text for block in self._prompt if block.type == "text")
        steps = PATTERN.findall(words) or [("say", "Hello from the test agent.")]
        for name, argument in steps:
            self._check()
            does = getattr(self, f"do_{name}", self._unknown)
            await does(argument)
        self._check()

    def _check(self) -> None:
        if self._stopped.is_set():
            raise TurnCancelled

    async def _unknown(self, _argument: str) -> None:
        await self.do_say("There is no such directive.")

    async def _send(self, update: Any) -> None:
        await self._client.session_update(session_id=self._session.session_id, update=update)

    def _id(self, prefix: str) -> str:
        count = self._session.counters.get(prefix, 0) + 1
        self._session.counters[prefix] = count
        return f"{prefix}-{count}"

    async def do_say(self, argument: str) -> None:
        await self._send(acp.update_agent_message_text(argument))

    async def do_chunks(self, argument: str) -> None:
        count, size = [*(int(part) for part in argument.split(":") if part), 3, 8][:2]
        for index in range(count):
            await self.do_say(f"{index} ".ljust(size, "x")[:size])

    async def do_think(self, argument: str) -> None:
        await self._send(acp.update_agent_thought_text(argument or "Let me think."))

    async def do_image(self, _argument: str) -> None:
        seen = sum(block.type == "image" for block in self._prompt)
        await self.do_say(f"images seen: {seen}")
        await self._send(acp.update_agent_message(acp.image_block(PIXEL, "image/png")))

    async def do_plan(self, _argument: str) -> None:
        steps: tuple[tuple[schema.PlanEntryStatus, schema.PlanEntryStatus], ...]
        steps = (("in_progress", "pending"), ("completed", "in_progress"))
        for first, second in steps:
            entries = [
                schema.PlanEntry(content="Read the cell", priority="high", status=first),
                schema.PlanEntry(content="Run the cell", priority="low", status=second),
            ]
            await self._send(acp.update_plan(entries))

    async def do_usage(self, _argument: str) -> None:
        cost = schema.Cost(amount=0.045, currency="USD")
        await self._send(
            schema.UsageUpdate(session_update="usage_update", used=53000, size=200000, cost=cost)
        )

    async def do_tool(self, argument: str) -> None:
        call = self._id("call")
        raw_input = {"pattern": "needle"}
        await self._send(
            acp.start_tool_call(
                call, "Search the files", kind="search", status="pending", raw_input=raw_input
            )
        )
        await self._send(acp.update_tool_call(call, status="in_progress"))
        hits = [acp.tool_content(acp.text_block(hit)) for hit in ("first hit", "second hit")]
        status: schema.ToolCallStatus = "failed" if argument == "fail" else "completed"
        await self._send(acp.update_tool_call(call, status=status, content=hits))

    async def do_diff(self, _argument: str) -> None:
        call, cwd = self._id("call"), self._session.cwd
        content = [
            acp.tool_diff_content(f"{cwd}/notes.txt", "first\nchanged\n", "first\nsecond\n"),
            acp.tool_diff_content(f"{cwd}/new.txt", "brand new\n"),
        ]
        await self._send(
            acp.start_tool_call(
                call, "Edit notes.txt", kind="edit", status="in_progress", content=content
            )
        )
        await self._send(acp.update_tool_call(call, status="completed"))

    async def do_permission(self, argument: str) -> None:
        calls = [self._id("call") for _ in range(2 if argument == "two" else 1)]
        fields: dict[str, Any] = {
            "title": "Delete the results",
            "kind": "delete",
            "status": "pending",
            "raw_input": {"path": f"{self._session.cwd}/results.csv"},
        }
        for call in calls:
            await self._send(acp.start_tool_call(call, **fields))
        asked = [
            self._client.request_permission(
                session_id=self._session.session_id,
                tool_call=schema.ToolCallUpdate(tool_call_id=call, **fields),
                options=OPTIONS,
            )
            for call in calls
        ]
        for call, answer in zip(calls, await asyncio.gather(*asked), strict=True):
            chosen = getattr(answer.outcome, "option_id", None)
            await self.do_say(
                " ".join(filter(None, (f"permission {call}:", answer.outcome.outcome, chosen)))
            )
            allowed = str(chosen).startswith("yes")
            status: schema.ToolCallStatus = "completed" if allowed else "failed"
            await self._send(acp.update_tool_call(call, status=status))

    async def do_stop(self, argument: str) -> None:
        self.stop_reason = argument or "end_turn"

    async def do_hang(self, _argument: str) -> None:
        await self._stopped.wait()
        raise TurnCancelled

    async def do_error(self, argument: str) -> None:
        code, _, message = argument.partition(":")
        message = message or "the test agent was told to fail"
        raise acp.RequestError(int(code or -32603), message, {"details": f"details of: {message}"})

    async def do_exit(self, argument: str) -> None:
        sys.stdout.flush()
        os._exit(int(argument or 0))  # `sys.exit` would only end this task

    async def do_stderr(self, argument: str) -> None:
        size = int(argument or 1000)
        words = (STDERR_LINE * (size // len(STDERR_LINE) + 1))[:size]
        sys.stderr.write(words)
        sys.stderr.flush()


class ScriptedAgent:
    """The agent's side; not a subclass of `acp.Agent`, whose stubs would answer null."""

    _client: acp.Client

    def __init__(self) -> None:
        self._sessions: dict[str, Session] = {}
        self._background: set[asyncio.Task[None]] = set()

    def on_connect(self, conn: acp.Client) -> None:
        self._client = conn

    async def initialize(self, protocol_version: int, **_: Any) -> acp.InitializeResponse:
        del protocol_version  # this agent has only one to offer
        return acp.InitializeResponse(
            protocol_version=1,
            agent_info=schema.Implementation(name="sdk-test-agent-py", version="1.0.0"),
            agent_capabilities=schema.AgentCapabilities(
                prompt_capabilities=schema.PromptCapabilities(image=True, embedded_context=True)
            ),
        )

    async def new_session(self, cwd: str, **_: Any) -> acp.NewSessionResponse:
        session = Session(f"sess-{uuid.uuid4()}", cwd)
        self._sessions[session.session_id] = session
        task = asyncio.create_task(self._offer_commands(session.session_id))
        self._background.add(task)
        task.add_done_callback(self._background.discard)
        modes = [
            schema.SessionMode(id="ask", name="Ask"),
            schema.SessionMode(id="trust", name="Trust"),
        ]
        return acp.NewSessionResponse(
            session_id=session.session_id,
            modes=schema.SessionModeState(current_mode_id="ask", available_modes=modes),
        )

    async def _offer_commands(self, session_id: str) -> None:
        commands = [schema.AvailableCommand(name="plan", description="Shows a plan")]
        update = schema.AvailableCommandsUpdate(
            session_update="available_commands_update", available_commands=commands
        )
        await self._client.session_update(session_id=session_id, update=update)

    async def set_session_mode(self, **_: Any) -> acp.SetSessionModeResponse:
        return acp.SetSessionModeResponse()

    async def prompt(self, session_id: str, prompt: list[Any], **_: Any) -> acp.PromptResponse:
        session = self._sessions.get(session_id)
        if session is None:
            raise acp.RequestError(-32002, "Resource not found", {"sessionId": session_id})
        if session.cancelled is not None:
            raise acp.RequestError(-32600, "A prompt is already in progress")
        session.cancelled = asyncio.Event()
        turn = Turn(self._client, session, prompt)
        try:
            await turn.run()
        except TurnCancelled:
            turn.stop_reason = "cancelled"
        finally:
            session.cancelled = None
        # Built unchecked: the SDK would refuse a stop reason that it does not know.
        return acp.PromptResponse.model_construct(stop_reason=turn.stop_reason)

    async def cancel(self, session_id: str, **_: Any) -> None:
        session = self._sessions.get(session_id)
        if session and session.cancelled:
            session.cancelled.set()


if __name__ == "__main__":
    asyncio.run(acp.run_agent(cast("acp.Agent", ScriptedAgent())))
