"""One session as it lives on the agent thread: its state, its reader, its open questions.

Feeds everything, in receive order, through the reader into the state, and tells listeners what
changed. Sends prompts, at once or when the agent can take them. Knows the wire only through the
dialect and the connection; knows no view.
"""

from __future__ import annotations

import itertools
import logging
from collections.abc import Callable, Iterable
from concurrent.futures import Future
from typing import TYPE_CHECKING, Any, NamedTuple

from acp_notebook.client.connection.id_namespace import IdNamespace
from acp_notebook.client.host import current_host
from acp_notebook.client.live import policies
from acp_notebook.client.live.elicitations import Elicitations
from acp_notebook.errors import AuthRequired, UsageError
from acp_notebook.jsonrpc import (
    INVALID_PARAMS,
    ConnectionLost,
    IncomingRequest,
    RequestId,
    Response,
)
from acp_notebook.protocol.dialect import Dialect, Reader
from acp_notebook.protocol.fields import Malformed
from acp_notebook.session import updates as u
from acp_notebook.session.changes import SessionChange
from acp_notebook.session.content import ContentBlock
from acp_notebook.session.reducer import apply
from acp_notebook.session.state import EntryKey, SessionState

if TYPE_CHECKING:
    from acp_notebook.client.connection.agent_connection import AgentConnection

logger = logging.getLogger(__name__)

Listener = Callable[[list[SessionChange]], None]

_SETTINGS = (
    u.CommandsUpdate,
    u.ConfigOptionsUpdate,
    u.SessionInfoUpdate,
    u.StateUpdate,
    u.UsageUpdate,
)


class _Question(NamedTuple):
    """An open permission request: who gets the answer, and whether it is this client's own."""

    answer: Callable[[policies.Decision], object]
    is_own: bool = False


