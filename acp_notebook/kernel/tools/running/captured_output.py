"""Capturing the output of code: printed text, displayed objects and figures, within bounds.

Captured outputs are kept in order and do not reach the notebook. Knows where IPython sends output,
and matplotlib by name; knows no agent.
"""

from __future__ import annotations

import builtins
import getpass
import io
import sys
from base64 import b64encode
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any, Final, NoReturn, Self

from IPython.core.displaypub import DisplayPublisher

from acp_notebook.kernel.context.pictures import NoPicture, picture_of

HEAD_CHARS: Final = 24_000
TAIL_CHARS: Final = 8_000
MAX_SHOWN: Final = 40
MAX_BUNDLE_CHARS: Final = 8_000_000

_MISSING: Final = object()
_NO_INPUT: Final = (
    "input() is not available here: code that an agent runs cannot ask at the keyboard. "
    "Ask the user in your reply instead."
)
_NO_EXIT: Final = "exit() is not available here: it would end the user's kernel."


class Printed:
    """Text that was printed, between two displayed objects; of a long text, beginning and end."""

    def __init__(self) -> None:
        self._head = ""
        self._tail = ""
        self._size = 0

    def add(self, text: str) -> None:
        """Append text; what is neither head nor tail is only counted."""
        self._size += len(text)
        room = HEAD_CHARS - len(self._head)
        self._head += text[:room]
        self._tail = (self._tail + text[room:])[-TAIL_CHARS:]

    @property
    def text(self) -> str:
        """The text as a terminal would show it: a carriage return overwrites the line."""
        text, dropped = self._head + self._tail, self._size - len(self._head) - len(self._tail)
        if dropped:
            text = f"{self._head}\n… {dropped:,} characters left out …\n{self._tail}"
        if "\r" not in text:
            return text
        lines = text.replace("\r\n", "\n").split("\n")
        return "\n".join(line.rstrip("\r").rpartition("\r")[2] for line in lines)


@dataclass(slots=True)
class Shown:
    """One displayed object as a MIME bundle."""

    data: Mapping[str, Any]
    metadata: Mapping[str, Any]
    display_id: str | None = None


Output = Printed | Shown


class Capture:
    """Captures the outputs of the code inside its `with` block, in order.

    Inside the block, reading from the keyboard and exiting the kernel raise `RuntimeError`.
    """

    def __init__(self, shell: Any) -> None:
        self.outputs: list[Output] = []
        self.left_out = 0
        """How many outputs exceeded the limit."""
        self._shell = shell
        self._stack = ExitStack()

    def __enter__(self) -> Self:
        shell, stack = self._shell, self._stack
        stack.enter_context(shell.builtin_trap)
        stream = _Stream(self.print)
        for owner, name, stand_in in (
            (sys, "stdout", stream),
            (sys, "stderr", stream),
            (sys, "displayhook", self.show_value),
            (shell, "display_pub", _Publisher(self)),
            (builtins, "input", _refusal(_NO_INPUT)),
            (getpass, "getpass", _refusal(_NO_INPUT)),
            (shell, "ask_exit", _refusal(_NO_EXIT)),
        ):
            stack.enter_context(_replaced(owner, name, stand_in))
        return self

    def __exit__(self, *exc_info: object) -> None:
        try:
            self._take_figures()
        finally:
            self._stack.close()

    def print(self, text: str) -> None:
        """Capture printed text."""
        if not self.outputs or not isinstance(self.outputs[-1], Printed):
            if len(self.outputs) >= MAX_SHOWN:
                self.left_out += 1
                return
            self.outputs.append(Printed())
        last = self.outputs[-1]
        assert isinstance(last, Printed)
        last.add(text)

    def show_value(self, value: object) -> None:
        """Capture a value as IPython's display hook would show it."""
        if value is not None:
            data, metadata = self._shell.display_formatter.format(value)
            self.show(_with_picture(data, value), metadata)

    def show(
        self,
        data: Mapping[str, Any],
        metadata: Mapping[str, Any] | None = None,
        display_id: str | None = None,
        *,
        is_update: bool = False,
    ) -> None:
        """Capture a displayed object; an update replaces the object with its `display_id`."""
        if not data:
            return
        size = sum(len(value) for value in data.values() if isinstance(value, (str, bytes)))
        if size > MAX_BUNDLE_CHARS:
            data, metadata = {"text/plain": f"(an output of {size:,} characters left out)"}, {}
        shown = Shown(data, metadata or {}, display_id)
        if is_update:
            for index, output in enumerate(self.outputs):
                if isinstance(output, Shown) and output.display_id == display_id:
                    self.outputs[index] = shown
            return
        if len(self.outputs) < MAX_SHOWN:
            self.outputs.append(shown)
        else:
            self.left_out += 1

    def _take_figures(self) -> None:
        """Show figures that were drawn and not shown, as at the end of a cell."""
        inline = sys.modules.get("matplotlib_inline.backend_inline")
        if inline is not None:
            inline.flush_figures()


def _with_picture(data: Mapping[str, Any], value: object) -> Mapping[str, Any]:
    # IPython draws figures only where matplotlib's inline backend is in use.
    if set(data) != {"text/plain"}:
        return data
    try:
        picture = picture_of(value)
    except NoPicture:
        return data
    if picture is None:
        return data
    return {**data, picture.mime_type: b64encode(picture.data).decode("ascii")}


class _Stream(io.TextIOBase):
    """Stands in for stdout and stderr."""

    encoding = "utf-8"
    errors = "replace"

    def __init__(self, take: Callable[[str], None]) -> None:
        super().__init__()
        self._take = take

    def writable(self) -> bool:
        return True

    def write(self, text: str) -> int:
        if not isinstance(text, str):
            raise TypeError(f"write() argument must be str, not {type(text).__name__}")
        if text:
            self._take(text)
        return len(text)


class _Publisher(DisplayPublisher):
    """Stands in for the shell's publisher of displayed objects."""

    def __init__(self, capture: Capture) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self._capture = capture

    def publish(
        self,
        data: dict[str, Any],
        metadata: dict[str, Any] | None = None,
        *_args: Any,
        transient: dict[str, Any] | None = None,
        update: bool = False,
        **_more: Any,
    ) -> None:
        display_id = (transient or {}).get("display_id")
        self._capture.show(data, metadata, display_id, is_update=update)

    def clear_output(self, wait: bool = False) -> None:
        del wait
        self._capture.outputs.clear()


def _refusal(reason: str) -> Callable[..., NoReturn]:
    def refuse(*_args: object, **_more: object) -> NoReturn:
        raise RuntimeError(reason)

    return refuse


@contextmanager
def _replaced(owner: Any, name: str, stand_in: object) -> Iterator[None]:
    own = vars(owner).get(name, _MISSING)
    setattr(owner, name, stand_in)
    try:
        yield
    finally:
        if own is _MISSING:
            delattr(owner, name)
        else:
            setattr(owner, name, own)
