"""What kind of front end this code talks to: one that can click, none, or a terminal.

Knows IPython and the present request; knows no agent.
"""

from __future__ import annotations

from typing import Any, Literal

FrontEnd = Literal["notebook", "headless", "terminal"]


def present_kernel() -> Any | None:
    """The kernel this code runs in, or None in a terminal or a plain script."""
    from IPython.core.getipython import get_ipython

    return getattr(get_ipython(), "kernel", None)


def present_front_end() -> FrontEnd:
    """Who reads the output of the present cell.

    nbclient, nbconvert and papermill say that they have no stdin: nobody sits there to click.
    """
    kernel = present_kernel()
    if kernel is None:
        return "terminal"
    content = (kernel.get_parent("shell") or {}).get("content") or {}
    return "notebook" if content.get("allow_stdin", False) else "headless"
