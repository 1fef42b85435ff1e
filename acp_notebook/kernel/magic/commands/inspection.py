"""`%acp` alone, `%acp trace` and `%acp log`. Knows no parsing."""

from __future__ import annotations

from argparse import Namespace

from acp_notebook.kernel.magic.arguments import LABEL, option, subcommand
from acp_notebook.kernel.magic.displays import show_status
from acp_notebook.kernel.magic.state import MagicState


def status(state: MagicState) -> None:
    """Show the agents of this notebook, what they do, and what they ask."""
    from acp_notebook.kernel.views.question_card import show_questions

    show_status(state.roster)
    for agent in [*state.roster, *state.roster.others.values()]:
        show_questions(agent)


@subcommand(
    "trace",
    LABEL,
    option("--last", type=int, metavar="N", help="only the last N messages"),
    option("--turn", action="store_true", help="only those since the last prompt"),
    option("--only", metavar="WORD", help="only those whose name holds this word"),
    option("--save", metavar="FILE", help="write them to a file, one JSON object a line"),
)
def trace(state: MagicState, given: Namespace) -> None:
    """Show the messages between this notebook and the agent."""
    from acp_notebook.kernel.magic.trace_display import save_trace, show_trace

    agent = state.roster.find(given.label)
    if given.save:
        state.print(save_trace(agent.recording, given.save))
    else:
        show_trace(agent, last=given.last, is_turn=given.turn, only=given.only)


@subcommand("log", LABEL)
def log(state: MagicState, given: Namespace) -> None:
    """Show what the agent wrote to stderr."""
    agent = state.roster.find(given.label)
    text = agent.stderr.strip()
    noise = "\n".join(agent.noise)
    state.print(text or f"{agent.label} wrote nothing to stderr.")
    if noise:
        state.print(f"\nLines on its stdout that were no messages:\n{noise}")
