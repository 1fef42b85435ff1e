"""A real kernel after many turns: no more files than before, and nothing of an ended agent."""

from __future__ import annotations

import sys

import pytest
from kernelspecs import INSTALLED, running_kernel

COUNT = """
import gc, os, time
def files():
    return len(os.listdir("/proc/self/fd"))
def ours():
    gc.collect()
    kinds = {"Agent", "Session", "LiveSession", "Turn", "TurnCell", "ConsoleCell", "CellView"}
    found = [type(each) for each in gc.get_objects()]
    return [kind.__name__ for kind in found
            if kind.__name__ in kinds and kind.__module__.startswith("acp_notebook")]
agent = get_ipython().magics_manager.registry["AcpMagics"].state.roster.find()
session = agent.session
"""
TURNS = """
for _ in range(5):
    session.prompt("hello")
    session.prompt("hello", quiet=True)
    session.prompt("hello", wait=False).wait()
    await session.aprompt("hello")
    session.wait()
"""
LEFT = """
found = ours()
print("LEFT", files(), found.count("TurnCell") + found.count("ConsoleCell"), found.count("Turn"))
"""


pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")


@pytest.fixture(scope="module")
def kernel(tmp_path_factory):
    with running_kernel(INSTALLED, tmp_path_factory.mktemp("kernel")) as kernel:
        demo = f"-- {sys.executable} -m acp_notebook.demo_agent --pace 0"
        kernel.run(f"%load_ext acp_notebook\n%acp start --permissions allow {demo}")
        kernel.run(COUNT)
        yield kernel


def left_in(kernel):
    files, cells, turns = kernel.run(LEFT).rpartition("LEFT")[2].split()
    return int(files), int(cells), int(turns)


def test_turns_of_all_kinds_give_back_what_they_took(kernel):
    kernel.run(TURNS)
    files, _, turns = left_in(kernel)
    kernel.run(TURNS)
    more_files, cells, more_turns = left_in(kernel)
    assert more_turns == turns + 20
    # IPython opens its history now and then, and ipykernel a channel for each thread that prints.
    assert more_files <= files + 4
    assert cells <= 2, "only the latest turn's cell may change any more"


def test_nothing_is_left_of_an_agent_that_has_quit(kernel):
    kernel.run("%acp quit --all")
    kernel.run("del agent, session")
    assert kernel.run("print('OURS', ours())").strip().endswith("OURS []")
