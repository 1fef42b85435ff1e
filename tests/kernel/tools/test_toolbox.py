"""The built-in tools: looking at variables, running code whatever it does, proposing cells."""

from __future__ import annotations

import collections
import gc
import inspect
import linecache
import threading
from concurrent.futures import Future

import numpy as np
import pandas as pd
import pytest
from tools_bench import BOUND_S, has_spoken, text_of, wait_as_a_cell

from acp_notebook.session.content import ImageBlock
from acp_notebook.session.state import CELL_META


def last_card(session):
    calls = session.agent.thread.call(lambda: list(session.live.state.tool_calls.values()))
    return calls[-1]


def card_text(card):
    return "\n".join(item.block.text for item in card.content if hasattr(item.block, "text"))


# looking


def test_variables_are_listed_with_type_and_size_and_nothing_else_is(hands, space):
    space |= {
        "frame": pd.DataFrame({"a": [1, 2]}),
        "array": np.zeros((3, 4)),
        "words": "hello",
        "_private": 1,
        "module": np,
    }
    assert hands.text("list_variables").splitlines() == [
        "array: numpy.ndarray, 3 × 4",  # noqa: RUF001
        "frame: pandas.DataFrame, 2 × 1",  # noqa: RUF001
        "words: str, 5 characters, 'hello'",
    ]
    assert hands.text("list_variables", containing="RAM").startswith("frame")
    assert "no such variables" in hands.text("list_variables", containing="nothing")


def test_many_variables_are_listed_up_to_a_bound(hands, space):
    space |= {f"v{n}": n for n in range(500)}
    listed = hands.text("list_variables").splitlines()
    assert len(listed) == 201
    assert "300 more" in listed[-1]


def test_inspect_follows_attributes_and_keys_and_calls_nothing(hands, space):
    space["config"] = {"a": [10, 20]}
    space["frame"] = pd.DataFrame({"price": [1.0, 2.0]})
    assert "20" in hands.text("inspect", name="config['a'][1]")
    assert "price" in hands.text("inspect", name="frame.price")
    for path in ("config.pop('a')", "__import__('os')", "config[len(config)]", "1 +", "config._x"):
        result = hands.call("inspect", name=path)
        assert result.is_error
        assert "not a variable's name or a path" in text_of(result)
    assert space["config"] == {"a": [10, 20]}


def test_inspect_names_what_would_have_to_be_computed(hands, space):
    class Shop:
        @property
        def price(self):
            raise AssertionError("computed")

    space |= {"shop": Shop(), "stock": collections.defaultdict(list)}
    assert "'price' is a property" in hands.text("inspect", name="shop.price")
    assert "run_code, which asks the user" in hands.text("inspect", name="shop.price")
    assert "there is no a" in hands.text("inspect", name="stock['a']")
    assert space["stock"] == {}


def test_inspecting_what_is_not_there_is_an_error_that_says_so(hands):
    assert "There is no variable 'nothing'" in hands.text("inspect", name="nothing")


def test_a_long_description_comes_in_pages_that_join_to_the_whole(hands, space):
    space["text"] = "".join(f"line {n}\n" for n in range(1500))
    pages, offset = [], 0
    while True:
        page = hands.text("inspect", name="text", offset=offset)
        body, found, _ = page.rpartition("\n… ")
        if not found:
            pages.append(page)
            break
        pages.append(body)
        offset += len(body)
    assert len(pages) == 3
    assert "".join(pages) == space["text"]


def test_a_value_that_fails_in_its_repr_is_described_all_the_same(hands, space):
    class Broken:
        def __repr__(self):
            raise ZeroDivisionError

    space["broken"] = Broken()
    assert "Broken" in hands.text("list_variables")
    result = hands.call("inspect", name="broken")
    assert not result.is_error
    assert "Broken" in text_of(result)


def test_arguments_that_do_not_fit_are_told_where(hands):
    assert "name is missing" in hands.text("inspect")
    assert "offset" in hands.text("inspect", name="x", offset="many")
    assert "There is no tool 'dance'" in hands.text("dance")


# running code


def test_code_runs_in_the_users_namespace_and_its_last_value_is_shown(hands, space, session):
    space["x"] = 20
    assert hands.text("run_code", code="y = x + 1\ny * 2") == "42\nVariables: new y"
    assert space["y"] == 21
    card = last_card(session)
    assert card.status == "completed"
    assert "y = x + 1" in card_text(card)
    assert "42" in card_text(card)
    assert "Variables: new y" in card_text(card)


