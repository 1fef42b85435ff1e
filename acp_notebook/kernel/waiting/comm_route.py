"""The route of a comm's messages: to the thread that the front end chose.

Knows one private name of ipykernel 7.4; knows no widgets and no comm contents.
"""

from __future__ import annotations

from typing import Any


def keep_front_end_route(comm: Any) -> None:
    """Undo ipykernel 7.4's re-routing for one comm; other versions do not re-route.

    ipykernel 7.4 delivers a comm's messages to the shell that last sent on the comm, whatever the
    front end requested. A view created by a cell is then bound to the main shell, which a busy
    cell blocks; after a reload the view may be bound to a deleted subshell, and its clicks are
    dropped. The shell that the front end requested avoids both.

    Args:
        comm: The comm of a widget, or None for a widget without a comm.
    """
    if hasattr(comm, "_reply_subshell_for"):
        comm._reply_subshell_for = _as_the_front_end_chose  # noqa: SLF001


def _as_the_front_end_chose(_data: object, subshell_id: str | None) -> str | None:
    return subshell_id