class LiveSession:
    """A session on the agent thread. All methods belong to that thread."""

    def __init__(self, connection: AgentConnection, dialect: Dialect) -> None:
        self.session_id: u.SessionId | None = None
        self.state = SessionState()
        self.listeners: list[Listener] = []
        self.policy: policies.Policy = "ask"
        self._connection = connection
        self._dialect = dialect
        self._reader: Reader = dialect.reader()
        self._connections = 1
        self._numbers = itertools.count(1)
        self._questions: dict[u.PermissionId, _Question] = {}
        self.requests: set[RequestId] = set()
        """Our own requests about this session that wait for the agent's answer."""
        self.elicitations = Elicitations(self)
        self.received_count = 0
        """How many updates have come."""
        self.suppress_replay = False
        """Whether the agent tells what is known: then only settings are taken, no conversation."""

    @property
    def connection(self) -> AgentConnection:
        """The present connection."""
        return self._connection

    @property
    def reader(self) -> Reader:
        """The present connection's reader."""
        return self._reader

    @property
    def dialect(self) -> Dialect:
        """The present connection's dialect."""
        return self._dialect

    def wire_id(self, marked: str) -> str:
        """An id as the agent knows it; see `IdNamespace`."""
        return self._reader.wire_id(marked) if isinstance(self._reader, IdNamespace) else marked

    def apply(self, updates: Iterable[u.SessionUpdate]) -> None:
        """Apply updates in order, tell the listeners, send what waited for this."""
        changes: list[SessionChange] = []
        for update in updates:
            changes += apply(self.state, update)
            if isinstance(update, u.Violation):
                logger.warning("The agent broke the protocol: %s: %s", update.where, update.reason)
        if changes:
            for listener in list(self.listeners):
                try:
                    listener(changes)
                except Exception:
                    logger.exception("A view failed; the session goes on.")
        self._send_queued()

    def reconnect(self, connection: AgentConnection, dialect: Dialect) -> None:
        """Go on over a new connection, with what is known so far."""
        self._connection, self._dialect = connection, dialect
        self._connections += 1
        self._reader = IdNamespace(dialect.reader(), self._connections)

    def opened(self, session_id: u.SessionId, answer: Any, *, is_new: bool) -> None:
        """The set-up answer came: the session is served (again), or a new one in its place."""
        self.session_id = session_id
        if not self.state.is_connected:
            self.apply([u.AgentRestored(is_new)])
        self.apply(self._reader.opened(answer if isinstance(answer, dict) else {}))

    def option_set(self, option: u.ConfigOption, value: str | bool, answer: Any) -> None:
        """The agent took a config option's new value."""
        self.apply(self._reader.option_set(option, value, answer))

    def receive(self, update: Any) -> None:
        """One `session/update` of the agent."""
        self.received_count += 1
        found: Iterable[u.SessionUpdate] = self._reader.update(update)
        if self.suppress_replay:
            found = [each for each in found if isinstance(each, _SETTINGS)]
        self.apply(found)

    # prompts

    def prompt(self, prompt_id: u.PromptId, content: tuple[ContentBlock, ...]) -> None:
        """Send a prompt, or queue it until the agent can take it (PROMPT-6)."""
        state = self.state
        if not self._connection.is_alive:
            # It has just ended; how is not known yet, and this prompt need not wait for that.
            self.lost("The agent is not running.", "")
        is_free = state.is_idle and not state.pending
        can_join = self._dialect.takes_prompts_while_busy and not self._queued()
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
        self.apply(self._reader.prompt_sent(prompt_id, content))

        def answered(response: Response) -> None:
            self.requests.discard(request_id)
            if response.error is None:
                self.apply(self._reader.prompt_answered(prompt_id, response.result))
            elif isinstance(response.error, ConnectionLost):
                return  # `lost` settles everything, with the reason
            elif was_busy and not self.state.is_idle and not self.state.is_cancelling:
                # The agent takes no prompt while it works: keep it for when it is idle.
                self.apply([u.PromptQueued(prompt_id, content)])
            else:
                error = response.error
                failure = u.Failure(error.message, error.code, error.data)
                self.apply(self._reader.prompt_failed(prompt_id, failure))

        method, params = self._dialect.prompt(str(self.session_id), content)
        try:
            request_id = self._connection.rpc.send_request(method, params, answered)
            self.requests.add(request_id)
        except ConnectionLost:
            self.lost("The agent is not running.", "")
        except (TypeError, ValueError, RecursionError) as error:
            failure = u.Failure(f"The prompt cannot be sent: {error}")
            self.apply(self._reader.prompt_failed(prompt_id, failure))

    def refuse(self, prompt_id: u.PromptId, error: Exception) -> None:
        """End a prompt that could not be sent."""
        if self.state.prompts[prompt_id].is_ended:
            return
        failure = u.Failure(str(error))
        if isinstance(error, AuthRequired):
            failure = u.Failure(error.message, error.code, error.data)
        self.apply([u.PromptFailed(prompt_id, failure)])

    def withdraw(self, prompt_id: u.PromptId) -> None:
        """Take back a queued prompt; one that was sent stays."""
        if prompt_id in self.state.prompts:
            self.apply([u.PromptWithdrawn(prompt_id)])

    def cancel(self) -> bool:
        """Cancel the present work (CANCEL-1..3). False: there was nothing new to cancel."""
        state = self.state
        if state.is_idle and not state.open_prompts:
            # Nothing runs that a cancel would end; what is asked nevertheless is not wanted.
            was_asked = state.has_questions
            self._drop_questions("you stopped")
            return was_asked
        if state.is_cancelling:
            return False
        method, params = self._dialect.cancel(str(self.session_id))
        self._connection.rpc.notify(method, params)
        self.apply(self._reader.cancel_sent())
        self._drop_questions("the turn was cancelled")
        return True

    def _drop_questions(self, reason: str) -> None:
        for permission_id in list(self._questions):
            self.settle(permission_id, policies.Decision(None, reason))
        self.elicitations.cancel_all()

    def lost(self, reason: str, detail: str) -> None:
        """The connection ended: nothing keeps waiting."""
        for question in self._questions.values():
            if question.is_own:
                question.answer(policies.Decision(None, "the agent ended"))
        self._questions.clear()
        self.elicitations.drop()
        if self.state.is_connected:
            self.apply([u.AgentLost(reason, detail)])

    # permissions

    def ask(self, incoming: IncomingRequest, params: Any) -> None:
        """A permission request of the agent; it is answered exactly once."""
        permission_id = u.PermissionId(str(next(self._numbers)))
        try:
            found = self._reader.permission_asked(permission_id, params)
        except Malformed as error:
            incoming.fail(INVALID_PARAMS, f"session/request_permission: {error}")
            self.apply([u.Violation("session/request_permission", str(error), params)])
            return
        self._questions[permission_id] = _Question(
            lambda decision: incoming.respond(self._dialect.permission_outcome(decision.option_id))
        )
        incoming.on_cancel = lambda: self._withdrawn(permission_id)
        self._open_question(permission_id, found)

    def ask_own(
        self,
        title: str,
        options: tuple[u.PermissionOption, ...],
        subject: u.PermissionSubject,
        answer: Callable[[policies.Decision], object],
    ) -> u.PermissionId:
        """A question of this client's own: the same card, the same policy, another asker.

        Args:
            title: The question.
            options: What can be chosen.
            subject: What it is about.
            answer: Gets the decision, once; also when the turn is cancelled or the agent lost.

        Returns:
            Its id, for taking it back by `settle`.
        """
        permission_id = u.PermissionId(str(next(self._numbers)))
        self._questions[permission_id] = _Question(answer, is_own=True)
        request = u.PermissionRequested(permission_id, title, options, subject=subject)
        self._open_question(permission_id, [request])
        return permission_id

    def _open_question(
        self, permission_id: u.PermissionId, found: Iterable[u.SessionUpdate]
    ) -> None:
        self.apply(found)
        if self.state.is_cancelling:
            self.settle(permission_id, policies.Decision(None, "the turn was cancelled"))
            return
        self._consult_policy(permission_id)

    def _consult_policy(self, permission_id: u.PermissionId) -> None:
        request = self.state.permissions[permission_id].request
        question = policies.question_of(request, self.state)
        if isinstance(self.policy, str):
            decision = policies.decide(self.policy, question)
            self._decided(permission_id, decision)
            return
        try:
            future = current_host().run_user_function(self.policy, question)
        except RuntimeError as error:  # no thread can be started any more
            self._policy_failed(permission_id, str(error))
            return

        def done(_: object) -> None:
            self._connection.thread.post(lambda: self._function_answered(permission_id, future))

        future.add_done_callback(done)

    def _function_answered(self, permission_id: u.PermissionId, future: Any) -> None:
        request = self.state.permissions[permission_id].request
        try:
            decision = policies.chosen_by_function(future.result(), request.options)
        except UsageError as error:
            self._policy_failed(permission_id, str(error))
        except BaseException as error:
            # Also what would end a thread (SystemExit, an interrupt): this one serves all agents.
            logger.exception("The permission policy failed.")
            self._policy_failed(permission_id, f"{type(error).__name__}: {error}")
        else:
            self._decided(permission_id, decision)

    def _policy_failed(self, permission_id: u.PermissionId, reason: str) -> None:
        # A broken policy allows nothing; a person may still answer.
        self.apply([u.Notice("warning", "Your permission policy failed", reason)])
        self._decided(permission_id, None)

    def _decided(self, permission_id: u.PermissionId, decision: policies.Decision | None) -> None:
        if decision is not None:
            self.settle(permission_id, decision)
        elif not current_host().can_ask:
            question = current_host().choose_at_console(self, permission_id)
            if question is None:
                self._nobody_answers(permission_id, "nobody can be asked here")
                return
            question.add_done_callback(
                lambda _: self._connection.thread.post(
                    lambda: self._console_answered(permission_id, question)
                )
            )

    def _console_answered(
        self, permission_id: u.PermissionId, question: Future[str | None]
    ) -> None:
        try:
            chosen = question.result()
        except Exception as error:  # noqa: BLE001 - an interrupt, or no thread that could ask
            logger.info("The question at the console was given up: %s", error)
            chosen = None
        if chosen is None:
            self._nobody_answers(permission_id, "nobody answered at the console")
        else:
            self.answer(permission_id, chosen)

    def _nobody_answers(self, permission_id: u.PermissionId, reason: str) -> None:
        options = self.state.permissions[permission_id].request.options
        self.settle(permission_id, policies.rejection(options, reason))

    def is_asking(self, permission_id: u.PermissionId) -> bool:
        """Whether the request still waits for its answer."""
        return permission_id in self._questions

    def answer(self, permission_id: u.PermissionId, option_id: str) -> None:
        """A person chose an option; a choice that was not offered changes nothing."""
        permission = self.state.permissions.get(permission_id)
        if permission is None or all(
            option.option_id != option_id for option in permission.request.options
        ):
            return
        self.settle(permission_id, policies.Decision(option_id, "you"))

    def settle(self, permission_id: u.PermissionId, decision: policies.Decision) -> None:
        """Answer a question, once."""
        question = self._questions.pop(permission_id, None)
        if question is None:
            return
        question.answer(decision)
        settled = u.PermissionSettled(permission_id, decision.option_id, decision.by)
        # The agent knows nothing of a question of our own: its wire's state is as it was.
        self.apply([settled] if question.is_own else self._reader.permission_settled(settled))

    def _withdrawn(self, permission_id: u.PermissionId) -> None:
        # The connection answers -32800 when this returns (PERM-8).
        if self._questions.pop(permission_id, None) is not None:
            settled = u.PermissionSettled(permission_id, None, "the agent took the question back")
            self.apply(self._reader.permission_settled(settled))

    def entries_of(self, prompt_id: u.PromptId) -> list[EntryKey]:
        """The timeline entries of one turn."""
        return self.state.entries_of(prompt_id)
