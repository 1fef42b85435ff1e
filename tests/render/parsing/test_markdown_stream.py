from __future__ import annotations

import time
from itertools import pairwise

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from acp_notebook.budget import Budget
from acp_notebook.render.parsing import markdown, markdown_stream
from acp_notebook.render.parsing.markdown import PARSING_SECONDS, render_markdown
from acp_notebook.render.parsing.markdown_stream import SLICE_CHARS, MarkdownStream

PIECES = st.sampled_from(
    [
        "word ", "**bold** ", "`code` ", "\n", "\n\n", "# Title\n", "Title\n---\n", "Title\n===\n",
        "- item\n", "  more\n", "  - inner\n", "1. one\n", "> quote\n", "lazy\n", "```\n",
        "```py\nx = 1\n", "~~~\n", "````\n", "    indented\n", "| a | b |\n", "|---|---|\n",
        "| 1 | 2 |\n", "---\n", "***\n", "[ref]", "[ref]: https://a.org\n", '[ref]: <b> "t"\n',
        '"title"\n', "[x](https://b.org) ", "- [ ] task\n", "- [x] done\n", "<b>", "\\", "\t",
        "*", "_", "~~", "`", "|", "#", "-", "+", "\r\n", "\r", "\ud83d", "\ude00", "\ud800",
        "é", "&amp;", "$$", "$$\n", "$x$", "\\[", "\\]", "\\[\n", "\\]\n", "[^1]", "[^1]: note\n",
    ]
)  # fmt: skip
TEXTS = st.lists(PIECES | st.text(max_size=6), max_size=40).map("".join)


@given(TEXTS, st.data())
@settings(max_examples=400, deadline=None)
@example("para\n\n[ref]\n\n[ref]: https://a.org\n", None)
@example('[a]: /u\n"tit\nle"\n\n[a]', None)
@example("> [a]: /u\n\nx [a]\n", None)
@example("- a\n\n  b\n\nc\n", None)
@example("x\r\ny\r", None)
@example("$$\n# a\n$$\nb\n", None)
@example("\\[\n- a\n\\]\n", None)
@example("a[^1]\n\n[^1]: b\n\nc", None)
def test_any_chunking_gives_the_html_of_the_whole(text: str, data: st.DataObject | None) -> None:
    if data is None:
        cuts = list(range(len(text) + 1))
    else:
        inner = data.draw(st.lists(st.integers(0, len(text)), max_size=12))
        cuts = sorted({0, len(text), *inner})
    stream = MarkdownStream("slot")
    shown: list[str] = []
    for start, end in pairwise(cuts):
        stream.feed(text[start:end])
        if data is None or data.draw(st.booleans()):
            shown += map(str, stream.pull().done)
    last = stream.finish()
    shown = list(map(str, last.done)) if last.is_rewritten else shown + list(map(str, last.done))
    whole = render_markdown(text.replace("\r\n", "\n").replace("\r", "\n"))
    assert "".join(shown) == whole
    assert stream.done == whole
    assert stream.tail == ""


def test_a_finished_block_goes_out_once_and_the_tail_anew() -> None:
    stream = MarkdownStream()
    stream.feed("# Title\nsome *te")
    first = stream.pull()
    assert first.done == ["<h1>Title</h1>\n"]
    assert first.tail == "<p>some *te</p>\n"
    stream.feed("xt*\n\n")
    second = stream.pull()
    assert second.done == ["<p>some <em>text</em></p>\n"]
    assert second.tail == ""


def test_blank_lines_inside_a_fence_or_a_list_do_not_cut_it() -> None:
    stream = MarkdownStream()
    stream.feed("```\na\n\nb\n")
    assert stream.pull().done == []
    stream.feed("```\n- a\n\n")
    assert len(stream.pull().done) == 1
    stream.feed("  b\n")
    assert stream.pull().done == []


def test_half_a_line_is_not_trusted() -> None:
    stream = MarkdownStream()
    stream.feed("para\n#")
    assert stream.pull().done == []
    stream.feed("hashtag\n")
    assert stream.pull().done == []


def test_text_of_a_long_tail_is_appended_plain_until_it_has_grown_by_half() -> None:
    stream = MarkdownStream("s.more")
    stream.feed("word " * 1_000)
    assert 'data-slot="s.more"' in (stream.pull().tail or "")
    stream.feed("<b>more")
    delta = stream.pull()
    assert delta.tail is None
    assert delta.more == "<b>more"


def test_the_end_of_a_long_fence_is_seen_at_once() -> None:
    stream = MarkdownStream()
    stream.feed("```python\n" + "x = 1\n" * 2_000)
    stream.pull()
    stream.feed("```\nafter\n")
    delta = stream.pull()
    assert len(delta.done) == 1
    assert delta.tail == "<p>after</p>\n"


