"""Logging in from a cell: an offer, a program typed into, a form of the login itself."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from prompting import AGENTS, LOAD, is_running

if TYPE_CHECKING:
    from conftest import OpenNotebook


def start(token: Path, *words: str) -> str:
    """The cell that starts an agent that wants a login."""
    command = [sys.executable, str(AGENTS / "login_agent.py"), *words]
    return f"{LOAD}\n%acp start --as locked --env LOGIN_TOKEN={token} -- {shlex.join(command)}"


@pytest.mark.parametrize("app", ["lab"], indirect=True)
def test_a_code_is_typed_into_the_agents_own_program(
    open_notebook: OpenNotebook, tmp_path: Path
) -> None:
    token = tmp_path / "token"
    cells = [start(token, "terminal,odd", "v2"), "%acp login", "%%acp\nhello", "%acp trace"]
    page = open_notebook(cells)
    page.run(0)
    page.wait_for_text(0, "locked wants you to log in")
    assert "Type a code" in page.seen(0)
    assert "%acp login in-terminal --to locked" in page.seen(0)
    assert "this client does not know how" in page.seen(0)
    page.screenshot("login-offer", 0)

    page.start(1)
    page.wait_for_text(1, "Good day. Your name:")
    line = page.output(1).get_by_role("textbox", name="Type")
    line.fill("Ann dd")
    line.press("Enter")
    page.wait_for_text(1, "Code:")
    page.wait_for(
        "typing is hidden", "document.querySelector('.acp-tty-line input').type === 'password'"
    )
    line.fill("wrong-code-1")
    line.press("Enter")
    page.wait_for_text(1, "That is wrong.")
    page.screenshot("login-terminal", 1)
    page.use_theme("dark")
    page.screenshot("login-terminal-dark", 1)
    page.command("application:toggle-left-area")
    page.resize(420)
    page.screenshot("login-terminal-narrow", 1)
    page.resize(1300)
    page.use_theme("light")
    line.fill("sesame")
    page.click(1, "Enter")
    page.wait_done(1)
    page.wait_for_text(1, "locked is ready")
    assert "ended with exit code 0" in page.seen(1)
    assert token.read_text() == "Ann dd"

    page.run(2)
    page.wait_for_text(2, "heard: hello")
    page.run(3)
    saved = str(page.save())
    assert "sesame" not in saved
    assert "wrong-code-1" not in saved
    assert page.record.problems == []


@pytest.mark.parametrize("app", ["notebook"], indirect=True)
def test_control_keys_end_the_program_and_the_login_fails_with_the_reason(
    open_notebook: OpenNotebook, tmp_path: Path
) -> None:
    token = tmp_path / "token"
    page = open_notebook([start(token, "terminal"), "%acp login", "%acp login", "%acp"])
    page.run(0)
    page.wait_for_text(0, "wants you to log in")
    page.start(1)
    page.wait_for_text(1, "Your name:")
    page.click(1, "Ctrl-D")
    page.wait_done(1)
    page.wait_for_text(1, "so it counts as failed")
    assert "EOFError" in page.seen(1)
    assert "Traceback (most recent call last)" not in page.seen(1).split("EOFError")[1]

    page.start(2)
    page.wait_for_text(2, "Your name:")
    assert is_running(page, 2)
    page.interrupt()
    page.wait_done(2)
    page.wait_for_text(2, "Interrupted.")
    page.run(3)
    page.wait_for_text(3, "needs login")
    assert page.record.problems == []


@pytest.mark.parametrize("app", ["lab"], indirect=True)
def test_a_refused_prompt_offers_the_login_and_is_sent_again(
    open_notebook: OpenNotebook, tmp_path: Path
) -> None:
    token = tmp_path / "token"
    cells = [
        start(token, "agent,second", "v2", "lax", "form"),
        "%%acp\nfirst try",
        "%acp login by-agent",
        "%acp logout",
        "%%acp\nafter the logout",
    ]
    page = open_notebook(cells)
    page.run(0)
    page.wait_for_text(0, "locked is ready")
    page.run(1)
    page.wait_for_text(1, "locked wants you to log in")
    assert "Log in by second" in page.seen(1)

    page.start(2)
    asked = page.output(2).get_by_role("form")
    asked.wait_for()
    assert "locked asks you" in asked.inner_text()
    asked.get_by_label("Access code").fill("sesame")
    page.wait_for_ready(2)
    asked.get_by_label("Access code").press("Enter")
    page.wait_done(2)
    page.wait_for_text(2, "heard: first try")
    assert "Access code: ••••" in page.seen(2)
    page.screenshot("login-form-record", 2)

    page.run(3)
    page.wait_for_text(3, "Logged out")
    page.run(4)
    page.wait_for_text(4, "locked wants you to log in")
    assert "sesame" not in str(page.save())
    assert page.record.problems == []
