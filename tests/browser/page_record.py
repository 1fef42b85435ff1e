"""What a page did besides what it showed: complaints, traffic, frames.

`PageRecord` listens to a Playwright page and keeps whatever a good page does not do. `Measurement`
holds the numbers that `in_page.js` counts. Neither knows notebooks, cells or the product.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from playwright.sync_api import ConsoleMessage, Dialog, Error, Page, Request

_LOCAL_SCHEMES: Final = frozenset({"data", "blob", "about"})
_LOCAL_HOSTS: Final = frozenset({"127.0.0.1", "localhost"})
# Notebook 7.6 may hear of a changed plugin before its keyboard shortcuts are loaded.
_OWN_ERRORS: Final = (("Cannot read properties of undefined (reading 'schema')", "notebook_core"),)
LONG_FRAME_MS: Final = 50.0


@dataclass
class PageRecord:
    """Everything a page did that a good page does not do, in the order it happened.

    Attributes:
        console: All console messages as `(type, text)`; the errors among them are problems.
        page_errors: Exceptions that nothing caught, except a known one of Notebook itself.
        dialogs: `alert`, `confirm` and `prompt` boxes; they are dismissed at once.
        violations: Breaches of the reported content policy since the notebook was open.
        foreign_requests: Addresses asked for that are not on this machine.
    """

    console: list[tuple[str, str]] = field(default_factory=list)
    page_errors: list[str] = field(default_factory=list)
    dialogs: list[str] = field(default_factory=list)
    violations: list[str] = field(default_factory=list)
    foreign_requests: list[str] = field(default_factory=list)

    @property
    def console_errors(self) -> list[str]:
        """The texts that the page wrote with `console.error`, and failed requests."""
        return [text for kind, text in self.console if kind == "error"]

    @property
    def problems(self) -> list[str]:
        """All of it as lines; a healthy page has none."""
        kinds = {
            "console error": self.console_errors,
            "page error": self.page_errors,
            "dialog": self.dialogs,
            "content policy": self.violations,
            "foreign request": self.foreign_requests,
        }
        return [f"{kind}: {text}" for kind, texts in kinds.items() for text in texts]

    def listen(self, page: Page) -> None:
        """Starts to record a page; must precede its first navigation."""
        page.on("console", self._on_console)
        page.on("pageerror", self._on_page_error)
        page.on("dialog", self._on_dialog)
        page.on("request", self._on_request)
        page.expose_function("reportViolation", self._on_violation)

    def _on_console(self, message: ConsoleMessage) -> None:
        # Breaches of the reported policy are collected by the page, with the script's sample.
        if "report-only" not in message.text.lower():
            self.console.append((message.type, message.text))

    def _on_page_error(self, error: Error) -> None:
        stack = error.stack or ""
        if any(error.message == text and file in stack for text, file in _OWN_ERRORS):
            return
        self.page_errors.append(f"{error.message}\n{stack}".strip())

    def _on_dialog(self, dialog: Dialog) -> None:
        if dialog.type == "beforeunload":  # an unsaved notebook asks before a reload
            dialog.accept()
            return
        self.dialogs.append(f"{dialog.type}: {dialog.message}")
        dialog.dismiss()

    def _on_violation(self, text: str) -> None:
        self.violations.append(text)

    def _on_request(self, request: Request) -> None:
        parts = urlsplit(request.url)
        if parts.scheme not in _LOCAL_SCHEMES and parts.hostname not in _LOCAL_HOSTS:
            self.foreign_requests.append(request.url)


@dataclass(frozen=True)
class Traffic:
    """Messages in one direction on the kernel's websocket."""

    messages: int = 0
    size: int = 0

    def __add__(self, other: Traffic) -> Traffic:
        return Traffic(self.messages + other.messages, self.size + other.size)


@dataclass
class Measurement:
    """What was counted in the page between the start and the end of a `measured` block.

    Attributes:
        received: Traffic from the kernel by message type; sizes are in bytes.
        sent: Traffic to the kernel by message type.
        frames: Milliseconds between two frames, in order.
        long_tasks: Milliseconds of each task of more than 50 ms on the page's main thread.
    """

    received: dict[str, Traffic] = field(default_factory=dict)
    sent: dict[str, Traffic] = field(default_factory=dict)
    frames: list[float] = field(default_factory=list)
    long_tasks: list[float] = field(default_factory=list)

    @property
    def total_received(self) -> Traffic:
        """All traffic from the kernel."""
        return sum(self.received.values(), Traffic())

    @property
    def total_sent(self) -> Traffic:
        """All traffic to the kernel."""
        return sum(self.sent.values(), Traffic())

    @property
    def frames_per_second(self) -> float:
        """Frames over the time they took."""
        total = sum(self.frames)
        return 1000 * len(self.frames) / total if total else 0.0

    @property
    def long_frames(self) -> int:
        """How many frames a user could see stutter."""
        return sum(length > LONG_FRAME_MS for length in self.frames)

    def frame_percentile(self, percent: float) -> float:
        """The frame time that `percent` of all frames do not exceed."""
        ordered = sorted(self.frames)
        if not ordered:
            return 0.0
        return ordered[min(len(ordered) - 1, int(len(ordered) * percent / 100))]

    def fill(self, counted: dict[str, Any]) -> None:
        """Takes over what the page counted."""
        self.received = {kind: Traffic(*pair) for kind, pair in counted["received"].items()}
        self.sent = {kind: Traffic(*pair) for kind, pair in counted["sent"].items()}
        self.frames = counted["frames"]
        self.long_tasks = counted["longTasks"]
