"""A question of the agent, or of this client, from the request to the answer.

One flow for permissions and elicitations: a policy or a function of the user's may answer; else a
person does, wherever an audience can ask; where nobody can be asked the question is refused at
once. A cancelled turn cancels the question, the agent may withdraw it, and a lost connection drops
it. Every request is answered exactly once. Knows no view.
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
        """What is asked, in the agent's words."""

    @property
    def session(self) -> LiveSession:
        """The session that the question belongs to."""
        return self._session

    @property
    def is_open(self) -> bool:
        """Whether the question waits for its answer."""
        return self.key in self._session.questions

    def answer(self, option_id: str) -> None:  # noqa: ARG002 - for those that have options
        """Choose an option of a permission request.

        Raises:
            UsageError: The question has no such option, or was answered before.
        """
        raise UsageError(f"{self.title!r} has no options: use fill({{...}}) or decline().")

    def fill(self, values: Mapping[str, Any]) -> None:  # noqa: ARG002 - for forms and urls
        """Send the values of a form by name; an empty dict says that a url was opened.

        Raises:
            UsageError: The values break the form's rules, or the question was answered before.
        """
        raise UsageError(f"{self.title!r} is no form: use answer(option_id) or decline().")

    def decline(self) -> None:
        """Refuse: a permission by its reject option, a form or a url by `decline`.

        Raises:
            UsageError: The question was answered before.
        """
        self._thread.call(lambda: self._once(lambda: self._refuse("you")))

    def _once(self, settle: Callable[[], object]) -> None:
        if not self.is_open:
            raise UsageError(f"{self.title!r} was answered before.")
        settle()

    # the flow, on the agent thread

    def begin(self, found: Iterable[u.SessionUpdate]) -> None:
        """Show the request and find somebody who answers."""
        self._session.questions[self.key] = self
        self._session.apply(found)
        if self._session.state.is_cancelling:
            self.cancel(CANCELLED)
        else:
            self._consult()

    @abstractmethod
    def _consult(self) -> None:
        """Have the policy or the user's function answer, or ask a person."""

    @abstractmethod
    def _read(self, result: Any) -> None:
        """Settle by what the user's function returned.

        Raises:
            UsageError: The result is no answer.
        """

    @abstractmethod
    def _refuse(self, by: str) -> None:
        """Answer by a rejection."""

    @abstractmethod
    def cancel(self, reason: str) -> None:
        """Answer that the turn was cancelled (CANCEL-3)."""

    @abstractmethod
    def withdrawn(self) -> None:
        """The agent takes the request back; the connection answers -32800 afterwards (PERM-8)."""

    def drop(self) -> None:
        """The connection is gone: there is no agent to answer to."""
        self._close()

    def _ask_function(self, function: Callable[..., Any], request: Any) -> None:
        try:
            future = self._session.respondents.run_function(function, request)
        except RuntimeError as error:  # no thread can be started any more
            self._function_failed(str(error))
            return
        future.add_done_callback(
            lambda _: self._thread.post(lambda: self._function_returned(future))
        )

    def _function_returned(self, future: Future[Any]) -> None:
        try:
            self._read(future.result())
        except UsageError as error:
            self._function_failed(str(error))
        except BaseException as error:
            # Also what would end a thread (SystemExit, an interrupt): this one serves all agents.
            logger.exception("The %s failed.", self.function_words)
            self._function_failed(f"{type(error).__name__}: {error}")

    def _function_failed(self, reason: str) -> None:
        # A broken function allows nothing; a person may still answer.
        self._session.apply([u.Notice("warning", f"Your {self.function_words} failed", reason)])
        self.ask_person()

    def ask_person(self) -> None:
        """Ask wherever somebody can be asked, else refuse."""
        if self.is_open and not self._session.respondents.place(self):
            self._refuse(NOBODY)

    def give_up(self, reason: str) -> None:
        """Refuse a question whose audience got no answer."""
        if self.is_open:
            self._refuse(reason)

    def _close(self) -> bool:
        """Take the question out of the open ones; False if it was out already."""
        self._session.respondents.settled(self)
        return self._session.questions.pop(self.key, None) is not None
