"""Whoever sees a turn answers for it: questions in a notebook, in every place and at every time."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from kernelspecs import INSTALLED, running_kernel
from notebook_kernel import NotebookKernel

if TYPE_CHECKING:
    from collections.abc import Iterator

proves = pytest.mark.requirement
AGENT = f"{sys.executable} {Path(__file__).with_name('asking_at_times.py')}"
OLDEST = "6.31.0"


@pytest.fixture(scope="module", params=[OLDEST, INSTALLED])
def kernel(request, tmp_path_factory) -> Iterator[NotebookKernel]:
    """A kernel in front of which a notebook sits; without and with subshells."""
    folder = tmp_path_factory.mktemp("kernel")
    with running_kernel(request.param, folder, NotebookKernel) as running:
        running.run("%load_ext acp_notebook\nimport acp_notebook as acp, gc, threading, weakref")
        yield running


@pytest.fixture
def notebook(kernel) -> Iterator[NotebookKernel]:
    """The kernel with the agents a and b."""
    for label in "ab":
        kernel.run(f"%acp start --as {label} --no-tools -- {AGENT}")
    yield kernel
    kernel.run("%acp quit --all")


def done(notebook: NotebookKernel, name: str = "t") -> str:
    """Wait for a turn in a variable, and return what it said."""
    return notebook.run(f"{name} = {name}.wait(20); print(*{name}.text.split())")


@proves("PERM-9")
def test_a_quiet_prompt_elsewhere_changes_nothing_for_a_turn_that_is_shown(notebook, tmp_path):
    flag = tmp_path / "flag"
    cell = notebook.send(f"%acp prompt --to a --background --out t later {flag}")
    notebook.until_idle([cell])
    notebook.run("%acp prompt --to b --quiet hi")
    flag.touch()
    yes, _no = notebook.until_asked(cell)
    notebook.click(yes)
    assert done(notebook) == "working. answer=yes"


@proves("PERM-9")
def test_a_quiet_background_turn_asks_in_a_card_of_its_own_cell(notebook, tmp_path):
    flag = tmp_path / "flag"
    cell = notebook.send(f"%acp prompt --to a --quiet --background --out t later {flag}")
    notebook.until_idle([cell])
    notebook.run("%acp prompt --to b hi")
    assert not notebook.views_of(cell)
    flag.touch()
    yes, _no = notebook.until_asked(cell)
    status = notebook.send("%acp")
    notebook.until_idle([status])
    assert "asks: May I?" in notebook.text_of(status)
    assert notebook.until_asked(status)
    assert "working." not in notebook.html_of(cell)  # quiet about the answer
    notebook.click(yes)
    assert done(notebook) == "working. answer=yes"
    for shown in (cell, status):
        notebook.until(lambda _, shown=shown: not notebook.views_of(shown), "record of the answer")
        assert "May I?" in notebook.text_of(shown)


@proves("PERM-9")
def test_a_quiet_turn_that_is_waited_for_asks_in_its_cell(notebook):
    cell = notebook.send("%acp prompt --to a --quiet --out t now")
    _yes, no = notebook.until_asked(cell)
    notebook.click(no)
    notebook.until_idle([cell])
    assert done(notebook) == "answer=no"


@proves("PERM-9")
def test_a_question_between_turns_can_be_answered_where_it_was_prompted(notebook):
    cell = notebook.send("%acp prompt --to a after")
    notebook.until_idle([cell])
    _yes, no = notebook.until_asked(cell)
    notebook.click(no)
    assert notebook.run("print(acp.last.session.questions)") == "[]"


@proves("PERM-9")
def test_the_cell_that_waits_shows_what_was_asked_before_it(notebook, tmp_path):
    flag = tmp_path / "flag"
    first = notebook.send("%acp prompt --to a after")
    notebook.until_idle([first])
    notebook.until_asked(first)
    second = notebook.send(f"%acp prompt --to a --out t later {flag}")
    yes, _no = notebook.until_asked(second)
    assert "Waiting for you" in notebook.html_of(second)
    notebook.click(yes)
    notebook.until(lambda _: not notebook.buttons(second), "end of the question")
    assert "Waiting for you" not in notebook.html_of(second)
    flag.touch()
    notebook.click(notebook.until_asked(second)[0])
    notebook.until_idle([second])
    assert done(notebook) == "working. answer=yes"


@proves("PERM-9")
def test_the_wait_shows_every_question_of_the_agent(notebook):
    notebook.run("%acp prompt --to a after")
    notebook.run("%acp new a")
    notebook.run("%acp prompt --to a after")
    cell = notebook.send("%acp wait a")
    notebook.until(lambda _: len(notebook.buttons(cell)) == 4, "both questions")
    for button in notebook.buttons(cell)[::2]:
        notebook.click(button)
    notebook.until_idle([cell])


@proves("SESS-3")
@proves("PERM-9")
def test_what_comes_in_one_write_with_the_session_belongs_to_the_session(notebook):
    start = notebook.send(f"%acp start --as early --no-tools -- {AGENT} early")
    notebook.until_idle([start])
    notebook.until_asked(start)
    status = notebook.send("%acp")
    notebook.until_idle([status])
    assert "asks: Trust this folder?" in notebook.text_of(status)
    cell = notebook.send("%acp prompt --to early --out t hi")
    notebook.until_idle([cell])
    shown = notebook.text_of(cell)
    assert "Welcome before you ask." in shown
    assert "Trust this folder?" in shown
    answered = notebook.run("(q,) = t.session.questions; q.answer('yes'); print(q.is_open)")
    assert answered == "False"
    notebook.until(lambda _: not notebook.views_of(start), "record of the answer")


@proves("SESS-3")
def test_it_stays_with_its_session_beside_another_one(notebook):
    notebook.run(f"%acp start --as early --no-tools -- {AGENT} early")
    notebook.run("%acp new early")
    first, second = notebook.run(
        "early = get_ipython().magics_manager.registry['AcpMagics'].state.roster.find('early')\n"
        "for session in early.sessions: print(session.id, [q.title for q in session.questions])"
    ).splitlines()
    assert first == "session-1 ['Trust this folder?']"
    assert second == "session-2 ['Trust this folder?']"


def test_two_threads_ask_each_at_its_own_place(notebook, tmp_path):
    flag = tmp_path / "flag"
    shown = notebook.send(f"%acp prompt --to a --background --out one later {flag}")
    notebook.until_idle([shown])
    quiet = notebook.send(
        "roster = get_ipython().magics_manager.registry['AcpMagics'].state.roster\n"
        "b = roster.find('b').session\n"
        f"ask = lambda: globals().update(two=b.prompt('later {flag}', quiet=True))\n"
        "thread = threading.Thread(target=ask); thread.start()"
    )
    notebook.until_idle([quiet])
    flag.touch()
    for cell in (shown, quiet):
        assert len(notebook.until_asked(cell)) == 2
        notebook.click(notebook.buttons(cell)[0])
    notebook.run("thread.join(20)")
    assert done(notebook, "one") == done(notebook, "two") == "working. answer=yes"


SESSION_OF_A = (
    "session = get_ipython().magics_manager.registry['AcpMagics'].state.roster.find('a').session"
)


def test_an_interrupt_ends_an_awaited_prompt_in_one_line(notebook, tmp_path):
    flag = tmp_path / "flag"
    notebook.run(SESSION_OF_A)
    cell = notebook.send(f"print('waiting'); await session.aprompt('later {flag}')")
    notebook.until_prints(cell, "waiting")
    notebook.until(lambda _: notebook.views_of(cell), "view")
    notebook.manager.interrupt_kernel()
    notebook.until_idle([cell])
    assert notebook.record.errors[cell] in {"CancelledError", "KeyboardInterrupt"}
    (line,) = notebook.record.tracebacks[cell]
    assert "Turn interrupted" in line
    flag.touch()
    assert notebook.run("session.wait(20); print(session.state)") == "idle"


def test_an_interrupt_while_the_record_is_made_keeps_the_record(notebook):
    notebook.run(
        f"{SESSION_OF_A}\n"
        "from acp_notebook.kernel.views import turn_cell\n"
        "made, real = [], turn_cell.recorder_of\n"
        "def interrupted(turn):\n"
        "    made.append(turn)\n"
        "    def record():\n"
        "        if len(made) == 1: raise KeyboardInterrupt\n"
        "        return real(turn)()\n"
        "    return record\n"
        "turn_cell.recorder_of = interrupted"
    )
    cell = notebook.send("session.prompt('hi')")
    notebook.until_idle([cell])
    (line,) = notebook.record.tracebacks[cell]
    assert line == "Interrupted; the record of the turn comes later."
    notebook.until(lambda _: not notebook.views_of(cell), "record")
    assert "Finished" in notebook.text_of(cell)
    notebook.run("turn_cell.recorder_of = real")


def test_closed_sessions_are_given_back_and_new_ones_are_shown(notebook):
    closed = (
        "roster = get_ipython().magics_manager.registry['AcpMagics'].state.roster\n"
        "agent, refs = roster.find('a'), []\n"
        "for _ in range(20):\n"
        "    session = agent.new_session(); refs.append(weakref.ref(session))\n"
        "    get_ipython().run_line_magic('acp', 'prompt --to a hi')\n"
        "    session.close(); del session\n"
        "agent.new_session(); get_ipython().run_line_magic('acp', 'prompt --to a hi')\n"
        "gc.collect(); gc.collect()\n"
        "print(sum(ref() is not None for ref in refs))"
    )
    assert notebook.run(closed).splitlines()[-1] == "0"
    cell = notebook.send("%acp prompt --to a --out t now")
    notebook.click(notebook.until_asked(cell)[0])
    notebook.until_idle([cell])
    assert done(notebook) == "answer=yes"


def test_the_turn_and_its_cell_have_the_same_record(notebook):
    cell = notebook.send("%acp prompt --to a --out t --permissions allow now")
    notebook.until_idle([cell])
    (record,) = notebook.bundles[cell].values()
    assert notebook.run("print(t.to_markdown())") == record["text/markdown"].strip()
    assert notebook.run("print(t._repr_mimebundle_()['text/html'])") == record["text/html"]


def test_a_turn_that_is_displayed_while_it_runs_says_so(notebook, tmp_path):
    flag = tmp_path / "flag"
    first = notebook.send(f"%acp prompt --to a --background --out t later {flag}")
    notebook.until_idle([first])
    cell = notebook.send("from IPython.display import display; display(t)")
    notebook.until_idle([cell])
    assert "Working" in notebook.text_of(cell)
    assert "without saying why" not in notebook.text_of(cell)
    flag.touch()
    notebook.click(notebook.until_asked(first)[0])
    assert done(notebook) == "working. answer=yes"
