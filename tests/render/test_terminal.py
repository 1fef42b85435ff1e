from __future__ import annotations

import pytest
from html_facts import HtmlFacts
from hypothesis import given, settings
from hypothesis import strategies as st

from acp_notebook.render.markup import live_paper
from acp_notebook.render.terminal import BURST_LIMIT_BYTES, COLUMNS_LIMIT, TerminalText

BYTES = st.lists(
    st.sampled_from(
        [b"text", "é€\U0001f600".encode(), b"\r", b"\n", b"\x1b[31m", b"\x1b[0m", b"\x1b[K", b"\b",
         b"\x1b]8;;https://a.org\x1b\\", b"\x1b]0;title\x07", b"\x1b[2J", b"\xff", b"\t", b"<b>"]
    ),
    max_size=30,
).map(b"".join)  # fmt: skip


def shown(data: bytes, cuts: list[int] | None = None) -> list[str]:
    terminal = TerminalText(live_paper())
    ends = [*(cuts or []), len(data)]
    start = 0
    for end in ends:
        terminal.feed(data[start:end])
        start = end
    return [*map(str, terminal.lines_since(0)), str(terminal.tail)]


def text_of(data: bytes) -> list[str]:
    return ["".join(HtmlFacts(line).texts) for line in shown(data)]


@given(BYTES, st.data())
@settings(deadline=None)
def test_bytes_cut_anywhere_show_the_same(data: bytes, draw: st.DataObject) -> None:
    cuts = sorted(draw.draw(st.lists(st.integers(0, len(data)), max_size=8)))
    assert shown(data, cuts) == shown(data)


def test_utf8_split_between_chunks_survives() -> None:
    assert shown("é€".encode(), [1, 3]) == ["é€"]


def test_invalid_utf8_is_marked_and_costs_only_itself() -> None:
    assert text_of(b"a\xffb") == ["a\ufffdb"]


def test_a_carriage_return_overwrites_the_line() -> None:
    assert text_of(b"10%\r60%\r100%\nok") == ["100%", "ok"]
    assert text_of(b"abcdef\rXY") == ["XYcdef"]
    assert text_of(b"line\r\nnext\r\n") == ["line", "next", ""]


def test_erase_backspace_and_columns_are_obeyed_within_the_line() -> None:
    assert text_of(b"abc\r\x1b[K" + b"x") == ["x"]
    assert text_of(b"abc\b\bX") == ["aXc"]
    assert text_of(b"abc\x1b[5GX") == ["abc X"]
    assert text_of(b"abcd\x1b[2D\x1b[1K") == ["  cd"]
    assert text_of(b"a\tb") == ["a       b"]


def test_colours_become_looks_and_other_sequences_vanish() -> None:
    (line,) = shown(b"\x1b[1;31mred\x1b[0m \x1b[38;5;200mpink\x1b[39m \x1b[2Jplain\x1b[?25l")
    assert line == '<span class="acp-bold acp-fg-1">red</span> pink plain'


def test_a_link_of_the_terminal_is_its_text_only() -> None:
    assert shown(b"\x1b]8;;javascript:alert(1)\x1b\\click\x1b]8;;\x1b\\") == ["click"]


def test_output_is_escaped() -> None:
    assert shown(b"<script>&") == ["&lt;script&gt;&amp;"]


def test_only_the_last_lines_are_kept_and_the_rest_is_counted() -> None:
    terminal = TerminalText(live_paper())
    terminal.feed(b"".join(b"%d\n" % number for number in range(1_000)))
    assert terminal.finished == 1_000
    assert terminal.hidden == 600
    assert terminal.lines_since(998) == ["998", "999"]
    assert len(terminal.lines_since(0)) == 400


def test_a_burst_costs_only_its_end() -> None:
    terminal = TerminalText(live_paper())
    terminal.feed(b"x" * 99 + b"\n" + (b"y" * 99 + b"\n") * (BURST_LIMIT_BYTES // 50))
    assert terminal.finished == 1 + BURST_LIMIT_BYTES // 50
    assert len(terminal.lines_since(0)) == 400


def test_a_line_without_end_is_broken() -> None:
    lines = text_of(b"z" * (3 * COLUMNS_LIMIT + 5))
    assert list(map(len, lines)) == [COLUMNS_LIMIT] * 3 + [5]


@pytest.mark.parametrize("opening", [b"\x1b[", b"\x1b]0;", b"\x1bP", b"\x1b"])
def test_a_sequence_that_never_ends_does_not_swallow_later_lines(opening: bytes) -> None:
    terminal = TerminalText(live_paper())
    terminal.feed(opening)
    for _ in range(200):
        terminal.feed(b"9" * 100 + b"\n")
    assert terminal.finished > 100
