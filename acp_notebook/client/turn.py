"""A turn: one prompt and everything the agent did for it, as Python objects.

Usable from any thread. Every property is read on the agent thread at the moment of access, so a
running turn shows its state so far. Knows no notebook: the host waits.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import time
from collections.abc import Callable, Generator
from contextlib import suppress
from typing import TYPE_CHECKING, Any, TypeVar

from acp_notebook.client.code_blocks import CodeBlock, find_code_blocks
from acp_notebook.client.host import TurnDisplay, current_host
from acp_notebook.client.interrupted import tell_in_one_line
from acp_notebook.client.turn_record import frame_of, record_of
from acp_notebook.client.waiting import wait_in_loop, wait_or_cancel
from acp_notebook.errors import (
    AUTH_REQUIRED_CODE,
    AgentExited,
    TurnStopped,
    TurnTimeout,
    UsageError,
    describe_error,
)
from acp_notebook.session import updates as u
from acp_notebook.session.changes import PromptChanged, SessionChange
from acp_notebook.session.content import Content, ContentBlock, ImageBlock
from acp_notebook.session.elicitation import Elicitation
from acp_notebook.session.state import (
    CELL_META,
    EntryKey,
    EntryKind,
    Permission,
    Plan,
    Prompt,
    SessionState,
    ToolCall,
    Usage,
)

if TYPE_CHECKING:
    from acp_notebook.client.session import Session

T = TypeVar("T")


class Turn:
    """One prompt and the agent's work on it."""

    def __init__(
        self, session: Session, prompt_id: u.PromptId, prompt: tuple[ContentBlock, ...]
    ) -> None:
        self.session = session
        self.prompt_id = prompt_id
        self.prompt = prompt
        self.started_at = time.time()
        self._started = time.monotonic()
        self._elapsed_s: float | None = None
        self.waiters = 0
        self.is_shown = False
        """Whether a cell shows the turn, or has shown it."""
        self._usage: Usage | None = None
        self._displays: list[TurnDisplay] = []
        self._done: concurrent.futures.Future[None] = concurrent.futures.Future()

    def __repr__(self) -> str:
        how = self.outcome if self.is_done else "running"
        return f"<Turn {self.prompt_id} of {self.session.agent.label}: {how}>"

    def follow(self) -> None:
        """Watch for the end of the turn; on the agent thread."""
        live = self.session.live

        def note(changes: list[SessionChange]) -> None:
            mine = PromptChanged(self.prompt_id)
            if mine in changes and live.state.prompts[self.prompt_id].is_ended:
                subscription.close()
                self._ended(live.state)

        subscription = live.subscribe(note)

    def _ended(self, state: SessionState) -> None:
        self._elapsed_s = time.monotonic() - self._started
        self._usage = _copy(state.usage)
        failure = state.prompts[self.prompt_id].failure
        if failure is not None and failure.code == AUTH_REQUIRED_CODE:
            self.session.agent.turn_refused(self, failure.message)
        self._done.set_result(None)
        if not self.waiters:
            self._conclude(is_waited=False)

    def show(self) -> None:
        """Show the turn in the present cell, if there is one, besides earlier cells."""
        display = current_host().show_turn(self)
        if display is not None:
            self.is_shown = True
            self.session.agent.thread.call(lambda: self._displays.append(display))

    @property
    def is_on_display(self) -> bool:
        """Whether a place that shows the turn has yet to show its end."""
        return bool(self._displays)

    def _conclude(self, *, is_waited: bool) -> None:
        for display in list(self._displays):
            if display.conclude(is_waited=is_waited):
                with suppress(ValueError):  # another thread may have concluded it too
                    self._displays.remove(display)

    # waiting and stopping

    @property
    def is_done(self) -> bool:
        """Whether the turn is over."""
        return self._done.done()

    @property
    def done(self) -> concurrent.futures.Future[None]:
        """A future that is done at the end of the turn."""
        return self._done

    @property
    def elapsed_s(self) -> float:
        """Seconds from sending to the end, or until now."""
        elapsed = self._elapsed_s
        return time.monotonic() - self._started if elapsed is None else elapsed

    def wait(self, timeout: float | None = None) -> Turn:
        """Wait for the end; an interrupt cancels the turn, a second one ends the wait at once.

        Args:
            timeout: The longest wait in seconds; the turn continues after a timeout.

        Raises:
            TurnTimeout: The turn still runs; `cancel` stops it.
            TurnInterrupted: The wait was interrupted.
        """
        self._enter()
        try:
            is_over = wait_or_cancel(
                self._done, timeout, cancel=self.cancel, outcome=lambda: self.outcome
            )
        finally:
            self._left()
        return self._over(timeout, is_over=is_over)

    async def wait_async(
        self,
        timeout: float | None = None,  # noqa: ASYNC109 - the turn continues after it
    ) -> Turn:
        """Wait for the end in async code, as `await turn` does.

        Other tasks and a notebook's buttons keep working. A cancelled task cancels the turn.

        Args:
            timeout: The longest wait in seconds; the turn continues after a timeout.

        Raises:
            TurnTimeout: The turn still runs; `cancel` stops it.
        """
        self._enter()
        try:
            is_over = await wait_in_loop(self._done, timeout)
        except asyncio.CancelledError as error:
            self.cancel()
            tell_in_one_line(error, "Turn interrupted: the cancel was sent.")
            raise
        finally:
            self._left()
        return self._over(timeout, is_over=is_over)

    def __await__(self) -> Generator[Any, None, Turn]:
        return self.wait_async().__await__()

    def _enter(self) -> None:
        if not self.is_done:
            self.session.agent.thread.check_process()
        self.waiters += 1
        for display in list(self._displays):
            display.prepare_wait()

    def _left(self) -> None:
        self.waiters -= 1
        if self.is_done:
            # The waiting cell itself writes the record: nbclient takes output from no other.
            self._conclude(is_waited=True)

    def _over(self, timeout: float | None, *, is_over: bool) -> Turn:
        if not is_over:
            raise TurnTimeout(
                f"The turn still runs after {timeout:g} s. Wait again with turn.wait(), "
                "or stop it with turn.cancel()."
            )
        return self

    def cancel(self) -> None:
        """Ask the agent to stop; a queued prompt is withdrawn."""

        def stop() -> None:
            live = self.session.live
            prompt = live.state.prompts.get(self.prompt_id)
            if prompt is None or prompt.is_ended:
                return  # any work that runs now belongs to another prompt
            if prompt.phase == "queued":
                live.withdraw(self.prompt_id)
            else:
                live.cancel()

        self.session.agent.thread.post(stop)

    def raise_for_stop(self) -> Turn:
        """Return the turn if it ended with `end_turn`.

        Raises:
            TurnStopped: The turn ended otherwise, or still runs.
        """
        if self.is_done and self.stop_reason == "end_turn":
            return self
        words = f"The turn did not end as planned: {self.outcome.rstrip('.')}."
        raise TurnStopped(str(AgentExited(words, stderr_tail=self._last_words)))

    @property
    def _last_words(self) -> str:
        """The agent's stderr before it was lost in this turn (WIRE-6)."""
        return "\n".join(lost.detail for lost in self._entries("lost"))

    @property
    def _prompt_record(self) -> Prompt:
        # The state does not know a prompt before it is sent.
        sent = self.read(lambda state, _: _copy(state.prompts.get(self.prompt_id)))
        return sent or Prompt(self.prompt_id, self.prompt)

    # results

    def read(self, reader: Callable[[SessionState, list[EntryKey]], T]) -> T:
        """Call a reader with the state and this turn's entries, on the agent thread."""
        live = self.session.live
        return self.session.agent.thread.call(
            lambda: reader(live.state, live.state.entries_of(self.prompt_id))
        )

    @property
    def stop_reason(self) -> str | None:
        """The agent's stop reason; None for a running or failed turn."""
        return self._prompt_record.stop_reason

    @property
    def error(self) -> str | None:
        """The failure in one sentence, or None."""
        failure = self._prompt_record.failure
        if failure is None or failure.code is None:
            return failure.message if failure is not None else None
        return describe_error(failure.code, failure.message, failure.data)

    @property
    def needs_login(self) -> bool:
        """Whether the agent refused the prompt until a login; see `Agent.login`."""
        failure = self._prompt_record.failure
        return failure is not None and failure.code == AUTH_REQUIRED_CODE

    @property
    def outcome(self) -> str:
        """The outcome in a few words."""
        if not self.is_done:
            return "still running"
        return self.error or self.stop_reason or "ended without a reason"

    @property
    def text(self) -> str:
        """The agent's messages without thoughts, joined by blank lines."""
        return "\n\n".join(message.text for message in self._entries("agent") if message.text)

    @property
    def thoughts(self) -> str:
        """The agent's thoughts, joined by blank lines."""
        return "\n\n".join(message.text for message in self._entries("thought"))

    def _entries(self, kind: EntryKind) -> list[Any]:
        """Return copies of the turn's records of one kind, in order."""
        found = self.read(
            lambda state, keys: [_copy(state.entry(key)) for key in keys if key.kind == kind]
        )
        return [record for record in found if record is not None]

    @property
    def code_blocks(self) -> list[CodeBlock]:
        """The cells proposed through the kernel's tools, then the reply's fenced blocks."""
        proposed = [str(call.meta[CELL_META]) for call in self.tool_calls if CELL_META in call.meta]
        return [CodeBlock("python", code) for code in proposed] + find_code_blocks(self.text)

    @property
    def images(self) -> list[ImageBlock]:
        """Images in the agent's messages and tool output."""
        blocks = [block for message in self._entries("agent") for block in message.content]
        for call in self.tool_calls:
            blocks += [item.block for item in call.content if isinstance(item, u.ContentItem)]
        return [block for block in blocks if isinstance(block, ImageBlock)]

    @property
    def tool_calls(self) -> list[ToolCall]:
        """The tool calls, in order of first appearance."""
        return self._entries("tool_call")

    @property
    def diffs(self) -> list[u.DiffItem]:
        """The file changes in the tool calls."""
        content = (item for call in self.tool_calls for item in call.content)
        return [item for item in content if isinstance(item, u.DiffItem)]

    @property
    def permissions(self) -> list[Permission]:
        """The permission requests and their answers."""
        return self._entries("permission")

    @property
    def elicitations(self) -> list[Elicitation]:
        """The forms and urls of the agent and their answers, without secrets."""
        return self._entries("elicitation")

    @property
    def notices(self) -> list[u.Notice]:
        """The notices beside the conversation."""
        return self._entries("notice")

    @property
    def plan(self) -> Plan | None:
        """The latest plan of this turn."""
        return next(reversed(self._entries("plan")), None)

    @property
    def usage(self) -> Usage | None:
        """Context and cost of the session, as last reported in or before this turn."""
        if self.is_done:
            return self._usage
        usage: Usage | None = self.read(lambda state, _: _copy(state.usage))
        return usage

    @property
    def timeline(self) -> list[EntryKey]:
        """The turn's entries in order, each with kind and id."""
        return self.read(lambda _, keys: list(keys))

    def to_markdown(self) -> str:
        """The record of the turn as Markdown."""
        return record_of(self)["text/markdown"]

    def to_frame(self) -> Any:
        """The timeline as a pandas frame: kind, id, title, status and text of each entry.

        Raises:
            UsageError: pandas is not installed.
        """
        return frame_of(self)

    def _repr_mimebundle_(self, **_: Any) -> dict[str, str]:
        return record_of(self)


def _copy(record: Any) -> Any:
    # One level is deep enough: the members are values or lists of values.
    if record is None:
        return None
    fields = {name: getattr(record, name) for name in type(record).__dataclass_fields__}
    copied = {
        name: value.copy() if isinstance(value, (list, dict, bytearray, Content)) else value
        for name, value in fields.items()
    }
    return type(record)(**copied)


def as_content(prompt: str | ContentBlock | list[ContentBlock]) -> tuple[ContentBlock, ...]:
    """Return the blocks of a prompt.

    Raises:
        UsageError: The prompt is empty.
    """
    from acp_notebook.session.content import TextBlock

    if isinstance(prompt, str):
        if not prompt.strip():
            raise UsageError("The prompt is empty. Write what the agent should do.")
        return (TextBlock(prompt.strip("\n")),)
    blocks = tuple(prompt) if isinstance(prompt, list) else (prompt,)
    if not blocks:
        raise UsageError("The prompt is empty. Give at least one content block.")
    return blocks
