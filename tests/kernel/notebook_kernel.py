"""A kernel as a notebook drives it: cells with ids, somebody who can click, live views.

Keeps what each cell displayed and what its views were sent, and presses buttons as a page does.
Knows no agent.
"""

from __future__ import annotations

import re
from collections import defaultdict
from typing import Any, NamedTuple

from kernelspecs import KernelUnderTest

WIDGET = "application/vnd.jupyter.widget-view+json"
_BUTTON = re.compile(
    r'<button[^>]*data-act="answer" data-id="(?P<ident>\w+)" data-n="(?P<number>\d+)"'
)


class Button(NamedTuple):
    """A button of an open question, in the view of a cell."""

    view: str
    ident: str
    number: int


class NotebookKernel(KernelUnderTest):
    """One running kernel with a notebook in front of it."""

    def __init__(self, manager: Any, client: Any) -> None:
        super().__init__(manager, client)
        self.bundles: dict[str, dict[str, dict[str, Any]]] = defaultdict(dict)
        """By cell: each of its displays, by display id, as it stands."""
        self._cell_of_display: dict[str, str] = {}
        self._entries: dict[str, dict[str, str]] = defaultdict(dict)
        self._slots: dict[str, dict[str, str]] = defaultdict(dict)
        self._revisions: dict[tuple[str, str], int | None] = {}

    def send(self, code: str) -> str:
        """Send a cell as a notebook does; return its id at once."""
        content = {
            "code": code,
            "silent": False,
            "store_history": True,
            "user_expressions": {},
            "allow_stdin": True,
            "stop_on_error": False,
        }
        message = self.client.session.msg("execute_request", content)
        message["metadata"] = {"cellId": f"cell-{message['header']['msg_id']}"}
        self.client.shell_channel.send(message)
        self._cells.add(message["header"]["msg_id"])
        return message["header"]["msg_id"]

    def text_of(self, cell: str) -> str:
        """What a cell printed and displayed, as text."""
        shown = [bundle.get("text/plain", "") for bundle in self.bundles[cell].values()]
        return "\n".join([self.record.text[cell], *shown])

    def views_of(self, cell: str) -> list[str]:
        """The live views that stand in a cell."""
        bundles = self.bundles[cell].values()
        return [bundle[WIDGET]["model_id"] for bundle in bundles if WIDGET in bundle]

    def html_of(self, cell: str) -> str:
        """What the live views of a cell show."""
        views = self.views_of(cell)
        return "".join(
            "".join([*self._slots[view].values(), *self._entries[view].values()]) for view in views
        )

    def buttons(self, cell: str) -> list[Button]:
        """The buttons of the open questions in a cell, in order."""
        return [
            Button(view, match["ident"], int(match["number"]))
            for view in self.views_of(cell)
            for html in self._entries[view].values()
            for match in _BUTTON.finditer(html)
        ]

    def until_asked(self, cell: str) -> list[Button]:
        """Wait until a question stands in a cell with its buttons."""
        self.until(lambda _: bool(self.buttons(cell)), f"question in the cell {cell}")
        return self.buttons(cell)

    def click(self, button: Button) -> None:
        """Press a button, as the page does."""
        revision = self._revisions[button.view, button.ident]
        act = {"t": "act", "act": "answer", "id": button.ident, "n": button.number, "rev": revision}
        message = self.send_comm(button.view, {"method": "custom", "content": act})
        self.until_idle([message])

    def _take(self, message: dict[str, Any]) -> None:
        super()._take(message)
        content = message["content"]
        match message["msg_type"]:
            case "display_data" | "execute_result":
                parent = message["parent_header"].get("msg_id", "")
                display = content.get("transient", {}).get("display_id") or f"d{len(self.bundles)}"
                self._cell_of_display[display] = parent
                self.bundles[parent][display] = content["data"]
            case "update_display_data":
                display = content["transient"]["display_id"]
                self.bundles[self._cell_of_display[display]][display] = content["data"]
            case "comm_msg" if content["data"].get("method") == "custom":
                for operation in content["data"]["content"].get("ops", ()):
                    self._obey(content["comm_id"], operation)

    def _obey(self, view: str, operation: dict[str, Any]) -> None:
        match operation["op"]:
            case "clear":
                self._entries[view].clear()
                self._slots[view].clear()
            case "put":
                self._entries[view][operation["id"]] = operation["html"]
                self._revisions[view, operation["id"]] = operation.get("rev")
            case "del":
                self._entries[view].pop(operation["id"], None)
            case "set" | "add":
                before = self._slots[view].get(operation["slot"], "")
                kept = before if operation["op"] == "add" else ""
                self._slots[view][operation["slot"]] = kept + operation["html"]
