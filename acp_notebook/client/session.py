"""The user's view of a session: prompts, options, turns; from any thread. Knows no notebook."""

from __future__ import annotations

import concurrent.futures
import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from acp_notebook.client.attachments import Attachments, attached_blocks
from acp_notebook.client.code_blocks import CodeBlock
from acp_notebook.client.connection import session_calls
from acp_notebook.client.host import current_host
from acp_notebook.client.live.audience import Audience, ElicitFunction
from acp_notebook.client.live.live_session import LiveSession, Subscription
from acp_notebook.client.live.policies import Policy
from acp_notebook.client.live.question import Question
from acp_notebook.client.turn import Turn, as_content
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
        """The session's id, given by the agent."""
        return str(self.live.session_id)

    @property
    def title(self) -> str | None:
        """The session's title, if the agent gave one."""
        return self.agent.thread.call(lambda: self.live.state.title)

    @property
    def state(self) -> str:
        """`idle`, `running`, `requires_action`, `disconnected`, or another state of the agent's."""
        state = self.live.state
        return self.agent.thread.call(
            lambda: state.activity if state.is_connected else "disconnected"
        )

    @property
    def config_options(self) -> tuple[u.ConfigOption, ...]:
        """Options such as mode and model, in the agent's order."""
        return self.agent.thread.call(lambda: self.live.state.config_options)

    @property
    def commands(self) -> tuple[u.Command, ...]:
        """The agent's slash commands."""
        return self.agent.thread.call(lambda: self.live.state.commands)

    def set_option(self, option_id: str, value: str | bool) -> None:
        """Set a config option, such as mode or model.

        Args:
            option_id: The option's id or name.
            value: A choice's id or name; for a boolean also on, off, true, false.

        Raises:
            UsageError: There is no such option or choice.
            RequestFailed: The agent refused; the option keeps its value.
        """
        option = _find_option(self.config_options, option_id)
        chosen = _find_value(option, value)
        self.agent.run(lambda _: session_calls.set_option(self.live, option, chosen))

    def cancel_tool_call(self, tool_call_id: str) -> None:
        """Cancel a single tool call, even one that runs in the background.

        Raises:
            UsageError: There is no such call, or the call has ended.
            UnsupportedByAgent: The call cannot be cancelled by itself.
            RequestFailed: The agent refused.
        """
        self.agent.run(lambda _: session_calls.cancel_tool_call(self.live, tool_call_id))

    def close(self) -> None:
        """Close the session; `Agent.resume` may open it again.

        Raises:
            UnsupportedByAgent: The agent does not close single sessions.
            RequestFailed: The agent refused.
        """
        self.agent.run(lambda connection: session_calls.close(connection, self.id))
        self.agent.sessions = [each for each in self.agent.sessions if each is not self]

    @property
    def permissions(self) -> Policy:
        """The permission policy: a name or a function."""
        return self.live.respondents.policy

    @permissions.setter
    def permissions(self, policy: Policy) -> None:
        self.live.respondents.policy = policy

        def decide() -> None:
            for live in self._lives():
                live.policy_changed()

        self.agent.thread.post(decide)

    @property
    def grants(self) -> tuple[str, ...]:
        """The kernel's tools that the user allowed for the session, by name."""
        return tuple(self.live.respondents.grants)

    @property
    def lasting_answers(self) -> list[str]:
        """The agent's own questions that were answered for good ("always"), as it asked them."""

        def read() -> list[str]:
            asked = self.live.state.permissions.values()
            return [each.request.title for each in asked if each.is_allowed_for_good]

        return self.agent.thread.call(read)

    def revoke(self, tool: str | None = None) -> None:
        """Take back what the user allowed for the session: one tool, or all.

        A new policy does so too. What the agent itself was allowed to do ("always") only the agent
        can take back.

        Raises:
            UsageError: The tool was not allowed for the session.
        """
        if tool is not None and tool not in self.grants:
            allowed = ", ".join(self.grants) or "nothing"
            raise UsageError(f"{tool!r} is not allowed for this session; {allowed} is.")
        self.live.respondents.revoke(tool)
        self.agent.thread.post(self.live.consent_taken_back)

    @property
    def elicit(self) -> ElicitFunction | None:
        """The function that answers forms and urls for the user; see `acp_notebook.start`."""
        return self.live.respondents.elicit

    @elicit.setter
    def elicit(self, function: ElicitFunction | None) -> None:
        self.live.respondents.elicit = function

    @property
    def questions(self) -> list[Question]:
        """The open questions: permissions, forms and urls, also of child sessions.

        Example:
            `session.questions[0].answer("allow")`, `.fill({"name": "x"})`, `.decline()`
        """

        def read() -> list[Question]:
            return [question for live in self._lives() for question in live.questions.values()]

        return self.agent.thread.call(read)

    def _lives(self) -> list[LiveSession]:
        return [self.live, *self.agent.connection.routes.children_of(self.live)]

    @property
    def last_turn(self) -> Turn | None:
        """The most recently prompted turn of this session."""
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

        A busy agent gets the prompt at once if it takes prompts then, else when it is idle.

        Args:
            prompt: Text (Markdown) or content blocks.
            wait: Whether to return only at the end of the turn.
            timeout: The longest wait in seconds; the turn continues after a timeout.
            permissions: A policy for the session from this prompt on.
            attach: Content blocks, text, paths, and in a notebook any object; a dict gives names.
            quiet: Whether to hide the answer; questions are still shown in the cell.

        Raises:
            UsageError: The prompt is empty, the policy unknown, or an object cannot be attached.
            UnsupportedByAgent: The agent takes neither a block nor its fallback.
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
        timeout: float | None = None,  # noqa: ASYNC109 - the turn continues after it
        permissions: Policy | None = None,
        attach: Attachments = (),
        quiet: bool = False,
    ) -> Turn:
        """Send a prompt and wait in async code, so that several agents can work at once.

        Takes the arguments and raises the errors of `prompt`. A cancelled task cancels its turn.

        Example:
            `await asyncio.gather(one.session.aprompt("..."), other.session.aprompt("..."))`
        """
        turn = self.prompt(prompt, wait=False, permissions=permissions, attach=attach, quiet=quiet)
        return await turn.wait_async(timeout)

    def wait(self, timeout: float | None = None) -> Session:
        """Wait until the agent is at rest: idle, without open questions and prompts.

        An agent may start work by itself after a turn, for example at the end of a background
        task. An interrupt cancels that work, a second one ends the wait at once.

        Args:
            timeout: The longest wait in seconds; the work continues after a timeout.

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
            self.agent.thread.post(subscription.close)
        if not is_over:
            raise TurnTimeout(
                f"The agent {self.agent.label} still works after {timeout:g} s. Wait again with "
                "session.wait(), or stop it with session.stop()."
            )
        return self

    @property
    def is_at_rest(self) -> bool:
        """Whether the agent is idle, without open questions and prompts."""
        return self.agent.thread.call(lambda: self.live.state.is_at_rest)

    def _stop_softly(self) -> None:
        self.agent.thread.post(self.live.cancel)

    def _send(self, turn: Turn, audience: Audience) -> None:
        self.live.respondents.standby = audience
        turn.follow()  # after the views subscribe: they show the end before a wait returns
        self.live.prompt(turn.prompt_id, turn.prompt)
        if not self.live.state.is_connected:
            self.agent.reopen_for(self, turn)

    def stop(self) -> str:
        """Cancel the present work; called again before the agent confirms, end the process.

        Returns the effect in words.
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
    """The common part of a turn and of a cached record of one."""

    @property
    def is_done(self) -> bool:
        """Whether the turn is over."""

    @property
    def text(self) -> str:
        """The agent's reply."""

    @property
    def code_blocks(self) -> list[CodeBlock]:
        """The fenced blocks of the reply, in order."""


@dataclass(frozen=True, slots=True)
class PastTurn:
    """What the last turn of an agent that has quit left, without its session."""

    text: str
    code_blocks: list[CodeBlock]
    stop_reason: str | None
    is_done: bool = True


_last_turn: AnyTurn | None = None


def last_turn() -> AnyTurn | None:
    """Return the most recent turn of this process, prompted or shown from the cache."""
    return _last_turn


def remember_turn(turn: AnyTurn) -> None:
    """Make a turn the last one."""
    global _last_turn  # noqa: PLW0603 - one last turn per process
    _last_turn = turn


def forget_turns_of(agent: Agent) -> None:
    """Keep of the last turn, if it is the agent's, only its reply; on the agent thread.

    The turn holds the session, and so all that the agent ever said.
    """
    turn = _last_turn
    if isinstance(turn, Turn) and turn.session.agent is agent:
        remember_turn(PastTurn(turn.text, turn.code_blocks, turn.stop_reason))
