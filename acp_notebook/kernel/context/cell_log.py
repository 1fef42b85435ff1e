"""The log of this kernel's cells: their sources, outputs and the last error, within bounds.

A kernel does not keep rich output, so a hook of the display publisher does. Printed text comes from
IPython's history (since version 9), values from `Out`. The log is installed with the extension, so
this module imports the standard library only. Knows no agent: only what a prompt names is sent.
"""

from __future__ import annotations

import contextlib
import re
import time
import traceback
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell

KEPT_CELLS = 60
KEPT_OUTPUTS = 30
KEPT_CHARS = 24_000_000
# One MIME bundle; base64 makes an image a third longer.
OUTPUT_CHARS = 3_000_000
TRACEBACK_FRAMES = 60
# The types that are kept of a bundle: those that can be sent to an agent.
_MIMES = ("image/png", "image/jpeg", "text/markdown", "text/latex", "text/plain", "text/html")
_OURS = re.compile(r"\s*%{1,2}(?:acp|load_ext|reload_ext|unload_ext)\b")
_ANSI = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)")


@dataclass(slots=True)
class Output:
    """One output of a cell: its kind (stream, display or result) and its MIME bundle."""

    kind: str
    bundle: dict[str, Any]
    display_id: str | None = None

    @property
    def size(self) -> int:
        """The length of the bundle in characters."""
        return sum(len(data) for data in self.bundle.values() if isinstance(data, str))


@dataclass(frozen=True, slots=True)
class CellError:
    """An error that ended a cell."""

    count: int | None
    source: str
    name: str
    traceback: str = field(repr=False)


