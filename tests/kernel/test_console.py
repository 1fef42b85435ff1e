"""Turns at a console: text as it comes, permissions by a question, in IPython and in a kernel."""

from __future__ import annotations

import re
import sys

import pexpect
import pytest
from kernelspecs import BOUND_S, KernelUnderTest

proves = pytest.mark.requirement
COLOURS = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
START = "%load_ext acp_notebook\n%acp start demo"


@pytest.fixture
def ipython(tmp_path):
    """Plain `ipython` in a terminal, with the demo agent."""
    command = ["-m", "IPython", "--simple-prompt", "--no-banner", "--colors=nocolor"]
    terminal = pexpect.spawn(
        sys.executable,
        command,
        encoding="utf-8",
        timeout=BOUND_S,
        dimensions=(50, 160),
        cwd=str(tmp_path),
        env={"HOME": str(tmp_path), "PATH": "/usr/bin:/bin", "TERM": "xterm"},
    )
    terminal.expect(r"In \[1\]: ")
    for line in START.splitlines():
        terminal.sendline(line)
        terminal.expect(r"In \[\d+\]: ")
    yield terminal
    terminal.close(force=True)


def until(terminal, words):
    """Waits until these words are printed; what stood before them."""
    terminal.expect_exact(words)
    return COLOURS.sub("", terminal.before).replace("\r\n", "\n")


@proves("PERM-1")
def test_a_permission_is_asked_for_and_the_text_comes_once(ipython):
    ipython.sendline("%acp prompt /permission")
    asked = until(ipython, "Choose a number: ")
    assert "demo asks: " in asked
    assert re.search(r"^ +1  ✓ Allow", asked, re.MULTILINE)
    ipython.sendline("9")
    until(ipython, "Choose a number: ")
    ipython.sendline("1")
    after = until(ipython, "In [")
    assert "Allowed once · by you" in after
    assert after.count("250 rows") == 1
    assert re.search(r"^\[Finished · demo · [\d.]+ s", after, re.MULTILINE)


def test_what_was_typed_before_the_question_stood_there_does_not_answer_it(ipython):
    ipython.send("%acp prompt /permission\n1\n")
    until(ipython, "Choose a number: ")
    ipython.sendline("Reject")
    assert "Rejected · by you" in until(ipython, "In [")


def test_an_interrupt_at_the_question_cancels_the_turn(ipython):
    ipython.sendline("%acp prompt /permission")
    until(ipython, "Choose a number: ")
    # One that comes just before `input` begins to read is seen by Python at the next key only.
    for _ in range(4):
        ipython.sendintr()
        if (
            ipython.expect_exact(["Turn interrupted: cancelled.", pexpect.TIMEOUT], BOUND_S / 4)
            == 0
        ):
            break
    until(ipython, "In [")
    ipython.sendline("%acp prompt Still there?")
    assert "Still there?" in until(ipython, "[Finished")


def test_the_end_of_the_input_refuses(ipython):
    ipython.sendline("%acp prompt /permission")
    until(ipython, "Choose a number: ")
    ipython.sendeof()
    after = until(ipython, "In [")
    assert "Rejected · nobody answered at the console" in after


def test_a_background_turn_is_printed_where_it_is_waited_for(ipython):
    ipython.sendline("turn = %acp prompt --background --out turn /long 3")
    until(ipython, "In [")
    ipython.sendline("%acp wait")
    words = until(ipython, "[Finished")
    assert re.findall(r"^#.*", words, re.MULTILINE) == [
        "# A long reply in 3 sections",
        *(f"## Section {number} of 3" for number in (1, 2, 3)),
    ]
    assert "[Finished" not in until(ipython, "In [")
    ipython.sendline("%acp wait")
    assert until(ipython, "[Finished").count("## Section") == 3, "the record, once more"


def ask(kernel, prompt, answers):
    """Prompts in a kernel whose front end has no cells, and types these lines when asked."""
    msg_id = kernel.send(prompt)
    asked = []
    for line in answers:
        message = kernel.client.get_stdin_msg(timeout=BOUND_S)
        asked.append(message["content"]["prompt"])
        kernel.client.input(line)
    kernel.until_idle([msg_id])
    assert msg_id not in kernel.record.errors, kernel.record.errors[msg_id]
    return asked, kernel.record.text[msg_id]


@proves("PERM-1")
def test_a_console_of_a_kernel_is_asked_too(kernel: KernelUnderTest):
    kernel.run(START)
    asked, text = ask(kernel, "%acp prompt /permission", ["Reject"])
    assert asked == ["Choose a number: "]
    assert "demo asks: " in text
    assert "Rejected · by you" in text
    assert "All right, I leave it alone." in text
    kernel.run("%acp quit")
