"""The words that a reader sees for an agent's identifiers: states, kinds, stop reasons, answers.

An unknown identifier is shown unchanged, never guessed. Knows no HTML.
"""

from __future__ import annotations

import math
from typing import Final, Literal, NamedTuple

from acp_notebook.session.state import (
    IDLE,
    REQUIRES_ACTION,
    RUNNING,
    Permission,
    SessionState,
    Usage,
)
from acp_notebook.session.updates import Cost, Failure, PermissionOption, PermissionSettled

Tone = Literal["good", "busy", "warn", "bad", "plain"]


class Wording(NamedTuple):
    """Words with a glyph and a tone, so that colour is never the only sign."""

    text: str
    glyph: str
    tone: Tone


_STOPS: dict[str, Wording] = {
    "end_turn": Wording("Finished", "✓", "good"),
    "max_tokens": Wording("Stopped at the token limit", "!", "warn"),
    "max_turn_requests": Wording("Stopped at the limit of requests in one turn", "!", "warn"),
    "refusal": Wording("The agent refused to go on", "!", "warn"),
    "cancelled": Wording("Cancelled", "⊘", "plain"),
    "error": Wording("Ended with an error", "✗", "bad"),
}

_STATUSES: dict[str, Wording] = {
    "pending": Wording("waiting", "○", "plain"),
    "in_progress": Wording("running", "◐", "busy"),
    "paused": Wording("paused", "‖", "warn"),
    "completed": Wording("done", "✓", "good"),
    "failed": Wording("failed", "✗", "bad"),
    "cancelled": Wording("cancelled", "⊘", "plain"),
    "interrupted": Wording("interrupted", "⊘", "warn"),
}

_PLAN_STATUSES: dict[str, Wording] = {
    "pending": Wording("to do", "○", "plain"),
    "in_progress": Wording("in progress", "◐", "busy"),
    "completed": Wording("done", "✓", "good"),
    "cancelled": Wording("dropped", "⊘", "plain"),
}

KINDS: dict[str, str] = {
    "read": "Read",
    "edit": "Edit",
    "delete": "Delete",
    "move": "Move",
    "search": "Search",
    "execute": "Run",
    "think": "Think",
    "fetch": "Fetch",
    "other": "Tool",
}

_ANSWERS: dict[str, Wording] = {
    "allow_once": Wording("Allowed once", "✓", "good"),
    "allow_always": Wording("Allowed from now on", "✓", "good"),
    "reject_once": Wording("Rejected", "✗", "bad"),
    "reject_always": Wording("Rejected from now on", "✗", "bad"),
}

_EFFECTS = {"allow": "✓", "reject": "✗"}
LASTING: Final = "from now on"

_SEVERITIES: dict[str, Wording] = {
    "info": Wording("Note", "i", "plain"),
    "warning": Wording("Warning", "!", "warn"),
    "error": Wording("Error", "✗", "bad"),
}

_OPERATIONS: dict[str, str] = {
    "add": "new",
    "delete": "deleted",
    "modify": "changed",
    "move": "renamed",
    "copy": "copied",
}


_SIGNS: dict[str, str] = {"USD": "$", "EUR": "€", "GBP": "£"}
# Smaller amounts are shown as less than this.
_LEAST: Final = 0.0001

# A record has no buttons; see `kernel.views.session_cell`.
WAITS: Final = "It waits for your answer. %acp wait shows it with its buttons."


def stop_words(stop_reason: str | None, failure: Failure | None = None) -> Wording:
    """Return the words for the end of a turn (STATE-3)."""
    if stop_reason is None:
        if failure is not None:
            return _STOPS["error"]
        return Wording("Ended without saying why", "!", "warn")
    return _STOPS.get(stop_reason) or Wording(f"Stopped: {stop_reason}", "!", "warn")


def status_words(status: str) -> Wording:
    """Return the words for a tool call's status; an unknown one counts as running (TOOL-4)."""
    return _STATUSES.get(status) or Wording(status, "◐", "busy")


def plan_status_words(status: str) -> Wording:
    """Return the words for a plan entry's status."""
    return _PLAN_STATUSES.get(status) or Wording(status, "○", "plain")


def severity_words(severity: str) -> Wording:
    """Return the words for a notice's severity."""
    return _SEVERITIES.get(severity) or Wording(severity, "i", "plain")


def operation_words(operation: str) -> str:
    """Return the word for a diff's operation on a file."""
    return _OPERATIONS.get(operation, operation)


def kind_of(kind: str) -> str:
    """Return a tool kind with icon and word; unknown ones become `other` (TOOL-4)."""
    return kind if kind in KINDS else "other"