def test_half_an_emoji_waits_for_its_other_half() -> None:
    stream = MarkdownStream()
    stream.feed("ok \ud83d")
    assert stream.pull().tail == "<p>ok</p>\n"
    stream.feed("\ude00")
    assert stream.pull().tail == "<p>ok \U0001f600</p>\n"


PARAGRAPH = "Lorem ipsum **dolor** sit `amet`, consetetur sadipscing elitr, sed diam nonumy. "
MIXED = (
    f"## Title\n\n{PARAGRAPH * 4}\n\n- one\n- two\n\n```python\n"
    + "x = f(1)  # c\n" * 8
    + "```\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n"
)
SHAPES = {
    "mixed": (MIXED, ""),
    "one paragraph": (PARAGRAPH, ""),
    "one line": ("x", ""),
    "open fence": ("def f(x): return x\n", "```python\n"),
    "tight list": (f"- {PARAGRAPH}\n", ""),
    "loose list": (f"- {PARAGRAPH}\n\n", ""),
    "quote": (f"> {PARAGRAPH}\n", ""),
    "table": ("| 1 | 2222222222222222 |\n", "| a | b |\n|---|---|\n"),
    # A blank line does not end it, though it ends a paragraph.
    "indented code": ("    x = 1\n\n", ""),
}


def cost(shape: str, length: int) -> tuple[int, int]:
    """Characters given to the parser and characters sent, for a text in chunks of 50."""
    unit, start = SHAPES[shape]
    text = (start + unit * (length // len(unit) + 1))[:length]
    stream = MarkdownStream("slot")
    sent = 0
    for index in range(0, length, 200):
        stream.feed(text[index : index + 200])
        delta = stream.pull()
        sent += sum(map(len, delta.done)) + len(delta.tail or "") + len(delta.more)
    stream.finish()
    return stream.parsed_chars, sent


# A long tail is parsed at sizes that grow by half, so the ratio depends a little on where the text
# ends; 100 and 400 thousand are as far apart as four and a bit.
@pytest.mark.parametrize("shape", SHAPES)
def test_cost_is_linear(shape: str) -> None:
    parsed_100, sent_100 = cost(shape, 25_000)
    parsed_400, sent_400 = cost(shape, 100_000)
    assert parsed_400 <= (4.2 if shape == "mixed" else 6.0) * parsed_100
    assert sent_400 <= (4.2 if shape == "mixed" else 6.0) * sent_100
    assert parsed_400 <= 14 * 100_000


def test_a_pull_takes_a_slice_of_a_large_piece() -> None:
    text = MIXED * 40
    stream = MarkdownStream()
    stream.feed(text)
    pulls = 0
    while stream.waiting_chars:
        before = stream.waiting_chars
        stream.pull(Budget(60))
        pulls += 1
        assert before - stream.waiting_chars <= SLICE_CHARS
    assert pulls == len(text) // SLICE_CHARS + 1
    stream.finish(Budget(60))
    assert stream.done == render_markdown(text, budget=Budget(60))


@pytest.mark.parametrize("text", ["word\n\n" * 7_000, "ééé\r\n\r\n" * 5_000])
def test_a_slow_machine_takes_shorter_slices(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    class Asked:
        """A clock that each question for the time moves on: the same on every machine."""

        now = 0.0

        def __call__(self) -> float:
            self.now += 0.001
            return self.now

    with monkeypatch.context() as patch:
        patch.setattr(markdown_stream, "Budget", lambda seconds: Budget(8 * seconds, Asked()))
        stream = MarkdownStream("s")
        stream.feed(text[:-1])
        stream.feed(text[-1])
        pulls = 0
        while stream.waiting_chars:
            stream.pull()
            pulls += 1
        assert pulls > 2 * len(text) // SLICE_CHARS
    stream.finish(Budget(60))
    assert stream.done == render_markdown(text, budget=Budget(60))


@pytest.mark.parametrize("unit", ["![", "- [ ] a\n", "a|b\n-|-\n", "[a]: b\n\n"])
def test_a_costly_text_ends_plain_within_its_budget(unit: str) -> None:
    stream = MarkdownStream("s")
    stream.feed(unit * (100_000 // len(unit)))
    longest = 0.0
    while stream.waiting_chars:
        began = time.thread_time()
        stream.pull()
        longest = max(longest, time.thread_time() - began)
    began = time.thread_time()
    stream.finish()
    longest = max(longest, time.thread_time() - began)
    assert longest < 8 * PARSING_SECONDS  # without a budget several seconds
    assert "too costly to format" in stream.done or len(stream.done) < 200


def test_a_costly_open_fence_is_not_tried_again_and_again() -> None:
    stream = MarkdownStream("s")
    stream.feed("```java\n" + "a b " * 9_000)
    stream.pull()
    tried = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(markdown, "highlight", lambda code, language, _: tried.append(language) or "")
        stream.feed("a b " * 20_000)
        while stream.waiting_chars:
            stream.pull()
    assert set(tried) == {""}
