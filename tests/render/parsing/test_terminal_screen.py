"""A terminal's screen as HTML: what programs draw, and that none of it is more than text."""

from __future__ import annotations

import pytest
from hostile import HOSTILE
from html_facts import HtmlFacts
from hypothesis import given
from hypothesis import strategies as st

from acp_notebook.render.markup import live_theme
from acp_notebook.render.parsing.terminal_screen import TerminalScreen


def screen(data, columns=20, rows=4):
    answers = []
    shown = TerminalScreen(columns, rows, answers.append)
    shown.feed(data)
    return shown, answers


def text_of(data, **size):
    return screen(data, **size)[0].text


def test_lines_scroll_into_the_history():
    lines = "".join(f"line {n}\r\n" for n in range(10)).encode()
    assert text_of(lines).splitlines() == [f"line {n}" for n in range(10)]


def test_a_program_that_redraws_its_menu_leaves_one_menu():
    menu = b"\x1b[2K> one\r\n\x1b[2K  two\r\n"
    again = b"\x1b[2A\x1b[2K  one\r\n\x1b[2K> two\r\n"
    assert text_of(menu + again).splitlines() == ["  one", "> two"]


def test_a_character_cut_between_two_reads_is_whole():
    shown, _ = screen("ü".encode()[:1])
    shown.feed("ü".encode()[1:])
    assert shown.text == "ü"


def test_looks_and_the_cursor_are_marked():
    shown, _ = screen(b"\x1b[31mred\x1b[0m \x1b[1;7mon\x1b[0m$ ")
    html = str(shown.html(live_theme()))
    assert '<span class="acp-fg-1">red</span>' in html
    assert '<span class="acp-reverse acp-bold">on</span>' in html
    assert '<span class="acp-cursor"> </span>' in html


def test_the_terminal_answers_where_its_cursor_is():
    _, answers = screen(b"ab\x1b[6n")
    assert answers == ["\x1b[1;3R"]


@pytest.mark.parametrize("word", HOSTILE.values(), ids=HOSTILE.keys())
def test_what_is_printed_is_text(word):
    shown, _ = screen(word.encode(errors="replace"), columns=80, rows=24)
    assert HtmlFacts(str(shown.html(live_theme()))).dangers == []


@given(st.lists(st.binary() | st.sampled_from([b"\x1b[>4;2m", b"\x1b[99999A", b"\x1b[?2026h"])))
def test_no_output_ends_the_view(pieces):
    shown, _ = screen(b"")
    for piece in pieces:
        shown.feed(piece)
    shown.text.encode()
    shown.html(live_theme())
