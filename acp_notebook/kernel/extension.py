"""`%load_ext acp_notebook`: registers the magics and lets the notebook surround the client.

Imports nothing heavy: widgets, Markdown and the client come with the first `%acp`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell


def load_ipython_extension(ip: InteractiveShell) -> None:
    """Register `%acp` and `%%acp`."""
    from acp_notebook.kernel.magics import AcpMagics

    ip.register_magics(AcpMagics(ip))


def unload_ipython_extension(ip: InteractiveShell) -> None:
    """End all agents and take the magics back."""
    from acp_notebook.kernel.magics import AcpMagics

    magics = ip.magics_manager.registry.pop(AcpMagics.__name__, None)
    if magics is not None:
        magics.roster.quit_all()
    for kind in ("line", "cell"):
        ip.magics_manager.magics[kind].pop("acp", None)
