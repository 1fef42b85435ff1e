"""`%load_ext acp_notebook`: registers the magics and the notebook host.

Imports nothing heavy: widgets, Markdown and the client are loaded by the first `%acp`.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell

    from acp_notebook.client.turn import Turn
    from acp_notebook.kernel.magic.state import MagicState
    from acp_notebook.kernel.notebook_host import NotebookHost
    from acp_notebook.protocol.dialect import Capabilities
    from acp_notebook.session.content import ContentBlock

_TURN = "acp_notebook.client.turn", "Turn"


def load_ipython_extension(ip: InteractiveShell) -> None:
    """Register `%acp`, `%%acp`, completion, the notebook host, and the log of cells."""
    from acp_notebook.client.attachments import install_describer
    from acp_notebook.client.host import Host, current_host, install_host_later
    from acp_notebook.kernel.magic.completion import install_completion
    from acp_notebook.kernel.magic.magics import AcpMagics
    from acp_notebook.kernel.magic.prompt_line import install_prompt_lines

    _quieten_log()
    if type(current_host()) is Host:
        install_host_later(_notebook_host)
    magics = AcpMagics(ip)
    ip.register_magics(magics)
    state = magics.state
    state.log.install()
    install_completion(ip, state)
    install_prompt_lines(ip)
    install_describer(lambda *given: _describe(state, *given))
    _formatter(ip).for_type_by_name(*_TURN, lambda turn: _turn_bundle(state, turn))


def unload_ipython_extension(ip: InteractiveShell) -> None:
    """End all agents and unregister everything."""
    from acp_notebook.client.attachments import install_describer
    from acp_notebook.client.host import Host, install_host
    from acp_notebook.kernel.magic.completion import remove_completion
    from acp_notebook.kernel.magic.magics import AcpMagics
    from acp_notebook.kernel.magic.prompt_line import remove_prompt_lines

    magics = ip.magics_manager.registry.pop(AcpMagics.__name__, None)
    if magics is not None:
        magics.state.roster.quit(magics.state.roster)
        magics.state.log.remove()
    remove_completion(ip)
    remove_prompt_lines(ip)
    install_describer(None)
    install_host(Host())
    _formatter(ip).pop(".".join(_TURN), None)
    for kind in ("line", "cell"):
        ip.magics_manager.magics[kind].pop("acp", None)


def _notebook_host() -> NotebookHost:
    from acp_notebook.kernel.notebook_host import NotebookHost

    return NotebookHost()


def _quieten_log() -> None:
    # Without a handler Python writes every warning to the running cell's stderr. An agent's slips
    # are warnings and stand in the turn; only our own errors belong in the cell.
    package = logging.getLogger("acp_notebook")
    if not package.handlers:
        handler = logging.StreamHandler()
        handler.setLevel(logging.ERROR)
        package.addHandler(handler)


def _formatter(ip: Any) -> Any:
    return ip.display_formatter.mimebundle_formatter


def _describe(
    state: MagicState, values: Any, capabilities: Capabilities, folder: str
) -> Sequence[ContentBlock]:
    from acp_notebook.kernel.context.blocks import attachment_blocks

    return attachment_blocks(values, capabilities, state.notebook, folder)


def _turn_bundle(state: MagicState, turn: Turn) -> dict[str, str]:
    """Display a turn as its record, but not a second time in the prompting cell."""
    from acp_notebook.client.turn_record import record_of

    if turn.is_shown and turn.started_at >= state.log.began_at > 0:
        return {"text/plain": repr(turn)}
    return record_of(turn)
