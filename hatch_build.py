"""Build hook: builds the JupyterLab extension and puts it into the wheel and the sdist.

Knows how to tell a current build from an old one and how to build; what the extension is made of
and how is said in ``labextension/package.json``. Nothing here is imported by the package.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

SOURCE = "labextension"
BUILT = "acp_notebook/labextension"
STAMP = "sources.sha256"
OLDEST_NODE = (20, 19)
SETTING = "ACP_NOTEBOOK_LABEXTENSION"


class LabextensionBuildHook(BuildHookInterface[Any]):
    """Adds the prebuilt extension to what is built.

    Without Node.js the package is built without it, with a notice. The environment variable
    ``ACP_NOTEBOOK_LABEXTENSION`` decides otherwise: ``require`` fails instead, for releases;
    ``skip`` leaves the extension out.
    """

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:  # noqa: ARG002
        """Build the extension if what is there is not current, then add it."""
        root = Path(self.root)
        setting = os.environ.get(SETTING, "auto")
        if setting not in {"auto", "require", "skip"}:
            raise ValueError(f"{SETTING} is {setting!r}; it may be auto, require or skip.")
        reason = f"{SETTING}=skip" if setting == "skip" else provide_build(root)
        if reason and setting == "require":
            raise RuntimeError(f"The JupyterLab extension cannot be built: {reason}.")
        if reason:
            self.app.display_warning(
                f"acp_notebook is built without its JupyterLab extension ({reason}): %%acp cells "
                "are not highlighted as Markdown, everything else works. To get it, install "
                "Node.js 20.19 or later (https://nodejs.org) and run the same command again."
            )
        elif self.target_name == "wheel":
            share = f"share/jupyter/labextensions/{read_package(root)['name']}"
            build_data["shared_data"][BUILT] = share
            build_data["shared_data"][f"{SOURCE}/install.json"] = f"{share}/install.json"
        else:
            build_data["artifacts"].append(BUILT)


def provide_build(root: Path) -> str:
    """Make sure that a current build exists; return why there is none, or nothing."""
    if is_current(root):
        return ""
    if reason := missing_node():
        return reason
    # jupyter-builder is a requirement of the build; its scripts may be beside this Python only.
    places = os.pathsep.join([os.environ.get("PATH", ""), str(Path(sys.executable).parent)])
    jlpm = shutil.which("jlpm", path=places) or "jlpm"
    for step in (["install", "--immutable"], ["run", "build"]):
        command = [jlpm, *step]
        environment = {**os.environ, "PATH": places}
        result = subprocess.run(command, cwd=root / SOURCE, env=environment, check=False)
        if result.returncode:
            raise RuntimeError(
                f"The JupyterLab extension did not build: `jlpm {' '.join(step)}` failed in "
                f"{SOURCE}/, see above. To install without the extension, set {SETTING}=skip."
            )
    if not is_current(root):
        raise RuntimeError(
            f"The build of the JupyterLab extension left no current {BUILT}/{STAMP}: "
            f"{SOURCE}/stamp.mjs and hatch_build.py do not agree on the sources."
        )
    return ""


def is_current(root: Path) -> bool:
    """Whether the built extension was made from the sources that are there now."""
    stamp = root / BUILT / STAMP
    return stamp.is_file() and stamp.read_text().strip() == hash_sources(root)


def hash_sources(root: Path) -> str:
    """Hash what the built extension is made from, as ``labextension/stamp.mjs`` does."""
    folder = root / SOURCE
    names = ["package.json", "tsconfig.json", "yarn.lock"]
    for part in ("src", "style"):
        names += [f"{part}/{path.name}" for path in (folder / part).iterdir()]
    digest = hashlib.sha256()
    for name in sorted(names):
        digest.update(f"{name}\0".encode() + (folder / name).read_bytes() + b"\0")
    return digest.hexdigest()


def missing_node() -> str:
    """Say what keeps Node.js from being used here, or nothing."""
    node = shutil.which("node")
    if node is None:
        return "Node.js was not found"
    answer = subprocess.run([node, "--version"], capture_output=True, text=True, check=False).stdout
    found = re.match(r"v(\d+)\.(\d+)", answer)
    if found is None or (int(found[1]), int(found[2])) < OLDEST_NODE:
        return f"Node.js {answer.strip()} is too old"
    return ""


def read_package(root: Path) -> dict[str, Any]:
    """Read the extension's package.json."""
    package: dict[str, Any] = json.loads((root / SOURCE / "package.json").read_text("utf-8"))
    return package
