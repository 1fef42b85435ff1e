"""A live session on the agent thread: its state, its reader, its open questions.

Feeds every update, in receive order, through the reader into the state, records its time, and
calls the subscribers with the changes. Sends prompts, at once or when the agent can take them.
Knows the wire only through the dialect and the connection; knows no view.
"""

from __future__ import annotations

import itertools
import logging
import time
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Protocol

from acp_notebook.client.agent_thread import AgentThread
from acp_notebook.client.agents.launch import Launch
from acp_notebook.client.live import policies
from acp_notebook.client.live.audience import Respondents
from acp_notebook.client.live.elicitation_request import ElicitationRequest
from acp_notebook.client.live.id_namespace import IdNamespace
from acp_notebook.client.live.permission_request import PermissionRequest
from acp_notebook.client.live.question import CANCELLED, Question
from acp_notebook.errors import AuthRequired
from acp_notebook.jsonrpc import (
    INVALID_PARAMS,
    Connection,
    ConnectionLost,
    IncomingRequest,
    RequestId,
    Response,
)
from acp_notebook.protocol.dialect import Call, ClientCapabilities, Dialect, Reader
from acp_notebook.protocol.elicitation import check_mode, completed_url
from acp_notebook.protocol.fields import Malformed
from acp_notebook.session import updates as u
from acp_notebook.session.changes import SessionChange
from acp_notebook.session.content import ContentBlock
from acp_notebook.session.elicitation import ElicitationId, UrlCompleted
from acp_notebook.session.reducer import apply
from acp_notebook.session.state import EntryKey, SessionState
from acp_notebook.session.timings import Timings
from acp_notebook.trace.recording import Recording

logger = logging.getLogger(__name__)

Listener = Callable[[list[SessionChange]], None]

_SETTINGS = (
    u.CommandsUpdate,
    u.ConfigOptionsUpdate,
    u.SessionInfoUpdate,
    u.StateUpdate,
    u.UsageUpdate,
)


class SessionConnection(Protocol):
    """What a session needs of the connection to its agent."""

    launch: Launch
    thread: AgentThread
    recording: Recording

    @property
    def rpc(self) -> Connection:
        """The open JSON-RPC connection."""

    @property
    def is_alive(self) -> bool:
        """Whether requests can be sent to the agent."""

    @property
    def capabilities(self) -> ClientCapabilities:
        """What this client serves."""

    async def request(self, call: Call) -> Any:
        """Send a call and wait for its result."""

    def end(self, reason: str) -> None:
        """Kill the agent's process at once."""


class Subscription:
    """A listener's registration with a session, until `close`."""

    def __init__(self, listeners: dict[Subscription, Listener], listener: Listener) -> None:
        self._listeners = listeners
        listeners[self] = listener

    def close(self) -> None:
        """Stop listening. May be called more than once."""
        self._listeners.pop(self, None)


