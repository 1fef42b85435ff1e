"""`%acp` and `%%acp`: reads the line, calls the client, shows the answer. No logic of its own.

Everything heavy is imported when the first command runs.
"""

from __future__ import annotations

from argparse import Namespace
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from IPython.core.error import UsageError as IPythonUsageError
from IPython.core.magic import line_cell_magic, magics_class, needs_local_scope, no_var_expand
from IPython.utils.text import DollarFormatter
from traitlets import Unicode

from acp_notebook.client.live.policy_names import POLICY_NAMES
from acp_notebook.errors import AgentError, UsageError, printable
from acp_notebook.kernel.magic.arguments import name_meant
from acp_notebook.kernel.magic.prompt_magics import PromptMagics
from acp_notebook.kernel.magic.subcommands import SUBCOMMANDS, takes_prompt

if TYPE_CHECKING:
    from acp_notebook.client.agent import Agent
    from acp_notebook.client.turn import Turn


@magics_class
class AcpMagics(PromptMagics):
    """The magics and what they remember: the agents of this notebook."""

    permissions = Unicode(
        "ask", help=f"The permission policy of new agents: one of {POLICY_NAMES}."
    ).tag(config=True)

    @no_var_expand
    @needs_local_scope
    @line_cell_magic
    def acp(
        self, line: str, cell: str | None = None, local_ns: dict[str, Any] | None = None
    ) -> None:
        """Talk to ACP agents: `%acp help` shows what there is."""
        is_at_top = local_ns is None or local_ns is self._variables
        self.local = {} if is_at_top or local_ns is None else local_ns
        try:
            if cell is not None:
                self._prompt_cell(line, cell)
            else:
                self._run(line)
        except UsageError as error:
            raise IPythonUsageError(str(error)) from None

    def _run(self, line: str) -> None:
        name, _, rest = line.strip().partition(" ")
        if not name:
            self._status()
            return
        subcommand = SUBCOMMANDS.get(name)
        if subcommand is None:
            raise UsageError(
                f"There is no %acp {name}.{name_meant(name, list(SUBCOMMANDS))} "
                "%acp help shows what there is."
            )
        if not takes_prompt(subcommand):
            rest = self._expand(rest)
        getattr(self, f"_{name}")(subcommand.parse(rest))

    def _expand(self, line: str) -> str:
        """What IPython does with every magic's line; prompts have a stricter rule of their own."""
        try:
            return DollarFormatter().vformat(line, [], {**self._variables, **self.local})
        except Exception:  # noqa: BLE001 - as IPython does it: then it stands as it is
            return line

    # agents

    def _start(self, given: Namespace) -> None:
        from acp_notebook.client.agents.launching import default_label
        from acp_notebook.kernel.magic.displays import show_started

        if given.name and given.command:
            raise UsageError("Give either an agent's name or a command behind --, not both.")
        name = None if given.command is not None else (given.name or self.agent or None)
        if name is None and given.command is None:
            raise UsageError("Which agent? For a first try: %acp start demo")
        label = given.label or default_label(name, given.command)
        self.roster.free_label(label)
        # A command's folder differs from machine to machine.
        program = [PurePath(word).name for word in given.command[:1]] if given.command else []
        origin = name or " ".join([*program, *(given.command or ())[1:]])
        try:
            agent = self._started(name, label, given)
        except AgentError as error:
            if not given.cache:
                raise
            self.cache.agent_missing(label, origin, str(error))
            self._say(f"{error}\n{label}: prompts with --cache show their recorded turns.")
            return
        self.cache.agent_started(label, origin)
        self.roster.add(agent)
        if agent.needs_login:
            self._offer_login(agent)
        else:
            show_started(agent)

    def _started(self, name: str | None, label: str, given: Namespace) -> Agent:
        from acp_notebook.client.start import start

        return start(
            name,
            command=given.command,
            label=label,
            env=_environment(given.env),
            cwd=given.cwd,
            protocol=given.protocol,
            permissions=self._policy(given.permissions or self.permissions),
            serve=given.serve.replace(",", " ").split(),
            tools=given.tools,
            directories=given.directories,
        )

    def _quit(self, given: Namespace) -> None:
        if given.all:
            ended = self.roster.quit_all()
        else:
            agent = self.roster.find(given.label)
            self.roster.quit(agent)
            ended = [agent.label]
        self._say(f"Ended: {', '.join(ended)}." if ended else "No agent was running.")

    def _offer_login(self, agent: Agent) -> None:
        """Show the ways to log in; where nobody can choose one it is an error."""
        from acp_notebook.kernel.front_end import present_front_end
        from acp_notebook.kernel.magic.login_display import show_offer

        show_offer(agent)
        if present_front_end() == "headless":
            _ = agent.session  # which raises for want of a login

    def _login(self, given: Namespace) -> None:
        from acp_notebook.client.login import usable_methods
        from acp_notebook.kernel.magic.displays import show_started

        agent = self.roster.find(given.to)
        if given.method is None and len(usable_methods(agent.auth_methods)) != 1:
            self._offer_login(agent)
            return
        turn = agent.login(given.method, wait=False)
        if turn is None:
            show_started(agent)
            return
        turn.wait()
        self._conclude(turn, must_end_well=False)

    def _logout(self, given: Namespace) -> None:
        agent = self.roster.find(given.label)
        agent.logout()
        self._say(f"Logged out of {agent.label}.")

    def _new(self, given: Namespace) -> None:
        agent = self.roster.find(given.label)
        session = agent.new_session()
        self._say(f"New session with {agent.label}: {session.id}")

    def _sessions(self, given: Namespace) -> None:
        from acp_notebook.kernel.magic.displays import show_sessions

        agent = self.roster.find(given.label)
        show_sessions(agent, agent.list_sessions(everywhere=given.all))

    def _resume(self, given: Namespace) -> None:
        from acp_notebook.kernel.views.history_cell import show_history

        agent = self.roster.find(given.to)
        show_history(agent.resume(given.id, replay=not given.no_replay))

    def _close(self, given: Namespace) -> None:
        agent = self.roster.find(given.to)
        session = agent.session if given.id is None else agent.find_session(given.id)
        session.close()
        self._say(f"Closed: {session.id}")

    def _delete(self, given: Namespace) -> None:
        self.roster.find(given.to).delete_session(given.id)
        self._say(f"Deleted: {given.id}")

    def _options(self, given: Namespace) -> None:
        from acp_notebook.kernel.magic.displays import show_options

        show_options(self.roster.find(given.label))

    def _set(self, given: Namespace) -> None:
        session = self.roster.find(given.to).session
        session.set_option(given.id, given.value)
        self._say(f"{given.id}: {given.value}")

    def _agents(self, given: Namespace) -> None:
        from acp_notebook.kernel.magic.displays import show_agents

        show_agents(given.words)

    def _status(self) -> None:
        from acp_notebook.kernel.magic.displays import show_status

        show_status(self.roster)

    # prompts

    def _agent_for(self, label: str | None) -> Agent:
        if label is None and not len(self.roster) and self.agent:
            self._run(f"start {self.agent} --permissions {self.permissions}")
        return self.roster.find(label)

    def _conclude(self, turn: Turn, *, must_end_well: bool) -> None:
        """Say by an exception what must stop the cells behind this one."""
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

    def _stop(self, given: Namespace) -> None:
        self._say(self.roster.find(given.label).stop())

    def _wait(self, given: Namespace) -> None:
        from acp_notebook.kernel.notebook_host import session_shown_here, show_here

        agent = self.roster.find(given.label)
        session = agent.session
        turn = session.last_turn
        if (turn is None or turn.is_done) and not session.is_at_rest:
            with session_shown_here(session):
                session.wait(given.timeout)
            return
        if turn is None:
            raise UsageError(f"Nothing was prompted yet. Write: %acp prompt --to {agent.label} ...")
        show_here(turn)
        turn.wait(given.timeout)
        self._conclude(turn, must_end_well=False)

    # what there is to see

    def _permissions(self, given: Namespace) -> None:
        agent = self.roster.find(given.to)
        if given.policy == "forget":
            from acp_notebook.kernel.notebook_host import forget_grants

            forget_grants(agent)
            self._say(f"{agent.label} has to ask again for what was allowed for a session.")
        elif given.policy is not None:
            agent.permissions = self._policy(given.policy)
        policy = agent.permissions
        shown = policy if isinstance(policy, str) else getattr(policy, "__name__", "a function")
        self._say(f"Permission policy of {agent.label}: {shown}")

    def _policy(self, name: str) -> Any:
        """A policy by its name, or a function of the user's by its variable."""
        function = self._variables.get(name)
        return function if callable(function) else name

    def _commands(self, given: Namespace) -> None:
        from acp_notebook.kernel.magic.displays import show_commands

        show_commands(self.roster.find(given.label))

    def _trace(self, given: Namespace) -> None:
        from acp_notebook.kernel.magic.trace_display import save_trace, show_trace

        agent = self.roster.find(given.label)
        if given.save:
            self._say(save_trace(agent.recording, given.save))
        else:
            show_trace(agent, last=given.last, is_turn=given.turn, only=given.only)

    def _log(self, given: Namespace) -> None:
        agent = self.roster.find(given.label)
        text = agent.stderr.strip()
        noise = "\n".join(agent.noise)
        self._say(text or f"{agent.label} wrote nothing to stderr.")
        if noise:
            self._say(f"\nLines on its stdout that were no messages:\n{noise}")

    def _help(self, given: Namespace) -> None:
        if given.topic is None:
            width = max(len(name) for name in SUBCOMMANDS)
            lines = [f"  {sub.name:<{width}}  {sub.summary}" for sub in SUBCOMMANDS.values()]
            self._say(
                "%%acp [OPTIONS] sends the cell as a prompt. %acp shows the state. Then there is "
                "%acp with:\n" + "\n".join(lines) + "\nMore: %acp help SUBCOMMAND"
            )
        elif given.topic in SUBCOMMANDS:
            self._say(SUBCOMMANDS[given.topic].help)
        else:
            meant = name_meant(given.topic, list(SUBCOMMANDS))
            raise UsageError(f"There is no %acp {given.topic}.{meant}")

    def _say(self, text: str) -> None:
        print(printable(text))  # noqa: T201 - what a magic has to say goes to the cell's stdout


def _environment(pairs: list[str]) -> dict[str, str]:
    environment = {}
    for pair in pairs:
        name, found, value = pair.partition("=")
        if not found or not name:
            raise UsageError(f"--env takes NAME=VALUE, not {pair!r}.")
        environment[name] = value
    return environment
