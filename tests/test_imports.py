"""What an import costs: the package and the layers below the notebook import nothing heavy."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

HEAVY = {
    "IPython",
    "anywidget",
    "comm",
    "ipykernel",
    "ipywidgets",
    "jupyter_client",
    "markdown_it",
    "markupsafe",
    "mcp",
    "nest_asyncio2",
    "nh3",
    "pydantic",
    "pygments",
    "traitlets",
    "zmq",
}
LIGHT = [
    "acp_notebook",
    "acp_notebook.errors",
    "acp_notebook.jsonrpc",
    "acp_notebook.session.reducer",
    "acp_notebook.protocol.negotiate",
    "acp_notebook.protocol.prompt_content",
    "acp_notebook.client.agent",
    "acp_notebook.client.host",
    "acp_notebook.agent_kit",
    "acp_notebook.demo_agent",
    "acp_notebook.trace.recording",
]
# Nothing but the standard library and this package.
PURE = ["acp_notebook.session.reducer", "acp_notebook.protocol.negotiate"]


def imported_by(statement):
    """Top-level modules, and this package's own, that a fresh interpreter has after it."""
    code = f"import sys, json; {statement}; print(json.dumps(sorted(sys.modules)))"
    run = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    names = json.loads(run.stdout)
    ours = {name for name in names if name.startswith("acp_notebook.")}
    return {name.partition(".")[0] for name in names}, ours


def test_importing_the_package_loads_its_version_and_nothing_else_of_it():
    _, ours = imported_by("import acp_notebook")
    assert ours == {"acp_notebook.version"}


@pytest.mark.parametrize("module", LIGHT)
def test_importing_it_imports_nothing_heavy(module):
    names, _ = imported_by(f"import {module}")
    assert names & HEAVY == set()


@pytest.mark.parametrize("name", ["Agent", "Session", "Turn", "start"])
def test_taking_a_public_name_of_the_client_imports_nothing_heavy(name):
    names, ours = imported_by(f"from acp_notebook import {name}")
    assert names & HEAVY == set()
    above = ("acp_notebook.kernel", "acp_notebook.widgets", "acp_notebook.render")
    assert [found for found in ours if found.startswith(above)] == []


@pytest.mark.parametrize("module", PURE)
def test_the_pure_layers_import_the_standard_library_alone(module):
    base, _ = imported_by("pass")
    names, _ = imported_by(f"import {module}")
    foreign = {
        name
        for name in names - base - {"acp_notebook"}
        if name not in sys.stdlib_module_names and not name.startswith("_")
    }
    assert foreign == set()
