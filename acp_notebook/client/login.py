"""Logging in to an agent, and repeating what the agent refused before. Knows no notebook.

No login is automatic: only an error -32000 asks for one (AUTH-1), and then the user chooses the
method.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from acp_notebook.client.host import current_host
from acp_notebook.client.turn import Turn
from acp_notebook.errors import (
    AUTH_REQUIRED_CODE,
    AgentError,
    AuthRequired,
    UnsupportedByAgent,
    UsageError,
)
from acp_notebook.protocol.dialect import AuthMethod

if TYPE_CHECKING:
    from acp_notebook.client.agent import Agent

USABLE = ("agent", "terminal")


class Login:
    """The login of one agent, used on the threads that use the agent unless noted.

    Attributes:
        error: Why a login is needed; None if none is known to be needed.
        again: Repeats the refused request after a login; returns the turn, if it was a prompt.
    """

    def __init__(self, agent: Agent) -> None:
        self.error: AuthRequired | None = None
        self.again: Callable[[], object] | None = None
        self._agent = agent

    @property
    def is_needed(self) -> bool:
        """Whether the agent refused a request until a login."""
        return self.error is not None

    def needed(self, error: AuthRequired, again: Callable[[], object]) -> None:
        """Note that the agent refused a request, which `again` repeats."""
        message = f"{error.message.rstrip('.')}. {self.hint}"
        self.error = AuthRequired(error.method, error.code, message, error.data)
        self.again = again

    def turn_failed(self, turn: Turn, message: str) -> None:
        """Note a refused prompt; on the agent thread, so the repeated prompt must not wait."""
        error = AuthRequired("session/prompt", AUTH_REQUIRED_CODE, message)

        def again() -> Turn:
            return turn.session.prompt(list(turn.prompt), wait=False)

        self.needed(error, again)

    @contextmanager
    def guard(self, again: Callable[[], object]) -> Iterator[None]:
        """Note a request inside that needs a login; the raised error explains how to log in."""
        try:
            yield
        except AuthRequired as error:
            self.needed(error, again)
            assert self.error is not None
            raise self.error from None

    @property
    def hint(self) -> str:
        """How to log in, in one or two sentences."""
        return login_hint(self._agent.auth_methods, self._agent.label)

    def choose(self, wanted: str | None) -> AuthMethod:
        """Return the method with an id or a name, or the only one.

        Raises:
            UsageError: There is no such method, or a choice of several; the message lists them.
        """
        methods = self._agent.auth_methods
        usable = usable_methods(methods)
        if wanted is None:
            if len(usable) == 1:
                return usable[0]
            raise UsageError(self.hint)
        method = find_method(methods, wanted)
        if method is None:
            raise UsageError(f"{self._agent.label} has no way to log in {wanted!r}. {self.hint}")
        if method.type not in USABLE:
            raise UsageError(
                f"This client does not know how to log in by {method.name}, which is of the type "
                f"{method.type!r}. Log in with the agent's own program, then start it again."
            )
        return method

    def run(self, wanted: str | None) -> Turn | None:
        """Log in, then repeat the refused request; return the running turn, if it was a prompt."""
        method, again = self.choose(wanted), self.again
        if method.type == "terminal":
            self._in_terminal(method)
            self._agent.reconnect()
        else:
            try:
                self._agent.run(
                    lambda connection: connection.request(connection.facts.dialect.login(method.id))
                )
            except AuthRequired:
                self.again = again  # the refused request, not the login
                raise
        self.error = self.again = None
        if again is None and not self._agent.sessions:
            again = self._agent.new_session
        turn = again() if again is not None else None
        return turn if isinstance(turn, Turn) else None

    def _in_terminal(self, method: AuthMethod) -> None:
        from acp_notebook.client.connection.stdio_process import resolve_program

        launch = self._agent.launch
        if not launch.command:
            raise UsageError("The agent runs elsewhere: log in to it there, then start it again.")
        env = {**os.environ, **launch.env, **dict(method.env)}
        command = (*launch.command, *method.args)
        program = resolve_program(command, env.get("PATH", ""), launch.cwd)
        attend = current_host().terminal() if os.name == "posix" else None
        if attend is None:
            raise UsageError(
                f"{method.name} needs somebody who types in a terminal, which is not here. Run "
                f"this in a terminal, then start the agent again: {shlex.join(command)}"
            )
        from acp_notebook.client.process.pseudo_terminal import PseudoTerminal

        terminal = PseudoTerminal(
            (program, *command[1:]), env=env, cwd=launch.cwd, thread=self._agent.thread
        )
        try:
            attend(terminal, f"{self._agent.label}: {method.name}")
        finally:
            terminal.end()
        status = terminal.ended.result()
        if status != 0:
            how = f"exit code {status}" if status > 0 else f"signal {-status}"
            raise AgentError(
                f"The login ended with {how}, so it counts as failed. Try %acp login once more."
            )

    def out(self) -> None:
        """Log out.

        Raises:
            UnsupportedByAgent: The agent offers no logout.
        """
        agent = self._agent
        if not agent.auth_methods or not agent.capabilities.logout:
            raise UnsupportedByAgent(f"{agent.label} offers no logout.")
        agent.run(lambda connection: connection.request(connection.facts.dialect.logout()))


def usable_methods(methods: Sequence[AuthMethod]) -> list[AuthMethod]:
    """Return the methods that this client can use."""
    return [method for method in methods if method.type in USABLE]


def find_method(methods: Sequence[AuthMethod], wanted: str) -> AuthMethod | None:
    """Return the method with this id, else the one with this id or name in any case."""
    for method in methods:
        if method.id == wanted:
            return method
    for method in methods:
        if wanted.casefold() in (method.id.casefold(), method.name.casefold()):
            return method
    return None


def login_hint(methods: Sequence[AuthMethod], label: str) -> str:
    """Return how to log in, in one or two sentences."""
    usable = usable_methods(methods)
    if not usable:
        others = ", ".join(method.name for method in methods)
        known = f"It offers only ways that this client does not know: {others}. " if others else ""
        return (
            f"{known or 'It offers no way to log in from here. '}"
            "Log in with its own program, then start it again."
        )
    if len(usable) == 1:
        return f"It offers: {usable[0].name}. Log in with %acp login --to {label}"
    ways = ", ".join(f"{method.name} ({method.id})" for method in usable)
    return f"It offers: {ways}. Log in with %acp login METHOD --to {label}"
