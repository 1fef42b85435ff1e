"""A question of the agent, or of this client, from the request to the answer.

One flow for permissions and elicitations: a policy or a function of the user's may answer; else a
person does, wherever an audience can ask; without one the question is refused at once. A cancelled
turn cancels the question, the agent may withdraw it, and a lost connection drops it. Every request
is answered exactly once. Knows no view.
"""

from __future__ import annotations

import logging
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Future
from typing import TYPE_CHECKING, Any, ClassVar

from acp_notebook.errors import UsageError
from acp_notebook.session import updates as u
from acp_notebook.session.state import EntryKey

if TYPE_CHECKING:
    from acp_notebook.client.live.live_session import LiveSession

logger = logging.getLogger(__name__)

CANCELLED = "the turn was cancelled"
NOBODY = "nobody can be asked here"
WITHDRAWN = "the agent took the question back"


class Question(ABC):
    """An open question. The public methods and properties may be used on any thread."""

    function_words: ClassVar[str]

    def __init__(self, session: LiveSession, key: EntryKey) -> None:
        self.key = key
        self._session = session
        self._thread = session.connection.thread

    def __repr__(self) -> str:
        state = "open" if self.is_open else "answered"
        return f"<{type(self).__name__} {self.title!r}: {state}>"

    @property
    @abstractmethod
    def title(self) -> str:
        """The question, in the agent's words."""

    @property
    def session(self) -> LiveSession:
        """The session that the question belongs to."""
        return self._session

    @property
    def is_open(self) -> bool:
        """Whether the question is unanswered."""
        return self.key in self._session.questions

    def answer(self, option_id: str) -> None:  # noqa: ARG002 - for questions with options
        """Choose an option of a permission request.

        Raises:
            UsageError: The question has no such option, or is already answered.
        """
        raise UsageError(f"{self.title!r} has no options: use fill({{...}}) or decline().")

    def fill(self, values: Mapping[str, Any]) -> None:  # noqa: ARG002 - for forms and urls
        """Send the values of a form by name; an empty dict for a url that was opened.

        Raises:
            UsageError: The values break the form's rules, or the question is already answered.
        """
        raise UsageError(f"{self.title!r} is no form: use answer(option_id) or decline().")

    def decline(self) -> None:
        """Refuse: a permission with its reject option, a form or a url with `decline`.

        Raises:
            UsageError: The question is already answered.
        """
        self._thread.call(lambda: self._once(lambda: self._refuse("you")))

    def _once(self, settle: Callable[[], object]) -> None:
        if not self.is_open:
            raise UsageError(f"{self.title!r} was answered before.")
        settle()

    # the flow, on the agent thread

    def begin(self, found: Iterable[u.SessionUpdate]) -> None:
        """Show the request, then consult the policy, the user's function or a person."""
        self._session.questions[self.key] = self
        self._session.apply(found)
        if self._session.state.is_cancelling:
            self.cancel(CANCELLED)
        else:
            self._consult()

    @abstractmethod
    def _consult(self) -> None:
        """Settle by the policy or the user's function, or ask a person."""

    @abstractmethod
    def _read(self, result: Any) -> None:
        """Settle by the result of the user's function; raise `UsageError` if it is no answer."""

    @abstractmethod
    def _refuse(self, by: str) -> None:
        """Answer with a rejection."""

    @abstractmethod
    def cancel(self, reason: str) -> None:
        """Answer with `cancelled`: the turn was cancelled, or the user stopped (CANCEL-3)."""

    @abstractmethod
    def withdrawn(self) -> None:
        """Close a question the agent withdrew; the connection then answers -32800 (PERM-8)."""

    def drop(self) -> None:
        """Close the question without an answer after the end of the connection."""
        self._close()

    def _ask_function(self, function: Callable[..., Any], request: Any) -> None:
        try:
            future = self._session.respondents.run_function(function, request)
        except RuntimeError as error:  # no thread can be started any more
            self._function_failed(str(error))
            return
        future.add_done_callback(
            lambda _: self._thread.post(lambda: self._function_returned(function, future))
        )

    def _counts(self, function: Callable[..., Any]) -> bool:  # noqa: ARG002 - for policies
        """Whether the user still wants this function to answer."""
        return True

    def _function_returned(self, function: Callable[..., Any], future: Future[Any]) -> None:
        if not self._counts(function):
            return  # its successor was asked
        try:
            self._read(future.result())
        except UsageError as error:
            self._function_failed(str(error))
        except BaseException as error:
            # SystemExit and interrupts too: they must not end the thread, which serves all agents.
            logger.exception("The %s failed.", self.function_words)
            self._function_failed(f"{type(error).__name__}: {error}")

    def _function_failed(self, reason: str) -> None:
        # A failed function is no consent; a person may still answer.
        self._session.apply([u.Notice("warning", f"Your {self.function_words} failed", reason)])
        self.ask_person()

    def ask_person(self) -> None:
        """Ask the first audience that can ask, or refuse if there is none; at most once."""
        respondents = self._session.respondents
        if self.is_open and not respondents.is_asked(self) and not respondents.place(self):
            self._refuse(NOBODY)

    def give_up(self, reason: str) -> None:
        """Refuse an open question whose audience got no answer."""
        if self.is_open:
            self._refuse(reason)

    def _close(self) -> bool:
        """Remove the question from the open ones; return False if it was closed already."""
        self._session.respondents.settled(self)
        return self._session.questions.pop(self.key, None) is not None
