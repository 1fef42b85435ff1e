"""`%acp new`, `sessions`, `resume`, `close`, `delete`, and settings. Knows no parsing."""

from __future__ import annotations

from argparse import Namespace

from acp_notebook.errors import UsageError
from acp_notebook.kernel.magic.arguments import LABEL, TO, option, subcommand
from acp_notebook.kernel.magic.displays import (
    show_commands,
    show_options,
    show_permissions,
    show_sessions,
)
from acp_notebook.kernel.magic.state import MagicState

_SESSION = option("id", help="the session's id")


@subcommand("new", LABEL)
def new(state: MagicState, given: Namespace) -> None:
    """Open a new session with the agent."""
    agent = state.roster.find(given.label)
    state.print(f"New session with {agent.label}: {agent.new_session().id}")


@subcommand("sessions", LABEL, option("--all", action="store_true", help="of every folder"))
def sessions(state: MagicState, given: Namespace) -> None:
    """Show the sessions that the agent keeps, and how to take one up."""
    agent = state.roster.find(given.label)
    show_sessions(agent, agent.list_sessions(everywhere=given.all))


@subcommand(
    "resume",
    _SESSION,
    TO,
    option("--no-replay", action="store_true", help="without its conversation so far"),
    is_literal=True,
)
def resume(state: MagicState, given: Namespace) -> None:
    """Take up an earlier session and show its conversation."""
    from acp_notebook.kernel.views.history_cell import show_history

    agent = state.roster.find(given.to)
    show_history(agent.resume(given.id, replay=not given.no_replay))


@subcommand("close", option("id", nargs="?"), TO, is_literal=True)
def close(state: MagicState, given: Namespace) -> None:
    """Close the present session, or the one named."""
    agent = state.roster.find(given.to)
    session = agent.session if given.id is None else agent.find_session(given.id)
    session.close()
    state.print(f"Closed: {session.id}")


@subcommand("delete", _SESSION, TO, is_literal=True)
def delete(state: MagicState, given: Namespace) -> None:
    """Delete a session for good."""
    state.roster.find(given.to).delete_session(given.id)
    state.print(f"Deleted: {given.id}")


@subcommand("options", LABEL)
def options(state: MagicState, given: Namespace) -> None:
    """Show mode, model and the agent's other options."""
    show_options(state.roster.find(given.label))


@subcommand(
    "set",
    option("id", help="the option"),
    option("value", help="one of its values"),
    TO,
    is_literal=True,
)
def set_option(state: MagicState, given: Namespace) -> None:
    """Set an option of the agent, such as its mode."""
    state.roster.find(given.to).session.set_option(given.id, given.value)
    state.print(f"{given.id}: {given.value}")


@subcommand(
    "permissions",
    option("policy", nargs="?", help="ask, reads, allow, reject, a function's name, or forget"),
    option("tool", nargs="?", help="after forget: the one tool to ask about again"),
    TO,
)
def permissions(state: MagicState, given: Namespace) -> None:
    """Show or set the permission policy, and what stands allowed; forget takes that back."""
    agent = state.roster.find(given.to)
    if given.policy == "forget":
        for session in agent.sessions:
            if given.tool is None or given.tool in session.grants:
                session.revoke(given.tool)
    elif given.tool is not None:
        raise UsageError(
            f"Only `forget` takes the name of a tool: %acp permissions forget {given.tool}"
        )
    elif given.policy is not None:
        agent.permissions = state.policy(given.policy)
    show_permissions(agent)


@subcommand("commands", LABEL)
def commands(state: MagicState, given: Namespace) -> None:
    """Show the agent's slash commands."""
    show_commands(state.roster.find(given.label))
