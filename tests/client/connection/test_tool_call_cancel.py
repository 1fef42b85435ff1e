"""One tool call is cancelled and nothing else, where the agent offers it."""

from __future__ import annotations

import pytest

from acp_notebook.client.connection.session_calls import cancel_tool_call
from acp_notebook.client.live.id_namespace import IdNamespace
from acp_notebook.client.live.live_session import LiveSession
from acp_notebook.errors import UnsupportedByAgent, UsageError
from acp_notebook.protocol.v1.dialect import V1Dialect
from acp_notebook.protocol.v2.dialect import V2Dialect
from acp_notebook.session import updates as u

CALL, TERMINAL = u.ToolCallId("call-1"), u.TerminalId("term-1")


class AgentConnection:
    """Keeps what is asked of the agent."""

    def __init__(self):
        self.asked = []

    async def request(self, call):
        self.asked.append(call)


def session(*updates, dialect=None):
    connection = AgentConnection()
    live = LiveSession(connection, dialect or V2Dialect())
    live.session_id = u.SessionId("s1")
    live.apply(updates)
    return connection, live


@pytest.mark.requirement("TOOL-9")
async def test_a_call_that_offers_it_is_cancelled_by_its_id():
    connection, live = session(u.ToolCallUpdate(CALL, status="in_progress", can_cancel=True))
    await cancel_tool_call(live, CALL)
    assert connection.asked == [("tool_call/cancel", {"sessionId": "s1", "toolCallId": "call-1"})]


@pytest.mark.requirement("TOOL-7")
async def test_its_terminal_is_cancelled_where_only_that_offers_it():
    connection, live = session(
        u.TerminalUpdate(TERMINAL, can_cancel=True),
        u.ToolCallUpdate(CALL, status="in_progress", content=(u.TerminalItem(TERMINAL),)),
    )
    await cancel_tool_call(live, CALL)
    assert connection.asked == [("terminal/cancel", {"sessionId": "s1", "terminalId": "term-1"})]


@pytest.mark.requirement("TOOL-9")
async def test_nothing_is_asked_of_an_agent_that_does_not_offer_it():
    connection, live = session(u.ToolCallUpdate(CALL, status="in_progress"))
    with pytest.raises(UnsupportedByAgent, match="%acp stop"):
        await cancel_tool_call(live, CALL)
    assert connection.asked == []


async def test_v1_has_no_such_call():
    _connection, live = session(
        u.ToolCallUpdate(CALL, status="in_progress", can_cancel=True), dialect=V1Dialect()
    )
    with pytest.raises(UnsupportedByAgent):
        await cancel_tool_call(live, CALL)


async def test_a_call_that_has_ended_or_never_was_cannot_be_cancelled():
    _connection, live = session(u.ToolCallUpdate(CALL, status="completed", can_cancel=True))
    for tool_call_id in (CALL, "another"):
        with pytest.raises(UsageError):
            await cancel_tool_call(live, tool_call_id)


def test_after_a_restart_the_agent_is_asked_by_its_own_id():
    ids, reader = IdNamespace(2), V2Dialect().reader()
    raw = {"sessionUpdate": "tool_call_update", "toolCallId": "call-1"}
    (update,) = ids.marked(reader.update(raw))
    assert update.tool_call_id != "call-1"
    assert ids.wire_id(update.tool_call_id) == "call-1"
