"""The demo agent's replies: greeting, echo, help, and long, slow and failing ones."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Sequence
from itertools import cycle, islice
from typing import Any, Final

from acp_notebook.agent_kit import Command, Turn
from acp_notebook.demo_agent.sections import SECTIONS

CRASH_EXIT_CODE: Final = 3
LONG_DEFAULT: Final = 20
LONG_LIMIT: Final = 2000
SLOW_DEFAULT_S: Final = 30.0
SLOW_LIMIT_S: Final = 3600.0
SLOW_STEP_S: Final = 0.25

_GREETING: Final = re.compile(
    r"\W*(hello|hi|hey|hallo|moin|good (morning|day|evening)|bonjour|hola|ciao)\b.{0,20}",
    re.IGNORECASE | re.DOTALL,
)
_SLOW_SENTENCE: Final = (
    "This sentence takes its time so that you can press Stop whenever you like and see that the"
    " turn ends as cancelled and not as failed while everything said so far stays where it is and"
)
_QUOTE_LIMIT: Final = 600


def reply_text(turn: Turn, commands: Sequence[Command]) -> str:
    """Return the reply to a prompt that is no declared command."""
    if turn.command is not None:
        return f"I have no command `/{turn.command}`. These I have:\n\n{_command_list(commands)}\n"
    greeting = "Hello! " if _GREETING.fullmatch(turn.text) else ""
    who = (
        f"{greeting}I am the **demo agent** of acp_notebook. I have no model: I repeat what I get,"
        " and I show each part of the Agent Client Protocol on demand."
    )
    parts = [who, _echo(turn), f"Try one of these:\n\n{_command_list(commands)}"]
    return "\n\n".join(parts) + "\n"


def help_text(commands: Sequence[Command]) -> str:
    """Return the list of commands with an introduction."""
    return f"Each command shows one part of the protocol:\n\n{_command_list(commands)}\n"


async def long(turn: Turn) -> None:
    """Write a reply of as many sections as the argument says."""
    count = int(_number(turn.argument, LONG_DEFAULT, LONG_LIMIT))
    await turn.stream(f"# A long reply in {count} sections\n\n")
    for number, section in enumerate(islice(cycle(SECTIONS), count), start=1):
        await turn.stream(f"## Section {number} of {count}\n\n{section}\n\n")
    await turn.stream(f"Those were {count} sections.\n")


async def slow(turn: Turn) -> None:
    """Write for as many seconds as the argument says, whatever the pace: a turn to cancel."""
    seconds = _number(turn.argument, SLOW_DEFAULT_S, SLOW_LIMIT_S)
    steps = max(1, round(seconds / SLOW_STEP_S))
    for word in islice(cycle(_SLOW_SENTENCE.split()), steps):
        await turn.say(f"{word} ")
        await turn.pause(seconds / steps)
    await turn.say("… and now it is over.\n")


async def error(turn: Turn) -> None:
    """Fail in the middle of a reply."""
    await turn.stream("I begin to answer, and then something goes wrong …\n")
    raise RuntimeError("the demo agent was asked to fail, and it did")


async def crash(turn: Turn) -> None:
    """End the process in the middle of a reply."""
    await turn.stream("I begin to answer, and then my process ends …\n")
    sys.stderr.write("demo agent: fatal: asked to crash, ending with exit code 3\n")
    sys.stderr.flush()
    # `sys.exit` would close the connection properly, which a crash does not.
    os._exit(CRASH_EXIT_CODE)


def _number(text: str, default: float, limit: float) -> float:
    match = re.match(r"\d+(\.\d+)?", text)
    return min(float(match[0]), limit) if match else default


def _echo(turn: Turn) -> str:
    attached = [_block_name(block) for block in turn.blocks if block.get("type") != "text"]
    said = "You sent no text." if not turn.text else f"You said:\n\n{_quote(turn.text)}"
    if not attached:
        return said
    names = "\n".join(f"- {name}" for name in attached)
    return f"{said}\n\nYou attached:\n\n{names}"


def _quote(text: str) -> str:
    shown = text if len(text) <= _QUOTE_LIMIT else f"{text[:_QUOTE_LIMIT]}…"
    return "\n".join(f"> {line}" for line in shown.splitlines())


def _block_name(block: dict[str, Any]) -> str:
    match block.get("type"):
        case "resource_link":
            return f"a link to {_code(block.get('name') or block.get('uri'))}"
        case "resource":
            return _resource_name(block.get("resource"))
        case "image":
            return f"an image ({_code(block.get('mimeType'))})"
        case "audio":
            return f"a sound ({_code(block.get('mimeType'))})"
        case other:
            return f"something of the type {_code(other)}"


def _resource_name(resource: object) -> str:
    if not isinstance(resource, dict):
        return "a resource without content"
    text = resource.get("text")
    size = f", {len(text.splitlines())} lines" if isinstance(text, str) else ""
    return f"the resource {_code(resource.get('uri'))}{size}"


def _code(value: object) -> str:
    plain = str(value).replace("`", "'").replace("\n", " ")
    return f"`{plain}`"


def _command_list(commands: Sequence[Command]) -> str:
    return "\n".join(_command_line(command) for command in commands)


def _command_line(command: Command) -> str:
    hint = f" *{command.hint}*" if command.hint else ""
    return f"- `/{command.name}`{hint}: {command.description}"
