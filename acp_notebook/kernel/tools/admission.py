"""Which work a tool call belongs to, and whether it may run at all. Pure; knows no tool.

A call belongs to a turn of the user's, or to work that the agent has reported as going on without
one. A call of a turn that was stopped or is over belongs to nothing and is refused.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from acp_notebook.kernel.tools.results import ToolFailure
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


@dataclass(frozen=True, slots=True)
class Admission:
    """The work of a call.

    Attributes:
        prompt_id: The turn; None for work in the background.
        needs_person: Whether only a person may allow the call, not a policy: no turn shows the
            work, or the user stopped the last one.
    """

    prompt_id: PromptId | None
    needs_person: bool = False

    @property
    def is_background(self) -> bool:
        """Whether the call belongs to no turn, so that it is asked whatever was granted."""
        return self.prompt_id is None


def admit(state: SessionState) -> Admission:
    """Return the work of a call that arrives now.

    Raises:
        ToolFailure: The call belongs to a turn that was stopped, or to none.
    """
    if not state.is_connected:
        raise ToolFailure(_LOST)
    if state.is_cancelling:
        raise ToolFailure(STOPPED)
    owner = next(iter(state.open_prompts), None)
    if owner is not None:
        return Admission(owner.prompt_id)
    last = state.prompts[state.last_ended] if state.last_ended is not None else None
    was_stopped = last is not None and last.stop_reason == "cancelled"
    if state.is_idle and not state.background:
        raise ToolFailure(STOPPED if was_stopped else _OVER)
    return Admission(None, needs_person=last is None or was_stopped)


def reason_to_end(state: SessionState, admission: Admission) -> str:
    """Return why an admitted call that has not begun must not begin; empty if it may."""
    if not state.is_connected:
        return _LOST
    if state.is_cancelling:
        return STOPPED
    prompt = state.prompts[admission.prompt_id] if admission.prompt_id is not None else None
    if prompt is None or not prompt.is_ended:
        return ""
    if prompt.stop_reason == "cancelled":
        return STOPPED
    # An agent that takes prompts while it works may call for the next one already.
    is_at_work = state.open_prompts or state.background or not state.is_idle
    return "" if is_at_work else "The turn ended before it could begin."
