"""An agent's error in one readable sentence, whatever shape its `data` has."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import acp_notebook
from acp_notebook.errors import AgentError, AgentExited, RequestFailed, describe_error, printable

LIMIT = "usage limit reached; resets 18:00"


@pytest.mark.requirement("PROMPT-4")
@pytest.mark.parametrize(
    "data",
    [
        LIMIT,
        {"details": LIMIT},
        {"message": LIMIT},
        {"error": LIMIT},
        {"reason": LIMIT},
        {"error": {"type": "limit", "message": LIMIT}},
        {"details": None, "reason": LIMIT},
        f"  {LIMIT}\n",
    ],
)
def test_the_readable_part_of_data_is_told(data: object) -> None:
    assert describe_error(-32603, "Internal error", data) == (
        f"Internal error: {LIMIT} (code -32603)"
    )


@pytest.mark.parametrize("data", [None, "", [], {}, 7, {"code": 1}, {"message": 7}, [LIMIT]])
def test_data_without_words_adds_nothing(data: object) -> None:
    assert describe_error(-32603, "Internal error", data) == "Internal error (code -32603)"


def test_what_the_message_says_already_is_not_told_twice() -> None:
    assert describe_error(400, f"Bad: {LIMIT}", {"message": LIMIT}) == f"Bad: {LIMIT} (code 400)"
    assert describe_error(-1, " ", None) == "no message (code -1)"


def test_a_failed_request_names_its_method_and_where_to_look() -> None:
    error = RequestFailed("session/new", 400, "Bad Request", {"details": "no key"})
    assert str(error) == (
        "session/new failed: Bad Request: no key (code 400). See what the agent printed: %acp log"
    )


EVIL = "\x1b]0;owned\x07red\x1b[31m \x9b2Jtext\x1b(B\r\nnext\ttab\x08"


def test_an_errors_text_moves_no_cursor_and_keeps_its_lines() -> None:
    assert printable(EVIL) == "red \ufffd2Jtext\nnext\ttab\ufffd"
    errors = [
        AgentError(EVIL),
        RequestFailed(EVIL, -1, EVIL, {"details": EVIL}),
        AgentExited(EVIL, stderr_tail=EVIL),
    ]
    for error in errors:
        shown = [str(error), *error._render_traceback_()]
        assert not {"\x1b", "\x07", "\x08", "\x9b"} & set("".join(shown))
        assert "red" in shown[0]


def test_text_of_people_stays_as_it_is() -> None:
    assert printable("Zażółć 🙂\n\tüber 👩\u200d💻") == "Zażółć 🙂\n\tüber 👩\u200d💻"


def test_what_hides_in_an_agents_name_is_marked() -> None:
    assert printable("evil\u202egnp\ufe0f") == "evil[U+202E]gnp[U+FE0F]"


def test_every_error_code_has_one_home() -> None:
    package = Path(acp_notebook.__file__).parent
    homes = {
        path.relative_to(package).as_posix()
        for path in package.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.UnaryOp)
        and isinstance(node.operand, ast.Constant)
        and isinstance(node.operand.value, int)
        and 32_000 <= node.operand.value < 32_900
    }
    assert homes == {"errors.py", "jsonrpc/messages.py"}
