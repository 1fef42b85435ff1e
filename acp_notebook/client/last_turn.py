"""The turn that was prompted last in this process, for `acp_notebook.last`. Knows nothing of it."""

from __future__ import annotations

from typing import Any

_last: Any = None


def remember(turn: Any) -> None:
    """This turn is the last one now."""
    global _last  # noqa: PLW0603 - one process has one last turn
    _last = turn


def recall() -> Any:
    """The last turn; None before the first."""
    return _last
