"""An agent: what its author declares, and how to run it. Knows no form of the wire."""

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
    """An agent: a name, a function that replies to prompts, slash commands and options.

    Args:
        name: The name for programs.
        version: The agent's own version.
        title: The name for people.
        accepts: What a prompt may hold besides text and links: image, audio, embedded_context.
        mcp: The MCP transports it supports: http, stdio. Clients then pass servers to each
            session, and `session.tools(name)` connects to one.
        protocols: The supported protocol versions, 1 and 2. The client's request chooses.
        pace_s: How many seconds `turn.stream` waits between two words.

    Raises:
        ValueError: `accepts`, `mcp` or `protocols` has an unknown value.
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
        """The agent's name, version and title as `initialize` reports them."""
        info = {"name": self.name, "version": self.version}
        return info if self.title is None else {**info, "title": self.title}

    @property
    def commands(self) -> list[Command]:
        """The declared slash commands."""
        return list(self._commands.values())

    @property
    def options(self) -> list[Option]:
        """The declared options, which a user may set for each session."""
        return list(self._options.values())

    def prompt(self, function: ReplyT) -> ReplyT:
        """Decorate the function that replies to every prompt that is no declared command."""
        self._reply = function
        return function

    def command(
        self, name: str, description: str, *, hint: str | None = None
    ) -> Callable[[ReplyT], ReplyT]:
        """Decorate the function that replies to `/name`.

        Args:
            name: The command without its slash.
            description: What the command does.
            hint: What the argument is; None for a command without an argument.

        Raises:
            ValueError: The name is not one word, or begins with a slash.
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
        """Declare an option of each session; read it as `turn.session.options[option_id]`.

        Args:
            option_id: The name for programs.
            name: The name for people.
            default: The value in a new session.
            choices: Labels by value; without choices the option is a switch.
            description: What the option does.
            category: mode, model, thought_level or another word; clients group by it.

        Raises:
            ValueError: The default is none of the choices, or no boolean for a switch.
        """
        option = Option(option_id, name, default, choices or {}, description, category)
        self._options[option_id] = option

    async def reply(self, turn: Turn) -> None:
        """Reply to a prompt with the function of its command, or else the general one."""
        reply = self._replies.get(turn.command or "", self._reply)
        if reply is not None:
            await reply(turn)
        else:
            await turn.say("This agent has no reply yet. Decorate a function with `@agent.prompt`.")

    async def serve(self, transport: Transport) -> None:
        """Serve one client over any transport until it disconnects."""
        await AgentConnection(self, transport).run()

    def run(self) -> None:
        """Serve one client over stdin and stdout until it disconnects; prints go to stderr."""
        logging.basicConfig(stream=sys.stderr, level=logging.WARNING)
        with contextlib.suppress(KeyboardInterrupt):
            asyncio.run(self._serve_stdio())

    async def _serve_stdio(self) -> None:
        await self.serve(StdioTransport.take())
