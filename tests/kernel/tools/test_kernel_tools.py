"""An agent is told of the tools by a transport that it offers, and only where it can connect."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from acp_notebook.kernel.tools.kernel_tools import _entry_writer
from acp_notebook.kernel.tools.server.tool_server import bridge_entry, http_entry
from acp_notebook.protocol.dialect import Capabilities


def agent(address: str = "", **offered: bool) -> SimpleNamespace:
    launch = SimpleNamespace(address=address)
    return SimpleNamespace(launch=launch, capabilities=Capabilities(**offered))


@pytest.mark.requirement("SESS-2")
def test_http_comes_before_a_process_and_without_either_nothing_is_told() -> None:
    assert _entry_writer(agent(mcp_http=True, mcp_stdio=True)) is http_entry
    assert _entry_writer(agent(mcp_stdio=True)) is bridge_entry
    assert _entry_writer(agent(mcp_sse=True)) is None
    assert _entry_writer(agent()) is None


def test_a_process_may_be_preferred_where_the_agent_starts_processes() -> None:
    assert _entry_writer(agent(mcp_http=True, mcp_stdio=True), prefers_bridge=True) is bridge_entry
    assert _entry_writer(agent(mcp_http=True), prefers_bridge=True) is http_entry
    assert _entry_writer(agent("wss://far.example", mcp_stdio=True), prefers_bridge=True) is None


@pytest.mark.requirement("SESS-2")
def test_an_agent_on_another_machine_is_told_of_none() -> None:
    assert _entry_writer(agent("wss://far.example/acp", mcp_http=True, mcp_stdio=True)) is None
    assert _entry_writer(agent("ws://127.0.0.1:9/acp", mcp_http=True)) is http_entry
