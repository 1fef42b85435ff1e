"""The route of a comm's messages, in real kernels."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest
from kernelspecs import VERSIONS

from acp_notebook.kernel.waiting.comm_route import keep_front_end_route

if TYPE_CHECKING:
    from kernelspecs import KernelUnderTest

WITH_SUBSHELLS = [version for version in VERSIONS if not version.startswith("6.")]

OPEN = """
import threading
from comm import create_comm
from acp_notebook.kernel.waiting.comm_route import keep_front_end_route

clicked = threading.Event()
button = create_comm(target_name="button")
button.on_msg(lambda message: clicked.set())
keep_front_end_route(button)
print(button.comm_id)
"""


@pytest.mark.parametrize("kernel", WITH_SUBSHELLS, indirect=True)
def test_click_reaches_its_subshell_while_a_cell_blocks_the_main_shell(kernel: KernelUnderTest):
    comm_id = kernel.run(OPEN)
    subshell = kernel.create_subshell()
    blocking = kernel.send("print('blocking', flush=True); print(clicked.wait(10))")
    kernel.until_prints(blocking, "blocking")
    click = kernel.send_comm(comm_id, {}, subshell_id=subshell)
    kernel.until_idle([blocking, click])
    assert kernel.record.text[blocking] == "blocking\nTrue\n"


def test_comm_that_sent_from_the_main_shell_keeps_the_route_of_the_front_end():
    comm = SimpleNamespace(_reply_subshell_for=lambda data, default: None)
    keep_front_end_route(comm)
    keep_front_end_route(comm)
    assert comm._reply_subshell_for({"content": {"id": "1"}}, "subshell") == "subshell"
    assert comm._reply_subshell_for(None, None) is None


def test_comm_of_a_kernel_that_does_not_re_route_is_left_as_it_is():
    comm = SimpleNamespace()
    keep_front_end_route(comm)
    keep_front_end_route(None)
    assert vars(comm) == {}
