"""The page as a reader sees it: the module that a view sends, on a DOM in a Node.js process.

One process serves all pages of a test session, line by line (`tests/widgets/page/page_server.js`).
"""

from __future__ import annotations

import atexit
import itertools
import json
import subprocess
import threading
import weakref
from html.parser import HTMLParser
from pathlib import Path
from typing import Any, Final

from acp_notebook.widgets.static_files import join_modules

FOLDER: Final = Path(__file__).resolve().parents[1] / "widgets"


class PageServer:
    """The process in which the pages are."""

    def __init__(self) -> None:
        if not (FOLDER / "node_modules").is_dir():
            raise FileNotFoundError(f"{FOLDER}/node_modules is missing: run scripts/develop")
        command = ["node", FOLDER / "page" / "page_server.js"]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self._lock = threading.Lock()
        self._numbers = itertools.count()
        self._dropped: list[int] = []
        self._write(join_modules("turn_view.js"))

    def open(self, page: PageModel) -> int:
        """A number for a page, which goes when the page does."""
        number = next(self._numbers)
        # A finalizer may run while the lock is held: it only leaves a note.
        weakref.finalize(page, self._dropped.append, number)
        return number

    def perform(self, page: int, operations: list[dict[str, Any]]) -> None:
        """Send a message to a page; only who reads waits for the page."""
        with self._lock:
            dropped = [self._dropped.pop() for _ in range(len(self._dropped))]
            self._write({"page": page, "ops": operations, "drop": dropped})

    def read(self, page: int) -> dict[str, Any]:
        with self._lock:
            self._write({"page": page, "ops": None, "drop": []})
            assert self._process.stdout is not None
            line = self._process.stdout.readline()
        assert line, "The pages' process has ended; what it wrote to stderr says why."
        answer: dict[str, Any] = json.loads(line)
        assert "error" not in answer, answer["error"]
        return answer

    def _write(self, value: Any) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(value).encode() + b"\n")
        self._process.stdin.flush()

    def close(self) -> None:
        self._process.communicate()


# Started when a test file is imported: the tests themselves start no process.
PAGES: Final = PageServer()
atexit.register(PAGES.close)


class PageModel:
    """A page that obeys operations; a slot or an entry that does not exist is a mistake here."""

    def __init__(self) -> None:
        self._number = PAGES.open(self)

    def obey(self, operations: list[dict[str, Any]]) -> PageModel:
        PAGES.perform(self._number, operations)
        return self

    @property
    def said(self) -> list[str]:
        """What a screen reader has read out."""
        said: list[str] = self._read()["said"]
        return said

    @property
    def entries(self) -> dict[str, tuple[str, str]]:
        """Kind and HTML of every entry, in their order."""
        return {ident: (kind, html) for ident, kind, html in self._read()["entries"]}

    @property
    def html(self) -> dict[str, str]:
        """Every entry, and the first and last line."""
        found = self._read()
        return {ident: html for ident, _, html in found["entries"]} | found["lines"]

    @property
    def text(self) -> str:
        """What a reader would see."""
        return " ".join(visible_text("".join(self.html.values())).split())

    def _read(self) -> dict[str, Any]:
        return PAGES.read(self._number)


def visible_text(html: str) -> str:
    class Reader(HTMLParser):
        found: list[str]

        def __init__(self) -> None:
            super().__init__()
            self.found = []

        def handle_data(self, data: str) -> None:
            self.found.append(data)

    reader = Reader()
    reader.feed(html)
    return " ".join(reader.found)
