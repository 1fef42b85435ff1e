"""The executed cells of this kernel in IPython's history, which includes the agent's code.

IPython keeps printed text since version 9. Knows no agent.
"""

from __future__ import annotations

from typing import Any, Final

from acp_notebook.kernel.context.text import bounded, fenced

MAX_CELL_CHARS: Final = 4_000


def read_cells(shell: Any, *, last: int = 10, number: int | None = None) -> str:
    """Return the last cells, or one cell, with source and text outputs as Markdown."""
    sources = shell.history_manager.input_hist_raw
    if number is not None:
        wanted = [number] if 0 < number < len(sources) else []
    else:
        wanted = list(range(max(1, len(sources) - last), len(sources)))
    if not wanted:
        return "No such cell was run in this kernel."
    return "\n\n".join(_cell(shell, index, sources[index]) for index in wanted)


def _cell(shell: Any, number: int, source: str) -> str:
    parts = [f"In[{number}]:", fenced(bounded(source, MAX_CELL_CHARS), "python")]
    outputs = [text for text in _outputs(shell, number) if text.strip()]
    if outputs:
        text = bounded("\n".join(outputs), MAX_CELL_CHARS)
        parts += [f"Out[{number}]:", fenced(text, "text")]
    return "\n".join(parts)


def _outputs(shell: Any, number: int) -> list[str]:
    history = shell.history_manager
    found = []
    for output in getattr(history, "outputs", {}).get(number, ()):
        bundle = output.bundle
        text = bundle.get("text/plain") or bundle.get("stream") or ""
        found.append("".join(text) if isinstance(text, list) else str(text))
    if not found and number in history.output_hist_reprs:
        found.append(str(history.output_hist_reprs[number]))
    failure = getattr(history, "exceptions", {}).get(number)
    if failure:
        found.append(f"{failure.get('ename')}: {failure.get('evalue')}")
    return found


def remember(shell: Any, source: str, origin: str) -> None:
    """Store the agent's code in IPython's history as an input of its own, marked by its origin.

    The waiting cell must keep its number, which the kernel reports when the cell ends. So the code
    is stored once the kernel's loop is free, with the next number.
    """
    marked = f"# run by {' '.join(origin.split())}\n{source}"

    def store() -> None:
        shell.history_manager.store_inputs(shell.execution_count, marked, marked)
        shell.execution_count += 1

    loop = getattr(getattr(shell, "kernel", None), "io_loop", None)
    if loop is None:
        store()
    else:
        loop.add_callback(store)
