"""The page as far as the kernel can know it: entries, slots, and what operations do to them."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from typing import Any

LINES = ("head", "usage", "controls", "now", "earlier", "foot")
SLOT = re.compile(r'<(\w+)([^>]*) data-slot="([^"]+)"></\1>')


class PageModel:
    """Obeys operations as the real page does; a slot that does not exist is a mistake here."""

    def __init__(self) -> None:
        self.entries: dict[str, tuple[str, str]] = {}
        self.slots: dict[str, list[str]] = {name: [] for name in LINES}
        self.said: list[str] = []
        self.wrong: dict[str, dict[str, str]] = {}

    def obey(self, operations: list[dict[str, Any]]) -> PageModel:
        for operation in operations:
            getattr(self, "_" + operation["op"])(operation)
        return self

    def _clear(self, _: dict[str, Any]) -> None:
        self.entries.clear()
        self.slots = {name: self.slots[name] for name in LINES}

    def _put(self, operation: dict[str, Any]) -> None:
        before = self.entries.get(operation["id"])
        if "keep" in operation:
            assert before is not None
            operation = {**operation, "html": spliced(before[1], **operation)}
        names = slot_names(operation["html"])
        if before is not None:
            for name in set(slot_names(before[1])) - set(names):
                self._drop(name)
        self.entries[operation["id"]] = (operation["kind"], operation["html"])
        for name in names:
            self.slots.setdefault(name, [])

    def _drop(self, name: str) -> None:
        for html in self.slots.pop(name):
            for inner in slot_names(html):
                self._drop(inner)

    def _del(self, operation: dict[str, Any]) -> None:
        _, html = self.entries.pop(operation["id"])
        for name in slot_names(html):
            self._drop(name)

    def _set(self, operation: dict[str, Any]) -> None:
        name, html = operation["slot"], operation["html"]
        self._drop(name)
        self.slots[name] = children(html)
        for inner in slot_names(html):
            self.slots[inner] = []

    def _add(self, operation: dict[str, Any]) -> None:
        slot = self.slots[operation["slot"]]
        slot += children(operation["html"])
        if "keep" in operation:
            del slot[: -operation["keep"]]

    def _wrong(self, operation: dict[str, Any]) -> None:
        assert operation["id"] in self.entries
        self.wrong[operation["id"]] = operation["words"]

    def _say(self, operation: dict[str, Any]) -> None:
        self.said.append(operation["text"])

    def fill(self, html: str) -> str:
        def filled(match: re.Match[str]) -> str:
            tag, attributes, name = match.groups()
            content = self.fill("".join(self.slots[name]))
            return f"<{tag}{attributes} data-slot={name}>{content}</{tag}>"

        return SLOT.sub(filled, html)

    @property
    def html(self) -> dict[str, str]:
        """Every entry with its slots filled, and the first and last line."""
        found = {ident: self.fill(html) for ident, (_, html) in self.entries.items()}
        return found | {name: "".join(self.slots[name]) for name in LINES}

    @property
    def text(self) -> str:
        """What a reader would see."""
        return " ".join(visible_text("".join(self.html.values())).split())


def slot_names(html: str) -> list[str]:
    return [match[3] for match in SLOT.finditer(html)]


def children(html: str) -> list[str]:
    """Top-level children; only lines of a terminal are ever counted, and they are plain."""
    return re.findall(r"<div>.*?</div>", html, re.DOTALL) if html.startswith("<div>") else [html]


def spliced(before: str, *, html: str, keep: list[int], **_: Any) -> str:
    """The page's HTML of an entry of which only the middle came; a page counts in UTF-16."""
    had = before.encode("utf-16-le")
    start, end = keep
    parts = (had[: 2 * start], html.encode("utf-16-le"), had[len(had) - 2 * end :])
    return b"".join(parts).decode("utf-16-le")


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
