"""Prompts with context by the magics: what goes out, what is shown, what is recorded."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import pytest
from matplotlib.figure import Figure
from shell_bench import ShellBench, shell_bench

import acp_notebook as acp
from acp_notebook.client import attachments
from acp_notebook.errors import UsageError
from acp_notebook.kernel.extension import load_ipython_extension, unload_ipython_extension
from acp_notebook.kernel.magic.turn_cache import RecordedTurn
from acp_notebook.session.content import TextBlock


@pytest.fixture
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ShellBench]:
    monkeypatch.chdir(tmp_path)
    with shell_bench() as bench:
        yield bench


@pytest.fixture
def rich(bench):
    """With an agent that takes pictures and embedded context."""
    bench.start("rich")
    return bench


# mentions


def test_a_cell_sends_its_text_and_what_it_mentions(rich):
    rich.names["df"] = pd.DataFrame({"x": [1, 2]})
    rich.run("%%acp\nWhat is odd about @df? {len(df)} rows, `@df`, me@example.org")
    ((text, resource),) = rich.sent()
    assert text == {
        "type": "text",
        "text": "What is odd about @df? 2 rows, `@df`, me@example.org",
    }
    assert resource["type"] == "resource"
    assert resource["resource"]["uri"] == "notebook://variable/df"
    assert "2 rows" in resource["resource"]["text"]


def test_a_line_sends_its_mentions_and_attachments(rich):
    rich.names |= {"a": "one", "words": ["x y", "z"]}
    rich.run('%acp prompt --attach words[0] --attach "len(words) + 1" see @a')
    ((text, mentioned, first, second),) = rich.sent()
    assert text["text"] == "see @a"
    assert mentioned["resource"]["text"] == "one"
    assert first["resource"]["text"] == "x y"
    assert "3" in second["resource"]["text"]


def test_prompts_in_loops_and_functions_see_what_is_there(rich):
    rich.run(
        "def ask(word, number):\n"
        "    %acp prompt --quiet --out reply say {word} for @number\n"
        "for word in ('one', 'two'):\n"
        "    ask(word, word * 2)"
    )
    assert [prompt[0]["text"] for prompt in rich.sent()] == [
        "say one for @number",
        "say two for @number",
    ]
    assert [prompt[1]["resource"]["text"] for prompt in rich.sent()] == ["oneone", "twotwo"]
    assert rich.names["reply"].text == "2 blocks in prompt 2. "


def test_options_and_other_lines_are_filled_in(rich):
    rich.names |= {"who": "helper", "name": "kept"}
    rich.run("%acp prompt --to {who} --out {name} for $who")
    assert rich.sent()[0][0]["text"] == "for $who"
    assert rich.names["kept"].stop_reason == "end_turn"
    rich.run("%acp quit {who[:6]}")
    assert len(rich.magics.state.roster) == 0


def test_what_an_agent_may_have_named_is_never_evaluated(rich):
    called = []
    rich.names["boom"] = lambda: called.append("boom")
    for line in ("resume", "close", "delete", "set mode", "login"):
        rich.fail(f"%acp {line} {{boom()}}")
    assert "{boom()}" in rich.fail("%acp close {boom()}")
    assert "$boom" in rich.fail("%acp close $boom")
    assert called == []


def test_a_long_line_is_read_at_once(rich):
    rich.names["x"] = "y"
    words = rich.fail(f"%acp quit {'{x}$x' * 8_000}")
    assert words.startswith("There is no agent called 'yyyy")


def test_an_unknown_name_sends_nothing_and_teaches(rich):
    rich.names["sales"] = 1
    words = rich.fail("%%acp\nlook at @salse")
    assert "Did you mean @sales?" in words
    assert r"\@salse" in words
    assert rich.sent() == []


def test_what_ipython_would_expand_is_left_alone_in_prompts(rich):
    rich.names["x"] = 1
    prompt = 'reply as {"x": 1}, cost $x, ```\n{x}\n```'
    rich.run(f"%%acp\n{prompt}")
    assert rich.sent()[0][0]["text"] == prompt


def test_an_agent_without_images_and_resources_gets_text_and_a_link(bench):
    bench.start()
    bench.names |= {"fig": Figure(), "df": pd.DataFrame({"x": [1]})}
    bench.run("%%acp\n@fig and @df")
    ((_, link, line, described),) = bench.sent()
    assert link["type"] == "resource_link"
    assert Path(link["uri"].removeprefix("file://")).read_bytes().startswith(b"\x89PNG")
    assert "takes no pictures" in line["text"]
    assert described["type"] == "text"
    assert described["text"].startswith("notebook://variable/df")


def test_notes_are_said_before_the_prompt_goes(rich, tmp_path, capsys):
    (tmp_path / "old.txt").write_bytes("naïve".encode("cp1252"))
    rich.run("%%acp\nsee @file:old.txt")
    assert "Note: old.txt is not UTF-8" in capsys.readouterr().out
    rich.run("%%acp --quiet\nsee @file:old.txt")
    assert "Note" not in capsys.readouterr().out


# preview


def test_a_preview_shows_each_block_with_its_size_and_sends_nothing(rich):
    rich.names |= {"fig": Figure(), "text": "<b>&</b>"}
    (bundle,) = rich.run("%%acp --preview\nlook at @fig and @text")
    assert rich.sent() == []
    told = bundle["text/plain"]
    assert "to helper: 3 blocks" in told
    assert "1 picture" in told
    assert "Nothing was sent" in told
    assert "1. text, 22 characters" in told
    assert "2. image of notebook://variable/fig, image/png" in told
    assert "3. resource notebook://variable/text, text/plain, 8 characters\n<b>&</b>" in told
    assert "&lt;b&gt;&amp;&lt;/b&gt;" in bundle["text/html"]
    assert '<img src="data:image/png;base64,' in bundle["text/html"]


def test_a_preview_is_exactly_what_goes_out(rich):
    rich.names["df"] = pd.DataFrame({"x": [1]})
    told = rich.shown("%%acp --preview\nsee @df")
    rich.run("%%acp\nsee @df")
    ((text, resource),) = rich.sent()
    assert text["text"] in told
    assert resource["resource"]["text"] in told


def test_a_preview_shows_the_fallbacks_of_the_present_agent(bench):
    bench.start()
    bench.names["fig"] = Figure()
    told = bench.shown("%%acp --preview\n@fig")
    assert "2. link to file://" in told
    assert "takes no pictures" in told


def test_a_preview_needs_no_agent_and_starts_none(bench):
    bench.magics.agent = "demo"
    bench.names["x"] = 1
    assert "none is running" in bench.shown("%%acp --preview\nsee @x")
    assert len(bench.magics.state.roster) == 0


# fix, explain, insert


def test_fix_sends_the_last_error_and_insert_puts_the_code_below(rich, capsys):
    rich.fail("x = 1 / 0")
    rich.run("y = 2")
    capsys.readouterr()
    rich.run("%acp fix and keep it short")
    ((text, resource),) = rich.sent()
    assert text["text"].startswith("A cell of my notebook failed.")
    assert text["text"].endswith("and keep it short")
    assert resource["resource"]["uri"] == "notebook://error"
    assert "x = 1 / 0" in resource["resource"]["text"]
    assert "ZeroDivisionError" in resource["resource"]["text"]
    assert "Nothing was changed. %acp insert" in capsys.readouterr().out
    assert rich.next_input is None

    rich.run("%acp insert")
    assert rich.next_input == "x = 1"
    assert "Code block 1 (python) of 2" in capsys.readouterr().out
    rich.run("%acp insert 2")
    assert rich.next_input == "python x.py"
    assert rich.names["y"] == 2


def test_fix_without_an_error_says_so(rich):
    rich.run("x = 1")
    assert "there is nothing to fix" in rich.fail("%acp fix")
    assert rich.sent() == []


def test_explain_sends_the_previous_cell_of_the_user(rich):
    rich.run("print('hello')\n40 + 2")
    rich.run("%acp permissions")
    rich.run("%acp explain")
    ((text, resource),) = rich.sent()
    assert text["text"].startswith("Explain the attached cell")
    assert "40 + 2" in resource["resource"]["text"]


def test_explain_without_a_cell_says_so(bench):
    assert "nothing to explain" in bench.fail("%acp explain")


def test_insert_takes_a_turn_by_variable_or_id(rich):
    assert "Nothing was prompted yet" in rich.fail("%acp insert")
    rich.run("%%acp --out first\nsome code please")
    rich.run("%%acp\nno more")
    assert "no code block" in rich.fail("%acp insert")
    rich.run("%acp insert --turn first")
    assert rich.next_input == "x = 1"
    rich.run(f"%acp insert 2 --turn {rich.names['first'].prompt_id}")
    assert rich.next_input == "python x.py"
    assert "no number 3" in rich.fail("%acp insert 3 --turn first")
    assert "Last: " in rich.fail("%acp insert --turn nothing")


# cache


def test_the_same_prompt_is_asked_once_and_shown_marked_again(rich, tmp_path):
    rich.names["x"] = 1
    rich.run("%%acp --cache --out first\nsee @x")
    told = rich.shown("%%acp --cache --out again\nsee @x")
    assert len(rich.sent()) == 1
    assert told.startswith("Recorded turn of helper, ")
    assert "The agent was not asked." in told
    assert "2 blocks in prompt 1." in told
    again = rich.names["again"]
    assert isinstance(again, RecordedTurn)
    assert (again.text, again.stop_reason) == (rich.names["first"].text, "end_turn")
    assert again.wait().raise_for_stop() is again
    assert [path.suffix for path in (tmp_path / ".acp_cache").iterdir()] == [".json"]


@pytest.mark.parametrize("change", ["x = 2", "%acp quit", "%acp prompt --quiet other"])
def test_another_prompt_context_or_agent_is_asked(rich, change):
    rich.names["x"] = 1
    rich.run("%%acp --cache\nsee @x")
    rich.run(change)
    prompt = "see @x"
    if change == "%acp quit":
        rich.start("rich", "other")
    elif "other" in change:
        prompt = "see @x now"
    rich.run(f"%%acp --cache --out turn\n{prompt}")
    assert isinstance(rich.names["turn"], acp.Turn)


def test_a_turn_that_ended_otherwise_is_not_recorded(rich, tmp_path):
    rich.run("%%acp --cache\nrefuse this")
    assert not (tmp_path / ".acp_cache").exists()


def test_a_notebook_runs_again_without_its_agent(rich, capsys):
    rich.run("%%acp --cache\nsome code please")
    rich.run("%acp quit")
    origin = rich.magics.state.cache._origins["helper"]

    rich.run("%acp start --cache --as helper -- /nowhere/agent")
    assert "prompts with --cache show their recorded turns" in capsys.readouterr().out
    rich.magics.state.cache._origins["helper"] = origin  # as the same command gives on that machine
    told = rich.shown("%%acp --cache\nsome code please")
    assert "The agent was not asked." in told
    rich.run("%acp insert")
    assert rich.next_input == "x = 1"
    assert "No turn is recorded" in rich.fail("%%acp --cache\nsomething else")
    assert "could not start" in rich.fail("%%acp\nsomething else")


def test_a_start_that_fails_without_cache_is_an_error(bench):
    assert "/nowhere/agent" in bench.fail("%acp start -- /nowhere/agent")


def test_a_file_that_is_no_recording_counts_as_none(rich, tmp_path):
    rich.run("%%acp --cache\nhello")
    (path,) = (tmp_path / ".acp_cache").iterdir()
    for content in ("", "[]", "{}", '{"version": 99}', '{"version": 1, "record": 3}'):
        path.write_text(content)
        rich.run("%%acp --cache --out turn\nhello")
        assert isinstance(rich.names["turn"], acp.Turn)


def test_a_recording_from_elsewhere_can_show_but_not_run_anything(rich, tmp_path):
    rich.run("%%acp --cache\nhello")
    (path,) = (tmp_path / ".acp_cache").iterdir()
    told = json.loads(path.read_text())
    original = told["record"]["text/html"]
    told["record"]["text/html"] = (
        original + "<script>alert(1)</script><img src=x onerror=alert(1)><iframe></iframe>"
        '<div style="position:fixed;top:0">cover</div><a href="javascript:alert(1)">x</a>'
        '<p style="background:url(https://example.org/x)">x</p>'
        '<img src="https://example.org/track.png">'
    )
    path.write_text(json.dumps(told))
    (bundle,) = rich.run("%%acp --cache\nhello")
    html = bundle["text/html"]
    for bad in (
        "<script",
        "onerror",
        "<iframe",
        "position:fixed",
        "javascript:",
        "url(",
        "track.png",
    ):
        assert bad not in html
    assert "prompt 1" in html
    assert "<details" in html or "<div style=" in html


def test_a_recording_that_cannot_be_written_is_no_failure(rich, tmp_path, capsys):
    (tmp_path / ".acp_cache").touch()
    rich.run("%%acp --cache\nhello")
    assert "could not be recorded" in capsys.readouterr().out


# from Python


def test_objects_are_attached_from_python(rich):
    frame = pd.DataFrame({"x": [1]})
    rich.names["sales"] = frame
    session = rich.magics.state.roster.find().session
    session.prompt("see", attach=[frame, "words", TextBlock("block")])
    session.prompt("see", attach={"numbers": [1, 2]})
    (_, first, second, third), (_, named) = rich.sent()
    assert first["resource"]["uri"] == "notebook://variable/sales"
    assert second["resource"]["text"] == "words"
    assert third == {"type": "text", "text": "block"}
    assert named["resource"]["uri"] == "notebook://variable/numbers"


def test_without_the_extension_an_object_is_refused_and_a_path_linked(rich, tmp_path):
    attachments.install_describer(None)
    (tmp_path / "a.csv").write_text("x\n1\n")
    session = rich.magics.state.roster.find().session
    session.prompt("see", attach=[Path("a.csv"), "words"])
    ((_, link, text),) = rich.sent()
    assert link == {
        "type": "resource_link",
        "uri": (tmp_path / "a.csv").as_uri(),
        "name": "a.csv",
        "mimeType": "text/csv",
        "size": 4,
    }
    assert text == {"type": "text", "text": "words"}
    for wrong in ([pd.DataFrame()], [Path("missing")], "text", 3):
        with pytest.raises(UsageError, match="attach"):
            session.prompt("see", attach=wrong)
    assert len(rich.sent()) == 1


def test_a_turn_is_displayed_as_its_record_but_not_twice_in_one_cell(rich):
    rich.names["session"] = rich.magics.state.roster.find().session
    bundles = rich.run("from IPython.display import display\nt = session.prompt('hi'); display(t)")
    assert "1 blocks in prompt 1." in bundles[0]["text/plain"]
    assert bundles[1] == {"text/plain": repr(rich.names["t"])}
    (bundle,) = rich.run("display(t)")
    assert set(bundle) == {"text/html", "text/markdown", "text/plain"}
    assert "1 blocks in prompt 1." in bundle["text/markdown"]
    assert rich.names["t"].to_markdown() == bundle["text/markdown"]


def test_a_turns_timeline_is_a_frame(rich):
    rich.run("%%acp --out turn\nhello")
    frame = rich.names["turn"].to_frame()
    assert list(frame.columns) == ["kind", "id", "title", "status", "text"]
    assert list(frame["kind"]) == [key.kind for key in rich.names["turn"].timeline]
    assert "1 blocks in prompt 1. " in list(frame["text"])


def test_a_frame_without_pandas_is_a_clear_error(rich, monkeypatch):
    rich.run("%%acp --out turn\nhello")
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(UsageError, match="pip install pandas"):
        rich.names["turn"].to_frame()


def test_unloading_takes_everything_back(bench):
    completer = bench.shell.Completer
    matchers = len(completer.custom_matchers)
    unload_ipython_extension(bench.shell)
    assert len(completer.custom_matchers) == matchers - 1
    assert attachments._describer is None
    assert bench.shell.find_line_magic("acp") is None
    load_ipython_extension(bench.shell)
    assert len(completer.custom_matchers) == matchers


def test_the_last_reply_can_be_inserted_after_its_agent_has_quit(rich):
    rich.run("%%acp\nsome code please")
    rich.run("%acp quit --all")
    rich.run("%acp insert")
    assert rich.next_input == "x = 1"
