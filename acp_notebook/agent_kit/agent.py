"""An agent as its author declares it, and how it is run."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import sys
from collections.abc import Awaitable, Callable, Iterable
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from acp_notebook.agent_kit.connection import AgentConnection
from acp_notebook.agent_kit.definition import Command, Option
from acp_notebook.agent_kit.stdio import StdioTransport
from acp_notebook.agent_kit.tool_server import TRANSPORTS
from acp_notebook.agent_kit.wire.seam import CAPABILITY_NAMES

if TYPE_CHECKING:
    from collections.abc import Mapping

    from acp_notebook.agent_kit.session import Session
    from acp_notebook.agent_kit.turn import Turn
    from acp_notebook.jsonrpc import Transport

Reply: TypeAlias = "Callable[[Turn], Awaitable[object]]"
ReplyT = TypeVar("ReplyT", bound=Reply)
PROTOCOLS = frozenset({1, 2})


class Agent:
    """An agent: a name, a function that replies to prompts, and what else it offers.

    Args:
        name: Its name for programs.
        version: Its own version.
        title: Its name for people.
        accepts: What a prompt may hold besides text and links: image, audio, embedded_context.
        mcp: How it can reach MCP servers: http, stdio. A client then hands it some, and
            `session.tools(name)` connects to one.
        protocols: The protocol versions it speaks. With both, the client's wish decides.
        pace_s: How long `turn.stream` waits between two words.
    """

    def __init__(
        self,
        name: str,
        *,
        version: str = "0.1.0",
        title: str | None = None,
        accepts: Iterable[str] = ("image", "embedded_context"),
        mcp: Iterable[str] = (),
        protocols: Iterable[int] = PROTOCOLS,
        pace_s: float = 0.0,
    ) -> None:
        self.name = name
        self.version = version
        self.title = title
        self.accepts = tuple(accepts)
        self.mcp = tuple(mcp)
        self.protocols = frozenset(protocols)
        self.pace_s = pace_s
        self.sessions: dict[str, Session] = {}
        self._reply: Reply | None = None
        self._replies: dict[str, Reply] = {}
        self._commands: dict[str, Command] = {}
        self._options: dict[str, Option] = {}
        if unknown := set(self.accepts) - set(CAPABILITY_NAMES):
            known = ", ".join(CAPABILITY_NAMES)
            raise ValueError(f"`accepts` has {sorted(unknown)}. It may have: {known}.")
        if unknown := set(self.mcp) - set(TRANSPORTS):
            raise ValueError(f"`mcp` has {sorted(unknown)}. It may have: {', '.join(TRANSPORTS)}.")
        if not self.protocols or not self.protocols <= PROTOCOLS:
            raise ValueError(f"`protocols` must be some of {sorted(PROTOCOLS)}.")

    @property
    def info(self) -> dict[str, Any]:
        """Who it is, as `initialize` tells it."""
        info = {"name": self.name, "version": self.version}
        return info if self.title is None else {**info, "title": self.title}

    @property
    def commands(self) -> list[Command]:
        """Its slash commands."""
        return list(self._commands.values())

    @property
    def options(self) -> list[Option]:
        """What a user may set for a session."""
        return list(self._options.values())

    def prompt(self, function: ReplyT) -> ReplyT:
        """Decorator: this function replies to every prompt that is no command."""
        self._reply = function
        return function

    def command(
        self, name: str, description: str, *, hint: str | None = None
    ) -> Callable[[ReplyT], ReplyT]:
        """Decorator: this function replies to `/name`.

        Args:
            name: The command without its slash.
            description: What it does.
            hint: What its argument is; without it the command takes none.
        """
        if not name or name.startswith("/") or name.split() != [name]:
            raise ValueError(f"{name!r} is no command name: one word, without the slash.")

        def declare(function: ReplyT) -> ReplyT:
            self._commands[name] = Command(name, description, hint)
            self._replies[name] = function
            return function

        return declare

    def option(
        self,
        option_id: str,
        name: str,
        *,
        default: str | bool,
        choices: Mapping[str, str] | None = None,
        description: str | None = None,
        category: str | None = None,
    ) -> None:
        """Declare something that a user may set: read it as `turn.session.options[option_id]`.

        Args:
            option_id: Its name for programs.
            name: Its name for people.
            default: Its value in a new session.
            choices: Value to label; without it the option is a switch.
            description: What it does.
            category: mode, model, thought_level or another word, by which clients group.
        """
        option = Option(option_id, name, default, choices or {}, description, category)
        self._options[option_id] = option

    async def reply(self, turn: Turn) -> None:
        """Let the function that is responsible reply to a prompt."""
        reply = self._replies.get(turn.command or "", self._reply)
        if reply is not None:
            await reply(turn)
        else:
            await turn.say("This agent has no reply yet. Decorate a function with `@agent.prompt`.")

    async def serve(self, transport: Transport) -> None:
        """Serve one client over any transport until it goes."""
        await AgentConnection(self, transport).run()

    def run(self) -> None:
        """Serve one client over stdin and stdout until it goes. Logs and prints go to stderr."""
        logging.basicConfig(stream=sys.stderr, level=logging.WARNING)
        with contextlib.suppress(KeyboardInterrupt):
            asyncio.run(self._serve_stdio())

    async def _serve_stdio(self) -> None:
        await self.serve(StdioTransport.take())
