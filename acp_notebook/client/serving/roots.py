"""The folders that a session may reach, and whether a path is inside them.

Symlinks are followed before the question is asked. This keeps an agent that errs within its
project; it is no wall against one that means harm, whose process has the user's rights anyway.
Knows no request.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from acp_notebook.client.live.live_session import LiveSession
from acp_notebook.jsonrpc import INVALID_PARAMS, RpcError

# The folders of a session, its working directory first.
Roots = Callable[[LiveSession], Sequence[str]]


class OutOfReach(RpcError):
    """A path that this client does not serve; the message is for the agent and for the user."""

    def __init__(self, message: str) -> None:
        super().__init__(INVALID_PARAMS, message)


def find_inside(path: str, roots: Sequence[str]) -> Path:
    """The path without symlinks; a relative one counts from the first root. Touches the disk.

    Raises:
        OutOfReach: It leads outside every root, or it is no path.
    """
    try:
        found = Path(roots[0], path).resolve()
        folders = [Path(root).resolve() for root in roots]
    except (OSError, RuntimeError, ValueError) as error:
        # A loop of symlinks, a NUL in the name, a name too long.
        raise OutOfReach(f"{path!r} is no usable path: {error}") from None
    if not any(found.is_relative_to(folder) for folder in folders):
        known = ", ".join(str(folder) for folder in folders)
        raise OutOfReach(
            f"{path} is outside the folders of this session ({known}). Work inside them, "
            "or ask the user to start the agent with another folder."
        )
    return found
