"""Session calls other than prompts: list, resume, close, delete, set options, cancel tool calls.

All run on the agent thread; `Agent` and `Session` offer them to users. Knows no notebook.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import Any, NamedTuple

from acp_notebook.client.connection.agent_connection import AgentConnection
from acp_notebook.client.live.live_session import LiveSession
from acp_notebook.errors import (
    NOT_FOUND_CODE,
    AgentError,
    RequestFailed,
    UnsupportedByAgent,
    UsageError,
    describe_error,
)
from acp_notebook.jsonrpc import METHOD_NOT_FOUND
from acp_notebook.protocol.dialect import Call, ListedSession, SessionSetup
from acp_notebook.session import updates as u
from acp_notebook.session.state import ToolCall
from acp_notebook.session.updates import TerminalId, ToolCallId

logger = logging.getLogger(__name__)

MAX_PAGES = 200


@dataclass(frozen=True, slots=True)
class SessionListing:
    """The joined pages; `warning` gives the reason if they may be incomplete."""

    sessions: tuple[ListedSession, ...]
    warning: str | None = None


async def list_sessions(connection: AgentConnection, cwd: str | None) -> SessionListing:
    """Return the agent's sessions of a folder, or of all folders, from all pages (SESS-4).

    Raises:
        UnsupportedByAgent: The agent keeps no list.
        AgentError: The agent refused.
    """
    facts = connection.facts
    if not facts.capabilities.list_sessions:
        raise UnsupportedByAgent(
            f"{facts.info.label} keeps no list of sessions. If you know an id: %acp resume ID"
        )
    found: list[ListedSession] = []
    cursor: str | None = None
    seen: set[str | None] = {None}
    for _ in range(MAX_PAGES):
        answer = await connection.request(facts.dialect.list_sessions(cwd, cursor))
        page, cursor = facts.dialect.read_sessions(answer)
        found += page
        if cursor is None:
            return SessionListing(tuple(found))
        if cursor in seen:
            return SessionListing(tuple(found), "The agent repeats a page: the list ends there.")
        seen.add(cursor)
    return SessionListing(tuple(found), f"The list is cut after {MAX_PAGES} pages.")


async def resume(
    connection: AgentConnection,
    live: LiveSession,
    session_id: str,
    setup: SessionSetup,
    *,
    replay: bool,
) -> bool:
    """Resume a session; with `replay` its updates rebuild the conversation (SESS-5).

    Returns:
        Whether a replay was requested: some agents resume only with one, or only without.

    Raises:
        UnsupportedByAgent: The agent cannot resume sessions.
        AgentError: The agent does not know the session, or refused.
    """
    facts = connection.facts
    # Expect the session before the request: the replay comes before the answer (SESS-3).
    connection.routes.expect(u.SessionId(session_id), live)
    try:
        taken = await ask_to_resume(connection, session_id, setup, replay=replay)
    except BaseException as error:
        connection.routes.forget(u.SessionId(session_id))
        if not isinstance(error, RequestFailed):
            raise
        reason = describe_error(error.code, error.message, error.data)
        raise AgentError(
            f"The session {session_id} could not be taken up: {reason}. "
            "%acp sessions lists those there are; %acp new opens a new one."
        ) from error
    if taken is None:
        connection.routes.forget(u.SessionId(session_id))
        raise UnsupportedByAgent(
            f"{facts.info.label} cannot take up earlier sessions. Open a new one: %acp new"
        )
    connection.routes.attach(u.SessionId(session_id), live, taken.answer)
    return taken.with_replay


class TakenUp(NamedTuple):
    """How an agent resumed a session, and its answer."""

    with_replay: bool
    answer: Any


async def ask_to_resume(
    connection: AgentConnection, session_id: str, setup: SessionSetup, *, replay: bool
) -> TakenUp | None:
    """Resume a session with or without a replay, whichever the agent offers.

    Some agents offer only one of the two, some advertise a method that they do not have.

    Returns:
        How the session was resumed, or None if the agent offers no way.

    Raises:
        RequestFailed: The agent refused.
    """
    facts = connection.facts
    refusal: RequestFailed | None = None
    for with_replay in (replay, not replay):
        call = facts.dialect.resume(session_id, setup, facts.capabilities, replay=with_replay)
        if call is None:
            continue
        try:
            return TakenUp(with_replay, await connection.request(call))
        except RequestFailed as error:
            if error.code != METHOD_NOT_FOUND:
                raise
            refusal = error
    if refusal is not None:
        raise refusal
    return None


async def close(connection: AgentConnection, session_id: str) -> None:
    """Close a session; one that the agent does not know counts as closed.

    Raises:
        UnsupportedByAgent: The agent has no such call.
        RequestFailed: The agent refused.
    """
    facts = connection.facts
    if not facts.capabilities.close:
        raise UnsupportedByAgent(f"{facts.info.label} does not close single sessions.")
    await _give_up(connection, session_id, facts.dialect.close_session(session_id))


async def delete(connection: AgentConnection, session_id: str) -> None:
    """Delete a session for good; one that the agent does not know counts as deleted.

    Raises:
        UnsupportedByAgent: The agent has no such call.
        RequestFailed: The agent refused.
    """
    facts = connection.facts
    if not facts.capabilities.delete:
        raise UnsupportedByAgent(f"{facts.info.label} does not delete sessions.")
    await _give_up(connection, session_id, facts.dialect.delete_session(session_id))


async def _give_up(connection: AgentConnection, session_id: str, call: Call) -> None:
    try:
        await connection.request(call)
    except RequestFailed as error:
        if error.code != NOT_FOUND_CODE:
            raise
        logger.info("%s: the agent did not know the session.", call.method)
    connection.routes.forget(u.SessionId(session_id))


async def set_option(live: LiveSession, option: u.ConfigOption, value: str | bool) -> None:
    """Set a config option; the answer's list replaces what is stored (CONF-2).

    Raises:
        RequestFailed: The agent refused; the option keeps its value.
    """
    call = live.dialect.set_option(str(live.session_id), option, value)
    answer = await live.connection.request(call)
    live.option_set(option, value, answer)


async def cancel_tool_call(live: LiveSession, tool_call_id: str) -> None:
    """Cancel a tool call, or the command in its terminal, whichever can be cancelled (TOOL-9).

    Raises:
        UsageError: There is no such call, or the call has ended.
        UnsupportedByAgent: Neither the call nor its terminal can be cancelled by itself.
        RequestFailed: The agent refused.
    """
    call = live.state.tool_calls.get(ToolCallId(tool_call_id))
    if call is None or call.is_finished:
        raise UsageError(f"No tool call {tool_call_id!r} is going on.")
    dialect, session_id, wanted = live.dialect, str(live.session_id), None
    if call.can_cancel:
        wanted = dialect.cancel_tool_call(session_id, live.wire_id(call.tool_call_id))
    elif (terminal_id := cancellable_terminal(live, call)) is not None:
        wanted = dialect.cancel_terminal(session_id, live.wire_id(terminal_id))
    if wanted is None:
        raise UnsupportedByAgent(
            "The agent does not let this tool call be cancelled by itself. %acp stop cancels "
            "everything."
        )
    await live.connection.request(wanted)


def cancellable_terminal(live: LiveSession, call: ToolCall) -> TerminalId | None:
    """A running terminal of the call that can be cancelled."""
    for terminal_id in call.terminal_ids:
        terminal = live.state.terminals.get(terminal_id)
        if terminal is not None and terminal.can_cancel and terminal.exit_status is None:
            return terminal_id
    return None