def state_words(state: SessionState) -> Wording:
    """Return the words for the agent's activity; an unknown state unchanged (STATE-1)."""
    if not state.is_connected:
        return Wording("The agent is gone", "✗", "bad")
    if state.is_cancelling:
        return Wording("Stopping…", "◐", "warn")
    if state.has_questions:
        return Wording("Waiting for you", "?", "warn")
    if state.activity == REQUIRES_ACTION:
        return Wording("Waiting, but nothing is asked here", "?", "warn")
    if state.activity == RUNNING:
        return Wording("Working", "◐", "busy")
    if state.activity == IDLE:
        return (
            Wording("Starting", "◐", "busy") if state.open_prompts else Wording("Idle", "", "plain")
        )
    return Wording(state.activity, "◐", "busy")


def answer_words(permission: Permission) -> Wording:
    """Return the words for the answer to a permission request (PERM-6)."""
    answer = permission.answer
    if answer is None:
        return Wording("Waiting for your answer", "?", "warn")
    if answer.option_id is None:
        return Wording("Not answered: cancelled", "⊘", "plain")
    option = chosen_option(permission, answer)
    if option is None:
        return Wording(f"Answered: {answer.option_id}", "•", "plain")
    return _ANSWERS.get(option.kind) or Wording(f"Answered: {option.name}", "•", "plain")


def by_words(by: str) -> str:
    """Return who answered: `by you`, but `nobody can be asked here`."""
    if by.startswith("policy "):
        return f"by the {by}"
    return f"by {by}" if by.startswith("you") else by


def chosen_option(permission: Permission, answer: PermissionSettled) -> PermissionOption | None:
    """Return the answer's option, if the request offers it."""
    for option in permission.request.options:
        if option.option_id == answer.option_id:
            return option
    return None


def option_effect(option: PermissionOption) -> tuple[str, str]:
    """Return whether an option allows or rejects, else `other`, and the glyph for that."""
    effect = option.kind.partition("_")[0]
    return (effect, _EFFECTS[effect]) if effect in _EFFECTS else ("other", "•")


def is_lasting(option: PermissionOption) -> bool:
    """Whether the option holds beyond this request."""
    return option.kind.endswith("_always")


def elapsed_words(seconds: float) -> str:
    """Return a duration for people: `3.2 s`, `48 s`, `2 min 05 s`, `1 h 02 min`."""
    if seconds < 10:  # noqa: PLR2004  # tenths are noise from there on
        return f"{seconds:.1f} s"
    whole = round(seconds)
    if whole < 60:  # noqa: PLR2004
        return f"{whole} s"
    minutes, rest = divmod(whole, 60)
    if minutes < 60:  # noqa: PLR2004
        return f"{minutes} min {rest:02d} s"
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes:02d} min"


def spent_words(seconds: float | None) -> str:
    """Return a duration of a second or more in words; else an empty string."""
    return elapsed_words(seconds) if seconds is not None and seconds >= 1 else ""


def count_words(count: int, one: str, many: str | None = None) -> str:
    """Return a number with its noun: `1 line`, `1,204 lines`."""
    return f"{count:,} {one if count == 1 else many or one + 's'}"


def background_words(count: int) -> str:
    """Return the words for background work."""
    return f"{count:,} still running in the background"


def size_words(count: int) -> str:
    """Return a number of bytes for people."""
    size = float(count)
    for unit in ("B", "kB", "MB"):
        if size < 1000:  # noqa: PLR2004
            return f"{size:.0f} {unit}" if unit == "B" else f"{size:.1f} {unit}"
        size /= 1000
    return f"{size:.1f} GB"


def usage_words(usage: Usage | None) -> str:
    """Return tokens and cost of the session; empty if nothing is known (USE-1)."""
    if usage is None:
        return ""
    parts = []
    if usage.fraction is not None:
        parts.append(f"{usage.used:,} of {usage.size:,} tokens ({usage.fraction:.0%})")
    elif usage.used > 0:
        parts.append(f"{usage.used:,} tokens")
    if usage.cost is not None:
        parts.append(cost_words(usage.cost))
    return " · ".join(parts)


def usage_brief(usage: Usage) -> str:
    """Return the usage in brief for the first line: `27% of context · $0.045`."""
    if usage.fraction is None:
        return usage_words(usage)
    parts = [f"{usage.fraction:.0%} of context"]
    parts += [cost_words(usage.cost)] if usage.cost is not None else []
    return " · ".join(parts)


def cost_words(cost: Cost) -> str:
    """Return money with its significant digits: `$12.30`, `$0.045`, `$0.0123`."""
    sign = _SIGNS.get(cost.currency.upper())
    digits = _digits(max(cost.amount, _LEAST) if cost.amount > 0 else cost.amount)
    words = f"{sign}{digits}" if sign else f"{digits} {cost.currency}"
    return f"under {words}" if 0 < cost.amount < _LEAST else words


def _digits(amount: float) -> str:
    if not 0 < amount < 1:
        return f"{amount:,.2f}"
    # Three significant digits, and at least two decimals.
    places = max(2, 2 - math.floor(math.log10(amount)))
    whole, _, part = f"{amount:.{places}f}".rstrip("0").partition(".")
    return f"{whole}.{part:0<2}"
