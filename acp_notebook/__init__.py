"""A Jupyter notebook as a full Agent Client Protocol client.

`acp_notebook.last` is the most recently prompted turn, or None.

Importing this package is cheap: names are loaded on first use.
"""

from __future__ import annotations

import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

from acp_notebook.version import __version__

if TYPE_CHECKING:
    from acp_notebook.client.agent import Agent
    from acp_notebook.client.live.policies import PermissionQuestion
    from acp_notebook.client.session import Session
    from acp_notebook.client.start import start
    from acp_notebook.client.turn import Turn
    from acp_notebook.errors import AcpNotebookError
    from acp_notebook.kernel.extension import load_ipython_extension, unload_ipython_extension
    from acp_notebook.kernel.tools.functions import tool
    from acp_notebook.session.elicitation import ElicitationRequested

__all__ = [
    "AcpNotebookError",
    "Agent",
    "ElicitationRequested",
    "PermissionQuestion",
    "Session",
    "Turn",
    "__version__",
    "load_ipython_extension",
    "start",
    "tool",
    "unload_ipython_extension",
]

_HOMES = {
    "AcpNotebookError": "acp_notebook.errors",
    "Agent": "acp_notebook.client.agent",
    "ElicitationRequested": "acp_notebook.session.elicitation",
    "PermissionQuestion": "acp_notebook.client.live.policies",
    "Session": "acp_notebook.client.session",
    "Turn": "acp_notebook.client.turn",
    "load_ipython_extension": "acp_notebook.kernel.extension",
    "start": "acp_notebook.client.start",
    "tool": "acp_notebook.kernel.tools.functions",
    "unload_ipython_extension": "acp_notebook.kernel.extension",
}


def __getattr__(name: str) -> Any:
    if name == "last":
        # Not a name of its own, but what was prompted last at the moment of asking.
        return import_module("acp_notebook.client.session").last_turn()
    if name in _HOMES:
        if name == "start":
            _join_notebook()
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def _join_notebook() -> None:
    """Load the extension where IPython runs: turns are shown then, and agents get its tools."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    if shell is not None and "acp" not in shell.magics_manager.magics["line"]:
        shell.extension_manager.load_extension(__name__)


def __dir__() -> list[str]:
    return sorted(__all__)


def _jupyter_labextension_paths() -> list[dict[str, str]]:
    return [{"src": "labextension", "dest": "acp-notebook"}]
