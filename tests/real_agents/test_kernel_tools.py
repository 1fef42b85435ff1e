"""The kernel's tools in the hands of agents that nobody here wrote. See the README beside this."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from IPython.core.interactiveshell import InteractiveShell
from watching import Somebody

import acp_notebook as acp
from acp_notebook.client.host import current_host, install_host
from acp_notebook.kernel.notebook_host import NotebookHost
from acp_notebook.kernel.tools.functions import forget_tools
from acp_notebook.session.state import CELL_META
from acp_notebook.session.updates import CodeSubject

FOLDER = os.environ.get("ACP_AGENTS")
BOUND_S = 60.0
REASON = "needs real agents: set ACP_AGENTS to a folder as tests/real_agents/README.md describes"

pytestmark = [pytest.mark.skipif(not FOLDER, reason=REASON), pytest.mark.timeout(300)]

BUILT_IN = ["list_variables", "inspect", "run_code", "read_cells", "propose_cell"]
VERSIONS = {"claude": (1, 2), "codex": (1, 2), "opencode": (1,), "gemini": (1,)}
# What each agent makes of a tool's name, and how its model gets at tools that it is not shown.
CALLED = {
    "claude": "mcp__notebook__{}",
    "codex": "{}",
    "opencode": "notebook_{}",
    "gemini": "mcp_notebook_{}",
}
SEARCH = {
    "claude": ("ToolSearch", lambda names: "select:" + ",".join(names)),
    "codex": ("tool_search", lambda names: "notebook " + " ".join(names)),
}
LISTS_OFTEN = 20


def _cases():
    for name, versions in VERSIONS.items():
        path = Path(FOLDER or ".", f"{name}.json")
        if not FOLDER or not path.exists():
            continue
        facts = json.loads(path.read_text())
        for version in versions:
            if version in facts.get("protocols", versions):
                for transport in ("http", "stdio"):
                    case = (name, facts, version, transport)
                    yield pytest.param(case, id=f"{name}-v{version}-{transport}")


class Notebook(NotebookHost):
    """A notebook with somebody in front of it."""

    def audience(self, agent):
        return Somebody()


@pytest.fixture(scope="module")
def shell():
    yield InteractiveShell.instance()
    InteractiveShell.clear_instance()


@pytest.fixture(scope="module")
def notebook(shell):
    before = current_host()
    host = Notebook()
    install_host(host)
    yield host
    install_host(before)


class RealAgent:
    """One agent with the tools by one transport, and how to make its model call them."""

    def __init__(self, case, notebook):
        self.name, facts, version, self.transport = case
        notebook.tools.prefers_bridge = self.transport == "stdio"
        self.process = acp.start(
            command=facts["cmd"],
            env=facts["env"],
            cwd=facts["cwd"],
            protocol=version,
            label=self.name,
        )
        # In codex-acp 2.6.0 a question of codex's own about an MCP tool has no title and fails on
        # v2 before it reaches the wire; in this mode codex asks nothing, and our card still does.
        self.mode = "agent-full-access" if (self.name, version) == ("codex", 2) else None

    def new_session(self):
        session = self.process.new_session()
        session.permissions = "allow"
        if self.mode is not None:
            session.set_option("mode", self.mode)
        return session

    def called(self, tool):
        return CALLED[self.name].format(tool)

    def search(self, *tools):
        """The directive by which the model finds tools that it was not shown."""
        if self.name not in SEARCH:
            return ""
        search, query = SEARCH[self.name]
        given = {"query": query([self.called(tool) for tool in tools])}
        return f"[[tool:{search} {json.dumps(given)}]] "

    def call(self, session, tool, /, **arguments):
        """A turn in which the model calls a tool."""
        directive = f"[[tool:{self.called(tool)} {json.dumps(arguments)}]]"
        return session.prompt(f"[[go]] {self.search(tool)}{directive}", timeout=BOUND_S)

    def tools_seen(self, session, tools):
        """What the model says when it is to call what is not there: which tools there are."""
        turn = session.prompt(f"[[go]] {self.search(*tools)}[[tool:nothing]]", timeout=BOUND_S)
        return turn.text

    def once_listed(self, session, tools):
        """The same, once the agent has the tools: codex goes on without a server that is slow."""
        for _ in range(LISTS_OFTEN):
            seen = self.tools_seen(session, tools)
            if self.called(tools[-1]) in seen:
                break
        return seen


@pytest.fixture(scope="module", params=list(_cases()) or [None])
def agent(request, notebook):
    real = RealAgent(request.param, notebook)
    yield real
    real.process.quit()
    notebook.tools.prefers_bridge = False


@pytest.fixture
def space(shell):
    shell.reset(new_session=False)
    forget_tools()
    shell.user_ns["prices"] = [3, 4, 5]
    yield shell.user_ns
    forget_tools()


@pytest.fixture
def session(agent, space):
    session = agent.new_session()
    seen = agent.once_listed(session, BUILT_IN)
    assert agent.called(BUILT_IN[-1]) in seen, (
        "the model saw no tools; the README says what it needs"
    )
    return session


def told_servers(agent):
    """What the agent was told of in its last `session/new`."""
    frames = [frame for frame in agent.process.recording.frames() if frame.label == "session/new"]
    told = [frame.message["params"] for frame in frames if "params" in frame.message]
    return told[-1]["mcpServers"]


def own_card(turn, name):
    (card,) = [call for call in turn.tool_calls if call.name == name]
    return card


def agents_own_words(turn):
    """The text of the agent's own tool calls: models cut what they repeat."""
    own = [call for call in turn.tool_calls if call.name not in BUILT_IN]
    return json.dumps([[repr(call.content), repr(call.raw_output)] for call in own])


