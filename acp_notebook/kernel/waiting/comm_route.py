"""Which thread gets a comm's messages: the one that the front end chose.

Knows one private name of ipykernel 7.4. Knows nothing about widgets or about what a comm carries.
"""

from __future__ import annotations

from typing import Any


def keep_front_end_route(comm: Any) -> None:
    """Undo ipykernel 7.4's re-routing for one comm.

    Since 7.4 the kernel sends a comm's messages to the shell that last sent on the comm, whatever
    the front end asked for. A view made by a cell is then bound to the main shell, which a busy
    cell blocks; after a reload it may be bound to a subshell that is gone, and its clicks are
    dropped. The front end's own choice does neither. Other versions do not re-route: no effect.

    Args:
        comm: The comm of a widget, or None for a widget that has none.
    """
    if hasattr(comm, "_reply_subshell_for"):
        comm._reply_subshell_for = _as_the_front_end_chose  # noqa: SLF001


def _as_the_front_end_chose(_data: object, subshell_id: str | None) -> str | None:
    return subshell_id
