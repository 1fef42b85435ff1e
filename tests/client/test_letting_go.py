"""What is over is given back: nothing holds an agent that has quit."""

from __future__ import annotations

import gc
import weakref

import pytest
from memory_agent import MemoryAgent
from watching import poll

import acp_notebook as acp
from acp_notebook.client.agent_thread import shared_thread
from acp_notebook.client.host import Host


@pytest.fixture
def agent(monkeypatch):
    agent = MemoryAgent(2)
    monkeypatch.setattr("acp_notebook.client.connection.agent_connection.open_endpoint", agent.open)
    return agent


def is_gone(*references):
    gc.collect()
    return not any(reference() for reference in references)


def tasks():
    """The tasks of the agents' thread, also those of other tests' agents."""
    return shared_thread().call(lambda: set(shared_thread()._spawned))


def test_an_agent_that_has_quit_and_all_it_said_are_let_go(agent):
    others = tasks()
    client = acp.start(command=["memory"], label="memory")
    turns = [client.session.prompt("hello") for _ in range(3)]
    client.permissions = lambda _: None
    assert acp.last is turns[-1]
    kept = [client, client.session, client.session.live, client.connection, *turns]
    references = [weakref.ref(each) for each in kept]
    client.quit()
    assert not isinstance(acp.last, type(turns[-1]))
    assert acp.last.text == turns[-1].text
    assert acp.last.stop_reason == "end_turn"
    del client, turns, kept
    assert poll(lambda: tasks() <= others)
    assert poll(lambda: is_gone(*references))


class Shown(Host):
    """Shows turns in displays that are over when a wait has shown the end."""

    def show_turn(self, turn):
        return Display()


class Display:
    def prepare_wait(self):
        pass

    def conclude(self, *, is_waited):
        return is_waited


def test_a_turn_lets_go_of_a_display_once_it_shows_the_end(agent, host):
    host(Shown())
    client = acp.start(command=["memory"], label="memory")
    turn = client.session.prompt("hello", wait=False)
    assert len(turn._displays) == 1
    turn.wait()
    assert turn._displays == []
    turn.show()
    assert len(turn._displays) == 1, "it is concluded by the next wait"
    client.quit()


def test_the_last_turn_of_another_agent_stays(agent):
    client = acp.start(command=["memory"], label="memory")
    turn = client.session.prompt("hello")
    other = acp.start(command=["memory"], label="other")
    other.quit()
    assert acp.last is turn
    client.quit()


def test_a_start_that_failed_leaves_no_agent(agent):
    def agents():
        gc.collect()
        return sum(type(each) is acp.Agent for each in gc.get_objects())

    before, others = agents(), tasks()
    agent.answers["initialize"] = lambda _: {"protocolVersion": 99}
    with pytest.raises(acp.AcpNotebookError) as caught:
        acp.start(command=["memory"], label="memory")
    del caught  # its traceback holds the agent
    assert poll(lambda: tasks() <= others and agents() <= before)
