"""A session as its user sees it: prompt, cancel, options, turns. Usable from any thread.

Knows the agent thread only through `Agent`; knows no notebook.
"""

from __future__ import annotations

import concurrent.futures
import itertools
from typing import TYPE_CHECKING, Protocol

from acp_notebook.client.attachments import Attachments, attached_blocks
from acp_notebook.client.host import current_host
from acp_notebook.client.live import session_calls
from acp_notebook.client.live.audience import Audience, ElicitFunction
from acp_notebook.client.live.live_session import LiveSession, Subscription
from acp_notebook.client.live.policies import Policy, check_policy
from acp_notebook.client.live.question import Question
from acp_notebook.client.turn import CodeBlock, Turn, as_content
from acp_notebook.client.waiting import wait_or_cancel
from acp_notebook.errors import TurnTimeout, UsageError
from acp_notebook.protocol.prompt_content import fit_content
from acp_notebook.session import updates as u
from acp_notebook.session.content import ContentBlock

if TYPE_CHECKING:
    from acp_notebook.client.agent import Agent

_turn_numbers = itertools.count(1)


class Session:
    """An ACP session of one agent."""

    def __init__(self, agent: Agent, live: LiveSession) -> None:
        self.agent = agent
        self.live = live
        self.turns: list[Turn] = []

    def __repr__(self) -> str:
        return f"<Session {self.id} of {self.agent.label}: {self.state}>"

    @property
    def id(self) -> str:
        """The agent's id for it."""
        return str(self.live.session_id)

    @property
    def title(self) -> str | None:
        """The title that the agent gave it."""
        return self.agent.thread.call(lambda: self.live.state.title)

    @property
    def state(self) -> str:
        """`idle`, `running`, `requires_action`, `disconnected`, or the agent's own word."""
        state = self.live.state
        return self.agent.thread.call(
            lambda: state.activity if state.is_connected else "disconnected"
        )

    @property
    def config_options(self) -> tuple[u.ConfigOption, ...]:
        """Mode, model and the like, in the agent's order."""
        return self.agent.thread.call(lambda: self.live.state.config_options)

    @property
    def commands(self) -> tuple[u.Command, ...]:
        """The agent's slash commands."""
        return self.agent.thread.call(lambda: self.live.state.commands)

    def set_option(self, option_id: str, value: str | bool) -> None:
        """Set a config option: mode, model and the like.

        Args:
            option_id: The option's id, or its name.
            value: A choice's id or name; for a boolean also on, off, true, false.

        Raises:
            UsageError: There is no such option or choice.
            RequestFailed: The agent refused; the option keeps its value.
        """
        option = _find_option(self.config_options, option_id)
        chosen = _find_value(option, value)
        self.agent.run(lambda _: session_calls.set_option(self.live, option, chosen))

    def cancel_tool_call(self, tool_call_id: str) -> None:
        """Cancel one tool call and nothing else, also one that goes on in the background.

        Raises:
            UsageError: There is no such call, or it has ended.
            UnsupportedByAgent: It cannot be cancelled by itself.
            RequestFailed: The agent refused.
        """
        self.agent.run(lambda _: session_calls.cancel_tool_call(self.live, tool_call_id))

    def close(self) -> None:
        """Tell the agent that the session is over; it may be taken up again by `resume`.

        Raises:
            UnsupportedByAgent: The agent does not close single sessions.
            RequestFailed: It refused.
        """
        self.agent.run(lambda connection: session_calls.close(connection, self.id))
        self.agent.sessions = [each for each in self.agent.sessions if each is not self]

    @property
    def permissions(self) -> Policy:
        """The permission policy: a name or a function."""
        return self.live.respondents.policy

    @permissions.setter
    def permissions(self, policy: Policy) -> None:
        self.live.respondents.policy = check_policy(policy)

    @property
    def elicit(self) -> ElicitFunction | None:
        """What answers its forms and pages instead of the user; see `acp_notebook.start`."""
        return self.live.respondents.elicit

    @elicit.setter
    def elicit(self, function: ElicitFunction | None) -> None:
        self.live.respondents.elicit = function

    @property
    def questions(self) -> list[Question]:
        """What waits for an answer: permissions, forms and urls, also of child sessions.

        Example:
            `session.questions[0].answer("allow")`, `.fill({"name": "x"})`, `.decline()`
        """

        def read() -> list[Question]:
            lives = [self.live, *self.agent.connection.routes.children_of(self.live)]
            return [question for live in lives for question in live.questions.values()]

        return self.agent.thread.call(read)

    @property
    def last_turn(self) -> Turn | None:
        """The turn that was prompted last."""
        return self.turns[-1] if self.turns else None

    def prompt(
        self,
        prompt: str | ContentBlock | list[ContentBlock],
        *,
        wait: bool = True,
        timeout: float | None = None,
        permissions: Policy | None = None,
        attach: Attachments = (),
        quiet: bool = False,
    ) -> Turn:
        """Send a prompt and, unless `wait` is false, wait for the end of its turn.

        A prompt sent while the agent works is taken by the agent, or queued until it is idle.

        Args:
            prompt: Text (Markdown) or content blocks.
            wait: Whether to return only when the turn is over.
            timeout: Seconds to wait at most; the turn goes on after that.
            permissions: A policy for the session from this prompt on.
            attach: What goes with it: content blocks, text, paths, and in a notebook any object; a
                dict gives names.
            quiet: Whether to show nothing of the answer; a question still stands in the cell.

        Raises:
            UsageError: The prompt is empty, the policy unknown, or an object cannot be attached.
            UnsupportedByAgent: The agent cannot take a block, nor a fallback for it.
            TurnTimeout: See `Turn.wait`.
        """
        if permissions is not None:
            self.permissions = permissions
        if self.agent.has_quit:
            raise UsageError(
                f"The agent {self.agent.label} was ended. Start it again with %acp start."
            )
        capabilities = self.agent.capabilities
        attached = attached_blocks(attach, capabilities, self.agent.launch.cwd)
        content = fit_content([*as_content(prompt), *attached], capabilities)
        turn = Turn(self, u.PromptId(f"turn-{next(_turn_numbers)}"), content)
        self.turns.append(turn)
        remember_turn(turn)
        audience = current_host().audience(self.agent)
        if not quiet:
            turn.show()
        self.agent.thread.post(lambda: self._send(turn, audience))
        if wait:
            turn.wait(timeout)
        return turn

    async def aprompt(
        self,
        prompt: str | ContentBlock | list[ContentBlock],
        *,
        timeout: float | None = None,  # noqa: ASYNC109 - the turn goes on after it
        permissions: Policy | None = None,
        attach: Attachments = (),
        quiet: bool = False,
    ) -> Turn:
        """Send a prompt and wait in async code, so that several agents can work at once.

        Args and errors are those of `prompt`. A cancelled task cancels its turn.

        Example:
            `await asyncio.gather(one.session.aprompt("..."), other.session.aprompt("..."))`
        """
        turn = self.prompt(prompt, wait=False, permissions=permissions, attach=attach, quiet=quiet)
        return await turn.wait_async(timeout)

    def wait(self, timeout: float | None = None) -> Session:
        """Wait until the agent rests: it is idle, asks nothing, and has no prompt of ours.

        An agent may work by itself after a turn has ended, when something in the background is
        over. An interrupt cancels that work, a second one ends the wait at once.

        Args:
            timeout: Seconds to wait at most; the work goes on after that.

        Raises:
            TurnTimeout: The agent still works.
            TurnInterrupted: The wait was interrupted.
        """
        rest: concurrent.futures.Future[None] = concurrent.futures.Future()

        def look(_changes: object = None) -> None:
            if self.live.state.is_at_rest and not rest.done():
                rest.set_result(None)

        def begin() -> Subscription:
            look()
            return self.live.subscribe(look)

        subscription = self.agent.thread.call(begin)
        try:
            is_over = wait_or_cancel(
                rest, timeout, cancel=self._stop_softly, outcome=lambda: self.state
            )
        finally:
            self.agent.thread.call(subscription.close)
        if not is_over:
            raise TurnTimeout(
                f"The agent {self.agent.label} still works after {timeout:g} s. Wait again with "
                "session.wait(), or stop it with session.stop()."
            )
        return self

    @property
    def is_at_rest(self) -> bool:
        """Whether the agent is idle, asks nothing, and has no prompt of ours."""
        return self.agent.thread.call(lambda: self.live.state.is_at_rest)

    def _stop_softly(self) -> None:
        self.agent.thread.post(self.live.cancel)

    def _send(self, turn: Turn, audience: Audience) -> None:
        self.live.respondents.standby = audience
        turn.follow()  # after the views, which show the end before it is awaited
        self.live.prompt(turn.prompt_id, turn.prompt)
        if not self.live.state.is_connected:
            self.agent.reopen_for(self, turn)

    def stop(self) -> str:
        """Cancel the present work; a second time, while it is not confirmed, end the process.

        Returns:
            What was done, in one sentence.
        """
        return self.agent.thread.call(self.live.stop)


