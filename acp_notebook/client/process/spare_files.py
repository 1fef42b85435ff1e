"""A few open files in reserve, so that processes can be ended when no file can be opened any more.

Looking up a process and its children reads files. Knows no process.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress

COUNT = 4
_spare: list[int] = []


def keep_spare_files() -> None:
    """Fill the reserve, as far as files can be opened."""
    with suppress(OSError):
        while len(_spare) < COUNT:
            _spare.append(os.open(os.devnull, os.O_RDONLY))


@contextmanager
def spare_files() -> Iterator[None]:
    """Let the block use the reserve; on any thread."""
    with suppress(IndexError):  # another thread may use it too
        while True:
            os.close(_spare.pop())
    try:
        yield
    finally:
        keep_spare_files()
