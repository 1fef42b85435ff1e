"""Which work a request of the agent belongs to, and whether it may run. Pure; knows no tool.

A request to run something here belongs to a turn of the user's, or to work that the agent has
reported as going on without one. A request of a turn that was stopped or is over belongs to nothing
and is refused.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from acp_notebook.session.state import SessionState
from acp_notebook.session.updates import PromptId

STOPPED: Final = (
    "The user stopped the turn. Nothing was run, and nothing will be until they prompt."
)
_OVER: Final = (
    "No turn is going on, and you have reported no background work. Nothing was run. Wait for the "
    "user's next prompt."
)
_LOST: Final = "The agent ended."


class NotAdmitted(Exception):
    """The request belongs to no work; the message is for the agent."""


@dataclass(frozen=True, slots=True)
class Admission:
    """The work of a request.

    Attributes:
        prompt_id: The turn; None for work in the background.
        stops: The session's count of stops at the time.
        needs_person: Whether only a person may allow it, not a policy: no turn shows the work, or
            the user stopped since the last prompt.
    """

    prompt_id: PromptId | None
    stops: int
    needs_person: bool = False

    @property
    def is_background(self) -> bool:
        """Whether the request belongs to no turn, so that it is asked whatever was granted."""
        return self.prompt_id is None


def admit(state: SessionState) -> Admission:
    """Return the work of a request that arrives now.

    Raises:
        NotAdmitted: The request belongs to a turn that was stopped, or to none.
    """
    if not state.is_connected:
        raise NotAdmitted(_LOST)
    if state.is_cancelling:
        raise NotAdmitted(STOPPED)
    owner = next(iter(state.open_prompts), None)
    if owner is not None:
        return Admission(owner.prompt_id, state.stops)
    last = state.prompts[state.last_ended] if state.last_ended is not None else None
    # Whatever stop reason the agent gives, or none where it was at rest.
    was_stopped = state.is_stopped or (last is not None and last.stop_reason == "cancelled")
    if state.is_idle and not state.background:
        raise NotAdmitted(STOPPED if was_stopped else _OVER)
    return Admission(None, state.stops, needs_person=last is None or was_stopped)


def was_stopped(state: SessionState, admission: Admission) -> bool:
    """Whether the user stopped the work since it was admitted."""
    return state.is_cancelling or state.stops != admission.stops


def reason_to_end(state: SessionState, admission: Admission) -> str:
    """Return why an admitted request that has not begun must not begin; empty if it may."""
    if not state.is_connected:
        return _LOST
    if was_stopped(state, admission):
        return STOPPED
    prompt = state.prompts[admission.prompt_id] if admission.prompt_id is not None else None
    if prompt is None or not prompt.is_ended:
        return ""
    if prompt.stop_reason == "cancelled":
        return STOPPED
    # An agent that takes prompts while it works may call for the next one already.
    is_at_work = state.open_prompts or state.background or not state.is_idle
    return "" if is_at_work else "The turn ended before it could begin."