def only_the_agents_own(question):
    """Allows what the agent asks by itself, and refuses what the kernel's tools ask."""
    kind = "reject_once" if isinstance(question.subject, CodeSubject) else "allow_once"
    return next(option.option_id for option in question.options if option.kind == kind)


def test_the_model_is_shown_every_tool(agent, space):
    session = agent.new_session()
    seen = agent.once_listed(session, BUILT_IN)
    assert [tool for tool in BUILT_IN if agent.called(tool) not in seen] == []
    (entry,) = told_servers(agent)
    # In v1 an entry without a type is a process.
    assert entry.get("type", "stdio") == agent.transport


def test_list_variables(agent, session):
    turn = agent.call(session, "list_variables")
    assert "prices: list, 3 items" in turn.text


def test_inspect(agent, session):
    turn = agent.call(session, "inspect", name="prices[1]")
    assert "4" in turn.text.partition("answered")[2]
    assert not [call for call in turn.tool_calls if call.status == "failed"]


def test_run_code_that_is_allowed_runs_in_the_users_namespace(agent, session, space):
    turn = agent.call(session, "run_code", code="total = sum(prices)\nprint('sum', total)")
    assert space["total"] == 12
    assert "sum 12" in turn.text
    assert own_card(turn, "run_code").status == "completed"
    assert turn.permissions[-1].request.title == "Run this code in your kernel?"
    assert turn.permissions[-1].answer.by == "policy allow"


def test_run_code_that_is_refused_does_not_run_and_the_model_is_told(agent, session, space):
    session.permissions = only_the_agents_own
    turn = agent.call(session, "run_code", code="total = sum(prices)")
    assert "total" not in space
    assert "Not allowed" in turn.text
    assert own_card(turn, "run_code").status == "cancelled"
    assert turn.permissions[-1].answer.option_id == "reject"


def test_an_error_in_the_code_reaches_the_model(agent, session, space):
    turn = agent.call(session, "run_code", code="1 / 0")
    assert "ZeroDivisionError" in turn.text + agents_own_words(turn)
    assert own_card(turn, "run_code").status == "failed"


def test_read_cells(agent, session, shell):
    shell.run_cell("cheap = min(prices)", store_history=True)
    turn = agent.call(session, "read_cells", last=1)
    assert "cheap = min(prices)" in turn.text


def test_propose_cell(agent, session, space):
    turn = agent.call(session, "propose_cell", code="dear = max(prices)", title="The dearest")
    assert "It has not been run" in turn.text
    assert own_card(turn, "propose_cell").meta[CELL_META] == "dear = max(prices)"
    assert "dear" not in space


def test_a_function_of_the_users(agent, space):
    @acp.tool
    def above(limit: int) -> list[int]:
        """The prices above a limit."""
        return [price for price in space["prices"] if price > limit]

    session = agent.new_session()
    assert agent.called("above") in agent.once_listed(session, [*BUILT_IN, "above"])
    turn = agent.call(session, "above", limit=4)
    assert "5" in turn.text.partition("answered")[2]
    assert own_card(turn, "above").status == "completed"


def test_a_function_that_is_defined_later(agent, session):
    @acp.tool
    def later(word: str) -> str:
        """Says a word backwards."""
        return word[::-1]

    seen = agent.once_listed(session, [*BUILT_IN, "later"])
    assert agent.called("later") in seen, "see the README on what codex has to be told for this"
    assert "koobeton" in agent.call(session, "later", word="notebook").text