class CellLog:
    """Records the cells of one shell, from `install` to `remove`."""

    def __init__(self, shell: InteractiveShell) -> None:
        self._shell = shell
        self._displays: OrderedDict[int, list[Output]] = OrderedDict()
        self._chars = 0
        self.last_error: CellError | None = None
        """The last error of a cell that was not a command of this extension."""
        # Running cells, the innermost last; the one that loads the extension has begun already.
        self._running: list[int] = [shell.execution_count - 1]
        self.began_at = 0.0
        """When the last cell began, as `time.time()` counts."""

    def install(self) -> None:
        """Register the callbacks and the display hook."""
        self._shell.events.register("pre_run_cell", self._cell_starts)
        self._shell.events.register("post_run_cell", self._cell_ends)
        if self._has_hook:
            self._publisher.register_hook(self._note_display)

    def remove(self) -> None:
        """Unregister the callbacks and the display hook."""
        for event, callback in (
            ("pre_run_cell", self._cell_starts),
            ("post_run_cell", self._cell_ends),
        ):
            if callback in self._shell.events.callbacks[event]:
                self._shell.events.unregister(event, callback)
        if self._has_hook:
            self._publisher.unregister_hook(self._note_display)

    @property
    def _publisher(self) -> Any:
        return self._shell.display_pub

    @property
    def _has_hook(self) -> bool:
        # A terminal's publisher has no hooks; there IPython itself keeps what is displayed.
        return hasattr(self._publisher, "register_hook")

    @property
    def running(self) -> int | None:
        """The number of the running cell."""
        return self._running[-1] if self._running else None

    @property
    def sources(self) -> dict[int, str]:
        """The sources of the cells that have ended, by cell number."""
        manager = self._shell.history_manager
        history: list[str] = [] if manager is None else manager.input_hist_raw
        return {
            count: source
            for count, source in enumerate(history)
            if count and count not in self._running and source.strip()
        }

    @property
    def last_cell(self) -> int | None:
        """The number of the last cell that was not a command of this extension."""
        own = (n for n, source in reversed(self.sources.items()) if not _OURS.match(source))
        return next(own, None)

    def outputs_of(self, count: int) -> list[Output]:
        """Return the outputs of a cell: printed text, displays and its value."""
        kept = self._kept_by_ipython(count)
        if not self._has_hook:
            return kept
        printed = [output for output in kept if output.kind == "stream"]
        results = [output for output in kept if output.kind == "result"]
        return [*printed, *self._displays.get(count, ()), *results]

    @property
    def keeps_printed_text(self) -> bool:
        """Whether printed text is kept; IPython before 9 does not keep it."""
        return hasattr(self._shell.history_manager, "outputs")

    def error_of(self, count: int) -> CellError | None:
        """Return the error of this cell; only the last error is kept."""
        error = self.last_error
        return error if error is not None and error.count == count else None

    def _kept_by_ipython(self, count: int) -> list[Output]:
        manager: Any = self._shell.history_manager
        if hasattr(manager, "outputs"):
            return [
                Output(_KINDS.get(each.output_type, "display"), _plain_bundle(each.bundle))
                for each in manager.outputs.get(count, ())
            ]
        text = getattr(manager, "output_hist_reprs", {}).get(count)
        return [] if text is None else [Output("result", {"text/plain": str(text)})]

    def _cell_starts(self, info: Any) -> None:
        # Code that is not stored in the history belongs to the cell that runs it.
        own = self._shell.execution_count - 1
        self.began_at = time.time()
        self._running.append(own if info.store_history else self.running or own)

    def _cell_ends(self, result: Any) -> None:
        del self._running[-1:]
        error = result.error_before_exec or result.error_in_exec
        info = getattr(result, "info", None)
        source = str(getattr(info, "raw_cell", "") or "")
        if error is None or _OURS.match(source) or isinstance(error, KeyboardInterrupt):
            return
        if type(error).__name__ != "UsageError":
            self.last_error = CellError(
                result.execution_count, source, type(error).__name__, self._traceback(error)
            )

    def _traceback(self, error: BaseException) -> str:
        try:
            report = traceback.TracebackException.from_exception(error, limit=-TRACEBACK_FRAMES)
            _drop_machinery(report)
            text = "".join(report.format())
        except Exception:  # noqa: BLE001 - a failing `__str__` must not raise here
            text = f"{type(error).__name__} (its own text cannot be shown)"
        cells = getattr(self._shell.compile, "_filename_map", {})
        for filename, count in list(cells.items()):
            text = text.replace(f'File "{filename}"', f"Cell In[{count}]")
        return without_ansi(text).rstrip()

    def _note_display(self, message: dict[str, Any]) -> dict[str, Any]:
        # Every display passes through here: no failure may hold the message back.
        with contextlib.suppress(Exception):
            self._note(message)
        return message

    def _note(self, message: dict[str, Any]) -> None:
        kind = message["header"]["msg_type"]
        if kind == "clear_output":
            self._forget(self.running)
            return
        content = message["content"]
        display_id = content.get("transient", {}).get("display_id")
        bundle = _plain_bundle(content["data"])
        if kind == "update_display_data":
            self._update(display_id, bundle)
        elif kind == "display_data":
            self._add(Output("display", bundle, display_id))

    def _add(self, output: Output) -> None:
        count = self.running if self.running is not None else self._shell.execution_count - 1
        kept = self._displays.setdefault(count, [])
        if len(kept) >= KEPT_OUTPUTS:
            return
        kept.append(output)
        self._chars += output.size
        while len(self._displays) > KEPT_CELLS or (
            self._chars > KEPT_CHARS and len(self._displays) > 1
        ):
            self._forget(next(iter(self._displays)))

    def _update(self, display_id: str | None, bundle: dict[str, Any]) -> None:
        for outputs in self._displays.values():
            for output in outputs:
                if display_id is not None and output.display_id == display_id:
                    self._chars -= output.size
                    output.bundle = bundle
                    self._chars += output.size

    def _forget(self, count: int | None) -> None:
        for output in self._displays.pop(count, []) if count is not None else []:
            self._chars -= output.size


_KINDS = {
    "out_stream": "stream",
    "err_stream": "stream",
    "display_data": "display",
    "execute_result": "result",
}


def without_ansi(text: str) -> str:
    """Return the text without terminal escape sequences."""
    return _ANSI.sub("", text)


def _plain_bundle(data: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parts of a bundle that can be sent to an agent, each as text."""
    if "stream" in data:
        parts = data["stream"]
        return {"text/plain": "".join(parts) if isinstance(parts, list) else str(parts)}
    kept: dict[str, Any] = {}
    for mime in _MIMES:
        value = data.get(mime)
        if isinstance(value, list):
            value = "".join(str(part) for part in value)
        if isinstance(value, bytes):
            import base64

            value = base64.b64encode(value).decode()
        if isinstance(value, str) and (len(value) <= OUTPUT_CHARS or mime.startswith("text/")):
            kept[mime] = value[:OUTPUT_CHARS]
    if "text/markdown" in kept or "text/plain" in kept:
        kept.pop("text/html", None)
    return kept


def _drop_machinery(report: traceback.TracebackException) -> None:
    seen: set[int] = set()
    each: traceback.TracebackException | None = report
    while each is not None and id(each) not in seen:
        seen.add(id(each))
        while each.stack and each.stack[0].filename.endswith(
            ("IPython/core/interactiveshell.py", "IPython\\core\\interactiveshell.py")
        ):
            each.stack.pop(0)
        each = each.__cause__ or each.__context__