class LiveSession:
    """A session on the agent thread; all methods are called on that thread."""

    def __init__(
        self,
        connection: SessionConnection,
        dialect: Dialect,
        respondents: Respondents | None = None,
    ) -> None:
        self.session_id: u.SessionId | None = None
        self.state = SessionState()
        self.timings = Timings()
        self.respondents = respondents or Respondents()
        self.owner = self
        """The session whose turns this one works for: its parent if it is a child session."""
        self.connection = connection
        self.dialect = dialect
        self.reader: Reader = dialect.reader()
        self.questions: dict[EntryKey, Question] = {}
        """The questions that wait for an answer, oldest first."""
        self.requests: set[RequestId] = set()
        """Our own requests about this session that wait for the agent's answer."""
        self.received_count = 0
        """How many updates were received."""
        self.redacted: Callable[[u.SessionUpdate], u.SessionUpdate] = lambda update: update
        """Takes the connection's secrets out of an update; set by the connection."""
        self.suppress_replay = False
        """Whether the agent replays known entries: then only updates of settings are applied."""
        self._listeners: dict[Subscription, Listener] = {}
        self._connections = 1
        self._ids = IdNamespace()
        self._numbers = itertools.count(1)

    def subscribe(self, listener: Listener) -> Subscription:
        """Call a listener with every list of changes, after earlier subscribers."""
        return Subscription(self._listeners, listener)

    def wire_id(self, marked: str) -> str:
        """Return an id in the agent's form; see `IdNamespace`."""
        return self._ids.wire_id(marked)

    def apply(self, updates: Iterable[u.SessionUpdate]) -> None:
        """Apply updates in order, call the listeners, send a queued prompt if the agent is idle."""
        changes: list[SessionChange] = []
        for update in map(self.redacted, updates):
            changes += apply(self.state, update)
            if isinstance(update, u.Violation):
                logger.warning("The agent broke the protocol: %s: %s", update.where, update.reason)
        if changes:
            self.timings.note(self.state, changes, time.monotonic())
            for subscription, listener in list(self._listeners.items()):
                if subscription not in self._listeners:
                    continue  # closed by a listener before
                try:
                    listener(changes)
                except Exception:
                    logger.exception("A view failed; the session goes on.")
        self._send_queued()

    def apply_read(self, updates: Iterable[u.SessionUpdate]) -> None:
        """Apply the reader's updates, with the agent's ids made unique per connection."""
        self.apply(self._ids.marked(updates))

    def reconnect(self, connection: SessionConnection, dialect: Dialect) -> None:
        """Continue over a new connection, keeping the state."""
        self.connection, self.dialect = connection, dialect
        self._connections += 1
        self.reader, self._ids = dialect.reader(), IdNamespace(self._connections)

    def opened(self, session_id: u.SessionId, answer: Any, *, is_new: bool) -> None:
        """Apply the answer to `session/new` (`is_new`) or a resume."""
        self.session_id = session_id
        self.apply([u.SessionOpened(is_new)])
        self.apply_read(self.reader.opened(answer if isinstance(answer, dict) else {}))

    def option_set(self, option: u.ConfigOption, value: str | bool, answer: Any) -> None:
        """Apply the answer to a config option's new value."""
        self.apply_read(self.reader.option_set(option, value, answer))

    def receive(self, update: Any) -> None:
        """Read and apply one `session/update`."""
        self.received_count += 1
        found = self.reader.update(update)
        if self.suppress_replay:
            found = [each for each in found if isinstance(each, _SETTINGS)]
        self.apply_read(found)

    # prompts

    def prompt(self, prompt_id: u.PromptId, content: tuple[ContentBlock, ...]) -> None:
        """Send a prompt, or queue it until the agent can take it (PROMPT-6)."""
        state = self.state
        if not self.connection.is_alive:
            # The agent has just ended; the reason, not known yet, is none of this prompt's.
            self.lost("The agent is not running.", "")
        is_free = state.is_idle and not state.pending
        can_join = self.dialect.takes_prompts_while_busy and not self._queued()
        if state.is_connected and (is_free or can_join):
            self._send(prompt_id, content)
        else:
            self.apply([u.PromptQueued(prompt_id, content)])

    def _queued(self) -> list[u.PromptId]:
        return [key for key, prompt in self.state.pending.items() if prompt.phase == "queued"]

    def _send_queued(self) -> None:
        state = self.state
        if not state.is_idle or state.open_prompts or not state.is_connected:
            return
        for prompt_id in self._queued():
            self._send(prompt_id, state.prompts[prompt_id].content)
            return

    def _send(self, prompt_id: u.PromptId, content: tuple[ContentBlock, ...]) -> None:
        was_busy = not self.state.is_idle or bool(self.state.open_prompts)
        self.apply_read(self.reader.prompt_sent(prompt_id, content))

        def answered(response: Response) -> None:
            self.requests.discard(request_id)
            if response.error is None:
                self.apply_read(self.reader.prompt_answered(prompt_id, response.result))
            elif isinstance(response.error, ConnectionLost):
                return  # `lost` ends all prompts, with the reason
            elif was_busy and not self.state.is_idle and not self.state.is_cancelling:
                # The agent takes no prompt while it works: keep the prompt until it is idle.
                self.apply([u.PromptQueued(prompt_id, content)])
            else:
                error = response.error
                failure = u.Failure(error.message, error.code, error.data)
                self.apply_read(self.reader.prompt_failed(prompt_id, failure))

        method, params = self.dialect.prompt(str(self.session_id), content)
        try:
            request_id = self.connection.rpc.send_request(method, params, answered)
            self.requests.add(request_id)
        except ConnectionLost:
            self.lost("The agent is not running.", "")
        except (TypeError, ValueError, RecursionError) as error:
            failure = u.Failure(f"The prompt cannot be sent: {error}")
            self.apply_read(self.reader.prompt_failed(prompt_id, failure))

    def refuse(self, prompt_id: u.PromptId, error: Exception) -> None:
        """End a prompt that could not be sent, with the error as its failure."""
        if self.state.prompts[prompt_id].is_ended:
            return
        failure = u.Failure(str(error))
        if isinstance(error, AuthRequired):
            failure = u.Failure(error.message, error.code, error.data)
        self.apply([u.PromptFailed(prompt_id, failure)])

    def withdraw(self, prompt_id: u.PromptId) -> None:
        """Withdraw a queued prompt; a sent one is not affected."""
        if prompt_id in self.state.prompts:
            self.apply([u.PromptWithdrawn(prompt_id)])

    def cancel(self) -> bool:
        """Cancel the present work (CANCEL-1..3); return False if there is nothing to cancel."""
        state = self.state
        if state.is_idle and not state.open_prompts:
            # No work runs that a cancel would end: what can be stopped is open questions, and what
            # work in the background wants to run here.
            was_asked = state.has_questions
            self.apply([u.StoppedAtRest()])
            self._drop_questions("you stopped")
            return was_asked
        if state.is_cancelling:
            return False
        method, params = self.dialect.cancel(str(self.session_id))
        self.connection.rpc.notify(method, params)
        self.apply_read(self.reader.cancel_sent())
        self._drop_questions(CANCELLED)
        return True

    def stop(self) -> str:
        """Cancel the present work; called again, end the process. Return the effect in words."""
        if self.cancel():
            return "Cancel sent. Stop once more to end the agent's process."
        if self.state.is_cancelling:
            # A cancelled turn shows nothing of the agent's end, so a notice reports it.
            launch = self.connection.launch
            ended = f"The agent {launch.name} was ended: it did not stop."
            self.apply([u.Notice("warning", ended, launch.comeback)])
            self.connection.end(ended)
            return "The agent did not confirm the cancel; its process is ended."
        for prompt in list(self.state.pending.values()):
            self.withdraw(prompt.prompt_id)
        return "Nothing is running."

    def _drop_questions(self, reason: str) -> None:
        for question in [*self.questions.values(), *self.respondents.asked]:
            question.cancel(reason)

    def lost(self, reason: str, detail: str) -> None:
        """End all questions and prompts after the end of the connection."""
        for question in list(self.questions.values()):
            question.drop()
        if self.state.is_connected:
            self.apply([u.AgentLost(reason, detail)])

    def closed(self) -> None:
        """End the questions of a closed session, and the prompts that the agent still has."""
        self._drop_questions("the session was closed")
        if self.state.pending:
            self.lost("The session was closed.", "")

    # questions

    def ask_permission(self, incoming: IncomingRequest, params: Any) -> None:
        """Ask for a permission on the agent's behalf; the request is answered exactly once."""
        permission_id = u.PermissionId(str(next(self._numbers)))
        question = PermissionRequest(
            self,
            permission_id,
            lambda decision: incoming.respond(self.dialect.permission_outcome(decision.option_id)),
        )
        self._ask(question, incoming, lambda: self.reader.permission_asked(permission_id, params))

    def ask_elicitation(self, incoming: IncomingRequest, params: Any) -> None:
        """Show the agent's form or url; the request is answered exactly once."""
        elicitation_id = ElicitationId(f"asked-{next(self._numbers)}")

        def read() -> Iterable[u.SessionUpdate]:
            check_mode(params, self.connection.capabilities)
            return self.reader.elicitation_asked(elicitation_id, params)

        self._ask(ElicitationRequest(self, elicitation_id, incoming), incoming, read)

    def _ask(
        self,
        question: Question,
        incoming: IncomingRequest,
        read: Callable[[], Iterable[u.SessionUpdate]],
    ) -> None:
        try:
            found = self._ids.asked(read())
        except Malformed as error:
            incoming.fail(INVALID_PARAMS, f"{incoming.method}: {error}")
            self.apply([u.Violation(incoming.method, str(error), incoming.params)])
            return
        incoming.on_cancel = question.withdrawn
        question.begin(found)

    def ask_own(
        self,
        title: str,
        options: tuple[u.PermissionOption, ...],
        subject: u.PermissionSubject,
        respond: Callable[[policies.Decision], object],
        *,
        needs_person: bool = False,
    ) -> PermissionRequest:
        """Ask a question of this client's own, with the same card and policy as the agent's.

        `respond` is called with the decision, once; also after a cancelled turn or a lost agent. If
        the question `needs_person`, no policy may allow it.
        """
        permission_id = u.PermissionId(str(next(self._numbers)))
        question = PermissionRequest(
            self, permission_id, respond, is_own=True, needs_person=needs_person
        )
        question.begin([u.PermissionRequested(permission_id, title, options, subject=subject)])
        return question

    def policy_changed(self) -> None:
        """Let a new policy decide the permissions that are open."""
        for question in list(self.questions.values()):
            if isinstance(question, PermissionRequest):
                question.policy_changed()

    def consent_taken_back(self) -> None:
        """Let answers from now on count again; those on their way when it was taken back do not."""
        for question in self.questions.values():
            if isinstance(question, PermissionRequest):
                question.consent = self.respondents.consent

    def url_completed(self, params: Mapping[str, Any]) -> None:
        """Apply an `elicitation/complete`; unknown ids have no effect."""
        url_id = completed_url(params)
        if url_id is not None:
            self.apply([UrlCompleted(url_id)])
