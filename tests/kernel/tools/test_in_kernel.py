"""The tools in a real kernel: while a cell waits, while it is busy with another cell, and idle."""

from __future__ import annotations

import json
import socket

import pytest
from kernelspecs import INSTALLED, running_kernel
from tools_bench import BOUND_S, Hands, mcp_over_http, text_of

ENTRY = """
import json
from acp_notebook.client.host import current_host
def entry():
    agent = get_ipython().magics_manager.registry["AcpMagics"].state.roster.find()
    return agent.thread.call(lambda: agent._setup_for(agent.session.live).mcp_servers[0])
print("ENTRY" + json.dumps(entry()))
"""


@pytest.fixture(scope="module")
def kernel(tmp_path_factory):
    with running_kernel(INSTALLED, tmp_path_factory.mktemp("kernel")) as kernel:
        kernel.run("%load_ext acp_notebook\n%acp start demo --permissions allow")
        yield kernel


@pytest.fixture
def hands(kernel):
    printed = kernel.run(ENTRY)
    entry = json.loads(printed.rpartition("ENTRY")[2])
    hands = Hands(lambda: mcp_over_http(entry))
    yield hands
    hands.close()


@pytest.fixture
def turn(kernel):
    """A turn that goes on beside the test's cells."""
    prompt = waiting_cell(None, "/slow 600")
    kernel.run(prompt)
    yield
    kernel.run("turn.cancel()\nturn.wait()")


@pytest.fixture
def signpost():
    """Where code in the kernel can say that it has begun."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(BOUND_S)
        yield server


def code_that_says_so(signpost, then):
    port = signpost.getsockname()[1]
    return f"import socket, time\nsocket.create_connection(('127.0.0.1', {port})).close()\n{then}"


def waiting_cell(signpost, prompt):
    """A cell that prompts and, with a signpost, says so and waits."""
    prompts = (
        'agent = get_ipython().magics_manager.registry["AcpMagics"].state.roster.find()\n'
        f"turn = agent.session.prompt({prompt!r}, wait=False)\n"
    )
    return prompts + code_that_says_so(signpost, "turn.wait()") if signpost else prompts


def has_begun(signpost):
    signpost.accept()[0].close()


def test_an_idle_kernel_runs_code_at_once(kernel, hands, turn):
    kernel.run("x = 20")
    result = hands.begin("run_code", code="y = x + 1\nprint('seen')\ny").result(BOUND_S)
    assert text_of(result) == "seen\n\n21\nVariables: new y"
    assert kernel.run("print(y)") == "21"


def test_a_busy_kernel_runs_it_when_the_cell_is_over(kernel, hands, turn, signpost):
    busy = kernel.send(code_that_says_so(signpost, "time.sleep(1)\nbusy = False"))
    has_begun(signpost)
    call = hands.begin("run_code", code="print(busy)")
    assert text_of(call.result(BOUND_S)).strip() == "False"
    kernel.until_idle([busy])


def test_a_kernel_that_stays_busy_is_given_up_and_nothing_runs_later(kernel, hands, turn, signpost):
    kernel.run(
        "from acp_notebook.kernel.tools.running import interruption\n"
        "interruption.run_bounded.__kwdefaults__['queue_s'] = 0.5"
    )
    busy = kernel.send(code_that_says_so(signpost, "late = False\ntime.sleep(3)"))
    has_begun(signpost)
    result = hands.begin("run_code", code="late = True").result(BOUND_S)
    assert result.is_error
    assert "busy with another cell" in text_of(result)
    kernel.until_idle([busy])
    assert kernel.run("print(late)") == "False"
    kernel.run("interruption.run_bounded.__kwdefaults__['queue_s'] = 60")


def test_code_runs_while_the_cell_waits_and_queued_cells_stay_queued(kernel, hands, signpost):
    turn = kernel.send(waiting_cell(signpost, "/slow 3"))
    queued = kernel.send("order.append('cell')")
    has_begun(signpost)
    call = hands.begin("run_code", code="order = ['tool', turn.is_done]")
    assert not call.result(BOUND_S).is_error
    kernel.until_idle([turn, queued])
    assert kernel.run("print(order)") == "['tool', False, 'cell']"
    assert kernel.run("print(turn.stop_reason)") == "end_turn"


def test_the_users_interrupt_ends_the_code_and_the_turn(kernel, hands, signpost):
    turn = kernel.send(waiting_cell(signpost, "/slow 60"))
    has_begun(signpost)
    call = hands.begin("run_code", code=code_that_says_so(signpost, "time.sleep(600)"))
    has_begun(signpost)
    kernel.manager.interrupt_kernel()
    result = call.result(BOUND_S)
    assert result.is_error
    assert "interrupted the kernel" in text_of(result) or "stopped the turn" in text_of(result)
    kernel.until_idle([turn])
    assert kernel.record.errors[turn] == "TurnInterrupted"
    assert kernel.run("print('free')") == "free"


def test_the_agents_code_gets_prompt_numbers_of_its_own(kernel, hands, turn):
    before = int(kernel.run("print(get_ipython().execution_count)"))
    hands.begin("run_code", code="numbered = 1").result(BOUND_S)
    after = int(kernel.run("print(get_ipython().execution_count)"))
    assert after == before + 2
    history = kernel.run("print(In[-3])")
    assert history.startswith("# run by the agent demo")
    assert history.endswith("numbered = 1")


def test_frames_are_published_in_the_cell_that_waits(kernel, hands, signpost):
    bundles = []
    take = kernel._take

    def keep(message):
        if message["msg_type"] == "display_data":
            bundles.append((message["parent_header"]["msg_id"], message["content"]["data"]))
        take(message)

    kernel._take = keep
    turn = kernel.send(waiting_cell(signpost, "/slow 2"))
    has_begun(signpost)
    hands.begin("run_code", code="import pandas as pd\npd.DataFrame({'a': [1]})").result(BOUND_S)
    kernel.until_idle([turn])
    kernel._take = take
    tables = [data.get("text/html", "") for parent, data in bundles if parent == turn]
    assert [html for html in tables if "dataframe" in html]


def test_a_proposed_cell_is_put_in_by_the_user(kernel, hands, signpost):
    turn = kernel.send(waiting_cell(signpost, "/slow 1"))
    has_begun(signpost)
    hands.begin("propose_cell", code="proposed = 1").result(BOUND_S)
    kernel.until_idle([turn])
    assert kernel.reply(turn)["content"]["payload"] == []
    insert = kernel.send("%acp insert")
    kernel.until_idle([insert])
    (payload,) = kernel.reply(insert)["content"]["payload"]
    assert payload["source"] == "set_next_input"
    assert payload["text"] == "proposed = 1"
    assert kernel.run("print('proposed' in dir())") == "False"


def test_no_tools_tells_the_agent_of_none(kernel):
    kernel.run("%acp start demo --as bare --no-tools")
    frames = "roster.find('bare').recording.frames()"
    told = kernel.run(
        f'roster = get_ipython().magics_manager.registry["AcpMagics"].state.roster\n'
        f"print([f.message['params']['mcpServers'] for f in {frames} if f.label == 'session/new'])"
    )
    assert told == "[[]]"
    kernel.run("%acp quit bare")


def test_nothing_listens_after_quit(kernel, hands):
    port = int(kernel.run("print(current_host().tools._server.port)"))
    kernel.run("%acp quit --all")
    with socket.socket() as probe:
        assert probe.connect_ex(("127.0.0.1", port)) != 0