def _find_option(options: tuple[u.ConfigOption, ...], wanted: str) -> u.ConfigOption:
    for option in options:
        if wanted in (option.id, option.name):
            return option
    known = ", ".join(option.id for option in options) or "none"
    raise UsageError(f"There is no option {wanted!r}. The agent offers: {known}.")


def _find_value(option: u.ConfigOption, wanted: str | bool) -> str | bool:
    if option.type == "boolean":
        words = {"on": True, "true": True, "yes": True, "off": False, "false": False, "no": False}
        value = words.get(str(wanted).lower())
        if value is None:
            raise UsageError(f"{option.name} is on or off, not {wanted!r}.")
        return value
    for choice in option.choices:
        if wanted in (choice.value, choice.name):
            return choice.value
    known = ", ".join(choice.value for choice in option.choices) or "none"
    raise UsageError(f"{option.name} has no value {wanted!r}. There are: {known}.")


class AnyTurn(Protocol):
    """What a turn has in common with a record of one, for which no agent was asked."""

    @property
    def is_done(self) -> bool:
        """Whether it is over."""

    @property
    def text(self) -> str:
        """The agent's reply."""

    @property
    def code_blocks(self) -> list[CodeBlock]:
        """The fenced blocks of the reply, in order."""


_last_turn: AnyTurn | None = None


def last_turn() -> AnyTurn | None:
    """The turn that was prompted last in this process, or shown in place of one."""
    return _last_turn


def remember_turn(turn: AnyTurn) -> None:
    """This turn is the last one now."""
    global _last_turn  # noqa: PLW0603 - one process has one last turn
    _last_turn = turn
