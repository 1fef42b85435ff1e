"""Reading `%acp` lines: options first, then names or free text, then `-- COMMAND`.

Each subcommand's options are declared beside its function; they and the function's docstring make
the help. argparse parses, IPython splits the line. Knows no agent.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NoReturn, TypeAlias

from IPython.utils.process import arg_split  # type: ignore[attr-defined]

from acp_notebook.errors import UsageError

if TYPE_CHECKING:
    from acp_notebook.kernel.magic.state import MagicState

    Run: TypeAlias = Callable[[MagicState, argparse.Namespace], None]

# A dash alone, as of a Markdown list, begins the text.
_OPTION = re.compile(r"--?[A-Za-z]")


@dataclass(frozen=True)
class Option:
    """One option or positional argument, as the arguments of `add_argument`."""

    names: tuple[str, ...]
    keywords: dict[str, Any] = field(default_factory=dict)

    @property
    def takes_value(self) -> bool:
        """Whether the option's value is the next word."""
        is_switch = self.keywords.get("action") in ("store_true", "store_false")
        return self.names[0].startswith("-") and not is_switch


def option(*names: str, **keywords: Any) -> Option:
    """Declare an option."""
    return Option(names, keywords)


LABEL = option("label", nargs="?", help="the agent's label; by default the one used last")
TO = option("--to", metavar="LABEL")


@dataclass(frozen=True)
class Subcommand:
    """A subcommand of `%acp`: its options and its function.

    With `free_text` the text after the options is kept unchanged, as a prompt with its own rules.
    `takes_command` splits the line at `--`. With `is_literal` no variables are filled into the
    line, because it names something that an agent may have named.
    """

    name: str
    options: tuple[Option, ...]
    run: Run
    free_text: str = ""
    takes_command: bool = False
    is_literal: bool = False

    @property
    def takes_variables(self) -> bool:
        """Whether `{expr}` and `$name` in the line are filled in before it is read."""
        return not self.free_text and not self.is_literal

    def parse(self, line: str) -> argparse.Namespace:
        """Read the line after the subcommand's name.

        Raises:
            UsageError: The line cannot be read; the message shows the usage.
        """
        line, command = _split_command(line) if self.takes_command else (line, None)
        if self.free_text:
            words, text = self._split_text(line)
        else:
            words, text = _split(line), ""
        namespace = self._parser().parse_args(words)
        namespace.text = text
        namespace.command = command
        return namespace

    @property
    def summary(self) -> str:
        """The effect in one sentence."""
        return self.run.__doc__ or ""

    @property
    def usage(self) -> str:
        """The usage line."""
        tail = f" {self.free_text}" if self.free_text else ""
        tail += " [-- COMMAND ARGS]" if self.takes_command else ""
        words = self._parser().format_usage().removeprefix("usage: ").split()
        return " ".join(words) + tail

    @property
    def help(self) -> str:
        """The help text for `%acp help`."""
        described = self._parser().format_help().split("\n\n")
        parts = [part for part in described if part.startswith(("options:", "positional"))]
        return "\n\n".join([self.usage, self.summary, *parts]).rstrip() + "\n"

    def _parser(self) -> _Parser:
        parser = _Parser(prog=f"%acp {self.name}", add_help=False, allow_abbrev=False)
        for item in self.options:
            parser.add_argument(*item.names, **item.keywords)
        return parser

    def _split_text(self, line: str) -> tuple[list[str], str]:
        """Split the line after its options; the text behind stays unchanged."""
        with_value = {name for item in self.options if item.takes_value for name in item.names}
        rest, options = line.strip(), list[str]()
        while _OPTION.match(rest):
            word, rest = _first_word(rest)
            options.append(word)
            if word in with_value and rest:
                value, rest = _first_word(rest)
                options.append(value)
        return options, rest


def subcommand(
    name: str,
    *options: Option,
    free_text: str = "",
    takes_command: bool = False,
    is_literal: bool = False,
) -> Callable[[Run], Subcommand]:
    """Declare a function's subcommand; the function's docstring is the summary."""
    return lambda run: Subcommand(name, options, run, free_text, takes_command, is_literal)


class _Parser(argparse.ArgumentParser):
    """argparse that neither prints nor exits."""

    def error(self, message: str) -> NoReturn:
        raise UsageError(f"{message}. Usage: {' '.join(self.format_usage().split()[1:])}")


def _first_word(text: str) -> tuple[str, str]:
    """Split off the first word, quoted or an expression such as `df[df["a b"] > 0]`."""
    if text[0] in "\"'":
        end = text.find(text[0], 1)
        if end > 0 and text[end + 1 : end + 2] in ("", " ", "\t"):
            return text[1:end], text[end + 1 :].lstrip()
    end = _end_of_expression(text) or len(text.split(maxsplit=1)[0])
    return text[:end], text[end:].lstrip()


def _end_of_expression(text: str) -> int:
    """The end of the first word, with spaces in quotes and brackets; 0 if they stay open."""
    depth, quote = 0, ""
    for position, char in enumerate(text):
        if quote:
            quote = "" if char == quote else quote
        elif char in "\"'":
            quote = char
        elif char in "([{":
            depth += 1
        elif char in ")]}":
            depth -= 1
        elif char.isspace() and depth <= 0:
            return position
    return 0 if quote or depth else len(text)


def _split(line: str) -> list[str]:
    try:
        words: list[str] = arg_split(line, posix=True, strict=True)
    except ValueError as error:
        raise UsageError(f"The line cannot be read: {error}. Check its quotes.") from None
    return words


def _split_command(line: str) -> tuple[str, tuple[str, ...] | None]:
    padded = f" {line.strip()} "
    before, found, behind = padded.partition(" -- ")
    return (before, tuple(_split(behind))) if found else (line, None)
