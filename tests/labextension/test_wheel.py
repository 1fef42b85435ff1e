"""The JupyterLab extension in the package: one version, a current build, what a wheel carries."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
from pathlib import Path
from typing import Any, Final
from zipfile import ZipFile

import pytest

REPOSITORY: Final = Path(__file__).resolve().parents[2]
SOURCE: Final = REPOSITORY / "labextension"
BUILT: Final = REPOSITORY / "acp_notebook" / "labextension"
SHARE: Final = "share/jupyter/labextensions/acp-notebook"
NOT_BUILT: Final = (
    "The JupyterLab extension is not built from the present sources: "
    "install Node.js 20.19 or later and run `pip install -e . --no-deps`"
)


def read(path: Path) -> Any:
    return json.loads(path.read_text("utf-8"))


def load_build_hook() -> Any:
    spec = importlib.util.spec_from_file_location("hatch_build", REPOSITORY / "hatch_build.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


HATCH_BUILD: Final = load_build_hook()


class Notices:
    """Stands in for hatch's terminal."""

    def __init__(self) -> None:
        self.warnings: list[str] = []

    def display_warning(self, text: str) -> None:
        self.warnings.append(text)


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the extension's sources, not built, on a machine without Node.js."""
    monkeypatch.setenv("PATH", str(tmp_path / "no-programs"))
    monkeypatch.delenv("ACP_NOTEBOOK_LABEXTENSION", raising=False)
    ignored = shutil.ignore_patterns("node_modules", "lib")
    shutil.copytree(SOURCE, tmp_path / "tree" / "labextension", ignore=ignored)
    return tmp_path / "tree"


def pretend_built(tree: Path) -> None:
    built = tree / "acp_notebook" / "labextension"
    built.mkdir(parents=True)
    (built / "sources.sha256").write_text(HATCH_BUILD.hash_sources(tree) + "\n")


def run_hook(tree: Path, target: str = "wheel") -> tuple[dict[str, Any], list[str]]:
    """What the hook adds to a build, and its notices."""
    notices = Notices()
    hook = HATCH_BUILD.LabextensionBuildHook(
        str(tree), {}, None, None, str(tree / "dist"), target, notices
    )
    build_data: dict[str, Any] = {"shared_data": {}, "artifacts": []}
    hook.initialize("standard", build_data)
    return build_data, notices.warnings


def hatchling_build(target: str, folder: Path) -> Path:
    """Builds from the tree as it is; never compiles, since Node.js is not found."""
    environment = {**os.environ, "PATH": str(folder), "ACP_NOTEBOOK_LABEXTENSION": "require"}
    command = [sys.executable, "-m", "hatchling", "build", "-t", target, "-d", str(folder)]
    done = subprocess.run(
        command, cwd=REPOSITORY, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, f"{NOT_BUILT}\n{done.stderr}"
    (package,) = folder.iterdir()
    return package


def test_package_takes_its_version_from_the_extension() -> None:
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text("utf-8"))
    source = project["tool"]["hatch"]["version"]
    found = re.findall(source["pattern"], (REPOSITORY / source["path"]).read_text("utf-8"))
    assert "version" in project["project"]["dynamic"]
    assert found == [read(SOURCE / "package.json")["version"]]


def test_install_file_names_the_package_that_owns_the_extension() -> None:
    install = read(SOURCE / "install.json")
    assert install["packageManager"] == "python"
    assert install["packageName"] == "acp_notebook"


def test_lock_file_names_no_registry() -> None:
    assert "http" not in (SOURCE / "yarn.lock").read_text("utf-8")


def test_built_extension_is_current() -> None:
    assert HATCH_BUILD.is_current(REPOSITORY), NOT_BUILT


def test_built_extension_declares_the_plugin() -> None:
    assert (BUILT / "package.json").is_file(), NOT_BUILT
    package = read(BUILT / "package.json")
    build = package["jupyterlab"]["_build"]
    assert package["version"] == read(SOURCE / "package.json")["version"]
    assert build["extension"] == "./extension"
    assert build["style"] == "./style"
    assert (BUILT / build["load"]).is_file()
    scripts = [path.read_text("utf-8") for path in (BUILT / "static").glob("*.js")]
    assert any("acp-notebook:prompt-cells" in script for script in scripts)


def test_built_extension_brings_no_editor_of_its_own() -> None:
    assert (BUILT / "static").is_dir(), NOT_BUILT
    assert sum(path.stat().st_size for path in (BUILT / "static").iterdir()) < 40_000


