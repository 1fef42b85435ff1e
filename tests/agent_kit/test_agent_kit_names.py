"""What the package exports is what it has, and it needs nothing but JSON-RPC."""

from __future__ import annotations

import subprocess
import sys

import pytest

from acp_notebook import agent_kit


def test_every_exported_name_exists():
    assert all(hasattr(agent_kit, name) for name in agent_kit.__all__)


@pytest.mark.process
def test_importing_it_imports_nothing_of_the_client_or_the_notebook():
    code = (
        "import sys, acp_notebook;"
        "before = set(sys.modules);"
        "import acp_notebook.agent_kit;"
        "new = set(sys.modules) - before;"
        "print(*{m.split('.')[1] for m in new if m.startswith('acp_notebook.')})"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert set(run.stdout.split()) == {"agent_kit", "characters", "errors", "jsonrpc"}
