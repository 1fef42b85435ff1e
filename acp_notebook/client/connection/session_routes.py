"""The routes from an agent's messages to the sessions of one connection, and to its scope.

The messages of one read are handled in order and at once, but the task that waits for an answer
runs later. So an update or a request may name a session before the answer that opens it was
handled, or has come. Such messages are held, in order, and delivered once the session exists; they
never reach another one. A request is held only while some session is being opened, and is refused,
visibly, if that fails. At any other time an unknown id is a child session of the agent's: it shares
the respondents of the newest session, not the entries. On the agent thread; knows no process.
"""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from acp_notebook.client.connection.redaction import Redaction
from acp_notebook.client.live.live_session import LiveSession
from acp_notebook.client.serving.client_methods import ClientMethods
from acp_notebook.jsonrpc import INVALID_PARAMS, METHOD_NOT_FOUND, IncomingRequest
from acp_notebook.protocol.routing import UPDATE, RequestScope, read_update, request_scope
from acp_notebook.session import updates as u
from acp_notebook.trace.recording import Recording

logger = logging.getLogger(__name__)

MAX_HELD = 1_000


class _Held(NamedTuple):
    """A message for a session that does not exist yet; None stands for the connection scope."""

    session_id: str | None
    deliver: Callable[[LiveSession], None]
    request: IncomingRequest | None = None