def test_a_semicolon_keeps_the_last_value_quiet(hands):
    assert hands.text("run_code", code="1 + 1;") == "Done. There was no output."


def test_code_runs_on_the_main_thread(hands, space):
    hands.call("run_code", code="import threading; where = threading.current_thread()")
    assert space["where"] is threading.main_thread()


def test_printed_text_and_values_come_in_order(hands):
    code = "import sys\nprint('one')\ndisplay('two')\nprint('three', file=sys.stderr)\n'four'"
    assert hands.text("run_code", code=code).split() == ["one", "'two'", "three", "'four'"]


def test_a_progress_bar_leaves_its_last_state(hands):
    code = "for n in range(100): print(f'\\r{n} %', end='')"
    assert hands.text("run_code", code=code).strip() == "99 %\nVariables: new n"


def test_magics_and_top_level_await_work(hands):
    assert hands.text("run_code", code="%pwd").startswith("'/")
    code = "import asyncio\nawait asyncio.sleep(0)\n7"
    assert hands.text("run_code", code=code) == "7"


def test_figures_come_as_images_shown_or_not(hands, session):
    for code in ("plt.plot([1, 2]); plt.show()", "plt.plot([1, 2]);"):
        result = hands.call("run_code", code=f"import matplotlib.pyplot as plt\n{code}")
        images = [block for block in result.content if block.type == "image"]
        assert [image.mime_type for image in images] == ["image/png"]
        shown = [item.block for item in last_card(session).content]
        assert [block for block in shown if isinstance(block, ImageBlock)]


def test_an_exception_comes_as_a_traceback_of_the_agents_code_alone(hands, space, session):
    space["x"] = 1
    result = hands.call("run_code", code="def f():\n    return 1 / 0\nx = 2\nf()")
    assert result.is_error
    text = text_of(result)
    assert "line 4, in <module>" in text
    assert "return 1 / 0" in text
    assert "acp_notebook" not in text
    assert "ZeroDivisionError" in text
    assert "new f; changed x" in text
    assert space["x"] == 2
    assert last_card(session).status == "failed"


def test_the_source_of_code_is_kept_as_long_as_something_of_it_is_in_use(hands, space):
    def kept():
        gc.collect()
        return [name for name in linecache.cache if name.startswith("<code ")]

    before = kept()
    hands.call("run_code", code="[each for each in 'abc']\n1 / 0")
    assert kept() == before
    hands.call("run_code", code="def double(x):\n    return 2 * x")
    assert inspect.getsource(space["double"]).rstrip() == "def double(x):\n    return 2 * x"
    del space["double"]
    assert kept() == before


def test_a_syntax_error_is_told_and_nothing_runs(hands, space):
    result = hands.call("run_code", code="done = 1\nif if")
    assert result.is_error
    assert "SyntaxError" in text_of(result)
    assert "done" not in space


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("input('name?')", "input() is not available"),
        ("import getpass; getpass.getpass()", "input() is not available"),
        ("exit()", "exit() is not available"),
        ("raise SystemExit(3)", "SystemExit"),
    ],
)
def test_what_needs_a_keyboard_or_ends_the_kernel_is_refused_in_words(hands, code, words):
    result = hands.call("run_code", code=code)
    assert result.is_error
    assert words in text_of(result)
    assert hands.text("run_code", code="'still here'") == "'still here'"


def test_input_works_again_for_the_user(hands, shell):
    before = __builtins__["input"]
    publisher = shell.display_pub
    hands.call("run_code", code="1")
    assert __builtins__["input"] is before
    assert shell.display_pub is publisher
    assert "ask_exit" not in vars(shell)


def test_a_hundred_megabytes_of_output_do_not_hurt(hands, session):
    code = "for _ in range(100):\n    print('x' * 1_000_000)\nprint('the end')"
    text = hands.text("run_code", code=code)
    assert len(text) < 40_000
    assert "characters left out" in text
    assert "the end" in text
    assert sum(len(item.block.text) for item in last_card(session).content) < 40_000


def test_many_displays_are_counted_and_not_kept(hands):
    text = hands.text("run_code", code="for n in range(500): display(n)")
    assert "more outputs left out" in text
    assert len(text.splitlines()) < 60


@pytest.mark.parametrize("code", ["while True: pass", "import time; time.sleep(600)"])
def test_code_that_never_ends_is_interrupted_at_its_limit(hands, session, code):
    result = hands.call("run_code", code=f"print('begun')\n{code}", time_limit=1)
    assert result.is_error
    assert "begun" in text_of(result)
    assert "longer than its limit of 1 seconds" in text_of(result)
    assert last_card(session).status == "failed"
    assert hands.text("run_code", code="'free'") == "'free'"


