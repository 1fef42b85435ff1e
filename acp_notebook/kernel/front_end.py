"""What kind of front end this code talks to: one that can click, none, or a terminal.

Knows IPython and the present request; knows no agent.
"""

from __future__ import annotations

import sys
from typing import Any, Literal

FrontEnd = Literal["notebook", "console", "terminal", "headless"]


def present_kernel() -> Any | None:
    """The kernel this code runs in, or None in a terminal or a plain script."""
    from IPython.core.getipython import get_ipython

    return getattr(get_ipython(), "kernel", None)


def present_front_end() -> FrontEnd:
    """Who reads the output of the present cell.

    nbclient, nbconvert and papermill say that they have no stdin: nobody sits there to click. Front
    ends with cells, and so with widgets, name the cell that they send; a console of a kernel
    (`jupyter console`) has none. A terminal is plain `ipython` that somebody types into.
    """
    kernel = present_kernel()
    if kernel is None:
        return "terminal" if sys.stdin is not None and sys.stdin.isatty() else "headless"
    request = kernel.get_parent("shell") or {}
    if not (request.get("content") or {}).get("allow_stdin", False):
        return "headless"
    return "notebook" if request.get("metadata") else "console"
