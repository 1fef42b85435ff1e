"""How far down each test reaches, and in how many processes a run works.

Levels are given here by folder, file or fixture, so that no test needs a decorator. A test that
reaches further down than its level says fails, by the interpreter's own audit events. Knows nothing
of what is tested.
"""

from __future__ import annotations

import functools
import gc
import os
import re
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pytest
from hypothesis import HealthCheck, settings

if TYPE_CHECKING:
    from collections.abc import Iterator

# No example fails by its time: the machine may be slow.
settings.register_profile("steady", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("steady")

HERE: Final = Path(__file__).parent
# From the top down; `pyproject.toml` says what each means.
LEVELS: Final = ("pure", "memory", "shell", "process", "kernel", "browser")
# The longest path that fits wins.
LEVEL_OF_PATH: Final = {
    "": "pure",
    "agent_kit": "memory",
    "agent_kit/test_file_change.py": "process",
    "agent_kit/test_stdio.py": "process",
    "agent_kit/test_tool_server.py": "process",
    "agents": "process",
    "browser": "browser",
    "client": "memory",
    "client/connection/test_agent_connection.py": "process",
    "client/connection/test_remote.py": "process",
    "client/connection/test_stdio_process.py": "process",
    "client/process": "process",
    "client/serving": "process",
    "client/test_login.py": "process",
    "conformance": "memory",
    "conformance/test_received.py": "process",
    "demo_agent": "memory",
    "demo_agent/test_data.py": "process",
    "demo_agent/test_official_sdk.py": "process",
    "jsonrpc": "memory",
    "kernel": "process",
    "kernel/context": "shell",
    "kernel/magic/test_arguments.py": "shell",
    "kernel/views": "shell",
    "kernel/views/test_terminal_cell.py": "process",
    "labextension": "process",
    "notebooks": "kernel",
    "real_agents": "process",
    # These show what the page makes of it, in a process of Node.js.
    "render/entries/test_elicitation.py": "process",
    "render/entries/test_live_entry.py": "process",
    "render/test_document.py": "process",
    "render/test_hostile_text.py": "process",
    "render/test_record.py": "process",
    "test_imports.py": "process",
    "widgets/test_static_files.py": "process",
}
LEVEL_OF_FIXTURE: Final = {
    "kernel": "kernel",
    "official_sdk": "process",
    "shared_agents": "process",
    "start": "process",
}
PROCESS_EVENTS: Final = frozenset(
    ("subprocess.Popen", "os.fork", "os.forkpty", "os.posix_spawn", "os.system")
)
SOCKET_EVENTS: Final = frozenset(("socket.bind", "socket.connect"))
LOOP_EVENTS: Final = frozenset(("socket.__new__",))  # an event loop wakes itself by a pair of them
FORBIDDEN: Final = {
    "pure": PROCESS_EVENTS | SOCKET_EVENTS | LOOP_EVENTS,
    "memory": PROCESS_EVENTS | SOCKET_EVENTS,
    "shell": PROCESS_EVENTS | SOCKET_EVENTS,
}


class Guard:
    """Fails what the running test must not do."""

    def __init__(self) -> None:
        self.level = ""

    def __call__(self, event: str, args: tuple[Any, ...]) -> None:
        if event in FORBIDDEN.get(self.level, ()):
            message = f"a test of level `{self.level}` caused {event}{args!r}: see {__file__}"
            self.level = ""  # once is enough: the report of it may read files and more
            raise RuntimeError(message)


GUARD: Final = Guard()
sys.addaudithook(GUARD)


@functools.cache
def level_of_path(path: Path) -> str:
    """The level of a test file, or of a folder's files unless they are listed themselves."""
    name = path.relative_to(HERE).as_posix()
    fits = [key for key in LEVEL_OF_PATH if not key or f"{name}/".startswith(f"{key}/")]
    return LEVEL_OF_PATH[max(fits, key=len)]


def level_of(item: pytest.Item) -> str:
    """The level of a test: the lowest of its file's, its fixtures' and its own markers'."""
    fixtures: list[str] = getattr(item, "fixturenames", [])
    found = [LEVEL_OF_FIXTURE[name] for name in fixtures if name in LEVEL_OF_FIXTURE]
    found += [mark.name for mark in item.iter_markers() if mark.name in LEVELS]
    return max([level_of_path(item.path), *found], key=LEVELS.index)


# Hundreds of agents and kernels start in a run; each would compile the package anew.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False


def pytest_configure(config: pytest.Config) -> None:
    """Makes Ctrl-C arrive in what tests start, also in a shell's background job."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def chosen_levels(config: pytest.Config) -> set[str]:
    """The levels that `-m "a or b"` names; all of them where it says anything else."""
    named = set(re.split(r"\s+or\s+", config.option.markexpr.strip()))
    return named if named.issubset(LEVELS) else set(LEVELS)


def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:
    """This process alone for single files; one more than processors where tests wait."""
    if all(Path(argument.partition("::")[0]).is_file() for argument in config.args):
        return 0
    return (os.cpu_count() or 1) + (not chosen_levels(config) <= {"pure", "memory"})


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leaves out what is too deep for `-m` as a whole: importing it takes seconds."""
    name = collection_path.relative_to(HERE).as_posix()
    below = [level for key, level in LEVEL_OF_PATH.items() if key.startswith(f"{name}/")]
    shallowest = min([level_of_path(collection_path), *below], key=LEVELS.index)
    deepest = max(chosen_levels(config), key=LEVELS.index)
    return True if LEVELS.index(shallowest) > LEVELS.index(deepest) else None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Marks each test with its level."""
    for item in items:
        item.add_marker(level_of(item))


def pytest_collection_finish() -> None:
    """Spares the collector what was imported: IPython runs it whenever a shell is reset."""
    gc.collect()
    gc.freeze()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[Any]:
    """Watches a test and the beginning of its fixtures."""
    GUARD.level = level_of(item)
    try:
        return (yield)
    finally:
        GUARD.level = ""


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_teardown() -> None:
    """Watches no teardown: the fixtures of a whole folder may end with somebody else's test."""
    GUARD.level = ""
