"""A program at a console: its words are printed, lines are asked for when it is silent."""

from __future__ import annotations

import builtins
import concurrent.futures
import getpass
import os
import sys
from pathlib import Path

import pytest

from acp_notebook.client.agent_thread import shared_thread
from acp_notebook.client.process.pseudo_terminal import PseudoTerminal
from acp_notebook.errors import AgentNotFound
from acp_notebook.kernel.views.terminal_cell import attend_at_console

AGENT = Path(__file__).parents[2] / "agents" / "login_agent.py"
BOUND_S = 30.0


def program(tmp_path, *words):
    return PseudoTerminal(
        [sys.executable, *words],
        env={**os.environ, "LOGIN_TOKEN": str(tmp_path / "token")},
        cwd=str(tmp_path),
        thread=shared_thread(),
    )


def wait(future, seconds):
    done, _ = concurrent.futures.wait([future], seconds)
    return bool(done)


@pytest.fixture
def lines(monkeypatch):
    """Types these lines; a hidden one is marked in `asked`."""
    left, asked = [], []

    def answer(kind):
        asked.append(kind)
        line = left.pop(0)
        if line is EOFError:
            raise EOFError
        return line

    monkeypatch.setattr(builtins, "input", lambda _="": answer("line"))
    monkeypatch.setattr(getpass, "getpass", lambda _="": answer("hidden"))

    def type_lines(*more):
        left.extend(more)
        return asked

    return type_lines


def test_a_login_is_typed_line_by_line(tmp_path, lines, capsys):
    asked = lines("Ann", "wrong", "sesame")
    terminal = program(tmp_path, str(AGENT), "--login")
    attend_at_console(terminal, wait)
    assert terminal.ended.result(BOUND_S) == 0
    assert asked == ["line", "hidden", "hidden"]
    told = capsys.readouterr().out
    assert "Your name:" in told
    assert "That is right." in told
    assert "sesame" not in told
    assert (tmp_path / "token").read_text() == "Ann"


def test_the_end_of_input_is_control_d(tmp_path, lines, capsys):
    lines(EOFError)
    terminal = program(tmp_path, str(AGENT), "--login")
    attend_at_console(terminal, wait)
    assert terminal.ended.result(BOUND_S) == 1
    assert "EOFError" in capsys.readouterr().out


def test_a_program_that_is_ended_takes_its_children_along(tmp_path):
    code = "import subprocess, sys; print('up'); subprocess.run([sys.executable, '-c', 'input()'])"
    terminal = program(tmp_path, "-c", code)
    terminal.end()
    assert terminal.ended.result(BOUND_S) < 0
    terminal.write(b"late")
    terminal.end()


def test_keys_that_a_program_does_not_read_hold_nothing_up(tmp_path):
    terminal = program(tmp_path, "-c", "import time; time.sleep(120)")
    terminal.write(b"x" * 1_000_000)
    asked = concurrent.futures.Future()
    shared_thread().post(lambda: asked.set_result(None))
    assert wait(asked, BOUND_S)
    terminal.end()
    assert terminal.ended.result(BOUND_S) < 0


def test_a_program_that_is_not_there_is_told(tmp_path):
    with pytest.raises(AgentNotFound, match="cannot be started"):
        PseudoTerminal(["/no/such/program"], env={}, cwd=str(tmp_path), thread=shared_thread())
