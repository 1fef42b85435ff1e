"""Real kernels of several ipykernel versions, driven through jupyter_client.

Knows how to start a kernel and how to follow many requests at once. Knows nothing about pumps.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections import defaultdict
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from queue import Empty
from typing import TYPE_CHECKING, Any, TypeVar

from jupyter_client.kernelspec import KernelSpecManager
from jupyter_client.manager import KernelManager

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from jupyter_client.blocking.client import BlockingKernelClient

ROOT = Path(__file__).parents[2]
INSTALLED = "installed"
# One that has no subshells, one that routes clicks to them, and the newest. The variable lets CI
# try others: ACP_NOTEBOOK_KERNELS="6.29.5 7.0.1" pytest tests/kernel
VERSIONS = tuple(os.environ.get("ACP_NOTEBOOK_KERNELS", f"6.31.0 7.3.0 {INSTALLED}").split())
BOUND_S = 20.0


@dataclass
class Record:
    """What the kernel published, by the id of the request that it belongs to."""

    executed: list[str] = field(default_factory=list)
    text: dict[str, str] = field(default_factory=lambda: defaultdict(str))
    errors: dict[str, str] = field(default_factory=dict)
    tracebacks: dict[str, list[str]] = field(default_factory=dict)
    idle: set[str] = field(default_factory=set)


class KernelUnderTest:
    """One running kernel and everything it has published."""

    def __init__(self, manager: KernelManager, client: BlockingKernelClient) -> None:
        self.manager = manager
        self.client = client
        self.record = Record()
        self._cells: set[str] = set()
        self._replies: dict[str, dict[str, Any]] = {}

    def send(self, code: str) -> str:
        """Send a cell; return its id at once."""
        msg_id = self.client.execute(code)
        self._cells.add(msg_id)
        return msg_id

    def send_comm(self, comm_id: str, data: Any, **header: str) -> str:
        """Send a message to a comm as a page does."""
        message = self.client.session.msg("comm_msg", {"comm_id": comm_id, "data": data})
        message["header"].update(header)
        self.client.shell_channel.send(message)
        return message["header"]["msg_id"]

    def until(self, reached: Callable[[Record], bool], what: str, bound_s: float = BOUND_S) -> None:
        """Take in what the kernel publishes until a condition holds."""
        end = time.monotonic() + bound_s
        while not reached(self.record):
            assert time.monotonic() < end, f"no {what} within {bound_s} s; got {self.record}"
            try:
                self._take(self.client.get_iopub_msg(timeout=0.2))
            except Empty:
                continue

    def until_idle(self, ids: Iterable[str]) -> None:
        """Wait for the idle status of each request, and for the reply of each cell.

        A request that is sent while a reply leaves may never be read by ipykernel 7.0 to 7.3: one
        in a hundred, without any code of ours. So no test sends before the replies are here.
        """
        due = set(ids)
        self.until(lambda record: due <= record.idle, f"idle for each of {len(due)} requests")
        for msg_id in due & self._cells:
            self.reply(msg_id)

    def until_prints(self, msg_id: str, text: str) -> None:
        self.until(lambda record: text in record.text[msg_id], f"{text!r} printed")

    def run(self, code: str) -> str:
        """Run a cell to its end and return what it printed; it must not fail."""
        msg_id = self.send(code)
        self.until_idle([msg_id])
        assert msg_id not in self.record.errors, self.record.errors[msg_id]
        return self.record.text[msg_id].strip()

    def reply(self, msg_id: str) -> dict[str, Any]:
        """The reply to a request of the shell channel."""
        while msg_id not in self._replies:
            message = self.client.get_shell_msg(timeout=BOUND_S)
            self._replies[message["parent_header"].get("msg_id", "")] = message
        return self._replies[msg_id]

    def create_subshell(self) -> str:
        """Ask for a subshell as JupyterLab does."""
        message = self.client.session.msg("create_subshell_request", {})
        self.client.control_channel.send(message)
        reply = self.client.get_control_msg(timeout=BOUND_S)
        return reply["content"]["subshell_id"]

    def _take(self, message: dict[str, Any]) -> None:
        parent = message["parent_header"].get("msg_id", "")
        content = message["content"]
        match message["msg_type"]:
            case "execute_input":
                self.record.executed.append(parent)
            case "stream":
                self.record.text[parent] += content["text"]
            case "error":
                self.record.errors[parent] = content["ename"]
                self.record.tracebacks[parent] = content["traceback"]
            case "status" if content["execution_state"] == "idle":
                self.record.idle.add(parent)


Kernel = TypeVar("Kernel", bound=KernelUnderTest)


@contextmanager
def running_kernel(
    version: str, folder: Path, kind: type[Kernel] = KernelUnderTest
) -> Iterator[Kernel]:
    """A kernel of one ipykernel version, with everything else from this environment."""
    _write_spec(version, folder)
    try:
        manager, client = _start(folder)
    except RuntimeError:
        # ipykernel 7.0 to 7.3 can lose the first message of a fresh connection for good
        # (ipykernel#1554, mended in 7.4), before any of our code is imported.
        manager, client = _start(folder)
    try:
        yield kind(manager, client)
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)
        manager.cleanup_resources()


def _start(folder: Path) -> tuple[KernelManager, BlockingKernelClient]:
    specs = KernelSpecManager(kernel_dirs=[str(folder)], ensure_native_kernel=False)
    manager = KernelManager(kernel_name="under_test", kernel_spec_manager=specs)
    manager.start_kernel(cwd=str(folder))
    client = manager.client()
    client.start_channels()
    try:
        client.wait_for_ready(timeout=15)
    except RuntimeError:
        client.stop_channels()
        manager.shutdown_kernel(now=True)
        manager.cleanup_resources()
        raise
    return manager, client


def _write_spec(version: str, folder: Path) -> None:
    path = [str(ROOT)]
    if version != INSTALLED:
        home = ROOT / ".kernels" / version
        assert (home / "ipykernel").is_dir(), (
            f"ipykernel {version} is not here; install it with: scripts/kernels {version}"
        )
        path.insert(0, str(home))
    spec = {
        "argv": [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"],
        "display_name": version,
        "language": "python",
        "env": {"PYTHONPATH": os.pathsep.join(path), "IPYTHONDIR": str(folder / "ipython")},
    }
    (folder / "under_test").mkdir()
    (folder / "under_test" / "kernel.json").write_text(json.dumps(spec))
