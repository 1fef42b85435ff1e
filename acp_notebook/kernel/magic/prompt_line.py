"""`%acp prompt What is this?`: a question to an agent, not IPython's help on the word `this`.

IPython reads every line with a final question mark as a request for help, so lines with a prompt
are transformed before. Knows IPython's input transformation; knows no agent.
"""

from __future__ import annotations

import tokenize
from typing import TYPE_CHECKING, Any

from IPython.core.inputtransformer2 import EscapedCommand

from acp_notebook.kernel.magic.subcommands import SUBCOMMANDS

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell

_LAYOUT = {tokenize.INDENT, tokenize.DEDENT}
_ENDS = {tokenize.NEWLINE, tokenize.NL, tokenize.ENDMARKER}
_WORDS_BEFORE = ["%", "acp"]


class PromptLine(EscapedCommand):
    """A line magic whose last character is the question mark of a prompt."""

    # Below the help's: the lowest number reads the line.
    priority = 1

    @classmethod
    def find(cls, tokens_by_line: list[list[Any]]) -> PromptLine | None:
        """Return the first such line of a cell, by its tokens."""
        for line in tokens_by_line:
            tokens = [token for token in line if token.type not in _LAYOUT | _ENDS]
            words = [token.string for token in tokens[:3]]
            if words[:2] == _WORDS_BEFORE and tokens[-1].string == "?":
                subcommand = SUBCOMMANDS.get(words[2])
                if subcommand is not None and subcommand.free_text:
                    return cls(tokens[0].start)
        return None


def install_prompt_lines(ip: InteractiveShell) -> None:
    """Add the transformation to a shell."""
    ip.input_transformer_manager.token_transformers.append(PromptLine)


def remove_prompt_lines(ip: InteractiveShell) -> None:
    """Remove the transformation."""
    transformers = ip.input_transformer_manager.token_transformers
    if PromptLine in transformers:
        transformers.remove(PromptLine)
