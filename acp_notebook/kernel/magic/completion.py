"""Completion of `%acp` lines and `%%acp` prompts in the kernel, so that every front end has it.

A matcher of IPython's completer; `completions` finds the texts. A completion's type holds a few
words of explanation, as IPython has no other place for them. Never raises. Knows no agent.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from IPython.core.completer import CompletionContext, SimpleCompletion, context_matcher

from acp_notebook.kernel.magic.completions import find_completions

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell

    from acp_notebook.kernel.magic.state import MagicState

logger = logging.getLogger(__name__)

IDENTIFIER = "acp_notebook"
MOST = 300


def install_completion(ip: InteractiveShell, state: MagicState) -> None:
    """Add the matcher to a shell's completer."""
    completer = ip.Completer
    if completer is not None:
        completer.custom_matchers.append(_matcher(state))


def remove_completion(ip: InteractiveShell) -> None:
    """Remove the matcher."""
    completer = ip.Completer
    if completer is not None:
        completer.custom_matchers[:] = [
            each
            for each in completer.custom_matchers
            if getattr(each, "matcher_identifier", None) != IDENTIFIER
        ]


def _matcher(state: MagicState) -> Callable[[CompletionContext], dict[str, Any]]:
    # Before the others: a prompt is no Python, and Jedi would search for a while.
    @context_matcher(identifier=IDENTIFIER, priority=1_000)  # type: ignore[untyped-decorator]
    def match(context: CompletionContext) -> dict[str, Any]:
        try:
            lines = context.full_text.split("\n")
            found = find_completions(state, lines, context.cursor_line, context.cursor_position)
        except Exception:
            logger.debug("Completion failed.", exc_info=True)
            found = None
        if found is None or not found.texts:
            return {"completions": [], "suppress": False}
        return {
            "completions": [
                SimpleCompletion(text=text, type=words or "acp")
                for text, words in list(found.texts.items())[:MOST]
            ],
            "matched_fragment": found.fragment,
            "suppress": True,
            "ordered": True,
        }

    return match  # type: ignore[no-any-return]
