"""An IPython shell, a running agent with a session, and the official MCP client as its hands.

The test's main thread waits as a cell does: the pump runs what the tools want done there.
"""

from __future__ import annotations

import sys

import pytest
from IPython.core.interactiveshell import InteractiveShell
from IPython.core.pylabtools import activate_matplotlib, select_figure_formats
from matplotlib_inline.backend_inline import configure_inline_support
from tools_bench import Hands, entry_of, mcp_over_http, wait_as_a_cell
from watching import Somebody

import acp_notebook as acp
from acp_notebook.client.host import current_host, install_host
from acp_notebook.kernel.notebook_host import NotebookHost
from acp_notebook.kernel.tools.functions import forget_tools

INLINE = "module://matplotlib_inline.backend_inline"
DEMO = [sys.executable, "-m", "acp_notebook.demo_agent", "--pace", "0"]


class Notebook(NotebookHost):
    """A notebook whose tests say whether somebody can be asked."""

    somebody_is_there = True

    def audience(self, agent):
        return Present(self)


class Present(Somebody):
    """Somebody who can be asked while the notebook says so."""

    def __init__(self, notebook):
        super().__init__()
        self._notebook = notebook

    @property
    def can_ask(self):
        return self._notebook.somebody_is_there


@pytest.fixture(scope="module")
def shell():
    shell = InteractiveShell.instance()
    # As in a kernel, also where another test imported matplotlib before there was this shell.
    activate_matplotlib(INLINE)
    configure_inline_support(shell, INLINE)
    select_figure_formats(shell, {"png"})
    yield shell
    InteractiveShell.clear_instance()


@pytest.fixture
def space(shell):
    """The user's namespace, empty, and no tools of the user's."""
    shell.reset(new_session=False)
    forget_tools()
    yield shell.user_ns
    forget_tools()


@pytest.fixture(scope="module")
def notebook(shell):
    """The notebook as the client's host."""
    before = current_host()
    host = Notebook()
    install_host(host)
    yield host
    install_host(before)


@pytest.fixture(scope="module")
def agent(notebook):
    agent = acp.start(command=DEMO, label="demo")
    yield agent
    agent.quit()


@pytest.fixture
def session(agent, notebook):
    """A new session; somebody can be asked, and the policy is `allow` unless a test says else."""
    notebook.somebody_is_there = True
    session = agent.new_session()
    session.permissions = "allow"
    return session


@pytest.fixture
def turn(session):
    """A turn that goes on until the test is over."""
    turn = session.prompt("/slow 600", wait=False)
    yield turn
    turn.cancel()
    wait_as_a_cell(turn.done)


@pytest.fixture
def hands(session, space, turn):
    """The agent of the session, calling over HTTP in a turn."""
    hands = Hands(lambda: mcp_over_http(entry_of(session)))
    yield hands
    hands.close()


@pytest.fixture
def host_without_tools(notebook):
    """The notebook before any agent came, whatever other tests have left."""
    kept, notebook._tools = notebook._tools, None
    yield
    notebook._tools = kept
