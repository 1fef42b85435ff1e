"""Completion of `%acp` lines and `%%acp` prompts, through IPython's own completer."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from IPython.core.completer import provisionalcompleter
from kernelspecs import INSTALLED, running_kernel
from shell_bench import AGENT, ShellBench, shell_bench

from acp_notebook.kernel.magic import completions as offers
from acp_notebook.kernel.magic.subcommands import SUBCOMMANDS

Complete = Callable[[str], dict[str, str]]


@pytest.fixture(scope="module")
def shared_bench() -> Iterator[ShellBench]:
    with shell_bench() as bench:
        bench.start()
        yield bench


@pytest.fixture
def bench(shared_bench, tmp_path, monkeypatch):
    """A shell with an agent, and nothing of the tests before."""
    monkeypatch.chdir(tmp_path)
    before = dict(shared_bench.names)
    yield shared_bench
    shared_bench.names.clear()
    shared_bench.names.update(before)


@pytest.fixture
def complete(bench) -> Complete:
    """The texts that are offered at the end of a cell, with their words."""

    def complete(cell: str) -> dict[str, str]:
        with provisionalcompleter():
            found = list(bench.shell.Completer.completions(cell, len(cell)))
        for each in found:
            assert cell[each.start : each.end] == cell[each.start :]
        return {each.text: each.type for each in found if each._origin == "acp_notebook"}

    return complete


# lines


def test_subcommands_are_offered_with_what_they_do(complete):
    found = complete("%acp ")
    assert list(found) == list(SUBCOMMANDS)
    assert found["stop"].startswith("Cancel the agent's work")
    assert set(complete("%acp st")) == {"start", "stop"}


def test_a_line_below_others_is_completed(complete):
    assert "prompt" in complete("x = 1\n  %acp pr")


@pytest.mark.parametrize("cell", ["x = 'acp st", "%acpx st", "acp st", "%timeit acp ", "# %acp st"])
def test_other_lines_are_left_to_others(complete, cell):
    assert complete(cell) == {}


def test_options_are_offered_once_with_their_help(complete):
    found = complete("%acp start --")
    assert {"--as", "--cwd", "--protocol"} <= set(found)
    assert found["--as"] == "what to call it"
    assert "--as" not in complete("%acp start --as me --")
    assert "--attach" in complete("%%acp --attach x --a")


def test_values_of_options_are_offered(complete, bench):
    bench.names |= {"my_policy": lambda request: None, "df": 1}
    assert set(complete("%%acp --to ")) == {"helper"}
    assert {"ask", "reads", "allow", "reject", "my_policy"} <= set(complete("%%acp --permissions "))
    assert set(complete("%acp start --protocol ")) == {"1", "2"}
    assert "df" in complete("%%acp --attach ")


def test_known_agents_are_offered_at_start(complete):
    found = complete("%acp start ")
    assert found["demo"] == "Demo agent"
    assert len(found) > 3
    assert set(complete("%acp start de")) == {"demo"}
    assert complete("%acp start demo ") == {}


def test_labels_are_offered_where_an_agent_is_meant(complete):
    for name in ("stop", "wait", "new", "quit", "log", "trace", "options", "commands"):
        assert set(complete(f"%acp {name} ")) == {"helper"}, name


def test_sessions_are_offered_as_the_agent_lists_them(complete):
    found = complete("%acp resume ")
    assert found["sess-old"] == "Yesterday"
    assert "bad-session" in found
    assert set(complete("%acp close ")) == {"bad-session"}


def test_an_agent_that_does_not_answer_is_not_waited_for(complete, bench, monkeypatch):
    monkeypatch.setattr(offers, "PATIENCE_S", 0.0)
    assert "bad-session" in complete("%acp resume ")


def test_options_of_the_agent_and_their_values_are_offered(complete):
    assert complete("%acp set ") == {"v1-mode": "Mode, now careful"}
    assert complete("%acp set v1-mode ") == {"careful": "Careful", "quick": "Quick"}
    assert complete("%acp set v1-mode quick ") == {}


def test_code_blocks_of_the_last_reply_are_offered_for_insert(complete, bench):
    bench.run("%acp prompt --quiet code please")
    assert complete("%acp insert ") == {"1": "x = 1", "2": "python x.py"}
    bench.run("%acp prompt --quiet --out reply hello")
    assert "reply" in complete("%acp insert --turn ")


# prompts


@pytest.mark.parametrize("start", ["%%acp\n", "%%acp --quiet\n", "\n%%acp\n", "%acp prompt "])
def test_commands_of_the_agent_begin_a_prompt(complete, start):
    found = complete(f"{start}/")
    assert found == {"/review": "Look at it again [what]", "/report": "Write a report"}
    assert set(complete(f"{start}/rep")) == {"/report"}


def test_what_a_prompt_would_evaluate_is_not_offered(complete, bench, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a{df}").touch()
    (tmp_path / "ab").touch()
    bench.names["df"] = pd.DataFrame({"a{df}": [1], "ab": [2]})
    assert set(complete("%%acp\n@file:a")) == {"@file:ab"}
    assert set(complete("%%acp\n@df.a")) == {"@df.ab"}
    assert complete('%%acp\n@df["a') == {}


def test_a_slash_further_on_is_no_command(complete):
    assert complete("%%acp\nsee /re") == {}
    assert complete("%%acp\nfirst line\n/re") == {}
    assert complete("%%acp --to nobody\n/re") == {}


def test_variables_come_first_with_their_kinds_then_the_rest(complete, bench):
    bench.names |= {"df": pd.DataFrame({"x": [1, 2]}), "name": "x", "pd": pd, "clean": lambda: 0}
    bench.names["_hidden"] = 1
    found = complete("%%acp\nlook at @")
    assert list(found)[:3] == ["@df", "@name", "@clean"]
    assert found["@df"] == "DataFrame, 2 × 1"  # noqa: RUF001
    assert found["@name"] == "str"
    assert {"@file:", "@cell[", "@out[", "@cells:"} <= set(found)
    assert not {"@pd", "@_hidden", "@In"} & set(found)
    assert set(complete("%%acp\nlook at @d")) == {"@df"}
    assert set(complete("%%acp\n(@D")) == {"@df"}


def test_an_email_address_and_a_backslash_offer_nothing(complete, bench):
    bench.names["df"] = 1
    assert complete("%%acp\nmail me@d") == {}
    assert complete("%%acp\n\\@d") == {}


def test_columns_and_keys_are_offered_and_no_code_is_run_for_them(complete, bench):
    class Trap:
        def __init__(self):
            self.fine = 1

        def __dir__(self):
            raise AssertionError

        @property
        def trap(self):
            raise AssertionError

    bench.names |= {
        "df": pd.DataFrame({"price": [1], "unit price": [2]}),
        "trap": Trap(),
        "models": {"best": 1},
    }
    assert set(complete("%%acp\n@df.")) == {"@df.price"}
    assert "@df:csv" in complete("%%acp\n@df:")
    assert set(complete('%%acp\n@df["')) == {'@df["unit price"]'}
    assert set(complete("%%acp\n@trap.")) == {"@trap.fine"}
    assert set(complete("%%acp\n@models.")) == {"@models.best"}
    assert complete("%%acp\n@nothing.") == {}


def test_cells_and_outputs_are_offered_by_number(complete, bench):
    bench.run("40 + 2\nNone")
    bench.run("{'a': 1}")
    count = bench.shell.execution_count - 1
    found = complete("%%acp\n@cell[")
    assert next(iter(found)) == f"@cell[{count}]"
    assert found[f"@cell[{count}]"] == "{'a': 1}"
    assert complete("%%acp\n@out[")[f"@out[{count}]"] == "dict"
    assert "@cells:3" in complete("%%acp\n@cells:")


def test_the_last_error_is_offered_once_there_is_one(complete, bench):
    bench.magics.state.log._error = None
    assert "@error" not in complete("%%acp\n@")
    bench.fail("1/0")
    assert "@error" in complete("%%acp\n@err")


def test_files_are_offered_folder_by_folder(complete, tmp_path):
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "a.csv").touch()
    (tmp_path / "with space.txt").touch()
    (tmp_path / ".hidden").touch()
    assert complete("%%acp\n@file:") == {
        "@file:data/": "folder",
        '@file:"with space.txt"': "file",
    }
    assert set(complete("%%acp\n@file:data/")) == {"@file:data/a.csv"}
    assert set(complete('%%acp\n@file:"wi')) == {'@file:"with space.txt"'}
    assert set(complete("%%acp\n@file:.h")) == {"@file:.hidden"}
    assert complete("%%acp\n@file:nowhere/") == {}


def test_completion_never_raises(complete, bench, monkeypatch):
    class Odd:
        @property
        def __class__(self):
            raise RuntimeError

    bench.names["odd"] = Odd()
    complete("%%acp\n@")

    def explode(*_):
        raise RuntimeError("no")

    monkeypatch.setattr(offers, "_in_prompt", explode)
    assert complete("%%acp\n@") == {}


def test_the_present_agent_stays_the_present_one(complete, bench):
    bench.run("%acp start --as other --no-tools -- " + AGENT)
    try:
        complete("%%acp --to helper\n/")
        complete("%acp set --to helper ")
        assert [each.label for each in bench.magics.state.roster] == ["helper", "other"]
    finally:
        bench.run("%acp quit other")


def test_completion_imports_nothing_heavy():
    heavy = {"anywidget", "ipywidgets", "pygments", "markdown_it", "nh3", "pandas", "mcp", "PIL"}

    code = (
        "import sys; from IPython.core.interactiveshell import InteractiveShell as S;"
        "before = set(sys.modules); shell = S.instance();"
        "from acp_notebook.kernel.extension import load_ipython_extension as load; load(shell);"
        "from acp_notebook.kernel.magic.completions import find_completions;"
        "m = shell.magics_manager.registry['AcpMagics'].state;"
        "assert find_completions(m, ['%%acp', '@'], 1, 1).texts;"
        "assert find_completions(m, ['%acp start '], 0, 11).texts;"
        f"print(({heavy!r} & set(sys.modules)) - before)"
    )
    command = [sys.executable, "-c", code]
    run = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    assert run.stdout.strip() == "set()"


def test_completion_works_while_a_cell_waits(tmp_path: Path):
    with running_kernel(INSTALLED, tmp_path) as kernel:
        kernel.run("%load_ext acp_notebook\n%acp start demo")
        kernel.run("sales = [1]")
        waiting = kernel.send("%%acp\n/slow 60")
        kernel.until(lambda record: waiting in record.executed, "start of the cell")
        request = kernel.client.complete("%%acp\nsee @sal", 14)
        reply: Any = kernel.reply(request)["content"]
        assert reply["matches"] == ["@sales"]
        assert waiting not in kernel.record.idle
        kernel.manager.interrupt_kernel()
        kernel.until_idle([waiting])
