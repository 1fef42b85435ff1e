"""Running an agent's code in the user's namespace, much as IPython runs a cell.

The code is no cell of its own: no hooks, no prompt number, no `_`. Knows no agent and no wire.
"""

from __future__ import annotations

import ast
import inspect
import itertools
import linecache
import traceback
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from types import CodeType
from typing import Any, Final

from acp_notebook.kernel.tools.namespace import Snapshot
from acp_notebook.kernel.tools.running.captured_output import Capture
from acp_notebook.kernel.tools.running.interruption import CalledOff
from acp_notebook.kernel.tools.running.outcome import Outcome
from acp_notebook.kernel.waiting.kernel_loop import call_on_kernel_loop

MAX_TRACEBACK_CHARS: Final = 8_000
_numbers = itertools.count(1)


def run_code(shell: Any, source: str, outcome: Outcome, *, origin: str) -> None:
    """Run code on the main thread.

    Args:
        shell: The IPython shell.
        source: The code as the agent wrote it; magics work.
        outcome: Filled in while the code runs.
        origin: The agent's name, for tracebacks.

    Raises:
        KeyboardInterrupt: The user interrupted the code; a call-off does not raise.
    """
    name = f"<code {next(_numbers)} of {origin}>"
    before = Snapshot(shell, source)
    try:
        with captured(shell, outcome, name) as capture:
            _execute(shell, source, name, capture)
    finally:
        outcome.changes = before.changes(shell)


@contextmanager
def captured(shell: Any, outcome: Outcome, name: str) -> Iterator[Capture]:
    """Fill in the outcome with outputs and with the error, traced from the file `name` on.

    Raises:
        KeyboardInterrupt: The user interrupted the code; a call-off does not raise.
    """
    with Capture(shell) as capture:
        outcome.outputs = capture.outputs
        try:
            yield capture
        except CalledOff:
            outcome.was_stopped = True
        except KeyboardInterrupt:
            outcome.error = "KeyboardInterrupt: the user interrupted the kernel."
            raise
        except BaseException as error:  # noqa: BLE001 - a user's SystemExit must not end it
            outcome.error = _clean_traceback(error, name)
        finally:
            outcome.left_out = capture.left_out


def _clean_traceback(error: BaseException, name: str) -> str:
    """Return the traceback from the file `name` on, without our own frames."""
    start = error.__traceback__
    while start is not None and start.tb_frame.f_code.co_filename != name:
        start = start.tb_next
    lines = traceback.format_exception(type(error), error, start)
    text = "".join(lines).rstrip()
    if len(text) > MAX_TRACEBACK_CHARS:
        half = MAX_TRACEBACK_CHARS // 2
        text = f"{text[:half]}\n… {len(text) - 2 * half:,} characters left out …\n{text[-half:]}"
    return text


def _execute(shell: Any, source: str, name: str, capture: Capture) -> None:
    tree = shell.transform_ast(ast.parse(shell.transform_cell(source), name))
    shown = None
    if tree.body and isinstance(tree.body[-1], ast.Expr) and not source.rstrip().endswith(";"):
        shown = ast.Expression(tree.body.pop().value)
    with shell.compile.extra_flags(ast.PyCF_ALLOW_TOP_LEVEL_AWAIT):
        body = shell.compile(tree, name, "exec")
        expression = shell.compile(shown, name, "eval") if shown is not None else None
    _keep_source(name, source, [body, expression])
    _evaluate(shell, body)
    if expression is not None:
        capture.show_value(_evaluate(shell, expression))


def _keep_source(name: str, source: str, compiled: list[Any]) -> None:
    """Keep the source for tracebacks, until nothing of it is in use: no function, no frame."""
    codes = [code for each in compiled if each is not None for code in _codes_in(each)]
    linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
    alive = len(codes)

    def one_is_gone() -> None:
        nonlocal alive
        alive -= 1
        if not alive:
            linecache.cache.pop(name, None)

    for code in codes:
        weakref.finalize(code, one_is_gone).atexit = False


def _codes_in(code: CodeType) -> Iterator[CodeType]:
    yield code
    for each in code.co_consts:
        if isinstance(each, CodeType):
            yield from _codes_in(each)


def _evaluate(shell: Any, code: Any) -> Any:
    namespace = shell.user_ns
    if code.co_flags & inspect.CO_COROUTINE:
        return call_on_kernel_loop(lambda: eval(code, namespace))  # noqa: S307 - the purpose
    return eval(code, namespace)  # noqa: S307 - the purpose; the user allowed it
