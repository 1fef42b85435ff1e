"""The folders that a session may reach, and whether a path is inside them. Knows no request.

The check follows symlinks. It keeps a mistaken agent within its project; it is no protection from a
malicious one, whose process has the user's rights anyway.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from acp_notebook.client.live.live_session import LiveSession
from acp_notebook.jsonrpc import INVALID_PARAMS, RpcError

# The folders of a session, its working directory first.
Roots = Callable[[LiveSession], Sequence[str]]


class OutOfReach(RpcError):
    """A path that this client does not serve; agent and user see the message."""

    def __init__(self, message: str) -> None:
        super().__init__(INVALID_PARAMS, message)


def find_inside(path: str, roots: Sequence[str]) -> Path:
    """Resolve symlinks on the disk; a relative path starts at the first root.

    Raises:
        OutOfReach: The path leads outside every root, or is no path.
    """
    try:
        found = Path(roots[0], path).resolve()
        folders = [Path(root).resolve() for root in roots]
    except (OSError, RuntimeError, ValueError) as error:
        # A loop of symlinks, a NUL in the name, or a too long name.
        raise OutOfReach(f"{path!r} is no usable path: {error}") from None
    if not any(found.is_relative_to(folder) for folder in folders):
        known = ", ".join(str(folder) for folder in folders)
        raise OutOfReach(
            f"{path} is outside the folders of this session ({known}). Work inside them, "
            "or ask the user to start the agent with another folder."
        )
    return found
