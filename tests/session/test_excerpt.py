from __future__ import annotations

from copy import deepcopy

from acp_notebook.session import updates as u
from acp_notebook.session.content import TextBlock
from acp_notebook.session.excerpt import excerpt_of
from acp_notebook.session.reducer import apply
from acp_notebook.session.state import EntryKey, SessionState

CALL, TERMINAL, MESSAGE = u.ToolCallId("c"), u.TerminalId("t"), u.MessageId("m")


def test_an_excerpt_stays_as_it_was_while_the_session_goes_on() -> None:
    state = SessionState()

    def go_on(word: str, status: str) -> None:
        for update in (
            u.MessageChunk("agent", MESSAGE, TextBlock(word)),
            u.ToolCallUpdate(CALL, title=word, status=status, content=(u.TerminalItem(TERMINAL),)),
            u.TerminalChunk(TERMINAL, word.encode()),
        ):
            apply(state, update)

    go_on("one", "in_progress")
    excerpt = excerpt_of(state, list(state.timeline))
    before = deepcopy(excerpt)
    assert excerpt == state
    go_on("two", "completed")
    apply(state, u.MessageChunk("agent", u.MessageId("n"), TextBlock("three")))
    assert excerpt == before
    assert bytes(excerpt.terminals[TERMINAL].output) == b"one"
    assert excerpt.messages[EntryKey("agent", MESSAGE)].text == "one"
