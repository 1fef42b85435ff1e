"""What the package exports is what it has, and it knows nothing above itself."""

from __future__ import annotations

import subprocess
import sys

import pytest

from acp_notebook import jsonrpc


def test_every_exported_name_exists():
    assert sorted(jsonrpc.__all__) == sorted(set(jsonrpc.__all__))
    assert all(hasattr(jsonrpc, name) for name in jsonrpc.__all__)


@pytest.mark.process
def test_importing_it_imports_no_other_part_of_the_product():
    code = (
        "import sys, acp_notebook;"
        "before = set(sys.modules);"
        "import acp_notebook.jsonrpc;"
        "new = set(sys.modules) - before;"
        "print(*{m.split('.')[1] for m in new if m.startswith('acp_notebook.')})"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert set(run.stdout.split()) == {"jsonrpc"}
