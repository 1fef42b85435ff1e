"""`%acp start`, `agents`, `login`, `logout`, `stop` and `quit`. Knows no parsing."""

from __future__ import annotations

from argparse import Namespace
from pathlib import PurePath
from typing import TYPE_CHECKING

from acp_notebook.client.live.policy_names import POLICY_NAMES
from acp_notebook.errors import AgentError, UsageError
from acp_notebook.kernel.magic.arguments import LABEL, TO, option, subcommand
from acp_notebook.kernel.magic.commands.turns import conclude
from acp_notebook.kernel.magic.displays import show_agents, show_started
from acp_notebook.kernel.magic.state import MagicState

if TYPE_CHECKING:
    from acp_notebook.client.agent import Agent


@subcommand(
    "start",
    option("name", nargs="?", help="a known agent, such as demo, or wss://... of one"),
    option("--as", dest="label", metavar="LABEL", help="what to call it"),
    option("--cwd", default=".", help="the folder it works in; by default this one"),
    option(
        "--dir",
        dest="directories",
        action="append",
        default=[],
        metavar="DIR",
        help="a further folder it works in; repeatable",
    ),
    option("--protocol", type=int, metavar="N", help="1 forces v1"),
    option("--env", action="append", default=[], metavar="K=V", help="repeatable"),
    option(
        "--cache",
        action="store_true",
        help="if it cannot start, go on: prompts with --cache show recorded turns",
    ),
    option("--permissions", metavar="POLICY", help=f"{POLICY_NAMES}, or a function"),
    option(
        "--no-tools",
        dest="tools",
        action="store_false",
        help="do not let it look at variables or ask to run code in this kernel",
    ),
    option(
        "--serve",
        default="",
        metavar="WHAT",
        help="what a v1 agent may use through this notebook: read,write,terminal",
    ),
    takes_command=True,
)
def start(state: MagicState, given: Namespace) -> None:
    """Start an agent, initialize it and open a session."""
    from acp_notebook.client.agents.launching import default_label

    if given.name and given.command:
        raise UsageError("Give either an agent's name or a command behind --, not both.")
    name = None if given.command is not None else (given.name or state.default_agent or None)
    if name is None and given.command is None:
        raise UsageError("Which agent? For a first try: %acp start demo")
    label = given.label or default_label(name, given.command)
    state.roster.free_label(label)
    # The program without its folder, which differs from machine to machine.
    program = [PurePath(word).name for word in given.command[:1]] if given.command else []
    origin = name or " ".join([*program, *(given.command or ())[1:]])
    try:
        agent = _started(state, name, label, given)
    except AgentError as error:
        if not given.cache:
            raise
        state.cache.agent_missing(label, origin, str(error))
        state.print(f"{error}\n{label}: prompts with --cache show their recorded turns.")
        return
    state.cache.agent_started(label, origin)
    state.roster.add(agent)
    if agent.needs_login:
        _offer_login(agent)
    else:
        show_started(agent)


def _started(state: MagicState, name: str | None, label: str, given: Namespace) -> Agent:
    from acp_notebook.client.start import start as start_agent

    return start_agent(
        name,
        command=given.command,
        label=label,
        env=_environment(given.env),
        cwd=given.cwd,
        protocol=given.protocol,
        permissions=state.policy(given.permissions or state.default_permissions),
        serve=given.serve.replace(",", " ").split(),
        tools=given.tools,
        directories=given.directories,
    )


def _environment(pairs: list[str]) -> dict[str, str]:
    environment = {}
    for pair in pairs:
        name, found, value = pair.partition("=")
        if not found or not name:
            raise UsageError(f"--env takes NAME=VALUE, not {pair!r}.")
        environment[name] = value
    return environment


@subcommand("agents", option("words", nargs="*", help="only those whose line holds these words"))
def agents(_state: MagicState, given: Namespace) -> None:
    """Show the agents that can be started by name, and what is missing for the others."""
    show_agents(given.words)


@subcommand(
    "login",
    option("method", nargs="?", help="one of the agent's ways; not needed for one"),
    TO,
    is_literal=True,
)
def login(state: MagicState, given: Namespace) -> None:
    """Log in to the agent, then retry what it refused."""
    from acp_notebook.client.login import usable_methods

    agent = state.roster.find(given.to)
    if given.method is None and len(usable_methods(agent.auth_methods)) != 1:
        _offer_login(agent)
        return
    turn = agent.login(given.method, wait=False)
    if turn is None:
        show_started(agent)
        return
    turn.wait()
    conclude(turn, must_end_well=False)


def _offer_login(agent: Agent) -> None:
    """Show the login methods; without a user who can choose, raise."""
    from acp_notebook.kernel.front_end import present_front_end
    from acp_notebook.kernel.magic.login_display import show_offer

    show_offer(agent)
    if present_front_end() == "headless":
        _ = agent.session  # raises the reason, `AuthRequired`


@subcommand("logout", LABEL)
def logout(state: MagicState, given: Namespace) -> None:
    """Log out of the agent, where it offers that."""
    agent = state.roster.find(given.label)
    agent.logout()
    state.print(f"Logged out of {agent.label}.")


@subcommand("stop", LABEL)
def stop(state: MagicState, given: Namespace) -> None:
    """Cancel the agent's work; twice: end its process."""
    state.print(state.roster.find(given.label).stop())


@subcommand(
    "quit",
    LABEL,
    option("--all", action="store_true", help="end every agent, also those of Python code"),
)
def quit_agent(state: MagicState, given: Namespace) -> None:
    """End the agent and all its processes."""
    if given.all:
        named = {**{agent.label: agent for agent in state.roster}, **state.roster.others}
    else:
        agent = state.roster.find(given.label)
        named = {given.label or agent.label: agent}
    killed = state.roster.quit(named.values())
    state.print(f"Ended: {', '.join(named)}." if named else "No agent was running.")
    if killed:
        state.print(f"These did not end in time and were killed: {', '.join(killed)}.")
