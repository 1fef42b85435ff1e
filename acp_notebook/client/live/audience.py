"""Who answers a session's questions: a policy, a function of the user's, or an audience.

An audience is a place where a person can answer. A session has one on standby, the place that
used the session last, and any number that watch: a cell's live view, a cell that waits. A question
goes to the newest watcher that can ask, else to the standby. When an audience leaves, its open
questions move to the next one; without one they are refused. Knows no notebook and no wire.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from concurrent.futures import Future
from typing import TYPE_CHECKING, Any, Protocol

from acp_notebook.client.live.policies import Policy, check_policy
from acp_notebook.client.user_functions import run_on_own_thread
from acp_notebook.session.elicitation import ElicitationRequested

if TYPE_CHECKING:
    from acp_notebook.client.live.question import Question

# Returns the values by name (for an opened url an empty dict), or None: ask the user.
ElicitFunction = Callable[
    [ElicitationRequested], "Mapping[str, Any] | Awaitable[Mapping[str, Any] | None] | None"
]


class Audience(Protocol):
    """A place where questions can be answered. Called on the agent thread."""

    @property
    def can_ask(self) -> bool:
        """Whether somebody can answer here."""

    def ask(self, question: Question) -> None:
        """Ask the user; does nothing where all open questions are shown anyway."""


class Nobody:
    """The audience of a script: every question is refused at once."""

    can_ask = False

    def ask(self, question: Question) -> None:
        """Never called, as nobody can be asked."""


class Attendance:
    """An audience's stay with a session, until `close`."""

    def __init__(self, leave: Callable[[Attendance], None], audience: Audience) -> None:
        self.audience = audience
        self._leave = leave

    def close(self) -> None:
        """End the stay; open questions move on. May be called more than once."""
        self._leave(self)


class Respondents:
    """Who answers for one session and its child sessions, or for requests without a session.

    Attributes:
        elicit: The user's function that answers forms and urls, if there is one.
        run_function: Runs the user's functions, on any thread.
        standby: The audience for questions that no watching audience can take.
        grants: The kernel's tools that the user allowed for the session, by name.
        consent: Grows whenever consent is taken back: what was allowed before, by a policy or a
            grant, and has not begun, is no longer allowed.
    """

    def __init__(
        self,
        policy: Policy = "ask",
        elicit: ElicitFunction | None = None,
        run_function: Callable[..., Future[Any]] = run_on_own_thread,
    ) -> None:
        self.grants: dict[str, None] = {}
        self.consent = 0
        self._policy = policy
        self.elicit = elicit
        self.run_function = run_function
        self.standby: Audience = Nobody()
        self._watching: list[Attendance] = []
        self._asked: dict[Question, Audience] = {}

    @property
    def policy(self) -> Policy:
        """The permission policy. A new one takes back all grants, whatever it is."""
        return self._policy

    @policy.setter
    def policy(self, policy: Policy) -> None:
        self._policy = check_policy(policy)
        self.revoke()

    def revoke(self, tool: str | None = None) -> None:
        """Take back the grant of a tool, or all grants; on any thread."""
        if tool is None:
            self.grants.clear()
        else:
            self.grants.pop(tool, None)
        self.consent += 1

    def attend(self, audience: Audience) -> Attendance:
        """Add a watching audience until the attendance is closed."""
        attendance = Attendance(self._leave, audience)
        self._watching.append(attendance)
        return attendance

    def place(self, question: Question) -> bool:
        """Ask the first audience that can take an open question; return False if none can."""
        for audience in [*(each.audience for each in reversed(self._watching)), self.standby]:
            if audience.can_ask:
                self._asked[question] = audience
                audience.ask(question)
                return True
        return False

    @property
    def asked(self) -> list[Question]:
        """The open questions that audiences were asked, also those of child sessions."""
        return list(self._asked)

    def is_asked(self, question: Question) -> bool:
        """Whether an audience was asked an open question."""
        return question in self._asked

    def settled(self, question: Question) -> None:
        """Forget an answered question."""
        self._asked.pop(question, None)

    def _leave(self, attendance: Attendance) -> None:
        if attendance not in self._watching:
            return
        self._watching.remove(attendance)
        for question, audience in list(self._asked.items()):
            if audience is attendance.audience:
                del self._asked[question]
                question.ask_person()
