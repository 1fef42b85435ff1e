"""Notebooks without a reader: what nbclient, nbconvert and papermill meet.

There is nobody to click, so questions are refused at once, failures fail the cell, and no agent
outlives its kernel.
"""

from __future__ import annotations

import re
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import nbformat
import psutil
import pytest
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError

if TYPE_CHECKING:
    from nbformat import NotebookNode

REPOSITORY: Final = Path(__file__).resolve().parents[2]
NOTEBOOKS: Final = sorted((REPOSITORY / "notebooks").glob("*.ipynb"))
BAD_AGENT: Final = REPOSITORY / "tests" / "agents" / "bad_agent.py"
CELL_SECONDS: Final = 60
END_SECONDS: Final = 20
RECORD_MIMES: Final = {"text/html", "text/markdown", "text/plain"}

DEMO: Final = shlex.join([sys.executable, "-m", "acp_notebook.demo_agent", "--pace", "0"])
START: Final = f"%load_ext acp_notebook\n%acp start --as demo -- {DEMO}"
TELL_PROCESSES: Final = """
import os, psutil
print(os.getpid(), *(child.pid for child in psutil.Process().children(recursive=True)))
"""


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keeps kernels away from the user's own settings."""
    for name in ("HOME", "IPYTHONDIR", "JUPYTER_RUNTIME_DIR", "JUPYTER_CONFIG_DIR"):
        folder = tmp_path / name.lower()
        folder.mkdir()
        monkeypatch.setenv(name, str(folder))


def notebook_of(*sources: str) -> NotebookNode:
    """A notebook of code cells."""
    cells = [nbformat.v4.new_code_cell(source) for source in sources]  # type: ignore[no-untyped-call]
    notebook: NotebookNode = nbformat.v4.new_notebook(cells=cells)  # type: ignore[no-untyped-call]
    return notebook


def run(notebook: NotebookNode, folder: Path, **options: Any) -> NotebookNode:
    """Runs a notebook as nbconvert does; its kernel has ended when this returns or raises."""
    resources = {"metadata": {"path": str(folder)}}
    client = NotebookClient(notebook, timeout=CELL_SECONDS, resources=resources, **options)
    client.execute()
    return notebook


def record_of(cell: NotebookNode) -> dict[str, str]:
    """The one record in a prompt's cell."""
    (output,) = cell.outputs
    assert set(output.data) == RECORD_MIMES
    return dict(output.data)


def processes_told_by(cell: NotebookNode) -> list[psutil.Process]:
    """The kernel and all below it that are still there."""
    pids = [int(word) for word in cell.outputs[0].text.split()]
    assert len(pids) > 1
    return [psutil.Process(pid) for pid in pids if psutil.pid_exists(pid)]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook_of_the_repository_is_stripped_and_runs(path: Path, tmp_path: Path) -> None:
    notebook = nbformat.read(path, as_version=4)  # type: ignore[no-untyped-call]
    for cell in notebook.cells:
        if cell.cell_type == "code":
            assert (cell.outputs, cell.execution_count) == ([], None)
    assert "widgets" not in notebook.metadata
    run(notebook, tmp_path)
    for cell in notebook.cells:
        if cell.source.startswith("%%acp") and "--background" not in cell.source:
            assert set(cell.outputs[-1].data) == RECORD_MIMES


def test_twenty_prompts_run_in_order_each_with_its_own_record(tmp_path: Path) -> None:
    prompts = [f"%%acp\nThis is prompt <{number}>." for number in range(20)]
    notebook = run(notebook_of(START, *prompts), tmp_path)
    for number, cell in enumerate(notebook.cells[1:]):
        record = record_of(cell)
        for text in (record["text/plain"], record["text/markdown"]):
            assert set(re.findall(r"This is prompt <(\d+)>", text)) == {str(number)}
        assert f"This is prompt &lt;{number}&gt;" in record["text/html"]
        assert "Finished" in record["text/plain"]
    counts = [cell.execution_count for cell in notebook.cells]
    assert counts == list(range(1, 22))


def test_permission_is_refused_at_once_and_the_record_says_so(tmp_path: Path) -> None:
    notebook = run(
        notebook_of(
            START,
            "%%acp --out turn\n/permission",
            "print(turn.permissions[0].answer.option_id, turn.stop_reason)",
        ),
        tmp_path,
    )
    record = record_of(notebook.cells[1])
    for text in record.values():
        assert "Rejected" in text
        assert "nobody can be asked here" in text
        assert "All right, I leave it alone." in text
    assert notebook.cells[2].outputs[0].text == "reject end_turn\n"


def test_policy_of_the_cell_answers_without_a_reader(tmp_path: Path) -> None:
    notebook = run(notebook_of(START, "%%acp --permissions allow\n/permission"), tmp_path)
    for text in record_of(notebook.cells[1]).values():
        assert "Allowed once" in text
        assert "policy allow" in text


@pytest.mark.parametrize(
    ("prompt", "sentence"),
    [
        ("/error", "RuntimeError: the demo agent was asked to fail, and it did (code -32603)"),
        ("/crash", "ended with exit code 3. Your next prompt starts it again."),
    ],
)
def test_failing_agent_fails_the_cell_with_one_sentence(
    tmp_path: Path, prompt: str, sentence: str
) -> None:
    notebook = notebook_of(START, f"%%acp\n{prompt}", "'never'")
    with pytest.raises(CellExecutionError) as raised:
        run(notebook, tmp_path)
    record, error = notebook.cells[1].outputs
    assert set(record.data) == RECORD_MIMES
    assert "I begin to answer" in record.data["text/plain"]
    assert error.ename == "AgentError"
    (line,) = error.traceback
    assert line.startswith("AgentError: ")
    assert line.endswith(sentence)
    assert sentence in str(raised.value)
    assert notebook.cells[2].execution_count is None


def test_agent_that_cannot_start_fails_the_cell_with_its_last_words(tmp_path: Path) -> None:
    command = shlex.join([sys.executable, str(BAD_AGENT), "exits-at-once"])
    notebook = notebook_of(f"%load_ext acp_notebook\n%acp start -- {command}")
    with pytest.raises(CellExecutionError, match="cannot find the configuration file"):
        run(notebook, tmp_path)
    (error,) = notebook.cells[0].outputs
    assert error.ename == "AgentExited"
    assert len(error.traceback) == 1


@pytest.mark.parametrize(
    ("command", "shutdown"),
    [
        (DEMO, "graceful"),
        (DEMO, "immediate"),
        (f"{sys.executable} {BAD_AGENT} ignores-eof stubborn", "graceful"),
    ],
    ids=["demo", "demo of a killed kernel", "agent that ignores every signal"],
)
def test_agent_processes_end_with_their_kernel(tmp_path: Path, command: str, shutdown: str) -> None:
    start = f"%load_ext acp_notebook\n%acp start -- {command}"
    notebook = run(notebook_of(start, TELL_PROCESSES), tmp_path, shutdown_kernel=shutdown)
    left = processes_told_by(notebook.cells[1])
    assert psutil.wait_procs(left, timeout=END_SECONDS)[1] == []
