"""The outcome of code that ran for an agent. Plain values; knows no agent."""

from __future__ import annotations

from dataclasses import dataclass, field

from acp_notebook.kernel.tools.namespace import Changes
from acp_notebook.kernel.tools.running.captured_output import Output


@dataclass(slots=True)
class Outcome:
    """Outputs, changes and error; filled in while the code runs, and kept if it is stopped."""

    outputs: list[Output] = field(default_factory=list)
    left_out: int = 0
    changes: Changes = field(default_factory=Changes)
    error: str = ""
    """A traceback; empty if the code succeeded."""
    was_stopped: bool = False
    returned: str | None = None
    """A function's return value as text; None for code, whose value is one of the outputs."""
    value: Output | None = None
    """The output that shows a function's return value."""
