"""The table of all subcommands of `%acp`, in display order, and `%acp help`. Knows no agent."""

from __future__ import annotations

from argparse import Namespace

from acp_notebook.errors import UsageError, suggestion
from acp_notebook.kernel.magic.arguments import Subcommand, option, subcommand
from acp_notebook.kernel.magic.commands import agents, inspection, prompts, sessions, turns
from acp_notebook.kernel.magic.state import MagicState


@subcommand("help", option("topic", nargs="?"))
def show_help(state: MagicState, given: Namespace) -> None:
    """Show what %acp can do."""
    if given.topic is None:
        width = max(len(name) for name in SUBCOMMANDS)
        lines = [f"  {sub.name:<{width}}  {sub.summary}" for sub in SUBCOMMANDS.values()]
        state.print(
            "%%acp [OPTIONS] sends the cell as a prompt. %acp shows the state. Then there is "
            "%acp with:\n" + "\n".join(lines) + "\nMore: %acp help SUBCOMMAND"
        )
    else:
        state.print(find_subcommand(given.topic).help)


SUBCOMMANDS = {
    each.name: each
    for each in (
        agents.start,
        prompts.prompt,
        prompts.fix,
        prompts.explain,
        prompts.insert,
        agents.stop,
        turns.wait,
        sessions.new,
        agents.agents,
        sessions.sessions,
        sessions.resume,
        sessions.close,
        sessions.delete,
        sessions.options,
        sessions.set_option,
        sessions.permissions,
        sessions.commands,
        inspection.trace,
        agents.login,
        agents.logout,
        inspection.log,
        agents.quit_agent,
        show_help,
    )
}


def find_subcommand(name: str, *, advice: str = "") -> Subcommand:
    """Return the subcommand of a name.

    Raises:
        UsageError: There is no such subcommand; the message ends with the advice.
    """
    if name not in SUBCOMMANDS:
        raise UsageError(f"There is no %acp {name}.{suggestion(name, SUBCOMMANDS)}{advice}")
    return SUBCOMMANDS[name]
