"""The kernels that the tests of this folder share: one per ipykernel version."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from kernelspecs import INSTALLED, VERSIONS, KernelUnderTest, running_kernel

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(scope="module", params=VERSIONS)
def kernel(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[KernelUnderTest]:
    """A running kernel of each ipykernel version in turn."""
    with running_kernel(request.param, tmp_path_factory.mktemp("kernel")) as running:
        if request.param != INSTALLED:
            assert running.run("import ipykernel; print(ipykernel.__version__)") == request.param
        yield running
