"""A Jupyter application of our own: a server process, its folders, its settings, its kernels.

`JupyterApp` starts JupyterLab or Notebook 7 in a scratch folder. Configuration, data, runtime,
IPython, workspaces, home and caches are all inside it, so a run neither reads nor changes anything
of the user. The server listens on the loopback interface only, without a token. This module knows
nothing of browsers and nothing of the product.

    kernels = [KernelSpec("current"), KernelSpec("6.31", python_path=(folder,))]
    with JupyterApp("lab", root, kernels) as app:
        app.use_settings({KERNEL_SETTINGS: {"commsOverSubshells": "disabled"}})
        app.write_notebook("story.ipynb", ["1 + 1"], kernel="current")
        ...  # a browser opens app.notebook_url("story.ipynb")
        app.end_session("story.ipynb")
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, Self
from urllib.parse import quote
from urllib.request import Request, urlopen

import nbformat
import psutil

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from types import TracebackType

    from nbformat import NotebookNode

AppName = Literal["lab", "notebook"]
Settings = dict[str, dict[str, Any]]

KERNEL_SETTINGS: Final = "@jupyterlab/apputils-extension:kernels-settings"
THEME_SETTINGS: Final = "@jupyterlab/apputils-extension:themes"

# What the page reports, but does not block: script from agent text would show up here. The
# application itself starts modules from `blob:` and compiles settings schemas at run time.
REPORTED_POLICY: Final = (
    "script-src 'self' 'unsafe-eval' blob: 'report-sample'; object-src 'none'; "
    "connect-src 'self' ws: data: blob:; img-src 'self' data: blob:; frame-src 'self' data: blob:; "
    "media-src 'self' data: blob:; font-src 'self' data:"
)

START_SECONDS: Final = 90
STOP_SECONDS: Final = 10
IDLE_SECONDS: Final = 60
REQUEST_SECONDS: Final = 20
LOG_TAIL: Final = 3000

_MODULES: Final = {"lab": "jupyterlab", "notebook": "notebook"}
_EXPOSERS: Final = {"lab": "LabApp", "notebook": "JupyterNotebookApp"}
_FOLDERS: Final = {
    "JUPYTER_CONFIG_DIR": "config",
    "JUPYTER_DATA_DIR": "data",
    "JUPYTER_RUNTIME_DIR": "runtime",
    "IPYTHONDIR": "ipython",
    "JUPYTERLAB_SETTINGS_DIR": "settings",
    "JUPYTERLAB_WORKSPACES_DIR": "workspaces",
    "HOME": "home",
    "XDG_CACHE_HOME": "home/cache",
    "XDG_CONFIG_HOME": "home/config",
    "XDG_DATA_HOME": "home/data",
}
_BASE_SETTINGS: Final[Settings] = {
    "@jupyterlab/apputils-extension:notification": {"checkForUpdates": False, "fetchNews": "false"},
    # The first completion of a kernel loads Jedi, which may take longer than the usual second.
    "@jupyterlab/completer-extension:manager": {"providerTimeout": 30_000},
}


class JupyterAppError(RuntimeError):
    """The server did not start, or did not do what it was asked; the log is in the message."""


@dataclass(frozen=True)
class KernelSpec:
    """A kernel that the server offers: this Python, with other packages in front.

    Attributes:
        name: The name in a notebook's metadata, also shown to the user.
        python_path: Folders put before the installed packages, e.g. another ipykernel.
        env: Further environment variables of the kernel.
    """

    name: str
    python_path: tuple[Path, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict)

    def write(self, kernels: Path) -> None:
        """Writes the specification below the folder `kernels`."""
        env = dict(self.env)
        if self.python_path:
            env["PYTHONPATH"] = os.pathsep.join(map(str, self.python_path))
        argv = [sys.executable, "-Xfrozen_modules=off", "-m", "ipykernel_launcher"]
        spec = {
            "argv": [*argv, "-f", "{connection_file}"],
            "display_name": self.name,
            "language": "python",
            "metadata": {"debugger": False},
            "env": env,
        }
        folder = kernels / self.name
        folder.mkdir(parents=True)
        (folder / "kernel.json").write_text(json.dumps(spec, indent=1))


class JupyterApp:
    """JupyterLab or Notebook 7, started in a folder of its own.

    Args:
        name: Which application.
        root: A scratch folder; everything the server reads or writes is below it.
        kernels: The kernels to offer besides the environment's own `python3`.
        server_args: More command-line arguments, e.g. of a labextension's folder.
    """

    def __init__(
        self,
        name: AppName,
        root: Path,
        kernels: Iterable[KernelSpec],
        server_args: Sequence[str] = (),
    ) -> None:
        self.name = name
        self.root = root
        self.notebooks = root / "notebooks"
        self.url = ""
        self._server_args = tuple(server_args)
        self._server: subprocess.Popen[bytes] | None = None
        self._log = root / "server.log"
        self._env = self._make_env()
        self.notebooks.mkdir(parents=True)
        for kernel in kernels:
            kernel.write(root / "data" / "kernels")
        self.use_settings({})

    def __enter__(self) -> Self:
        try:
            self._start()
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()

    def __repr__(self) -> str:
        return f"JupyterApp({self.name!r}, {self.url or 'not started'})"

    # Files and settings

    def write_notebook(self, name: str, cells: Iterable[str], *, kernel: str) -> Path:
        """Writes a notebook; a source that starts with `%%markdown` becomes a Markdown cell."""
        metadata = {"kernelspec": {"name": kernel, "display_name": kernel, "language": "python"}}
        notebook = {
            "nbformat": 4,
            "nbformat_minor": 5,
            "metadata": metadata,
            "cells": [_cell(f"cell-{number}", source) for number, source in enumerate(cells)],
        }
        path = self.notebooks / name
        path.write_text(json.dumps(notebook))
        return path

    def read_notebook(self, name: str) -> NotebookNode:
        """Reads and validates a notebook as it is on disk."""
        text = (self.notebooks / name).read_text()
        notebook: NotebookNode = nbformat.reads(text, as_version=4)  # type: ignore[no-untyped-call]
        nbformat.validate(notebook)
        return notebook

    def forget_trust(self, name: str) -> None:
        """Makes the notebook one that came from elsewhere: its signature is no longer known."""
        path = self.notebooks / name
        notebook = json.loads(path.read_text())
        notebook["metadata"]["came_from_elsewhere"] = time.time_ns()
        path.write_text(json.dumps(notebook))

    def use_settings(self, settings: Settings) -> None:
        """Replaces the user's settings by these; pages that load from now on see them."""
        folder = self.root / "settings"
        shutil.rmtree(folder, ignore_errors=True)
        for plugin, values in (_BASE_SETTINGS | settings).items():
            package, _, name = plugin.partition(":")
            path = folder / package / f"{name}.jupyterlab-settings"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(json.dumps(values))

    # The running server

    def notebook_url(self, name: str) -> str:
        """The address under which a browser shows the notebook."""
        if self.name == "lab":  # `reset`: no tabs left open by an earlier page
            return f"{self.url}/lab/tree/{quote(name)}?reset"
        return f"{self.url}/notebooks/{quote(name)}"

    def end_session(self, name: str) -> None:
        """Ends the kernel of a notebook, if it has one."""
        for session in self._request("GET", "/api/sessions"):
            if session["path"] == name:
                self._request("DELETE", f"/api/sessions/{session['id']}")

    def wait_for_idle_kernel(self, name: str) -> None:
        """Waits until a notebook's kernel is idle, as the server hears it; no page is needed."""
        deadline = time.monotonic() + IDLE_SECONDS
        while not any(
            session["path"] == name and session["kernel"]["execution_state"] == "idle"
            for session in self._request("GET", "/api/sessions")
        ):
            assert self._server is not None
            self._wait_a_tick(self._server)
            if time.monotonic() > deadline:
                raise JupyterAppError(f"The kernel of {name} was busy for {IDLE_SECONDS} s.")

    def processes(self) -> list[psutil.Process]:
        """Every living process started from here: server, kernels, agents, however detached.

        They are told by an environment variable that all of them inherit, since kernels and
        agents have sessions of their own and outlive a parent that crashed.
        """
        mark = self._env["JUPYTER_RUNTIME_DIR"]
        found = []
        for process in psutil.process_iter():
            with suppress(psutil.Error):
                if process.environ().get("JUPYTER_RUNTIME_DIR") == mark:
                    found.append(process)
        return found

    def log_tail(self, length: int = LOG_TAIL) -> str:
        """The end of what server and kernels printed."""
        if not self._log.exists():
            return ""
        return self._log.read_text(errors="replace")[-length:]

    def stop(self) -> None:
        """Ends the server and everything that was started below it."""
        if self._server is None:
            return
        self._server.send_signal(signal.SIGTERM)
        with suppress(subprocess.TimeoutExpired):
            self._server.wait(STOP_SECONDS)
        left = self.processes()
        for process in left:
            with suppress(psutil.Error):
                process.kill()
        psutil.wait_procs(left, timeout=STOP_SECONDS)
        self._server.wait(STOP_SECONDS)
        self._server = None

    def _start(self) -> None:
        with self._log.open("ab") as log:
            self._server = subprocess.Popen(
                [*_end_with_parent(), *self._command(_free_port())],
                cwd=self.root,
                env=self._env,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        deadline = time.monotonic() + START_SECONDS
        while not self._is_up():
            self._wait_a_tick(self._server)
            if time.monotonic() > deadline:
                raise JupyterAppError(
                    f"{self.name} did not answer within {START_SECONDS} s. Its log ends:\n"
                    f"{self.log_tail()}"
                )

    def _wait_a_tick(self, server: subprocess.Popen[bytes]) -> None:
        try:
            code = server.wait(0.1)
        except subprocess.TimeoutExpired:
            return
        raise JupyterAppError(
            f"{self.name} ended with exit code {code} before it answered. Is it installed in "
            f"{sys.executable}? Its log ends:\n{self.log_tail()}"
        )

    def _is_up(self) -> bool:
        # The server's own file has the port: it takes another one if ours was snatched.
        for path in (self.root / "runtime").glob("jpserver-*.json"):
            with suppress(OSError, ValueError):
                self.url = str(json.loads(path.read_text())["url"]).rstrip("/")
                self._request("GET", "/api/status")
                return True
        return False

    def _command(self, port: int) -> list[str]:
        exposer = _EXPOSERS[self.name]
        policy = {"headers": {"Content-Security-Policy-Report-Only": REPORTED_POLICY}}
        return [
            *(sys.executable, "-m", _MODULES[self.name]),
            *("--no-browser", "--allow-root"),
            *("--ServerApp.ip=127.0.0.1", f"--ServerApp.port={port}"),
            *("--IdentityProvider.token=", "--ServerApp.disable_check_xsrf=True"),
            f"--ServerApp.root_dir={self.notebooks}",
            f"--ServerApp.tornado_settings={policy!r}",
            f"--{exposer}.expose_app_in_browser=True",
            "--LabApp.extension_manager=readonly",
            "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate",
            *self._server_args,
        ]

    def _make_env(self) -> dict[str, str]:
        env = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("JUPYTER", "IPYTHON", "XDG_", "PYTEST_"))
        }
        for variable, folder in _FOLDERS.items():
            (self.root / folder).mkdir(parents=True, exist_ok=True)
            env[variable] = str(self.root / folder)
        # Our kernels come before those of the environment, and old paths are not warned about.
        return env | {"JUPYTER_PREFER_ENV_PATH": "0", "JUPYTER_PLATFORM_DIRS": "1"}

    def _request(self, method: str, path: str) -> Any:
        request = Request(self.url + path, method=method)
        with urlopen(request, timeout=REQUEST_SECONDS) as response:
            body = response.read()
        return json.loads(body) if body else None


def _cell(identity: str, source: str) -> dict[str, Any]:
    head, _, rest = source.partition("\n")
    if head.strip() == "%%markdown":
        return {"id": identity, "cell_type": "markdown", "metadata": {}, "source": rest}
    code = {"id": identity, "cell_type": "code", "metadata": {}, "source": source}
    return code | {"execution_count": None, "outputs": []}


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _end_with_parent() -> list[str]:
    """A prefix that ends the server if the test run is killed and cannot do it (Linux only)."""
    setpriv = shutil.which("setpriv")
    return [setpriv, "--pdeathsig", "TERM", "--"] if setpriv else []
