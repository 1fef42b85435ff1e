"""Completion of `%acp` lines and `%%acp` prompts, by the kernel: every front end has it.

A matcher of IPython's completer. In lines it knows subcommands, options and their values; in
prompts `/commands` of the agent and `@mentions`. What is offered carries a few words of explanation
where IPython's completions can: in their type. It never raises, and asks no agent for anything that
may take long. What a line or a prompt found is found in `found`; this module knows IPython.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from IPython.core.completer import CompletionContext, SimpleCompletion, context_matcher

from acp_notebook.kernel.magic.completions import Completions, find_completions

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
    """Take it back."""
    completer = ip.Completer
    if completer is not None:
        completer.custom_matchers[:] = [
            each
            for each in completer.custom_matchers
            if getattr(each, "matcher_identifier", None) != IDENTIFIER
        ]


def _matcher(state: MagicState) -> Callable[[CompletionContext], dict[str, Any]]:
    # Before the others: what is a prompt is not Python, and Jedi would look for a while.
    @context_matcher(identifier=IDENTIFIER, priority=1_000)  # type: ignore[untyped-decorator]
    def match(context: CompletionContext) -> dict[str, Any]:
        try:
            lines = context.full_text.split("\n")
            found = find_completions(state, lines, context.cursor_line, context.cursor_position)
        except Exception:
            logger.debug("Completion failed.", exc_info=True)
            found = None
        return _result(found)

    return match  # type: ignore[no-any-return]


def _result(found: Completions | None) -> dict[str, Any]:
    if found is None or not found.texts:
        return {"completions": [], "suppress": False}
    completions = [
        SimpleCompletion(text=text, type=words or "acp")
        for text, words in list(found.texts.items())[:MOST]
    ]
    return {
        "completions": completions,
        "matched_fragment": found.fragment,
        "suppress": True,
        "ordered": True,
    }
