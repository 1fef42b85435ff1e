"""Fixtures of the browser suite; run it alone, with `pytest tests/browser`.

Playwright's synchronous interface keeps an event loop running in the main thread, which the
asynchronous tests of the other folders cannot share; so a run that does not name this folder
leaves it out. There is one Chromium and one server per application for the whole run, and one tab
and one kernel per test.

A test that takes `open_notebook` runs in JupyterLab and in Notebook. The application, the kernel
and the way comm messages travel vary on demand:

    @pytest.mark.parametrize("app", ["lab"], indirect=True)
    @pytest.mark.parametrize("kernel", ["current", "6.31"], indirect=True)
    @pytest.mark.parametrize("comms", ["perCommTarget", "disabled"], indirect=True)
    def test_click_is_handled(open_notebook: OpenNotebook) -> None: ...
"""

from __future__ import annotations

import itertools
import os
import re
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Protocol

import pytest
from jupyter_app import KERNEL_SETTINGS, AppName, JupyterApp, KernelSpec, Settings
from notebook_page import REPOSITORY, NotebookPage
from playwright.sync_api import Error, sync_playwright

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator, Sequence

    from playwright.sync_api import Browser

HERE: Final = Path(__file__).resolve().parent
TEST_SECONDS: Final = 300
OTHER_KERNELS: Final = {"6.31": REPOSITORY / ".kernels" / "6.31.0"}
CHROMIUM: Final = os.environ.get("CHROMIUM", "/usr/bin/chromium")
CHROMIUM_ARGS: Final = [
    "--no-sandbox",  # root in a container has no sandbox to enter
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-domain-reliability",
    "--disable-sync",
    "--no-first-run",
    "--no-pings",
    "--disable-background-timer-throttling",
    "--disable-backgrounding-occluded-windows",
    "--disable-renderer-backgrounding",
]
PAGES: Final = pytest.StashKey[list[NotebookPage]]()


class OpenNotebook(Protocol):
    """Writes a notebook with these cells and opens it, with a kernel."""

    def __call__(
        self, cells: Sequence[str], *, width: int = 1300, settings: Settings | None = None
    ) -> NotebookPage: ...


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leaves the folder out of a run that does not name it."""
    named = [Path(config.invocation_params.dir, arg.split("::")[0]) for arg in config.args]
    if any(path.resolve().is_relative_to(HERE) for path in named):
        return None
    return True if collection_path.is_relative_to(HERE) else None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Gives the tests of this folder time for slow machines."""
    for item in items:
        if item.path.is_relative_to(HERE) and item.get_closest_marker("timeout") is None:
            item.add_marker(pytest.mark.timeout(TEST_SECONDS))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item,
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Adds the page, its screenshot and the server's log to the report of a failure."""
    report = yield
    if report.failed and report.when != "teardown":
        for page in item.stash.get(PAGES, []):
            report.sections.append(("the page", _describe(page, item.name)))
            report.sections.append(("end of the server's log", page.app.log_tail()))
    return report


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    """The browser of the whole run."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=CHROMIUM_ARGS)
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[JupyterApp]:
    """JupyterLab, for the whole run."""
    with JupyterApp("lab", tmp_path_factory.mktemp("lab"), _kernels()) as app:
        yield app


@pytest.fixture(scope="session")
def notebook(tmp_path_factory: pytest.TempPathFactory) -> Iterator[JupyterApp]:
    """Notebook 7, for the whole run."""
    with JupyterApp("notebook", tmp_path_factory.mktemp("notebook"), _kernels()) as app:
        yield app


@pytest.fixture(scope="session", params=["lab", "notebook"])
def app(request: pytest.FixtureRequest) -> JupyterApp:
    """Each application in turn."""
    name: AppName = request.param
    app: JupyterApp = request.getfixturevalue(name)
    return app


@pytest.fixture
def kernel(request: pytest.FixtureRequest) -> str:
    """The kernel of the test's notebooks: `current`, or the indirect parameter."""
    name: str = getattr(request, "param", "current")
    folder = OTHER_KERNELS.get(name)
    if folder is not None and not (folder / "ipykernel").is_dir():
        pytest.fail(f"ipykernel {name} is not unpacked: run scripts/kernels to fill {folder}")
    return name


@pytest.fixture
def comms(request: pytest.FixtureRequest) -> str:
    """How comm messages travel: by subshells as is the default, or the indirect parameter."""
    return str(getattr(request, "param", "perCommTarget"))


@pytest.fixture
def open_notebook(
    request: pytest.FixtureRequest, chromium: Browser, app: JupyterApp, kernel: str, comms: str
) -> Iterator[OpenNotebook]:
    """Opens notebooks in each application; ends their kernels after the test."""
    pages: list[NotebookPage] = []
    request.node.stash[PAGES] = pages
    stem = re.sub(r"\W+", "-", request.node.name).strip("-")
    numbers = itertools.count(1)

    def open_one(
        cells: Sequence[str], *, width: int = 1300, settings: Settings | None = None
    ) -> NotebookPage:
        app.use_settings({KERNEL_SETTINGS: {"commsOverSubshells": comms}} | (settings or {}))
        name = f"{stem}-{next(numbers)}.ipynb"
        app.write_notebook(name, cells, kernel=kernel)
        page = NotebookPage(app, context, name, width)
        pages.append(page)
        page.open()
        return page

    context = chromium.new_context()
    try:
        yield open_one
    finally:
        context.close()
        for page in pages:
            app.end_session(page.name)


def _kernels() -> list[KernelSpec]:
    """The kernels on offer; all of them can import the product, installed or not."""
    product: tuple[Path, ...] = ()
    try:
        distribution("acp_notebook")
    except PackageNotFoundError:
        product = (REPOSITORY,)
    others = [
        KernelSpec(name, python_path=(folder, *product)) for name, folder in OTHER_KERNELS.items()
    ]
    return [KernelSpec("current", python_path=product), *others]


def _describe(page: NotebookPage, test: str) -> str:
    name = re.sub(r"\W+", "-", f"failed-{test}").strip("-")
    lines: list[Any] = []
    with suppress(Error, AttributeError):  # the tab may be closed, or was never opened
        lines.append(page.diagnosis())
        lines.append(page.screenshot(name))
    return "\n".join(map(str, lines))
