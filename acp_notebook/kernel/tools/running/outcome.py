"""What came of code that ran for an agent. Plain values."""

from __future__ import annotations

from dataclasses import dataclass, field

from acp_notebook.kernel.tools.namespace import Changes
from acp_notebook.kernel.tools.running.captured_output import Output


@dataclass(slots=True)
class Outcome:
    """What there is so far; whole when the code is over, and useful when it was stopped."""

    outputs: list[Output] = field(default_factory=list)
    left_out: int = 0
    changes: Changes = field(default_factory=Changes)
    error: str = ""
    """A traceback; empty if it went well."""
    was_stopped: bool = False
    returned: str | None = None
    """What to tell of a function's value; None for code, whose value is one of the outputs."""
    value: Output | None = None
    """The output that shows that value."""
