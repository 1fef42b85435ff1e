"""A tool that the user defines while an agent is connected: the agent hears of it."""

from __future__ import annotations

import threading
from concurrent.futures import Future

import mcp_types as types
import pytest
from tools_bench import BOUND_S, Hands, entry_of, mcp_over_http, mcp_over_stdio

import acp_notebook as acp
from acp_notebook.client.host import current_host
from acp_notebook.kernel.tools import functions
from acp_notebook.kernel.tools.functions import forget_tools
from acp_notebook.kernel.tools.server.tool_server import bridge_entry


class Ear:
    """Hears what the server says by itself."""

    def __init__(self):
        self.has_heard = threading.Event()

    async def __call__(self, message):
        if isinstance(message, types.ToolListChangedNotification):
            self.has_heard.set()


def over_http(session, ear):
    return mcp_over_http(entry_of(session), "legacy", ear)


def through_the_bridge(session, ear):
    entry = entry_of(session)
    token = entry["headers"][0]["value"].removeprefix("Bearer ")
    return mcp_over_stdio(bridge_entry(entry["url"], token), hear=ear)


def define(words="Doubles."):
    def double(x: int) -> int:
        return 2 * x

    double.__doc__ = words
    return acp.tool(double)


@pytest.fixture
def ear():
    return Ear()


@pytest.fixture(params=[over_http, through_the_bridge])
def hands(request, session, space, turn, ear):
    hands = Hands(lambda: request.param(session, ear))
    yield hands
    hands.close()


def test_the_list_is_said_to_change(hands):
    assert hands.client.server_capabilities.tools.list_changed


def test_a_client_is_told_of_a_new_tool_and_can_call_it(hands, ear):
    assert "double" not in hands.names()
    define()
    assert ear.has_heard.wait(BOUND_S)
    assert "double" in hands.names()
    assert hands.text("double", x=21) == "42"


def test_a_client_is_told_of_a_tool_that_changed_and_of_one_that_is_gone(hands, ear):
    define()
    assert "double" in hands.names()
    ear.has_heard.clear()
    define("Doubles a number.")
    assert ear.has_heard.wait(BOUND_S)
    (double,) = [tool for tool in hands.tools() if tool.name == "double"]
    assert double.description == "Doubles a number."
    ear.has_heard.clear()
    forget_tools()
    assert ear.has_heard.wait(BOUND_S)
    assert "double" not in hands.names()


@pytest.mark.parametrize("way", ["http", "bridge"])
def test_a_client_of_the_newer_era_listens(session, space, way):
    entry = entry_of(session)
    token = entry["headers"][0]["value"].removeprefix("Bearer ")
    hands = Hands(
        (lambda: mcp_over_http(entry))
        if way == "http"
        else (lambda: mcp_over_stdio(bridge_entry(entry["url"], token), "auto"))
    )
    listens: Future[None] = Future()

    async def next_event():
        async with hands.client.listen(tools_list_changed=True) as subscription:
            listens.set_result(None)
            async for event in subscription:
                return event
        return None

    heard = hands.submit(next_event())
    hands.names()
    listens.result(BOUND_S)
    define()
    assert type(heard.result(BOUND_S)).__name__ == "ToolsListChanged"
    hands.close()


def test_a_cell_that_is_run_again_changes_nothing_to_tell(space):
    told = []
    functions.listeners.append(lambda: told.append(1))
    try:
        define()
        define()
        assert told == [1]
        define("Otherwise.")
        assert told == [1, 1]
    finally:
        functions.listeners.pop()


def test_a_server_that_closed_is_told_no_more(notebook, space, host_without_tools):
    before = list(functions.listeners)
    agent = acp.start("demo")
    assert len(functions.listeners) == len(before) + 1
    define()
    agent.quit()
    assert functions.listeners == before
    assert current_host().tools._server is None
