"""A shell without a kernel, with the log of its cells and what can be named in it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config

from acp_notebook.kernel.context.cell_log import CellLog
from acp_notebook.kernel.context.sources import Notebook


@pytest.fixture
def shell() -> Iterator[InteractiveShell]:
    """A fresh shell that keeps its history in memory."""
    config = Config()
    config.HistoryManager.enabled = False
    shell = InteractiveShell(config=config)
    yield shell
    shell.reset(new_session=False)


@pytest.fixture
def log(shell: InteractiveShell) -> Iterator[CellLog]:
    """The log, as the extension installs it: in the middle of a cell, which then ends."""
    log = CellLog(shell)
    shell.events.register("pre_run_cell", lambda *_: None)
    log.install()
    log._running.clear()
    yield log
    log.remove()


@pytest.fixture
def notebook(shell: InteractiveShell, log: CellLog) -> Notebook:
    """What can be named in the shell."""
    return Notebook(shell, log)


@pytest.fixture
def run(shell: InteractiveShell, capsys: pytest.CaptureFixture[str]):
    """Runs a cell."""

    def run(source: str) -> None:
        shell.run_cell(source, store_history=True)
        capsys.readouterr()

    return run
