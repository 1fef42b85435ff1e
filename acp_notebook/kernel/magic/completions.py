"""The completions at a place of an `%acp` line or an `%%acp` prompt. Knows no completer.

Lines have subcommands, options and their values; prompts have the agent's `/commands` and
`@mentions`. Runs no code of the user's values, and asks an agent only for its sessions, briefly.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from acp_notebook.client.live.policy_names import POLICIES
from acp_notebook.errors import AcpNotebookError, UsageError
from acp_notebook.kernel.context.frames import is_table
from acp_notebook.kernel.context.kinds import derives, type_name
from acp_notebook.kernel.context.libraries import shape_of
from acp_notebook.kernel.context.parts import own_names
from acp_notebook.kernel.magic.arguments import LABEL, Option, Subcommand
from acp_notebook.kernel.magic.commands.prompts import CELL
from acp_notebook.kernel.magic.commands.turns import is_turn
from acp_notebook.kernel.magic.subcommands import SUBCOMMANDS

if TYPE_CHECKING:
    from acp_notebook.client.agent import Agent
    from acp_notebook.kernel.magic.state import MagicState

# The longest wait for an agent's answer.
PATIENCE_S = 0.4
MOST_WORDS_CHARS = 60
SHOWN_CELLS = 15
SHOWN_FILES = 200
_MENTION = re.compile(r"""(?<![\w@\\.])@(?:file:(?:"[^"\n]*|[^\s,;"']*)|[\w.:\["'\]-]*)$""")
_COMMAND = re.compile(r"\s*(/\S*)")
_SPECIAL = {
    "@file:": "a file or folder",
    "@cell[": "a cell that ran, with its output",
    "@out[": "an output",
    "@cells:": "the last cells",
}
_PLAIN_PATH = re.compile(r"[^\s,;\"']*")


@dataclass(slots=True)
class Completions:
    """Texts that may replace the fragment before the cursor, each with a few words about it."""

    fragment: str
    texts: dict[str, str] = field(default_factory=dict)

    def add(self, offered: Iterable[tuple[str, str]]) -> Completions:
        """Add the texts that begin with the fragment, in any case."""
        start = self.fragment.lower()
        for text, words in offered:
            if text.lower().startswith(start):
                line = " ".join(words.split())
                short = line if len(line) <= MOST_WORDS_CHARS else line[:MOST_WORDS_CHARS] + "…"
                self.texts.setdefault(text, short)
        return self


def find_completions(
    state: MagicState, lines: list[str], line: int, column: int
) -> Completions | None:
    """Return the completions at the cursor, whose line and column count from 0.

    None outside of `%acp` lines and prompts.
    """
    before = lines[line][:column]
    first = next((n for n, text in enumerate(lines) if text.strip()), 0)
    head = lines[first].lstrip()
    if head == "%%acp" or head.startswith("%%acp "):
        if line < first:
            return None
        if line == first:
            return _in_line(state, CELL, before.lstrip().removeprefix("%%acp"))
        is_first = not "".join(lines[first + 1 : line]).strip()
        return _in_prompt(state, before, _given_label(head), may_command=is_first)
    match = re.match(r"\s*(?:\w+\s*=\s*)?%acp(?:\s+(?P<rest>.*))?$", before)
    if match is None or match["rest"] is None:
        return None
    name, space, rest = match["rest"].partition(" ")
    if not space:
        return Completions(name).add((each.name, each.summary) for each in SUBCOMMANDS.values())
    subcommand = SUBCOMMANDS.get(name)
    return None if subcommand is None else _in_line(state, subcommand, space + rest)


def _given_label(line: str) -> str | None:
    match = re.search(r"\s--to(?:\s+|=)(\S+)", line)
    return match[1] if match else None


def _in_line(state: MagicState, subcommand: Subcommand, line: str) -> Completions | None:
    if not line[:1].isspace():
        return None
    *words, fragment = line.split(" ")
    words = [word for word in words if word]
    options = {name: each for each in subcommand.options for name in each.names}
    option = options.get(words[-1]) if words else None
    if option is not None and option.takes_value:
        return Completions(fragment).add(_values_of(state, option.names[0]))
    if fragment.startswith("-"):
        offered = (
            (name, str(each.keywords.get("help", "")))
            for name, each in options.items()
            if name.startswith("-")
            and (name not in words or each.keywords.get("action") == "append")
        )
        return Completions(fragment).add(offered)
    given = _text(words, options)
    if subcommand.free_text:
        begun = fragment if not given else line
        return _in_prompt(state, begun, _given_label(line), may_command=not given)
    return Completions(fragment).add(_arguments(state, subcommand.name, given, _given_label(line)))


def _text(words: list[str], options: dict[str, Option]) -> list[str]:
    found, skip = [], False  # the words that are neither options nor their values
    for word in words:
        option = options.get(word)
        if not skip and option is None and not word.startswith("--"):
            found.append(word)
        skip = option is not None and option.takes_value
    return found


def _values_of(state: MagicState, option: str) -> Iterator[tuple[str, str]]:
    match option:
        case "--to":
            yield from _labels(state)
        case "--permissions":
            yield from _policies(state)
        case "--protocol":
            from acp_notebook.protocol.negotiate import VERSIONS, version_words

            yield from ((str(each), version_words(each)) for each in VERSIONS)
        case "--attach":
            yield from _variables(state)
        case "--turn":
            yield from (
                (name, "turn") for name, value in state.notebook.variables.items() if is_turn(value)
            )


def _arguments(
    state: MagicState, name: str, given: list[str], label: str | None
) -> Iterator[tuple[str, str]]:
    sources: dict[str, Callable[[], Iterable[tuple[str, str]]]] = {
        "start": _known_agents,
        "permissions": lambda: _policies(state),
        "help": lambda: ((each.name, each.summary) for each in SUBCOMMANDS.values()),
        "resume": lambda: _sessions(state, label),
        "delete": lambda: _sessions(state, label),
        "close": lambda: _open_sessions(_agent(state, label)),
        "insert": lambda: _code_blocks(state),
        "login": lambda: _login_methods(_agent(state, label)),
    }
    if name == "set" and len(given) <= 1:
        yield from _option_values(_agent(state, label), given)
    elif given:
        return
    elif name in sources:
        yield from sources[name]()
    elif LABEL in SUBCOMMANDS[name].options:
        yield from _labels(state)


def _agent(state: MagicState, label: str | None) -> Agent | None:
    agents = list(state.roster)  # `Roster.find` would make the agent the present one
    if label is not None:
        own = next((agent for agent in agents if agent.label == label), None)
        return own or state.roster.others.get(label)
    return agents[-1] if agents else None


def _labels(state: MagicState) -> Iterator[tuple[str, str]]:
    for agent in reversed(list(state.roster)):
        yield agent.label, "agent that runs here"
    for name in state.roster.others:
        yield name, "agent that Python code started"


def _policies(state: MagicState) -> Iterator[tuple[str, str]]:
    yield from POLICIES.items()
    for name, value in state.notebook.variables.items():
        if callable(value) and not derives(value, type):
            yield name, "your function"


def _known_agents() -> Iterator[tuple[str, str]]:
    from acp_notebook.client.agents.known_agents import known_agents

    try:
        known = known_agents()
    except UsageError:  # a broken acp.json is reported at the start of an agent
        yield "demo", "Demo agent"
        return
    for name, agent in sorted(known.items(), key=lambda item: bool(item[1].missing)):
        yield name, agent.title + (" (something is missing here)" if agent.missing else "")


def _open_sessions(agent: Agent | None) -> Iterator[tuple[str, str]]:
    for session in reversed(agent.sessions if agent is not None else []):
        yield session.id, session.title or "open here"


def _sessions(state: MagicState, label: str | None) -> Iterator[tuple[str, str]]:
    """The agent's list of sessions, if it answers at once, and the open ones."""
    from acp_notebook.client.connection.session_calls import list_sessions

    agent = _agent(state, label)
    if agent is not None and agent.sessions and agent.is_running:
        listing = list_sessions(agent.connection, agent.launch.cwd)
        asked = agent.thread.submit(asyncio.wait_for(listing, PATIENCE_S))
        with suppress(AcpNotebookError, TimeoutError):
            for session in asked.result(2 * PATIENCE_S).sessions:
                yield session.id, session.title or session.updated_at or "session"
    yield from _open_sessions(agent)


def _option_values(agent: Agent | None, given: list[str]) -> Iterator[tuple[str, str]]:
    options = agent.session.config_options if agent is not None else ()
    for option in options:
        if not given:
            yield option.id, f"{option.name}, now {option.value}"
        elif option.id == given[0] and option.type == "boolean":
            yield from (("on", option.name), ("off", option.name))
        elif option.id == given[0]:
            yield from ((str(choice.value), choice.name) for choice in option.choices)


def _login_methods(agent: Agent | None) -> Iterator[tuple[str, str]]:
    for method in agent.auth_methods if agent is not None else ():
        yield method.id, method.description or method.name


def _code_blocks(state: MagicState) -> Iterator[tuple[str, str]]:
    turn = state.last_turn
    for number, block in enumerate(turn.code_blocks if turn is not None else (), 1):
        yield str(number), (block.code.strip().splitlines() or [block.language])[0]


def _in_prompt(
    state: MagicState, before: str, label: str | None, *, may_command: bool
) -> Completions | None:
    found = _any_in_prompt(state, before, label, may_command=may_command)
    if found is not None:
        # A prompt's braces are evaluated, and others name commands, files and columns.
        found.texts = {text: words for text, words in found.texts.items() if "{" not in text}
    return found


def _any_in_prompt(
    state: MagicState, before: str, label: str | None, *, may_command: bool
) -> Completions | None:
    match = _MENTION.search(before)
    if match is not None:
        return _mentions(state, match[0])
    command = _COMMAND.fullmatch(before)
    if not may_command or command is None:
        return None
    agent = _agent(state, label)
    return Completions(command[1]).add(
        (f"/{each.name}", each.description + (f" [{each.hint}]" if each.hint else ""))
        for each in (agent.session.commands if agent is not None else ())
    )


def _mentions(state: MagicState, fragment: str) -> Completions:
    offers = Completions(fragment)
    if fragment.startswith("@file:"):
        return offers.add(_files(fragment.removeprefix("@file:")))
    if "[" in fragment or ":" in fragment or "." in fragment:
        return offers.add(_further(state, fragment))
    offers.add((f"@{name}", words) for name, words in _variables(state))
    if state.log.last_error is not None:
        offers.add([("@error", "the last error, with its cell")])
    return offers.add(_SPECIAL.items())


def _variables(state: MagicState) -> Iterator[tuple[str, str]]:
    """The user's variables without modules, data before functions."""
    named = state.notebook.variables.items()
    for name, value in sorted(named, key=lambda item: (callable(item[1]), item[0].lower())):
        if not derives(value, ModuleType):
            yield name, _kind(value)


def _kind(value: Any) -> str:
    """The type, and the shape of an array or table."""
    name = type_name(value).rpartition(".")[2]
    shape = shape_of(value)
    return f"{name}, {' × '.join(f'{size:,}' for size in shape)}" if shape else name  # noqa: RUF001


def _further(state: MagicState, fragment: str) -> Iterator[tuple[str, str]]:
    """The completions after `@cell[`, `@out[`, `@cells:`, `@name:` and `@name.`."""
    if fragment.startswith("@cell["):
        for count, source in reversed(list(state.log.sources.items())[-SHOWN_CELLS:]):
            yield f"@cell[{count}]", source.strip().split("\n", 1)[0]
    elif fragment.startswith("@out["):
        for count, value in reversed(list(state.notebook.outs.items())[-SHOWN_CELLS:]):
            yield f"@out[{count}]", _kind(value)
    elif fragment.startswith("@cells:"):
        yield from ((f"@cells:{count}", f"the last {count}") for count in (1, 2, 3, 5, 10))
    else:
        name = re.split(r"[.:\[]", fragment[1:], maxsplit=1)[0]
        value = state.notebook.variables.get(name)
        if is_table(value):
            yield f"@{name}:csv", "all of it as CSV"
        for part in _parts_of(value):
            yield f"@{name}.{part}" if part.isidentifier() else f'@{name}["{part}"]', "part"


def _parts_of(value: Any) -> list[str]:
    """Columns, keys or attributes, without running any code of the value."""
    names = own_names(value)[:SHOWN_FILES]
    return (
        names
        if derives(value, dict) or is_table(value)
        else [name for name in names if not name.startswith("_")]
    )


def _files(typed: str) -> Iterator[tuple[str, str]]:
    is_quoted = typed.startswith('"')
    path = typed.removeprefix('"')
    folder, _, start = path.rpartition("/")
    shown = f"{folder}/" if folder or path.startswith("/") else ""
    base = Path(shown or ".").expanduser()
    entries = sorted(base.iterdir(), key=lambda entry: (not entry.is_dir(), entry.name))
    matching = (e for e in entries if e.name.startswith(start) and (start or e.name[0] != "."))
    for _, entry in zip(range(SHOWN_FILES), matching, strict=False):
        is_folder = entry.is_dir()
        name = shown + entry.name + ("/" if is_folder else "")
        if is_quoted or not _PLAIN_PATH.fullmatch(name):
            name = f'"{name}' + ("" if is_folder else '"')
        yield f"@file:{name}", "folder" if is_folder else "file"