def test_wheel_carries_the_extension_once(tmp_path: Path) -> None:
    with ZipFile(hatchling_build("wheel", tmp_path)) as wheel:
        names = wheel.namelist()
    version = read(SOURCE / "package.json")["version"]
    share = f"acp_notebook-{version}.data/data/{SHARE}"
    assert f"{share}/package.json" in names
    assert f"{share}/install.json" in names
    assert f"{share}/{read(BUILT / 'package.json')['jupyterlab']['_build']['load']}" in names
    assert not [name for name in names if name.startswith("acp_notebook/labextension")]


def test_wheel_carries_the_page(tmp_path: Path) -> None:
    static = REPOSITORY / "acp_notebook" / "widgets" / "static"
    with ZipFile(hatchling_build("wheel", tmp_path)) as wheel:
        names = set(wheel.namelist())
    assert {path.relative_to(REPOSITORY).as_posix() for path in static.iterdir()} <= names


def test_sdist_carries_sources_and_build_but_no_dependencies(tmp_path: Path) -> None:
    with tarfile.open(hatchling_build("sdist", tmp_path)) as sdist:
        names = {name.partition("/")[2] for name in sdist.getnames()}
    assert {"hatch_build.py", "labextension/src/index.ts", "labextension/yarn.lock"} <= names
    assert {"labextension/stamp.mjs", "acp_notebook/labextension/package.json"} <= names
    assert not [name for name in names if "node_modules" in name or "labextension/lib" in name]


@pytest.mark.parametrize("name", ["src/index.ts", "style/base.css", "package.json", "yarn.lock"])
def test_changed_source_makes_the_build_old(tree: Path, name: str) -> None:
    pretend_built(tree)
    assert HATCH_BUILD.is_current(tree)
    with (tree / "labextension" / name).open("a") as source:
        source.write("\n")
    assert not HATCH_BUILD.is_current(tree)


@pytest.mark.parametrize("change", ["add", "remove", "rename"])
def test_other_set_of_sources_makes_the_build_old(tree: Path, change: str) -> None:
    pretend_built(tree)
    source = tree / "labextension" / "src" / "prompt_text.ts"
    match change:
        case "add":
            source.with_name("more.ts").touch()
        case "remove":
            source.unlink()
        case _:
            source.rename(source.with_name("more.ts"))
    assert not HATCH_BUILD.is_current(tree)


def test_current_build_goes_into_the_wheel_without_node(tree: Path) -> None:
    pretend_built(tree)
    build_data, notices = run_hook(tree)
    assert build_data["shared_data"] == {
        "acp_notebook/labextension": SHARE,
        "labextension/install.json": f"{SHARE}/install.json",
    }
    assert notices == []


def test_current_build_goes_into_the_sdist(tree: Path) -> None:
    pretend_built(tree)
    assert run_hook(tree, "sdist")[0]["artifacts"] == ["acp_notebook/labextension"]


@pytest.mark.parametrize("old_build", [False, True])
def test_without_node_the_package_is_built_without_the_extension(
    tree: Path, *, old_build: bool
) -> None:
    if old_build:
        pretend_built(tree)
        (tree / "labextension" / "src" / "more.ts").touch()
    build_data, notices = run_hook(tree)
    assert build_data == {"shared_data": {}, "artifacts": []}
    (notice,) = notices
    assert "Node.js was not found" in notice
    assert "everything else works" in notice


def test_release_fails_without_node(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ACP_NOTEBOOK_LABEXTENSION", "require")
    with pytest.raises(RuntimeError, match=r"cannot be built: Node\.js was not found"):
        run_hook(tree)


def test_extension_can_be_left_out(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pretend_built(tree)
    monkeypatch.setenv("ACP_NOTEBOOK_LABEXTENSION", "skip")
    build_data, (notice,) = run_hook(tree)
    assert build_data["shared_data"] == {}
    assert "ACP_NOTEBOOK_LABEXTENSION=skip" in notice


def test_unknown_setting_is_refused(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ACP_NOTEBOOK_LABEXTENSION", "no")
    with pytest.raises(ValueError, match="may be auto, require or skip"):
        run_hook(tree)


def test_old_node_is_as_good_as_none(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    programs = tree.parent / "old-programs"
    programs.mkdir()
    node = programs / "node"
    node.write_text("#!/bin/sh\necho v18.20.4\n")
    node.chmod(0o755)
    monkeypatch.setenv("PATH", str(programs))
    _, (notice,) = run_hook(tree)
    assert "Node.js v18.20.4 is too old" in notice
