"""Permission policies: which requests are answered without asking, and how.

A policy chooses an option, or None: "ask the user". It never widens by fallback: `allow` picks only
a plain allow-once, and only a single one (several are a choice, not a consent); an option of an
unknown kind never counts as an approval (PERM-2, PERM-6). Knows no wire and no view.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from acp_notebook.client.live.policy_names import POLICIES, POLICY_NAMES
from acp_notebook.errors import UsageError
from acp_notebook.session.state import SessionState
from acp_notebook.session.updates import (
    CodeSubject,
    CommandSubject,
    PermissionOption,
    PermissionRequested,
    PermissionSubject,
    ToolCallSubject,
)

READING_KINDS = frozenset({"read", "search"})


@dataclass(frozen=True, slots=True)
class PermissionQuestion:
    """A permission request as a policy function sees it."""

    title: str
    description: str | None
    options: tuple[PermissionOption, ...]
    subject: PermissionSubject | None
    kind: str | None
    """The tool call's kind, where the request is about one. The agent's own call has the kind that
    the agent says; `run_code` and the other tools of this kernel have theirs."""


PolicyFunction = Callable[[PermissionQuestion], "str | Awaitable[str | None] | None"]
Policy = str | PolicyFunction


@dataclass(frozen=True, slots=True)
class Decision:
    """An answer and who gave it; an `option_id` of None is the outcome `cancelled`.

    Attributes:
        is_standing: Whether a policy, a function or a grant decided, which a person may change.
    """

    option_id: str | None
    by: str
    is_standing: bool = field(default=False, compare=False)


def check_policy(policy: Policy) -> Policy:
    """Return the policy if it is valid.

    Raises:
        UsageError: The policy is neither a known name nor a function.
    """
    if callable(policy) or policy in POLICIES:
        return policy
    raise UsageError(
        f"There is no permission policy {policy!r}. Use one of {POLICY_NAMES}, "
        "or a function that takes the request and returns an option id or None."
    )


def question_of(request: PermissionRequested, state: SessionState) -> PermissionQuestion:
    """Return the request as a policy sees it, with the kind of its tool call."""
    return PermissionQuestion(
        request.title,
        request.description,
        request.options,
        request.subject,
        _kind_of(request.subject, state),
    )


def _kind_of(subject: PermissionSubject | None, state: SessionState) -> str | None:
    match subject:
        case CodeSubject(kind=kind):
            return kind
        case ToolCallSubject(tool_call_id=tool_call_id) | CommandSubject(tool_call_id=tool_call_id):
            call = state.tool_calls.get(tool_call_id) if tool_call_id is not None else None
            return call.kind if call is not None else None
        case _:
            return None


def decide(policy: str, question: PermissionQuestion) -> Decision | None:
    """Return the answer of a named policy, or None to ask the user."""
    by = f"policy {policy}"
    if policy == "reject":
        return rejection(question.options, by)
    may_allow = policy == "allow" or (policy == "reads" and question.kind in READING_KINDS)
    once = _only(question.options, "allow_once") if may_allow else None
    return Decision(once, by, is_standing=True) if once is not None else None


def rejection(options: tuple[PermissionOption, ...], by: str) -> Decision:
    """Return the first reject option; `cancelled`, with a remark, only if there is none."""
    for kind in ("reject_once", "reject_always"):
        option_id = _first(options, kind)
        if option_id is not None:
            return Decision(option_id, by)
    return Decision(None, f"{by}; the agent offers no way to refuse")


def chosen_by_function(choice: object, options: tuple[PermissionOption, ...]) -> Decision | None:
    """Return a policy function's choice as a decision; None asks the user.

    Raises:
        UsageError: The choice is not the id of an option.
    """
    if choice is None:
        return None
    if isinstance(choice, str) and any(option.option_id == choice for option in options):
        return Decision(choice, "your policy function", is_standing=True)
    known = ", ".join(repr(option.option_id) for option in options)
    raise UsageError(
        f"The permission policy returned {choice!r}, which is not one of the options: {known}. "
        "Return an option's id, or None to ask."
    )


def _first(options: tuple[PermissionOption, ...], kind: str) -> str | None:
    return next((option.option_id for option in options if option.kind == kind), None)


def _only(options: tuple[PermissionOption, ...], kind: str) -> str | None:
    found = [option.option_id for option in options if option.kind == kind]
    return found[0] if len(found) == 1 else None
