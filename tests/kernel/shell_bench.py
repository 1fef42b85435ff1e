"""A shell of the whole process with the extension loaded, driven cell by cell.

Knows no kernel: displays are caught where a terminal would print them.
"""

from __future__ import annotations

import json
import sys
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from IPython.core.displaypub import CapturingDisplayPublisher
from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config

from acp_notebook.client import ending
from acp_notebook.client.host import current_host, install_host
from acp_notebook.kernel.extension import load_ipython_extension, unload_ipython_extension
from acp_notebook.kernel.magic.magics import AcpMagics

AGENT = f"{sys.executable} {Path(__file__).with_name('helpful_agent.py')}"


class ShellBench:
    """Runs cells and tells what they showed."""

    def __init__(self, shell: InteractiveShell) -> None:
        self.shell = shell
        self.names: dict[str, Any] = shell.user_ns
        self.next_input: str | None = None
        shell.set_next_input = self._set_next_input

    def _set_next_input(self, text: str, replace: bool = False) -> None:
        assert not replace
        self.next_input = text

    @property
    def magics(self) -> AcpMagics:
        return self.shell.magics_manager.registry["AcpMagics"]

    def run(self, source: str) -> list[dict[str, Any]]:
        """Run a cell that must not fail; the bundles that it displayed."""
        self.shell.display_pub.outputs.clear()
        result = self.shell.run_cell(source, store_history=True)
        result.raise_error()
        return [each["data"] for each in self.shell.display_pub.outputs]

    def shown(self, source: str) -> str:
        """Run a cell; its displays as text."""
        return "\n".join(bundle["text/plain"] for bundle in self.run(source))

    def fail(self, source: str) -> str:
        """Run a cell that must fail; what the error says."""
        result = self.shell.run_cell(source, store_history=True)
        error = result.error_in_exec or result.error_before_exec
        assert error is not None, "the cell did not fail"
        return str(error)

    def start(self, *arguments: str, options: str = "") -> None:
        """Start the helpful agent."""
        self.run(f"%acp start --as helper --no-tools {options} -- {AGENT} {' '.join(arguments)}")

    def sent(self) -> list[list[dict[str, Any]]]:
        """The content of each prompt that went out, as it is on the wire."""
        frames = self.magics.state.roster.find().recording.frames()
        messages = [json.loads(frame.data) for frame in frames if frame.direction == "sent"]
        return [
            message["params"]["prompt"]
            for message in messages
            if message.get("method") == "session/prompt"
        ]


@contextmanager
def shell_bench() -> Iterator[ShellBench]:
    """A fresh shell with the extension; what it started is gone afterwards."""
    host, others = current_host(), ending._living
    ending._living = weakref.WeakValueDictionary()  # agents of other tests are none of this shell's
    config = Config()
    config.HistoryManager.enabled = False
    InteractiveShell.clear_instance()
    shell = InteractiveShell.instance(config=config)
    shell.display_pub = CapturingDisplayPublisher()
    load_ipython_extension(shell)
    try:
        yield ShellBench(shell)
    finally:
        unload_ipython_extension(shell)
        InteractiveShell.clear_instance()
        install_host(host)
        others.update(ending._living)
        ending._living = others
