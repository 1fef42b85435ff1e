"""`%%acp`, `%acp prompt`, `fix`, `explain` and `insert`. Knows no parsing of lines.

A prompt is previewed, taken from the cache, or sent and awaited; `context` resolves its mentions.
"""

from __future__ import annotations

import os
from argparse import Namespace
from dataclasses import replace
from typing import TYPE_CHECKING

from acp_notebook.client.live.policy_names import POLICY_NAMES
from acp_notebook.errors import UsageError
from acp_notebook.kernel.magic.arguments import Subcommand, option, subcommand
from acp_notebook.kernel.magic.commands import agents
from acp_notebook.kernel.magic.commands.turns import conclude, find_turn
from acp_notebook.kernel.magic.state import MagicState

if TYPE_CHECKING:
    from acp_notebook.client.agent import Agent
    from acp_notebook.client.session import AnyTurn
    from acp_notebook.client.turn import Turn
    from acp_notebook.kernel.context.blocks import PreparedPrompt
    from acp_notebook.kernel.context.sources import Item
    from acp_notebook.kernel.magic.turn_cache import RecordedTurn
    from acp_notebook.protocol.dialect import Capabilities

_OPTIONS = (
    option("--to", metavar="LABEL", help="the agent that gets it; by default the one used last"),
    option("--out", metavar="NAME", help="put the Turn into this variable"),
    option("--background", action="store_true", help="return at once; see `%%acp wait`"),
    option("--new", action="store_true", help="in a new session"),
    option("--permissions", metavar="POLICY", help=f"{POLICY_NAMES}, or a function's name"),
    option("--timeout", type=float, metavar="S", help="wait at most so many seconds"),
    option("--check", action="store_true", help="raise unless the turn ends with end_turn"),
    option("--quiet", action="store_true", help="show nothing"),
    option(
        "--attach",
        action="append",
        default=[],
        metavar="EXPR",
        help="what this expression gives goes with it; repeatable",
    ),
    option("--preview", action="store_true", help="show what would be sent, and send nothing"),
    option(
        "--cache",
        action="store_true",
        help="show the recorded turn of the same prompt, context and agent, if there is one",
    ),
)


@subcommand("prompt", *_OPTIONS, free_text="TEXT")
def prompt(state: MagicState, given: Namespace) -> None:
    """Send a prompt and wait for the end of its turn."""
    if not given.text.strip():
        raise UsageError("The prompt is empty. Write what the agent should do.")
    _send(state, given.text, given)


CELL = Subcommand("", _OPTIONS, prompt.run, free_text="[MORE TEXT]")
"""`%%acp`, whose cell is the prompt."""


@subcommand("fix", *_OPTIONS, free_text="[MORE TEXT]")
def fix(state: MagicState, given: Namespace) -> None:
    """Send the last error with its cell and ask for a mended one; %acp insert puts it in."""
    from acp_notebook.kernel.magic.commands.tasks import INSERT_HINT, fix_task

    task = fix_task(state.log, given.text)
    turn = _send(state, task.text, given, task.item)
    if turn is not None and turn.is_done and turn.code_blocks:
        state.print(INSERT_HINT)


@subcommand("explain", *_OPTIONS, free_text="[MORE TEXT]")
def explain(state: MagicState, given: Namespace) -> None:
    """Have the previous cell and its output explained."""
    from acp_notebook.kernel.magic.commands.tasks import explain_task

    task = explain_task(state.log, given.text)
    _send(state, task.text, given, task.item)


@subcommand(
    "insert",
    option("number", nargs="?", type=int, metavar="N", help="which one, from 1 on"),
    option("--turn", metavar="T", help="a turn's id, or a variable that holds a turn"),
)
def insert(state: MagicState, given: Namespace) -> None:
    """Put a code block of the last reply into a new cell below; nothing is run."""
    from acp_notebook.kernel.magic.commands.tasks import choose_block, inserted_words

    turn = find_turn(state, given.turn)
    if not turn.is_done:
        raise UsageError("The turn still runs. Wait for its end with %acp wait, then insert.")
    blocks = turn.code_blocks
    number, block = choose_block(blocks, given.number)
    state.shell.set_next_input(block.code.rstrip("\n"), replace=False)
    state.print(inserted_words(number, block, len(blocks)))


