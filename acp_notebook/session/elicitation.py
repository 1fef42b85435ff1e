"""What an agent asks its user for, beyond permissions: a form to fill in, a page to open.

The updates, and the record that they make. The rules are in `elicitation_rules`. Pure values.
"""

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
    """The agent asks; either `form` or `page` is there."""

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
        """The fields of the form; none for a page."""
        return self.form.fields if self.form is not None else ()

    @property
    def url(self) -> str | None:
        """The address to open; None for a form."""
        return self.url_request.url if self.url_request is not None else None


@dataclass(frozen=True, slots=True)
class ElicitationSettled:
    """The answer that went out, without the secrets in it. `by` says who or what decided."""

    elicitation_id: ElicitationId
    action: Action
    by: str
    content: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class AnswerRefused:
    """What the user filled in breaks the form's rules: words by field. Nothing was sent."""

    elicitation_id: ElicitationId
    errors: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class UrlCompleted:
    """The agent says that what was to be done on a page is done."""

    url_id: str


@dataclass(slots=True)
class Elicitation:
    """A request and, once given, its answer. `is_completed`: a page's purpose is reached."""

    request: ElicitationRequested
    answer: ElicitationSettled | None = None
    is_completed: bool = False
    errors: dict[str, str] = field(default_factory=dict)
    """What is wrong with what was filled in last."""

    @property
    def is_open(self) -> bool:
        """Whether nobody has answered yet."""
        return self.answer is None
