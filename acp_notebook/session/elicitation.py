"""Elicitations, a form or a url to open: the updates, and their record. Knows no rules."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, NewType

from acp_notebook.session.form import Form, FormField, UrlRequest

if TYPE_CHECKING:
    from acp_notebook.session.updates import ToolCallId

ElicitationId = NewType("ElicitationId", str)
Action = Literal["accept", "decline", "cancel"]


@dataclass(frozen=True, slots=True)
class ElicitationRequested:
    """A request of the agent, with either a form or a url."""

    elicitation_id: ElicitationId
    message: str
    form: Form | None = None
    url_request: UrlRequest | None = None
    tool_call_id: ToolCallId | None = None

    @property
    def mode(self) -> str:
        """`form` or `url`."""
        return "url" if self.url_request is not None else "form"

    @property
    def fields(self) -> tuple[FormField, ...]:
        """The fields of the form; none for a url."""
        return self.form.fields if self.form is not None else ()

    @property
    def url(self) -> str | None:
        """The url to open; None for a form."""
        return self.url_request.url if self.url_request is not None else None


@dataclass(frozen=True, slots=True)
class ElicitationSettled:
    """The answer that was sent, without secrets; `by` names who decided."""

    elicitation_id: ElicitationId
    action: Action
    by: str
    content: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class AnswerRefused:
    """Values that break the form's rules, with errors by field. Nothing was sent."""

    elicitation_id: ElicitationId
    errors: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class UrlCompleted:
    """The agent's report that the task behind a url is done."""

    url_id: str


@dataclass(slots=True)
class Elicitation:
    """A request and its answer, if any; `is_completed` if the task behind a url is done."""

    request: ElicitationRequested
    answer: ElicitationSettled | None = None
    is_completed: bool = False
    errors: dict[str, str] = field(default_factory=dict)
    """The errors of the last values, by field."""

    @property
    def is_open(self) -> bool:
        """Whether there is no answer yet."""
        return self.answer is None