def _send(state: MagicState, text: str, given: Namespace, *items: Item) -> AnyTurn | None:
    """Read a text as a prompt and send it after the given items."""
    from acp_notebook.kernel.context.blocks import prepare

    _fill_options(state, given)
    prepared = prepare(text, state.notebook, _folder(state, given.to), given.attach)
    return _send_prepared(state, replace(prepared, parts=(*items, *prepared.parts)), given)


def _fill_options(state: MagicState, given: Namespace) -> None:
    """Fill `{expr}` into the options, since IPython does not expand lines with a prompt."""
    from acp_notebook.kernel.context.prompt_text import read_prompt

    for name in ("to", "out", "permissions"):
        value = vars(given)[name]
        if value is not None and "{" in value:
            vars(given)[name] = read_prompt(value, state.notebook.namespace).text


def _folder(state: MagicState, label: str | None) -> str:
    if not len(state.roster) or state.cache.stand_in(label) is not None:
        return os.getcwd()  # noqa: PTH109 - a string, as an agent's folder is
    return state.roster.find(label).launch.cwd


def _send_prepared(state: MagicState, prepared: PreparedPrompt, given: Namespace) -> AnyTurn | None:
    if given.preview:
        _preview(state, prepared, given.to)
        return None
    key = _key(state, prepared, given)
    recorded = state.cache.find(key) if key is not None else None
    if recorded is not None:
        _show_recorded(state, recorded, given)
        return recorded
    state.cache.check_present(given.to)
    agent = _agent_for(state, given.to)
    if not given.quiet:
        for note in prepared.notes:
            state.print(f"Note: {note}")
    return _await(state, prepared, agent, given, key)


def _await(
    state: MagicState, prepared: PreparedPrompt, agent: Agent, given: Namespace, key: str | None
) -> Turn:
    session = agent.new_session() if given.new else agent.session
    turn = session.prompt(
        prepared.blocks(agent.capabilities),
        wait=False,
        permissions=state.policy(given.permissions) if given.permissions else None,
        quiet=given.quiet,
    )
    _remember(state, turn, given.out)
    if given.background:
        turn.done.add_done_callback(lambda _: _keep(state, key, turn))
        return turn
    turn.wait(given.timeout)
    _keep(state, key, turn)
    conclude(turn, must_end_well=given.check)
    return turn


def _keep(state: MagicState, key: str | None, turn: Turn) -> None:
    if key is not None:
        try:
            state.cache.keep(key, turn)
        except OSError as error:
            state.print(f"The turn could not be recorded: {error}")


def _key(state: MagicState, prepared: PreparedPrompt, given: Namespace) -> str | None:
    if not given.cache:
        return None
    label = state.cache.stand_in(given.to) or given.to
    if label is None:
        label = state.roster.find().label if len(state.roster) else state.default_agent
    return state.cache.key(label, prepared.blocks(_everything()))


def _show_recorded(state: MagicState, turn: RecordedTurn, given: Namespace) -> None:
    from IPython.display import display

    from acp_notebook.client.session import remember_turn

    remember_turn(turn)
    _remember(state, turn, given.out)
    if not given.quiet:
        display(turn)


def _preview(state: MagicState, prepared: PreparedPrompt, label: str | None) -> None:
    from acp_notebook.kernel.magic.preview import show_preview
    from acp_notebook.protocol.prompt_content import fit_content

    if len(state.roster) and state.cache.stand_in(label) is None:
        agent = state.roster.find(label)
        capabilities, recipient = agent.capabilities, agent.label
    else:
        capabilities = _everything()
        recipient = "an agent that takes pictures and embedded context (none is running)"
    blocks = fit_content(prepared.blocks(capabilities), capabilities)
    show_preview(blocks, recipient, prepared.notes)


def _agent_for(state: MagicState, label: str | None) -> Agent:
    """Return the agent with the label, or the present one; starts the default if none runs."""
    if label is None and not len(state.roster) and state.default_agent:
        line = f"{state.default_agent} --permissions {state.default_permissions}"
        agents.start.run(state, agents.start.parse(line))
    return state.roster.find(label)


def _remember(state: MagicState, turn: AnyTurn, name: str | None) -> None:
    state.last_turn = turn
    if name is not None and not name.isidentifier():
        raise UsageError(f"--out needs a variable's name, not {name!r}.")
    if name is not None:
        state.variables[name] = turn


def _everything() -> Capabilities:
    from acp_notebook.protocol.dialect import Capabilities

    return Capabilities(image=True, audio=True, embedded_context=True)
