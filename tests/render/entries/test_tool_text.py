"""What tools print stays what it is, without terminal codes and without a fence around it."""

from __future__ import annotations

import pytest

from acp_notebook.render.entries.tool_call import render_tool_call
from acp_notebook.render.entries.tool_text import render_output, tool_text, without_outer_fence
from acp_notebook.render.markup import live_theme, record_theme
from acp_notebook.render.record import record_bundle
from acp_notebook.session import updates as u
from acp_notebook.session.content import TextBlock
from acp_notebook.session.reducer import apply
from acp_notebook.session.state import EntryKey, SessionState

CALL = u.ToolCallId("call")


def state_with(kind: str, text: str) -> SessionState:
    state = SessionState()
    content = (u.ContentItem(TextBlock(text)),)
    apply(state, u.ToolCallUpdate(CALL, title="Run", kind=kind, content=content))
    return state


def card(kind: str, text: str) -> str:
    state = state_with(kind, text)
    return str(render_tool_call(record_theme(), state, state.tool_calls[CALL], "e0"))


@pytest.mark.parametrize("kind", ["execute", "search", "other", "edit"])
@pytest.mark.parametrize(
    "text", ["\x1b[1;37m{\x1b[m}", "\x1b]0;title\x07{}", "{\x1b]8;;http://x\x1b\\}", "\x1b(B{}"]
)
def test_terminal_codes_are_gone_from_what_a_tool_says(kind: str, text: str) -> None:
    assert tool_text(kind, text) == "{}"
    html = card(kind, text)
    assert "{}" in html
    assert "\ufffd" not in html


def test_codes_that_stand_in_a_file_are_kept_and_seen() -> None:
    assert tool_text("read", "a\x1b[1mb") == "a\x1b[1mb"
    assert "a\ufffd[1mb" in card("read", "a\x1b[1mb")


def test_a_sequence_without_an_end_costs_nothing_but_itself() -> None:
    assert "rest" in tool_text("execute", "\x1b]never closed\x1b[31mrest" + "\x1b[" * 10_000)


@pytest.mark.parametrize(
    ("text", "inner"),
    [
        ("```console\n$ ls\n```", "$ ls"),
        ("```\na\n\nb\n```\n\n", "a\n\nb"),
        ("~~~~\n```\ninner\n```\n~~~~", "```\ninner\n```"),
        ("````md\n```py\nx\n```\n````", "```py\nx\n```"),
        ("```\n```", ""),
    ],
)
def test_one_fence_around_everything_is_taken_off(text: str, inner: str) -> None:
    assert without_outer_fence(text) == inner


@pytest.mark.parametrize(
    "text",
    [
        "plain",
        "```\nopen",
        "```\na\n```\nand\n```\nb\n```",
        "before\n```\na\n```",
        "```\na\n```\nafter",
        "```\na\n~~~",
        "",
    ],
)
def test_text_that_is_more_than_one_fence_stays(text: str) -> None:
    assert without_outer_fence(text) == text


@pytest.mark.parametrize("kind", ["execute", "search"])
def test_what_is_printed_makes_no_headings_and_no_tables(kind: str) -> None:
    printed = "# not a heading\n| not | a table |\n|---|---|\n*.py"
    html = card(kind, printed)
    assert printed in html
    assert not any(f"<{tag}" in html for tag in ("h1", "table", "em", "strong"))


def test_what_other_tools_say_is_markdown() -> None:
    assert "<strong" in card("fetch", "**bold**")


def test_markup_in_what_is_printed_is_text() -> None:
    block = TextBlock("<script>alert(1)</script>\x1b[0m")
    html = str(render_output(live_theme(), "execute", block, "k"))
    assert "<script" not in html
    assert "&lt;script&gt;" in html


def test_the_record_has_the_same_text() -> None:
    state = state_with("execute", "```console\n\x1b[31mred\x1b[0m\n```")
    keys = [EntryKey("tool_call", CALL)]
    bundle = record_bundle(state, keys, agent_name="demo", stop_reason="end_turn")
    for text in (bundle["text/html"], bundle["text/markdown"]):
        assert "red" in text
        assert "console" not in text
        assert "[31m" not in text
