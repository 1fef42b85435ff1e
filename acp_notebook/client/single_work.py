"""Cancelling one piece of work, a tool call or a terminal's command, where the agent offers it.

`session/cancel` ends the foreground work as a whole; this ends what goes on beside it too. On the
agent thread. Knows no view.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from acp_notebook.errors import UnsupportedByAgent, UsageError
from acp_notebook.session.state import ToolCall
from acp_notebook.session.updates import TerminalId, ToolCallId

if TYPE_CHECKING:
    from acp_notebook.client.agent_link import AgentLink
    from acp_notebook.client.live_session import LiveSession


async def cancel_tool_call(link: AgentLink, live: LiveSession, tool_call_id: str) -> None:
    """Cancel a tool call, or the command in its terminal, by what each advertises (TOOL-9).

    Raises:
        UsageError: There is no such call, or it has ended.
        UnsupportedByAgent: Neither the call nor its terminal can be cancelled by itself.
        RequestFailed: The agent refused.
    """
    call = live.state.tool_calls.get(ToolCallId(tool_call_id))
    if call is None or call.is_finished:
        raise UsageError(f"No tool call {tool_call_id!r} is going on.")
    dialect, session_id = live.dialect, str(live.session_id)
    if call.can_cancel:
        wanted = dialect.cancel_tool_call(session_id, live.agents_own(call.tool_call_id))
    else:
        terminal_id = cancellable_terminal(live, call)
        wanted = (
            dialect.cancel_terminal(session_id, live.agents_own(terminal_id))
            if terminal_id is not None
            else None
        )
    if wanted is None:
        raise UnsupportedByAgent(
            "The agent does not let this tool call be cancelled by itself. %acp stop cancels "
            "everything."
        )
    await link.request(wanted)


def cancellable_terminal(live: LiveSession, call: ToolCall) -> TerminalId | None:
    """A running terminal of the call that can be cancelled."""
    for terminal_id in call.terminal_ids:
        terminal = live.state.terminals.get(terminal_id)
        if terminal is not None and terminal.can_cancel and terminal.exit_status is None:
            return terminal_id
    return None
