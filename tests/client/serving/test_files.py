"""Files that are served to a v1 agent: inside its folder only, right by line, never a notebook."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest
from watching import NODE_AGENT, frames, needs_node, until

from acp_notebook.client.serving import files as file_system
from acp_notebook.errors import UsageError

proves = pytest.mark.requirement
ASKING = (sys.executable, str(Path(__file__).parents[1] / "requesting_agent.py"))
READ, WRITE = "fs/read_text_file", "fs/write_text_file"


@pytest.fixture
def asking(start, tmp_path):
    """An agent in `tmp_path`/project that asks what the test says, and the list of answers."""
    folder = tmp_path / "project"
    folder.mkdir()
    agent = start(ASKING, cwd=folder, serve=("read", "write"))

    def ask(*steps):
        turn = agent.session.prompt(json.dumps([[step] for step in steps]))
        ask.notices = [(notice.severity, notice.title) for notice in turn.notices]
        return json.loads(turn.text)

    ask.folder = folder
    ask.agent = agent
    return ask


def read(path, **more):
    return [READ, {"path": str(path), **more}]


def write(path, content="new\n"):
    return [WRITE, {"path": str(path), "content": content}]


def contents(answers):
    return [answer["result"]["content"] for answer in answers]


def code(answers):
    (answer,) = answers
    return answer["error"]["code"]


# with the official agent


@needs_node
@proves("V1-1")
@proves("INIT-5")
def test_the_official_agent_reads_and_writes_through_the_client(start, tmp_path):
    agent = start(NODE_AGENT, protocol=1, cwd=tmp_path, serve=["read", "write"])
    turn = agent.session.prompt(f"[[fs:write:{tmp_path}/made.txt]]")
    assert turn.text == "fs: {}"
    assert (tmp_path / "made.txt").read_text() == "written by the agent\n"
    assert [notice.title for notice in turn.notices] == ["Wrote made.txt (1 line)"]
    turn = agent.session.prompt(f"[[fs:read:{tmp_path}/made.txt]]")
    assert turn.text == 'fs: {"content":"written by the agent\\n"}'
    assert turn.notices == []  # a read is in the trace; it clutters no turn


@needs_node
@proves("V1-1")
def test_a_missing_file_is_an_error_and_not_an_empty_text(start, tmp_path):
    agent = start(NODE_AGENT, protocol=1, cwd=tmp_path, serve=["read"])
    assert agent.session.prompt(f"[[fs:read:{tmp_path}/none.txt]]").text == "fs: error -32002"


# what is offered


@proves("INIT-5")
@pytest.mark.parametrize(
    ("serve", "offered"),
    [
        ((), (False, False, False)),
        (("read",), (True, False, False)),
        (("write", "terminal"), (False, True, True)),
    ],
)
def test_exactly_what_is_served_is_offered(start, tmp_path, serve, offered):
    agent = start(ASKING, cwd=tmp_path, serve=serve)
    (tmp_path / "a.txt").write_text("a")
    capabilities = frames(agent, "sent")[0]["params"]["clientCapabilities"]
    files = capabilities["fs"]
    assert (files["readTextFile"], files["writeTextFile"], capabilities["terminal"]) == offered
    asked = [
        [
            read(tmp_path / "a.txt"),
            write(tmp_path / "b.txt"),
            ["terminal/create", {"command": "true"}],
        ]
    ]
    answers = json.loads(agent.session.prompt(json.dumps(asked)).text)
    assert tuple("result" in answer for answer in answers) == offered
    refused = {answer["error"]["code"] for answer in answers if "error" in answer}
    assert refused <= {-32601}


@proves("INIT-5")
def test_version_2_has_no_files_of_the_client(start, tmp_path):
    agent = start((*ASKING, "2"), cwd=tmp_path, serve=("read", "write", "terminal"))
    assert agent.protocol_version == 2
    assert "fs" not in frames(agent, "sent")[0]["params"]["capabilities"]
    turn = agent.session.prompt(json.dumps([[write(tmp_path / "b.txt")]]))
    assert code(json.loads(turn.text)) == -32601
    assert not (tmp_path / "b.txt").exists()


def test_an_unknown_thing_to_serve_is_named(start):
    with pytest.raises(UsageError, match=r"'everything'.*read, write, terminal"):
        start(ASKING, serve=["everything"])


# reading


@proves("V1-1")
@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({}, "one\ntwo\r\nthree"),
        ({"line": 1}, "one\ntwo\r\nthree"),
        ({"line": 2}, "two\r\nthree"),
        ({"line": 2, "limit": 1}, "two\r\n"),
        ({"limit": 2}, "one\ntwo\r\n"),
        ({"limit": 99}, "one\ntwo\r\nthree"),
        ({"limit": 0}, ""),
        ({"line": 0, "limit": 1}, "one\n"),
        ({"line": 4}, ""),
        ({"line": None, "limit": None}, "one\ntwo\r\nthree"),
    ],
)
def test_line_counts_from_one_and_limit_counts_lines(asking, given, expected):
    path = asking.folder / "lines.txt"
    path.write_bytes(b"one\ntwo\r\nthree")
    assert contents(asking(read(path, **given))) == [expected]


def test_a_negative_limit_is_invalid(asking):
    (asking.folder / "a.txt").write_text("a")
    assert code(asking(read(asking.folder / "a.txt", limit=-1))) == -32602


@proves("V1-1")
def test_a_file_too_long_for_one_answer_is_read_in_parts(asking, monkeypatch):
    monkeypatch.setattr(file_system, "MAX_READ_BYTES", 100)
    path = asking.folder / "long.txt"
    path.write_text("x" * 300 + "\n" + "short\n" * 20)
    whole, long_line, part = asking(
        read(path), read(path, line=1, limit=1), read(path, line=3, limit=2)
    )
    assert "`line` and `limit`" in whole["error"]["message"]
    assert long_line["error"]["code"] == -32602
    assert part["result"]["content"] == "short\nshort\n"


def test_what_is_no_text_is_refused_and_not_damaged(asking):
    (asking.folder / "image.bin").write_bytes(b"\x89PNG\xff")
    assert code(asking(read(asking.folder / "image.bin"))) == -32602


def test_a_folder_and_a_pipe_are_no_files(asking):
    os.mkfifo(asking.folder / "pipe")
    folder, pipe, into = asking(
        read(asking.folder), read(asking.folder / "pipe"), write(asking.folder / "pipe")
    )
    assert "is a folder" in folder["error"]["message"]
    assert "no regular file" in pipe["error"]["message"]
    assert "no regular file" in into["error"]["message"]


@pytest.mark.parametrize("path", [None, 3, "bad\0name"])
def test_a_path_that_is_none_is_invalid(asking, path):
    assert code(asking([READ, {"path": path}])) == -32602


# writing


@proves("V1-1")
def test_a_write_makes_folders_and_files_and_stands_in_the_turn(asking):
    path = asking.folder / "new" / "deep.txt"
    assert asking(write(path, "a\nb")) == [{"result": {}}]
    assert path.read_bytes() == b"a\nb"
    assert asking.notices == [("info", f"Wrote {Path('new', 'deep.txt')} (2 lines)")]


def test_a_read_sees_the_write_that_was_sent_before_it(asking):
    path = asking.folder / "a.txt"
    steps = [step for n in range(20) for step in (write(path, f"version {n}\n"), read(path))]
    turn = asking.agent.session.prompt(json.dumps([steps]))
    answers = json.loads(turn.text)
    assert contents(answers[1::2]) == [f"version {n}\n" for n in range(20)]


def test_a_relative_path_counts_from_the_working_directory(asking):
    assert asking(write("near.txt")) == [{"result": {}}]
    assert (asking.folder / "near.txt").read_text() == "new\n"


@proves("V1-1")
@pytest.mark.parametrize("name", ["work.ipynb", "Work.IPYNB", "link.txt", "link.ipynb"])
def test_a_notebook_is_not_written_and_the_reason_is_given(asking, name):
    (asking.folder / "real.ipynb").write_text("{}")
    (asking.folder / "other.txt").write_text("text")
    if name == "link.txt":
        (asking.folder / name).symlink_to("real.ipynb")
    if name == "link.ipynb":
        (asking.folder / name).symlink_to("other.txt")
    (answer,) = asking(write(asking.folder / name))
    assert "is a notebook" in answer["error"]["message"]
    assert "Propose the cells" in answer["error"]["message"]
    assert (asking.folder / "real.ipynb").read_text() == "{}"
    assert (asking.folder / "other.txt").read_text() == "text"
    assert asking.notices == [("warning", f"Refused to write {asking.folder / name}")]


@proves("V1-1")
def test_a_notebook_may_be_read(asking):
    (asking.folder / "real.ipynb").write_text("{}")
    assert contents(asking(read(asking.folder / "real.ipynb"))) == ["{}"]


# the folder


@proves("V1-1")
@pytest.mark.parametrize(
    "path", ["../secret.txt", "{outside}/secret.txt", "link/secret.txt", "link.txt", "a/../../x"]
)
def test_no_way_leads_out_of_the_folder(asking, tmp_path, path):
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret.txt").write_text("secret")
    (tmp_path / "secret.txt").write_text("secret")
    (asking.folder / "link").symlink_to(outside)
    (asking.folder / "link.txt").symlink_to(outside / "secret.txt")
    path = path.format(outside=outside)
    reading, writing = asking(read(path), write(path))
    assert reading["error"]["code"] == writing["error"]["code"] == -32602
    assert "outside the folders of this session" in reading["error"]["message"]
    assert asking.notices == [
        ("warning", f"Refused to read {path}"),
        ("warning", f"Refused to write {path}"),
    ]
    assert {file.read_text() for file in tmp_path.rglob("secret.txt")} == {"secret"}
    assert not (tmp_path / "x").exists()


def test_a_loop_of_links_is_no_path(asking):
    (asking.folder / "loop").symlink_to("loop")
    assert "error" in asking(read(asking.folder / "loop"))[0]


def test_a_folder_that_only_begins_alike_is_outside(asking, tmp_path):
    (tmp_path / "project-2").mkdir()
    (tmp_path / "project-2" / "a.txt").write_text("a")
    assert code(asking(read(tmp_path / "project-2" / "a.txt"))) == -32602


def test_a_link_inside_the_folder_is_followed(asking):
    (asking.folder / "real.txt").write_text("real")
    (asking.folder / "link.txt").symlink_to("real.txt")
    assert contents(asking(read(asking.folder / "link.txt"))) == ["real"]
    asking(write(asking.folder / "link.txt"))
    assert (asking.folder / "link.txt").is_symlink()
    assert (asking.folder / "real.txt").read_text() == "new\n"


def test_nothing_is_written_without_a_turn_or_against_the_policy(asking):
    asking(["after/turn", {"ask": write("made.txt")}])
    until(asking.agent.session, lambda state: state.asides)
    asking.agent.session.permissions = "reject"
    assert code(asking(write("made.txt"))) == -32602
    assert asking.notices == [("warning", "Refused to write made.txt")]
    assert list(asking.folder.iterdir()) == []
