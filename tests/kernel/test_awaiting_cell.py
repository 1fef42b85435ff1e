"""Cells that await instead of waiting: the page is served, the queue keeps its order."""

from __future__ import annotations

import pytest
from kernelspecs import KernelUnderTest
from waiting_cell import PREPARE

PREPARE_AWAITING = (
    PREPARE
    + """
import asyncio
from acp_notebook.kernel.notebook_host import NotebookHost

host = NotebookHost()

async def awaiting(word="end"):
    with host.attended():
        print("waiting", flush=True)
        while word not in seen:
            await asyncio.sleep(.01)

seen.clear()
"""
)


@pytest.fixture
def comm_id(kernel: KernelUnderTest) -> str:
    """A comm whose messages are noted in `seen`, and `awaiting`, which awaits a word of them."""
    return kernel.run(PREPARE_AWAITING)


def start_awaiting(kernel: KernelUnderTest, code: str) -> str:
    msg_id = kernel.send(code)
    kernel.until_prints(msg_id, "waiting")
    return msg_id


def test_page_is_served_while_a_cell_awaits_and_nothing_is_lost(kernel, comm_id):
    before = len(kernel.record.executed)
    waiting = start_awaiting(kernel, "await awaiting(); print(seen == [*range(100), 'end'])")
    comms, cells = [], []
    for number in range(100):
        comms.append(kernel.send_comm(comm_id, number))
        if number % 20 == 10:
            cells.append(kernel.send(f"print('cell', {number})"))
    kernel.until_idle(comms)
    assert waiting not in kernel.record.idle, "the page was served only after the wait"
    comms.append(kernel.send_comm(comm_id, "end"))
    kernel.until_idle([waiting, *comms, *cells])
    assert kernel.record.text[waiting] == "waiting\nTrue\n"
    assert kernel.record.executed[before:] == [waiting, *cells]


def test_two_waits_of_one_cell_may_overlap(kernel, comm_id):
    both = "await asyncio.gather(awaiting('one'), awaiting('two')); print('over')"
    waiting = start_awaiting(kernel, both)
    kernel.until_idle([kernel.send_comm(comm_id, "two")])
    assert waiting not in kernel.record.idle
    kernel.until_idle([kernel.send_comm(comm_id, "one"), waiting])
    assert kernel.record.text[waiting] == "waiting\nwaiting\nover\n"
    # And the kernel reads its socket as before.
    kernel.until_idle([kernel.send_comm(comm_id, "later")])
    assert kernel.run("print(seen)") == "['two', 'one', 'later']"


def test_what_a_handler_prints_belongs_to_its_request(kernel, comm_id):
    kernel.run("def speak(): print('from the handler')")
    waiting = start_awaiting(kernel, "await awaiting(); print('from the cell')")
    click = kernel.send_comm(comm_id, "speak")
    kernel.until_idle([click])
    kernel.until_idle([kernel.send_comm(comm_id, "end"), waiting])
    assert kernel.record.text[click] == "from the handler\n"
    assert kernel.record.text[waiting] == "waiting\nfrom the cell\n"


def test_interrupt_ends_the_wait_and_the_kernel_lives_on(kernel, comm_id):
    waiting = start_awaiting(kernel, "await awaiting('never')")
    kernel.manager.interrupt_kernel()
    kernel.until_idle([waiting])
    assert kernel.record.errors[waiting] in {"KeyboardInterrupt", "CancelledError"}
    kernel.until_idle([kernel.send_comm(comm_id, "end")])
    assert kernel.run("print(seen)") == "['end']"
