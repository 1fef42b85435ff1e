"""What goes over the comm, counted without a page: ratios that no load of the machine moves."""

from __future__ import annotations

import json

import pytest
from scenes import reply_text

from acp_notebook.budget import Budget
from acp_notebook.render.document import TurnDocument
from acp_notebook.render.parsing.markdown import render_markdown
from acp_notebook.session import updates as u
from acp_notebook.session.content import TextBlock
from acp_notebook.session.reducer import apply
from acp_notebook.session.state import SessionState

KB = 1_000
CHUNK_CHARS = 50
# 400 chunks a second, sent 20 times a second.
CHUNKS_PER_MESSAGE = 20
MESSAGE, CALL = u.MessageId("m"), u.ToolCallId("c")


def sent(updates: list[u.SessionUpdate]) -> int:
    """The bytes of all messages to the page."""
    state = SessionState()
    document = TurnDocument(state, agent_name="demo")
    size = 0
    for number, update in enumerate(updates, start=1):
        document.note(apply(state, update))
        if number % CHUNKS_PER_MESSAGE == 0:
            size += len(json.dumps(document.ops()).encode())
    document.finish("end_turn")
    return size + len(json.dumps(document.ops()).encode())


def chunks(text: str) -> list[u.SessionUpdate]:
    return [
        u.MessageChunk("agent", MESSAGE, TextBlock(text[start : start + CHUNK_CHARS]))
        for start in range(0, len(text), CHUNK_CHARS)
    ]


def whole_messages(text: str) -> list[u.SessionUpdate]:
    return [
        u.MessageUpdate("agent", MESSAGE, (TextBlock(text[:end]),))
        for end in range(CHUNK_CHARS, len(text) + 1, CHUNK_CHARS)
    ]


@pytest.mark.parametrize("write", [chunks, whole_messages])
def test_a_streamed_reply_costs_little_more_than_its_html_and_its_text(write) -> None:
    text = reply_text(100 * KB)
    html = str(render_markdown(text, budget=Budget(60)))
    assert sent(write(text)) <= 1.3 * (len(html.encode()) + len(text.encode()))


def test_four_times_the_text_costs_four_times_as_much() -> None:
    assert sent(chunks(reply_text(400 * KB))) <= 4.2 * sent(chunks(reply_text(100 * KB)))


def test_a_twentieth_of_what_the_whole_text_each_time_would_cost() -> None:
    text = reply_text(200 * KB)
    step = CHUNK_CHARS * CHUNKS_PER_MESSAGE
    naive = sum(
        len(str(render_markdown(text[:end]))) for end in range(20 * step, len(text), 20 * step)
    )
    assert 20 * naive >= 20 * sent(chunks(text))


def test_a_tool_output_of_ten_megabytes_costs_what_is_shown_of_it() -> None:
    long = "0123456789\n" * 1_000_000
    update = u.ToolCallUpdate(
        CALL, content=(u.ContentItem(TextBlock(long)),), raw_output={"log": long}
    )
    assert sent([update]) < 200 * KB
