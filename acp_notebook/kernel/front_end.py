"""The kind of front end behind the present request. Knows IPython; knows no agent."""

from __future__ import annotations

import sys
from typing import Any, Literal

FrontEnd = Literal["notebook", "console", "terminal", "headless"]


def present_kernel() -> Any | None:
    """Return the kernel of this process; None in a terminal or a plain script."""
    from IPython.core.getipython import get_ipython

    return getattr(get_ipython(), "kernel", None)


def present_front_end() -> FrontEnd:
    """Return the kind of front end that reads the present cell's output.

    nbclient, nbconvert and papermill allow no stdin: nobody is there to click. Front ends with
    cells, and so with widgets, send the cell's metadata; a console of a kernel (`jupyter console`)
    sends none. A terminal is plain `ipython` on a tty.
    """
    kernel = present_kernel()
    if kernel is None:
        return "terminal" if sys.stdin is not None and sys.stdin.isatty() else "headless"
    request = kernel.get_parent("shell") or {}
    if not (request.get("content") or {}).get("allow_stdin", False):
        return "headless"
    return "notebook" if request.get("metadata") else "console"
