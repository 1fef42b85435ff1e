"""`%acp wait`, finding a turn by name, and the errors of a turn's end. Knows no parsing."""

from __future__ import annotations

from argparse import Namespace
from typing import TYPE_CHECKING, Any, TypeGuard

from acp_notebook.errors import AgentError, UsageError
from acp_notebook.kernel.magic.arguments import LABEL, option, subcommand
from acp_notebook.kernel.magic.state import MagicState

if TYPE_CHECKING:
    from acp_notebook.client.session import AnyTurn
    from acp_notebook.client.turn import Turn


@subcommand("wait", LABEL, option("--timeout", type=float, metavar="S"))
def wait(state: MagicState, given: Namespace) -> None:
    """Wait for the agent's last turn and show it here."""
    from acp_notebook.kernel.views.question_card import show_questions
    from acp_notebook.kernel.views.session_cell import session_shown

    agent = state.roster.find(given.label)
    session = agent.session
    turn = session.last_turn
    show_questions(agent, but=session.live)
    if (turn is None or turn.is_done) and not session.is_at_rest:
        with session_shown(session):
            session.wait(given.timeout)
        return
    if turn is None:
        raise UsageError(f"Nothing was prompted yet. Write: %acp prompt --to {agent.label} ...")
    turn.show()
    turn.wait(given.timeout)
    conclude(turn, must_end_well=False)


def conclude(turn: Turn, *, must_end_well: bool) -> None:
    """Raise if a turn's end must stop the following cells.

    Raises:
        TurnInterrupted: The turn was cancelled.
        AgentError: The turn failed.
        TurnStopped: The turn did not end with `end_turn`, and `must_end_well` is set.
    """
    from acp_notebook.client.waiting import TurnInterrupted

    if turn.stop_reason == "cancelled":
        raise TurnInterrupted("Turn cancelled.")
    if turn.needs_login:
        from acp_notebook.kernel.magic.login_display import show_offer

        show_offer(turn.session.agent)
    if turn.error is not None:
        raise AgentError(turn.error)
    if must_end_well:
        turn.raise_for_stop()


def is_turn(value: Any) -> TypeGuard[AnyTurn]:
    """Whether a value is a turn; runs no code of the value."""
    from acp_notebook.client.turn import Turn
    from acp_notebook.kernel.magic.turn_cache import RecordedTurn

    return issubclass(type(value), (Turn, RecordedTurn))


def find_turn(state: MagicState, name: str | None) -> AnyTurn:
    """Return the turn with an id or in a variable, or the last one.

    Raises:
        UsageError: There is no such turn.
    """
    if name is None:
        turn = state.last_turn
        if turn is None and len(state.roster):
            turn = state.roster.find().session.last_turn
        if turn is None:
            raise UsageError(
                "Nothing was prompted yet, or its agent was ended, so there is no code to insert."
            )
        return turn
    found = state.notebook.variables.get(name)
    if is_turn(found):
        return found
    turns = [turn for agent in state.roster for each in agent.sessions for turn in each.turns]
    for turn in turns:
        if turn.prompt_id == name:
            return turn
    known = ", ".join(turn.prompt_id for turn in turns[-5:]) or "none"
    raise UsageError(f"No turn and no variable that holds one is called {name!r}. Last: {known}.")
