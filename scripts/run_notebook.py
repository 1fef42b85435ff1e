"""Run a notebook headless, as nbconvert would; exit non-zero if a cell fails.

usage: run_notebook.py NOTEBOOK [--print EXPRESSION]
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError


def main() -> int:
    """Run it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("notebook", type=Path)
    parser.add_argument("--print", dest="expression", help="evaluate this at the end and print it")
    given = parser.parse_args()
    notebook = nbformat.read(given.notebook, as_version=4)
    if given.expression:
        notebook.cells.append(nbformat.v4.new_code_cell(f"print({given.expression})"))
    folder = given.notebook.resolve().parent
    client = NotebookClient(notebook, timeout=120, resources={"metadata": {"path": str(folder)}})
    try:
        client.execute()
    except (CellExecutionError, CellTimeoutError, DeadKernelError) as error:
        print(error, file=sys.stderr)
        print(f"{given.notebook} failed.", file=sys.stderr)
        return 1
    if given.expression:
        print("".join(output.get("text", "") for output in notebook.cells[-1].outputs))
    print(f"{given.notebook} ran to its end.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
