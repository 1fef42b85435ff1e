"""The prompts of `%acp` and `%%acp`: read, previewed, taken from the cache, or sent and awaited.

A base of the magics, which know the agents. What a prompt names is found by `context`.
"""

from __future__ import annotations

import os
from argparse import Namespace
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeAlias

from IPython.core.interactiveshell import InteractiveShell
from IPython.core.magic import Magics
from traitlets import Unicode

from acp_notebook.client import last_turn
from acp_notebook.errors import UsageError
from acp_notebook.kernel.context.cell_log import CellLog
from acp_notebook.kernel.magic.roster import Roster
from acp_notebook.kernel.magic.subcommands import CELL

if TYPE_CHECKING:
    from acp_notebook.client.agent import Agent
    from acp_notebook.client.turn import Turn
    from acp_notebook.kernel.context.blocks import PreparedPrompt
    from acp_notebook.kernel.context.sources import Notebook
    from acp_notebook.kernel.magic.tasks import Task
    from acp_notebook.kernel.magic.turn_cache import RecordedTurn, TurnCache
    from acp_notebook.protocol.dialect import Capabilities

    AnyTurn: TypeAlias = Turn | RecordedTurn


class PromptMagics(Magics):
    """What the magics do with a prompt, and what they remember of prompts."""

    agent = Unicode(
        "", help="The agent to start when a prompt comes and none is running, such as demo."
    ).tag(config=True)

    def __init__(self, shell: InteractiveShell) -> None:
        super().__init__(shell)
        self.roster = Roster()
        self.log = CellLog(shell)
        self.local: Mapping[str, Any] = {}
        """The variables of the function that prompts, if one does."""
        self.last_turn: AnyTurn | None = None
        self._cache: TurnCache | None = None

    @property
    def cache(self) -> TurnCache:
        """The recorded turns."""
        if self._cache is None:
            from acp_notebook.kernel.magic.turn_cache import TurnCache

            self._cache = TurnCache()
        return self._cache

    @property
    def notebook(self) -> Notebook:
        """What can be named in a prompt."""
        from acp_notebook.kernel.context.sources import Notebook

        assert self.shell is not None
        return Notebook(self.shell, self.log, self.local)

    # subcommands

    def _prompt_cell(self, line: str, cell: str) -> None:
        given = CELL.parse(line)
        self._send(f"{given.text}\n{cell}" if given.text else cell, given)

    def _prompt(self, given: Namespace) -> None:
        self._send(given.text, given)

    def _fix(self, given: Namespace) -> None:
        from acp_notebook.kernel.magic.tasks import INSERT_HINT, fix_task

        turn = self._send_task(fix_task(self.log, given.text), given)
        if turn is not None and turn.is_done and turn.code_blocks:
            self._say(INSERT_HINT)

    def _explain(self, given: Namespace) -> None:
        from acp_notebook.kernel.magic.tasks import explain_task

        self._send_task(explain_task(self.log, given.text), given)

    def _insert(self, given: Namespace) -> None:
        from acp_notebook.kernel.magic.tasks import choose_block, inserted_words

        turn = self._turn_named(given.turn)
        if not turn.is_done:
            raise UsageError("The turn still runs. Wait for its end with %acp wait, then insert.")
        blocks = turn.code_blocks
        number, block = choose_block(blocks, given.number)
        assert self.shell is not None
        self.shell.set_next_input(block.code.rstrip("\n"), replace=False)
        self._say(inserted_words(number, block, len(blocks)))

    def _turn_named(self, name: str | None) -> AnyTurn:
        from acp_notebook.client.turn import Turn
        from acp_notebook.kernel.magic.turn_cache import RecordedTurn

        if name is None:
            turn = self.last_turn
            if turn is None and len(self.roster):
                turn = self.roster.find().session.last_turn
            if turn is None:
                raise UsageError("Nothing was prompted yet, so there is no code to insert.")
            return turn
        found = self.notebook.variables.get(name)
        if isinstance(found, (Turn, RecordedTurn)):
            return found
        turns = [turn for agent in self.roster for each in agent.sessions for turn in each.turns]
        for turn in turns:
            if turn.prompt_id == name:
                return turn
        known = ", ".join(turn.prompt_id for turn in turns[-5:]) or "none"
        raise UsageError(
            f"No turn and no variable that holds one is called {name!r}. Last: {known}."
        )

    # sending

    def _send(self, text: str, given: Namespace) -> AnyTurn | None:
        from acp_notebook.kernel.context.blocks import prepare

        if not text.strip():
            raise UsageError("The prompt is empty. Write what the agent shall do.")
        self._fill_options(given)
        folder = self._folder(given.to)
        return self._send_prepared(prepare(text, self.notebook, folder, given.attach), given)

    def _send_task(self, task: Task, given: Namespace) -> AnyTurn | None:
        """Send a prompt of ours; the user's words in it are read as any prompt's."""
        from acp_notebook.kernel.context.blocks import prepare

        self._fill_options(given)
        prepared = prepare(task.text, self.notebook, self._folder(given.to), given.attach)
        return self._send_prepared(replace(prepared, parts=(task.item, *prepared.parts)), given)

    def _fill_options(self, given: Namespace) -> None:
        """Fill `{expr}` into the options; IPython does not, as prompts have their own rule."""
        from acp_notebook.kernel.context.prompt_text import read_prompt

        for name in ("to", "out", "permissions"):
            value = getattr(given, name)
            if value is not None and "{" in value:
                setattr(given, name, read_prompt(value, self.notebook.namespace).text)

    def _folder(self, label: str | None) -> str:
        """The folder of the agent that is meant."""
        if not len(self.roster) or self.cache.stand_in(label) is not None:
            return os.getcwd()  # noqa: PTH109 - a string, as an agent's folder is
        return self.roster.find(label).launch.cwd

    def _send_prepared(self, prepared: PreparedPrompt, given: Namespace) -> AnyTurn | None:
        if given.preview:
            self._preview(prepared, given.to)
            return None
        key = self._key(prepared, given)
        recorded = self.cache.find(key) if key is not None else None
        if recorded is not None:
            self._show_recorded(recorded, given)
            return recorded
        self.cache.check_present(given.to)
        agent = self._agent_for(given.to)
        if not given.quiet:
            for note in prepared.notes:
                self._say(f"Note: {note}")
        return self._await(prepared, agent, given, key)

    def _await(
        self, prepared: PreparedPrompt, agent: Agent, given: Namespace, key: str | None
    ) -> Turn:
        session = agent.new_session() if given.new else agent.session
        turn = session.prompt(
            prepared.blocks(agent.capabilities),
            wait=False,
            permissions=self._policy(given.permissions) if given.permissions else None,
            quiet=given.quiet,
        )
        self._remember(turn, given.out)
        if given.background:
            turn.done.add_done_callback(lambda _: self._keep(key, turn))
            return turn
        turn.wait(given.timeout)
        self._keep(key, turn)
        self._conclude(turn, must_end_well=given.check)
        return turn

    def _keep(self, key: str | None, turn: Turn) -> None:
        if key is not None:
            try:
                self.cache.keep(key, turn)
            except OSError as error:
                self._say(f"The turn could not be recorded: {error}")

    def _key(self, prepared: PreparedPrompt, given: Namespace) -> str | None:
        """What the turn is recorded under, if it is to be."""
        if not given.cache:
            return None
        label = self.cache.stand_in(given.to) or given.to
        if label is None:
            label = self.roster.find().label if len(self.roster) else self.agent
        return self.cache.key(label, prepared.blocks(_everything()))

    def _show_recorded(self, turn: RecordedTurn, given: Namespace) -> None:
        from IPython.display import display

        self._remember(turn, given.out)
        if not given.quiet:
            display(turn)

    def _preview(self, prepared: PreparedPrompt, label: str | None) -> None:
        from acp_notebook.kernel.magic.preview import show_preview
        from acp_notebook.protocol.prompt_content import fit_content

        if len(self.roster) and self.cache.stand_in(label) is None:
            agent = self.roster.find(label)
            capabilities, recipient = agent.capabilities, agent.label
        else:
            capabilities = _everything()
            recipient = "an agent that takes pictures and embedded context (none is running)"
        blocks = fit_content(prepared.blocks(capabilities), capabilities)
        show_preview(blocks, recipient, prepared.notes)

    def _remember(self, turn: AnyTurn, name: str | None) -> None:
        self.last_turn = turn
        last_turn.remember(turn)
        if name is not None and not name.isidentifier():
            raise UsageError(f"--out needs a variable's name, not {name!r}.")
        if name is not None:
            self._variables[name] = turn

    @property
    def _variables(self) -> dict[str, Any]:
        """The user's namespace."""
        return self.shell.user_ns if self.shell is not None else {}

    if TYPE_CHECKING:  # what `AcpMagics` knows

        def _agent_for(self, label: str | None) -> Agent: ...

        def _policy(self, name: str) -> Any: ...

        def _conclude(self, turn: Turn, *, must_end_well: bool) -> None: ...

        def _say(self, text: str) -> None: ...


def _everything() -> Capabilities:
    """An agent that takes all there is."""
    from acp_notebook.protocol.dialect import Capabilities

    return Capabilities(image=True, audio=True, embedded_context=True)
