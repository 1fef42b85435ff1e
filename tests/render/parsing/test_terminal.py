from __future__ import annotations

import pytest
from html_facts import HtmlFacts
from hypothesis import given, settings
from hypothesis import strategies as st

from acp_notebook.budget import Budget
from acp_notebook.render.markup import live_theme
from acp_notebook.render.parsing import terminal as terminal_module
from acp_notebook.render.parsing.terminal import BURST_LIMIT_BYTES, COLUMNS_LIMIT, TerminalText

BYTES = st.lists(
    st.sampled_from(
        [b"text", "é€\U0001f600".encode(), b"\r", b"\n", b"\x1b[31m", b"\x1b[0m", b"\x1b[K", b"\b",
         b"\x1b]8;;https://a.org\x1b\\", b"\x1b]0;title\x07", b"\x1b[2J", b"\xff", b"\t", b"<b>"]
    ),
    max_size=30,
).map(b"".join)  # fmt: skip


def shown(data: bytes, cuts: list[int] | None = None) -> list[str]:
    terminal = TerminalText(live_theme())
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
    (line,) = shown(b"\x1b[1;31mred\x1b[0m \x1b[38;5;9mnine\x1b[39m \x1b[?7lplain\x1b[?25l")
    assert line == (
        '<span class="acp-bold acp-fg-1">red</span> <span class="acp-fg-1">nine</span> plain'
    )


def test_colours_beyond_sixteen_are_shown_and_backgrounds_are_not() -> None:
    (line,) = shown(b"\x1b[1;38;5;208mA\x1b[0m\x1b[48;5;208mB\x1b[38;2;255;135;0mC\x1b[31mD")
    orange = 'style="color:light-dark('
    assert line.startswith(f'<span class="acp-bold" {orange}')
    assert line.endswith('>C</span><span class="acp-fg-1">D</span>')
    assert line.count(orange) == 2
    assert shown(b"\x1b[38;2;999;0;0mx\x1b[38;5;256my\x1b[38;9mz") == ["xyz"]


def test_a_link_of_the_terminal_is_its_text_only() -> None:
    assert shown(b"\x1b]8;;javascript:alert(1)\x1b\\click\x1b]8;;\x1b\\") == ["click"]


def test_output_is_escaped() -> None:
    assert shown(b"<script>&") == ["&lt;script&gt;&amp;"]


def test_only_the_last_lines_are_kept_and_the_rest_is_counted() -> None:
    terminal = TerminalText(live_theme())
    terminal.feed(b"".join(b"%d\n" % number for number in range(1_000)))
    assert terminal.finished == 1_000
    assert terminal.hidden == 600
    assert terminal.lines_since(998) == ["998", "999"]
    assert len(terminal.lines_since(0)) == 400


def test_a_burst_costs_only_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(terminal_module, "FEED_SECONDS", 60.0)  # on any machine
    terminal = TerminalText(live_theme())
    terminal.feed(b"x" * 99 + b"\n" + (b"y" * 99 + b"\n") * (BURST_LIMIT_BYTES // 50))
    assert terminal.finished == 1 + BURST_LIMIT_BYTES // 50
    assert len(terminal.lines_since(0)) == 400


def test_a_line_without_end_is_broken() -> None:
    lines = text_of(b"z" * (3 * COLUMNS_LIMIT + 5))
    assert list(map(len, lines)) == [COLUMNS_LIMIT] * 3 + [5]


@pytest.mark.parametrize("opening", [b"\x1b[", b"\x1b]0;", b"\x1bP", b"\x1b"])
def test_a_sequence_that_never_ends_does_not_swallow_later_lines(opening: bytes) -> None:
    terminal = TerminalText(live_theme())
    terminal.feed(opening)
    for _ in range(200):
        terminal.feed(b"9" * 100 + b"\n")
    assert terminal.finished > 100


def test_a_cursor_that_moves_up_rewrites_the_line_there() -> None:
    progress = b"one 10%\r\ntwo 10%\r\n\x1b[2A\x1b[2Kone 99%\r\n\x1b[2Ktwo 99%\r\n"
    assert text_of(progress) == ["one 99%\ntwo 99%"]


def test_a_screen_that_is_cleared_is_clear() -> None:
    assert text_of(b"old\r\n\x1b[2J\x1b[Hnew \x1b[32mgreen\x1b[0m") == ["new green"]
    assert "acp-fg-2" in shown(b"\x1b[2J\x1b[32mgreen")[0]


def test_lines_that_scroll_off_an_emulated_screen_are_kept() -> None:
    lines = text_of(b"\x1b[H" + b"".join(b"%d\n" % number for number in range(100)))
    assert lines[:2] == ["0", "1"]
    assert "\n".join(lines).split() == [str(number) for number in range(100)]


def test_what_was_said_before_the_cursor_moved_is_read_again() -> None:
    terminal = TerminalText(live_theme())
    terminal.feed(b"one\ntwo\n")
    before = terminal.reading
    terminal.feed(b"\x1b[1Athree\n")
    assert terminal.reading == before + 1
    assert terminal.plain == "one\nthree"


def test_emulated_output_is_escaped_and_odd_sequences_cost_only_themselves() -> None:
    lines = shown(b"\x1b[H<script>\x1b[?9999;1$r\x1b[1;2;3;4;5m&\x1b[38;2;1;2mx")
    assert "<script>" not in "".join(lines)
    assert "&lt;script&gt;" in "".join(lines)


def test_the_stated_size_of_a_terminal_breaks_its_lines() -> None:
    terminal = TerminalText(live_theme(), (10, 4))
    terminal.feed(b"\x1b[H" + b"x" * 15)
    assert terminal.plain == "x" * 10 + "\n" + "x" * 5


@pytest.mark.parametrize("before", [b"", b"\x1b[2J"], ids=["lines", "screen"])
def test_what_takes_too_long_to_read_is_plain_and_nothing_of_its_end_is_lost(before: bytes) -> None:
    terminal = TerminalText(live_theme())
    terminal.feed(before + b"begun")
    output = "".join(
        f"\x1b[3{number % 8}m{number}%\r\x1b[1mline {number}\t.\r\n" for number in range(900)
    )
    terminal.feed(output.encode() + b"the \x1b[31mend", Budget(0))
    words = terminal.plain
    assert "it took too long to read all output: the rest is plain" in words
    assert f"\nline 899{' ' * 8}.\nthe end" in words
    assert "%" not in words
    assert "\x1b" not in words
    assert words.count("line ") >= 390
    assert terminal.hidden + len(terminal.lines_since(0)) == terminal.finished
