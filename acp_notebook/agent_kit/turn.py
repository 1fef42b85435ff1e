"""A turn: the prompt, and everything an author can send in reply. Knows no protocol version."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from acp_notebook.agent_kit import updates
from acp_notebook.agent_kit.permission import ALLOW_OR_REJECT, PermissionOption
from acp_notebook.agent_kit.tool import Tool, described_locations
from acp_notebook.agent_kit.updates import Block, PlanEntries
from acp_notebook.agent_kit.wire.seam import Question

if TYPE_CHECKING:
    from acp_notebook.agent_kit.session import Session
    from acp_notebook.agent_kit.session_client import SessionClient

_COMMAND = re.compile(r"/(\S+)\s*(.*)", re.DOTALL)
_PIECE = re.compile(r"\S+\s*|\s+")


class Turn:
    """One prompt and its reply.

    When the user cancels the turn, the author's function gets a `CancelledError` where it awaits.
    """

    cancelled = False
    """Whether the user has cancelled the turn."""
    stop_reason = "end_turn"
    """Why the turn ends. An author may set `refusal`, `max_tokens` or `max_turn_requests`."""

    def __init__(self, client: SessionClient, blocks: Sequence[Block], pace_s: float) -> None:
        self.blocks = list(blocks)
        """The prompt as it was sent: text, links, attached resources, images, audio."""
        self.pace_s = pace_s
        """How many seconds `stream` waits between two words."""
        self._client = client
        self._tools: list[Tool] = []
        self._message: tuple[str, str] | None = None

    @property
    def session(self) -> Session:
        """The session: `cwd`, `options`, `title`, and `memory` for the author's own use."""
        return self._client.session

    @property
    def protocol_version(self) -> int:
        """The negotiated protocol version. For information; the kit handles the differences."""
        return self._client.wire.version

    @property
    def text(self) -> str:
        """The text of the prompt, without attachments."""
        texts = [str(b.get("text", "")) for b in self.blocks if b.get("type") == "text"]
        return "\n".join(texts).strip()

    @property
    def command(self) -> str | None:
        """The name in `/name argument`, or `None` if the prompt is no command."""
        match = _COMMAND.fullmatch(self.text)
        return match[1] if match else None

    @property
    def argument(self) -> str:
        """The text after the command's name; the whole text if there is no command."""
        match = _COMMAND.fullmatch(self.text)
        return match[2].strip() if match else self.text

    async def say(self, content: str | Block) -> None:
        """Send text (Markdown) or a content block as a message of the agent.

        Consecutive calls extend one message; a thought or a tool call starts a new one.
        """
        await self._speak("agent_message", content)

    async def think(self, content: str | Block) -> None:
        """Send text (Markdown) or a content block as a thought, shown apart from the answer."""
        await self._speak("agent_thought", content)

    def new_message(self) -> None:
        """Make the next `say` start a new message, as a tool call does."""
        self._message = None

    async def stream(self, text: str, *, pace_s: float | None = None) -> None:
        """Send a text word by word, as a model would.

        Args:
            text: The text, as Markdown.
            pace_s: The pause between two words in seconds; by default the agent's.
        """
        wait_s = self.pace_s if pace_s is None else pace_s
        for piece in _PIECE.findall(text):
            await self.say(piece)
            await self.pause(wait_s)

    async def pause(self, seconds: float | None = None) -> None:
        """Wait, by default for `pace_s` as `stream` does between words."""
        wait_s = self.pace_s if seconds is None else seconds
        if wait_s > 0:
            await asyncio.sleep(wait_s)

    async def plan(self, entries: PlanEntries, *, plan_id: str = "plan") -> None:
        """Send the whole plan; call again, with all entries, whenever a status changes.

        Args:
            entries: Texts, pairs of text and status, or mappings with `content`, `status` and
                `priority`. A status is pending, in_progress or completed.
            plan_id: The plan's id, for an agent that has several plans.
        """
        await self._client.emit(updates.plan(plan_id, entries))

    async def usage(
        self, used: int, size: int, *, cost: float | None = None, currency: str = "USD"
    ) -> None:
        """Report the context usage and the cost of the session.

        Args:
            used: The tokens in the context.
            size: The size of the context in tokens.
            cost: The cost of the session so far; `None` if unknown.
            currency: The currency of the cost, as an ISO 4217 code.
        """
        await self._client.emit(updates.usage(used, size, cost, currency))

    async def title(self, text: str) -> None:
        """Set the session's title; by default it is the beginning of the first prompt."""
        self.session.title = text
        await self._client.emit(updates.title(text))

    async def set_option(self, option_id: str, value: str | bool) -> None:
        """Set an option of the session and notify the client.

        Raises:
            ValueError: There is no such option, or the option has no such value.
        """
        self.session.set_option(option_id, value)
        await self._client.emit(updates.config_options(self.session.described_options()))

    async def tool(
        self,
        title: str,
        *,
        kind: str = "other",
        input: object = None,  # noqa: A002 - the word that authors and the protocol use
        locations: Sequence[str | tuple[str, int]] = (),
    ) -> Tool:
        """Announce a tool call and return it; its methods report output and end.

        Args:
            title: What the tool does, as the user sees it.
            kind: read, edit, delete, move, search, execute, think, fetch or other.
            input: The tool's input, as data.
            locations: The absolute paths, or pairs of path and line, that the tool works on.
        """
        fields: dict[str, Any] = {"title": title, "kind": kind}
        if input is not None:
            fields["rawInput"] = input
        if locations:
            fields["locations"] = described_locations(locations)
        tool = Tool(self._client, fields)
        self._tools.append(tool)
        self._message = None
        await tool.announce()
        return tool

    async def ask(
        self,
        title: str,
        options: Sequence[PermissionOption] = ALLOW_OR_REJECT,
        *,
        description: str | None = None,
        tool: Tool | None = None,
        command: str | None = None,
    ) -> PermissionOption | None:
        """Ask the user's permission and wait for the choice.

        Args:
            title: The question.
            options: The buttons.
            description: The reason for the request, or what will happen.
            tool: The tool call that waits for the answer.
            command: The command line that would be run.

        Returns:
            The chosen option, or `None` if the client gave no choice. Only an option that
            `allows` grants the permission.

        Raises:
            RpcError: The client answered with an error.
        """
        question = Question(
            title=title,
            options=options,
            description=description,
            tool_call=tool.snapshot() if tool else {"toolCallId": self.session.new_id("call")},
            command=command,
            cwd=self.session.cwd,
        )
        params = self._client.wire.permission(self.session.id, question)
        answer = await self._client.ask("session/request_permission", params)
        outcome = answer.get("outcome")
        if not isinstance(outcome, dict) or outcome.get("outcome") != "selected":
            return None
        chosen = outcome.get("optionId")
        return next((option for option in options if option.id == chosen), None)

    @property
    def has_forms(self) -> bool:
        """Whether the client can show a form."""
        return self._client.has_forms

    async def form(
        self,
        message: str,
        fields: Mapping[str, Mapping[str, Any]],
        *,
        required: Sequence[str] = (),
    ) -> dict[str, Any] | None:
        """Ask the user to fill in a form and wait for the values.

        Args:
            message: The question that the form asks.
            fields: A JSON Schema by field name: string, number, integer or boolean.
            required: The names of the fields that must be filled in.

        Returns:
            The values by name, or `None` if the user declined.

        Raises:
            RuntimeError: The client cannot show forms; check `has_forms` first.
            RpcError: The client answered with an error.
        """
        if not self.has_forms:
            raise RuntimeError("This client cannot show forms. Look at `turn.has_forms` first.")
        schema: dict[str, Any] = {"type": "object", "properties": dict(fields)}
        if required:
            schema["required"] = list(required)
        params = {"sessionId": self.session.id, "mode": "form", "message": message}
        answer = await self._client.ask("elicitation/create", {**params, "requestedSchema": schema})
        if answer.get("action") != "accept":
            return None
        content = answer.get("content")
        return content if isinstance(content, dict) else {}

    def settle_tools(self, status: str) -> None:
        """End the open tool calls, at the end of the turn."""
        for tool in self._tools:
            tool.settle(status)

    async def _speak(
        self, role: Literal["agent_message", "agent_thought"], content: str | Block
    ) -> None:
        if self._message is None or self._message[0] != role:
            self._message = (role, self.session.new_id("message"))
        block = updates.text_block(content) if isinstance(content, str) else content
        await self._client.emit(updates.message_chunk(role, self._message[1], block))
