"""Code and output of an agent show what hides in them, live and in all records; prose stays."""

from __future__ import annotations

from html import unescape

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acp_notebook.render.entries.kinds import render_entry
from acp_notebook.render.markup import live_theme
from acp_notebook.render.parsing.markdown import render_markdown
from acp_notebook.render.parsing.markdown_stream import MarkdownStream
from acp_notebook.render.record import record_bundle
from acp_notebook.session import updates as u
from acp_notebook.session.content import ResourceBlock, TextBlock
from acp_notebook.session.reducer import apply
from acp_notebook.session.state import SessionState

OVERRIDE, SELECTOR, FILLER = "\u202e", "\U000e0101", "\u3164"
HIDDEN = f"A{OVERRIDE}B{SELECTOR}C{FILLER}D"
CALL, TERMINAL = u.ToolCallId("c"), u.TerminalId("t")


def said(text: str, role: u.Role = "agent") -> list[u.SessionUpdate]:
    return [u.MessageChunk(role, u.MessageId("m"), TextBlock(text))]


def called(text: str, kind: str = "execute") -> list[u.SessionUpdate]:
    return [u.ToolCallUpdate(CALL, kind=kind, content=(u.ContentItem(TextBlock(text)),))]


def ran(output: str) -> list[u.SessionUpdate]:
    return [
        u.TerminalUpdate(TERMINAL, HIDDEN, HIDDEN),
        u.TerminalChunk(TERMINAL, output.encode()),
        u.ToolCallUpdate(CALL, kind="execute", content=(u.TerminalItem(TERMINAL),)),
    ]


CODE = {
    "fence": said(f"```python\nexec('{HIDDEN}')\n```"),
    "fence without a language": said(f"```\n{HIDDEN}\n```"),
    "indented code": said(f"x\n\n    {HIDDEN}\n"),
    "fence in a list": said(f"- x\n\n  ```\n  {HIDDEN}\n  ```"),
    "code span": said(f"run `{HIDDEN}` now"),
    "code in a thought": said(f"run `{HIDDEN}` now", "thought"),
    "output": called(HIDDEN),
    "fenced output": called(f"```\n{HIDDEN}\n```"),
    "text of a call": called(HIDDEN, "other"),
    "raw output": [u.ToolCallUpdate(CALL, kind="execute", raw_output=HIDDEN)],
    "raw output as JSON": [u.ToolCallUpdate(CALL, kind="execute", raw_output={HIDDEN: HIDDEN})],
    "raw output as a tree": [u.ToolCallUpdate(CALL, raw_output={"a": f"{HIDDEN}\n" * 200})],
    "resource": [u.ToolCallUpdate(CALL, content=(u.ContentItem(ResourceBlock(HIDDEN, HIDDEN)),))],
    "terminal": ran(HIDDEN),
    "coloured terminal": ran(f"\x1b[31m{HIDDEN}"),
    "terminal with a screen": ran(f"\x1b[2J\x1b[H{OVERRIDE}{FILLER}"),
    "diff": [
        u.ToolCallUpdate(
            CALL, content=(u.DiffItem((), f"--- a\n+++ b\n@@ -1 +1 @@\n-a\n+{HIDDEN}"),)
        )
    ],
}


def forms(updates: list[u.SessionUpdate]) -> dict[str, str]:
    state = SessionState()
    for update in updates:
        apply(state, update)
    live = [render_entry(live_theme(), state, key, "e") for key in state.timeline]
    record = record_bundle(state, state.timeline, agent_name="demo", stop_reason=None, ending=False)
    return {"live": "".join(live), **record}


@pytest.mark.parametrize("what", CODE)
def test_nothing_is_hidden_in_code_or_output(what: str) -> None:
    for form, text in forms(CODE[what]).items():
        assert not {OVERRIDE, SELECTOR, FILLER} & set(unescape(text)), form


def test_prose_stays_as_languages_need_it_but_is_not_turned_around() -> None:
    family = "می\u200cخواهم 👩\u200d👧 ❤\ufe0f Это с диска"  # noqa: RUF001
    for form, text in forms(
        said(f"{family} {OVERRIDE} [{OVERRIDE}](https://a.b '{OVERRIDE}')")
    ).items():
        assert family in unescape(text), form
        assert "[U+202E]" in text
        assert OVERRIDE not in unescape(text), form


def test_what_is_appended_plain_while_a_text_grows_is_marked_too() -> None:
    stream = MarkdownStream("more")
    for piece in ["```\n", "x\n" * 2_000, HIDDEN]:
        stream.feed(piece)
        delta = stream.pull()
    assert "[U+202E]" in delta.more
    assert not {OVERRIDE, SELECTOR, FILLER} & set(stream.more)


PIECES = st.sampled_from(
    [*"`~ \n\\*[]$аеpx", "```\n", "\u202e", "\u200b", "\ufe0f", "\u200d", "\U000e0067", "[U+202E]"]  # noqa: RUF001
)


@given(st.lists(PIECES, max_size=40))
def test_a_text_in_pieces_has_the_same_marks(pieces: list[str]) -> None:
    stream = MarkdownStream()
    for piece in pieces:
        stream.feed(piece)
        stream.pull()
    stream.finish()
    assert stream.done == render_markdown("".join(pieces))


def test_an_emoji_in_output_stays_whole() -> None:
    output = "⚠️ 3 warnings, ✔️ done 👩\u200d💻"
    for updates in (called(output), ran(output)):
        state = SessionState()
        for update in updates:
            apply(state, update)
        bundle = record_bundle(state, state.timeline, agent_name="a", stop_reason="end_turn")
        assert output in unescape(bundle["text/html"])
        assert output in unescape(bundle["text/markdown"])