def test_code_that_swallows_the_interrupt_once_is_interrupted_again(hands):
    code = (
        "import time\ntry:\n    time.sleep(600)\nexcept BaseException:\n    print('no')\n"
        "time.sleep(600)"
    )
    assert "longer than its limit" in hands.text("run_code", code=code, time_limit=1)


def test_a_stop_of_the_turn_interrupts_the_code(hands, space, session):
    space["begun"] = threading.Event()
    turn = session.prompt("/slow 30", wait=False)
    assert has_spoken(session).wait(BOUND_S)
    call = hands.begin("run_code", code="begun.set()\nimport time\ntime.sleep(600)")
    stopper = threading.Thread(target=lambda: (space["begun"].wait(BOUND_S), turn.cancel()))
    stopper.start()
    result = wait_as_a_cell(call)
    stopper.join()
    assert "The user stopped the turn" in text_of(result)
    wait_as_a_cell(turn.done)
    assert turn.stop_reason == "cancelled"
    assert last_card(session).status != "completed"


def test_code_that_swallows_the_interrupt_is_interrupted_again(hands, space, session):
    space["begun"] = threading.Event()
    turn = session.prompt("/slow 30", wait=False)
    assert has_spoken(session).wait(BOUND_S)
    code = """
import time
begun.set()
try:
    time.sleep(600)
except KeyboardInterrupt:
    pass
time.sleep(600)
"""
    call = hands.begin("run_code", code=code)
    stopper = threading.Thread(target=lambda: (space["begun"].wait(BOUND_S), turn.cancel()))
    stopper.start()
    result = wait_as_a_cell(call)
    stopper.join()
    assert "The user stopped the turn" in text_of(result)
    wait_as_a_cell(turn.done)


def test_an_agent_that_calls_it_off_frees_the_kernel(hands, space):
    space["begun"] = threading.Event()
    call = hands.begin("run_code", code="begun.set()\nimport time\ntime.sleep(600)")
    answer = Future()

    def call_off():
        space["begun"].wait(BOUND_S)
        call.cancel()
        free = hands.begin("run_code", code="'free'")
        free.add_done_callback(lambda _: answer.set_result(free.result()))

    canceller = threading.Thread(target=call_off)
    canceller.start()
    assert text_of(wait_as_a_cell(answer)) == "'free'"
    canceller.join()


def test_empty_and_endless_code_is_not_asked_about(hands, session):
    assert "empty" in hands.text("run_code", code="  ")
    assert "Send it in parts" in hands.text("run_code", code="x = 1\n" * 10_000)
    assert session.live.state.permissions == {}


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("a = [1, 2]", "changed a"),
        ("a.append(3)", "changed a"),
        ("frame['c'] = 1", "changed frame"),
        ("frame.loc[0, 'a'] = 9", "changed frame"),
        ("array[0] = 5", "changed array"),
        ("del a", "deleted a"),
        ("b = 1; del frame", "new b; deleted frame"),
        ("sum(a); frame.head(); _ = array.sum()", ""),
    ],
)
def test_the_variables_that_code_changed_are_listed(hands, space, code, words):
    space |= {"a": [1], "frame": pd.DataFrame({"a": [1, 2]}), "array": np.zeros(3)}
    text = hands.text("run_code", code=code + "\nNone")
    assert text == (f"Variables: {words}" if words else "Done. There was no output.")


def test_code_is_in_the_history_with_its_origin(hands, shell, session):
    hands.call("run_code", code="marked = 1")
    assert shell.history_manager.input_hist_raw[-1] == (
        f"# run by the agent demo, session {session.id}\nmarked = 1"
    )
    assert "marked = 1" in hands.text("read_cells", last=1)


# cells


def test_cells_are_read_with_their_outputs(hands, shell):
    shell.run_cell("6 * 7", store_history=True)
    number = shell.execution_count - 1
    text = hands.text("read_cells", number=number)
    assert "6 * 7" in text
    assert "42" in text
    assert "No such cell" in hands.text("read_cells", number=99_999)


def test_a_proposed_cell_is_shown_and_neither_run_nor_inserted(hands, space, session):
    text = hands.text("propose_cell", code="late = 1", title="Set it")
    assert "%acp insert" in text
    card = last_card(session)
    assert card.title == "Proposed a cell: Set it"
    assert card.meta[CELL_META] == "late = 1"
    assert "late" not in space
    assert session.live.state.permissions == {}
