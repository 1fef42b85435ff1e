"""What goes over the wire to the page when an agent sends the same again, and a little more."""

from __future__ import annotations

import json

import pytest
from page_model import PageModel

from acp_notebook.render.document import TurnDocument
from acp_notebook.session import updates as u
from acp_notebook.session.content import ImageBlock, TextBlock
from acp_notebook.session.reducer import apply
from acp_notebook.session.state import SessionState

MESSAGE, CALL, TERMINAL = u.MessageId("m"), u.ToolCallId("c"), u.TerminalId("t")
YES = (u.PermissionOption("y", "Yes", "allow_once"),)
MODES = (u.ConfigValue("ask", "Ask first"), u.ConfigValue("trust", "Trust"))


class Sent:
    """A document, a page, and what was sent last."""

    def __init__(self) -> None:
        self.state = SessionState()
        self.document = TurnDocument(self.state, agent_name="demo")
        self.page = PageModel()
        self.last: list[dict[str, object]] = []

    def see(self, *updates: u.SessionUpdate) -> str:
        for update in updates:
            self.document.note(apply(self.state, update))
        self.last = self.document.ops()
        while self.document.is_behind:
            self.last += self.document.ops()
        self.page.obey(self.last)
        return self.page.text

    @property
    def size(self) -> int:
        return len(json.dumps(self.last))


def whole(*texts: str) -> u.MessageUpdate:
    return u.MessageUpdate("agent", MESSAGE, tuple(TextBlock(text) for text in texts))


@pytest.mark.requirement("MSG-2")
def test_a_message_that_is_sent_whole_as_it_grows_costs_only_what_is_new() -> None:
    sent = Sent()
    text = "A paragraph.\n\n" * 1_000
    sent.see(whole(text))
    assert "and more" in sent.see(whole(text + "and more"))
    assert sent.size < 1_000
    assert "and more still" in sent.see(whole(text + "and ", "more still"))
    assert sent.size < 1_000


@pytest.mark.parametrize("kind", ["execute", "other"])
def test_output_that_is_sent_whole_as_it_grows_costs_only_what_is_new(kind: str) -> None:
    sent = Sent()
    text = "a line with \N{PARTY POPPER} and <b>\n" * 500

    def grown(more: str, status: str = "in_progress") -> str:
        content = (u.ContentItem(TextBlock(text + more)),)
        return sent.see(u.ToolCallUpdate(CALL, kind=kind, status=status, content=content))

    grown("")
    for more in ("new", "new \N{PARTY POPPER}", "new \N{SPARKLES}", "new \N{SPARKLES}\nlast"):
        assert more.split()[-1] in grown(more)
        assert sent.size < 1_000
        again = PageModel().obey(sent.document.snapshot())
        assert again.html == sent.page.html
    assert "failed" in grown("last", "failed")
    text = "something else\n" * 500
    assert "something else" in grown("")


@pytest.mark.requirement("MSG-2")
def test_a_message_that_is_sent_whole_and_differs_is_drawn_anew() -> None:
    sent = Sent()
    sent.see(whole("one two"))
    assert "one two" not in sent.see(whole("two"))
    assert sent.see(whole("two", " three")).count("two") == 1
    image = u.MessageUpdate("agent", MESSAGE, (TextBlock("two"), ImageBlock("AAAA", "image/png")))
    sent.see(image)
    assert "image" in str(sent.page.html)


def test_a_question_about_a_call_shows_the_lines_of_its_terminal() -> None:
    sent = Sent()
    sent.see(
        u.TerminalUpdate(TERMINAL, "make"),
        u.ToolCallUpdate(CALL, title="Build", content=(u.TerminalItem(TERMINAL),)),
        u.TerminalChunk(TERMINAL, b"ready\n"),
        u.PermissionRequested(u.PermissionId("q"), "Go?", YES, subject=u.ToolCallSubject(CALL)),
    )
    question = next(html for html in sent.page.html.values() if "Permission: Go?" in html)
    assert "ready" in question
    sent.see(u.TerminalChunk(TERMINAL, b"steady\n"))
    question = next(html for html in sent.page.html.values() if "Permission: Go?" in html)
    assert "steady" in question


def test_output_that_moves_the_cursor_is_read_anew_and_sent_whole() -> None:
    sent = Sent()
    sent.see(u.TerminalChunk(TERMINAL, b"10%\n"))
    assert "10%" not in sent.see(u.TerminalChunk(TERMINAL, b"\x1b[1A\x1b[2K99%\n"))
    assert "99%" in sent.page.text
    assert sent.page.obey(sent.document.snapshot()).text.count("99%") == 1


def test_ten_thousand_entries_send_the_last_ones_and_say_so() -> None:
    sent = Sent()
    calls = [u.ToolCallUpdate(u.ToolCallId(str(n)), title=f"Step {n}") for n in range(10_000)]
    text = sent.see(*calls)
    assert "earlier steps not shown" in text
    assert "Step 9999" in text
    assert "Step 0 " not in text
    assert len(sent.page.entries) <= 300
    assert sent.size < 500_000


def test_earlier_entries_come_back_with_a_snapshot_and_questions_never_leave() -> None:
    sent = Sent()
    sent.see(u.PermissionRequested(u.PermissionId("q"), "Go?", YES))
    sent.see(*[u.ToolCallUpdate(u.ToolCallId(str(n)), title=f"Step {n}.") for n in range(400)])
    assert "Go?" in sent.page.text
    assert "Step 0." not in sent.page.text
    sent.document.show_earlier()
    page = PageModel().obey(sent.document.snapshot())
    assert "Step 0." in page.text
    assert next(iter(page.html)) == "e0"
    sent.page = page
    assert "Step 400." in sent.see(u.ToolCallUpdate(u.ToolCallId("400"), title="Step 400."))


def test_settings_are_named_by_value_and_only_known_ones_are_taken() -> None:
    sent = Sent()
    option = u.ConfigOption("m1", "Mode", "select", "ask", "mode", None, MODES)
    other = u.ConfigOption("v", "Verbose", "boolean", True, "other")
    sent.see(u.ConfigOptionsUpdate((option, other)))
    html = sent.page.html["controls"]
    assert 'value="ask" selected' in html
    assert 'aria-label="Mode"' in html
    assert "Verbose" not in html
    assert sent.document.has_option("m1", "trust")
    assert not sent.document.has_option("m1", "other")
    assert not sent.document.has_option("v", "trust")
    sent.see()
    assert sent.last == []
    sent.document.renew_controls()
    sent.see()
    assert [operation["op"] for operation in sent.last] == ["set"]


def test_places_of_files_are_named_from_the_notebooks_folder() -> None:
    state = SessionState()
    document = TurnDocument(state, agent_name="demo", folder="/home/me/work")
    locations = (u.Location("/home/me/work/src/a.py", 3), u.Location("/etc/hosts"))
    document.note(apply(state, u.ToolCallUpdate(CALL, locations=locations)))
    html = str(document.ops())
    assert 'data-path="src/a.py" data-line="3"' in html
    assert 'data-path="../../../etc/hosts"' in html
