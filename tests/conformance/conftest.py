"""A client of this process and an agent beside it, in both versions.

Traffic is made in few examples; `pytest tests/conformance --hypothesis-profile long` makes many.
"""

from __future__ import annotations

import pytest
from hypothesis import settings
from memory_agent import MemoryAgent, meet

from acp_notebook.client.host import current_host, install_host

__all__ = ["meet"]

settings.register_profile("long", max_examples=300)


@pytest.fixture(params=[1, 2], ids=["v1", "v2"])
def agent(request):
    """The agent, in each version."""
    return MemoryAgent(request.param)


@pytest.fixture
def host():
    """Installs another host for the length of a test."""
    before = current_host()

    def use(host):
        install_host(host)
        return host

    yield use
    install_host(before)
