"""The agents of these tests, started once and shared: starting Node costs most.

`session` is a new session on each of the official agents in turn, `v2_session` and the like on one
of them. Tests that end or break their agent start their own with `start`, which leaves none behind.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from memory_agent import meet
from watching import AGENTS, NODE_AGENT, PYTHON_AGENT, Impatient, Person, all_gone

import acp_notebook as acp
from acp_notebook.client.host import Host, current_host, install_host

__all__ = ["meet"]

V2 = pytest.param((NODE_AGENT, 2), id="typescript-v2")
V1 = pytest.param((NODE_AGENT, 1), id="typescript-v1")
PYTHON = pytest.param((PYTHON_AGENT, 1), id="python-v1")


@pytest.fixture(scope="session")
def official_sdk() -> None:
    """Fails where the official TypeScript SDK is missing: it is the witness of most tests here."""
    sdk = AGENTS / "node_modules" / "@agentclientprotocol" / "sdk" / "package.json"
    if not (sdk.exists() and shutil.which("node")):
        pytest.fail("needs Node 20 or newer on PATH, and `npm ci` in tests/agents")


@pytest.fixture(scope="package")
def shared_agents(official_sdk: None) -> Iterator[Callable[[Any], acp.Session]]:
    """Opens a session on an agent that all tests share."""
    agents: dict[Any, acp.Agent] = {}

    def open_session(key: Any) -> acp.Session:
        if key not in agents:
            command, protocol = key
            agents[key] = acp.start(command=command, protocol=protocol)
            return agents[key].session
        return agents[key].new_session()

    yield open_session
    for agent in agents.values():
        agent.quit()
    assert all_gone(agent.pid for agent in agents.values())


@pytest.fixture(params=[V2, V1, PYTHON])
def session(request: pytest.FixtureRequest, shared_agents: Any) -> acp.Session:
    """A session on each of the official agents."""
    return shared_agents(request.param)


@pytest.fixture(params=[V2, V1])
def node_session(request: pytest.FixtureRequest, shared_agents: Any) -> acp.Session:
    """A session on the TypeScript agent, in both versions."""
    return shared_agents(request.param)


@pytest.fixture(params=[V1, PYTHON])
def v1_session(request: pytest.FixtureRequest, shared_agents: Any) -> acp.Session:
    """A session on the agents that speak version 1."""
    return shared_agents(request.param)


@pytest.fixture(params=[V2])
def v2_session(request: pytest.FixtureRequest, shared_agents: Any) -> acp.Session:
    """A session on the agent that speaks version 2."""
    return shared_agents(request.param)


@pytest.fixture
def start() -> Iterator[Callable[..., acp.Agent]]:
    """`acp.start` for a command; at the end no process is left of what it started."""
    agents: list[acp.Agent] = []
    pids: list[int] = []

    def start(command: Any, **options: Any) -> acp.Agent:
        agent = acp.start(command=command, **options)
        agents.append(agent)
        pids.append(agent.pid)
        return agent

    yield start
    for agent in agents:
        agent.quit()
    pids += [agent.pid for agent in agents]
    assert all_gone(pids)


@pytest.fixture
def short_stages(monkeypatch: pytest.MonkeyPatch) -> None:
    """A staged stop loses its patience at once."""
    monkeypatch.setattr("acp_notebook.client.connection.stdio_process.STAGE_S", 0.2)
    monkeypatch.setattr("acp_notebook.client.connection.agent_connection.STAGE_S", 0.2)


@pytest.fixture
def host() -> Iterator[Callable[[Host], Host]]:
    """Installs another host for the length of a test."""
    before = current_host()

    def use(host: Host) -> Host:
        install_host(host)
        return host

    yield use
    install_host(before)


@pytest.fixture
def person(host: Callable[[Host], Host]) -> Person:
    """Somebody who can be asked."""
    person = Person()
    host(person)
    return person


@pytest.fixture
def impatient(host: Callable[[Host], Host]) -> Callable[..., Impatient]:
    """Installs a host whose waits are interrupted at these moments."""
    return lambda *moments: host(Impatient(*moments))  # type: ignore[return-value]