class SessionRoutes:
    """Delivers updates, requests and other notifications to sessions."""

    def __init__(self, methods: ClientMethods, redaction: Redaction, recording: Recording) -> None:
        self._methods = methods
        self._redaction = redaction
        self._recording = recording
        self._scope: LiveSession | None = None
        self._sessions: dict[str, LiveSession] = {}
        self._children: dict[str, LiveSession] = {}
        self._held: deque[_Held] = deque()
        self._openings = 0

    @property
    def scope(self) -> LiveSession | None:
        """The receiver of requests that belong to no session, such as those of a login."""
        return self._scope

    @scope.setter
    def scope(self, scope: LiveSession) -> None:
        self._scope = scope
        self._redact(scope)
        self._deliver_held(None, scope)

    @property
    def sessions(self) -> list[LiveSession]:
        """The served sessions, their child sessions, and the connection scope."""
        scope = [self._scope] if self._scope is not None else []
        return [*self._sessions.values(), *self._children.values(), *scope]

    @property
    def _newest(self) -> LiveSession | None:
        return next(reversed(self._sessions.values()), None)

    def children_of(self, session: LiveSession) -> list[LiveSession]:
        """Return the sessions that the agent opened itself while this one was the newest."""
        respondents = session.respondents
        return [each for each in self._children.values() if each.respondents is respondents]

    def _find(self, session_id: str) -> LiveSession | None:
        return self._sessions.get(session_id) or self._children.get(session_id)

    # sessions come and go

    @contextmanager
    def opening(self) -> Iterator[None]:
        """Hold requests for unknown sessions while a session is being opened."""
        self._openings += 1
        is_opened = False
        try:
            yield
            is_opened = True
        finally:
            self._openings -= 1
            if not self._openings:
                self._take_up_held(is_opened=is_opened)

    def attach(
        self, session_id: u.SessionId, session: LiveSession, answer: Any, *, is_new: bool = False
    ) -> None:
        """Deliver to a session from now on, held messages first (SESS-3).

        An agent that gives an id again has replaced the session that had it.
        """
        self._enter(session_id, session)
        session.opened(session_id, answer, is_new=is_new)
        self._deliver_held(session_id, session)

    def expect(self, session_id: u.SessionId, session: LiveSession) -> None:
        """Deliver to a session even before the agent's answer."""
        session.session_id = session_id
        self._enter(session_id, session)

    def _enter(self, session_id: u.SessionId, session: LiveSession) -> None:
        if self._sessions.get(session_id) is not session:
            self.forget(session_id)
            self._redact(session)
        self._sessions[session_id] = session

    def _redact(self, session: LiveSession) -> None:
        session.redacted = self._redaction.of_session(self._recording.amend).redacted

    def forget(self, session_id: u.SessionId) -> None:
        """Stop delivering to a session and its child sessions, and close them."""
        session = self._sessions.pop(session_id, None)
        if session is not None:
            children = self.children_of(session)
            self._children = {
                key: each for key, each in self._children.items() if each not in children
            }
            for ended in (session, *children):
                ended.closed()
                self._methods.session_ended(ended)

    def lose(self, reason: str, detail: str = "") -> None:
        """End every session with the connection; see `LiveSession.lost`."""
        for session in self.sessions:
            session.lost(reason, detail)
            self._methods.session_ended(session)

    def _deliver_held(self, session_id: str | None, session: LiveSession) -> None:
        held, self._held = self._held, deque()
        for each in held:
            if each.session_id != session_id:
                self._held.append(each)
            elif each.request is None or not each.request.answered:
                each.deliver(session)

    def _take_up_held(self, *, is_opened: bool) -> None:
        for held in [each for each in self._held if each.request and each.session_id is not None]:
            if held not in self._held:
                continue  # delivered with another request of its session
            child = self._child(str(held.session_id)) if is_opened else None
            if child is not None:
                self._deliver_held(held.session_id, child)
                continue
            self._held.remove(held)
            if held.request is not None and not held.request.answered:
                self._refuse(held.request, str(held.session_id))

    def _refuse(self, incoming: IncomingRequest, session_id: str) -> None:
        incoming.fail(INVALID_PARAMS, f"This client has no session {session_id!r}.")
        if self._scope is not None:
            reason = f"the session {session_id!r} was never opened; the request was refused"
            self._scope.apply([u.Violation(incoming.method, reason, incoming.params)])

    def _child(self, session_id: str) -> LiveSession | None:
        parent = self._newest
        if parent is None:
            return None
        child = LiveSession(parent.connection, parent.dialect, parent.respondents)
        self._redact(child)
        child.session_id = u.SessionId(session_id)
        child.owner = parent
        self._children[session_id] = child
        return child

    def _hold(self, held: _Held) -> None:
        self._held.append(held._replace(deliver=self._recording.later(held.deliver)))
        if len(self._held) > MAX_HELD:
            lost = self._held.popleft()
            if lost.request is not None and not lost.request.answered:
                lost.request.fail(INVALID_PARAMS, "Too many requests for sessions not yet open.")

    # received messages, synchronously and in order

    def notification(self, method: str, params: object) -> None:
        """Deliver an update to its session, or another served notification to its listener."""
        with self._recording.handling():
            self._notification(method, params)

    def _notification(self, method: str, params: object) -> None:
        if not isinstance(params, dict):
            logger.debug("Ignored the notification %s without params.", method)
        elif method != UPDATE:
            listener = self._methods.notifications.get(method)
            if listener is not None:
                listener(self.sessions, params)
        else:
            session_id, update = read_update(params)
            session = self._find(session_id)
            if session is not None:
                session.receive(update)
            else:
                self._hold(_Held(session_id, lambda session: session.receive(update)))

    def request(self, incoming: IncomingRequest) -> None:
        """Deliver a request to its session, which answers now or later."""
        with self._recording.handling():
            self._request(incoming)

    def _request(self, incoming: IncomingRequest) -> None:
        serve = self._methods.requests.get(incoming.method)
        if serve is None:
            incoming.fail(METHOD_NOT_FOUND, f"This client does not serve {incoming.method}.")
            return
        params = incoming.params if isinstance(incoming.params, dict) else {}
        scope, session_id = request_scope(params), None
        if isinstance(scope, RequestScope):
            about = (each for each in self.sessions if scope.request_id in each.requests)
            session = next(about, self._scope)
        elif scope.session_id is None:
            # Malformed; only the newest session can be meant.
            session = self._newest or self._scope
        else:
            session_id, session = scope.session_id, self._find(scope.session_id)
        if session is not None:
            serve(incoming, session, params)
        elif session_id is None or self._openings:
            self._hold(_Held(session_id, lambda found: serve(incoming, found, params), incoming))
        else:
            child = self._child(session_id)
            if child is not None:
                self._deliver_held(session_id, child)
                serve(incoming, child, params)
            else:
                self._refuse(incoming, session_id)
