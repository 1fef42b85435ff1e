from __future__ import annotations

import subprocess
import sys
import threading
import time
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from acp_notebook.render.document import TurnDocument
from acp_notebook.render.operations import Operation
from acp_notebook.render.parsing.markdown_stream import SLICE_CHARS
from acp_notebook.session import updates as u
from acp_notebook.session.content import TextBlock
from acp_notebook.session.elicitation import ElicitationId, ElicitationRequested
from acp_notebook.session.form import Form, FormField
from acp_notebook.session.reducer import apply
from acp_notebook.session.state import SessionState
from acp_notebook.widgets import turn_view
from acp_notebook.widgets.turn_view import MAX_PAGES, TurnPresenter, TurnView

MESSAGE, QUESTION, PROMPT = u.MessageId("m"), u.PermissionId("q"), u.PromptId("p")
OPTIONS = (
    u.PermissionOption("yes", "Allow", "allow_once"),
    u.PermissionOption("no", "Reject", "reject_once"),
)


class FakeView:
    """A view without a page: it keeps what is sent."""

    def __init__(self) -> None:
        self.comm: object = None
        self.sent: list[dict[str, Any]] = []
        self.is_closed = False
        self._callback: Callable[[Any, Any, Any], None] | None = None

    def send(self, content: dict[str, Any]) -> None:
        self.sent.append(content)

    def on_msg(self, callback: Callable[[Any, Any, Any], None]) -> None:
        self._callback = callback

    def close(self) -> None:
        self.is_closed = True

    def press(self, **content: Any) -> None:
        assert self._callback is not None
        self._callback(self, content, None)


class Beat:
    """A timer that goes off when the test says so."""

    def __init__(self, delay_s: float, work: Callable[[], None]) -> None:
        self.delay_s = delay_s
        self.work = work
        self.is_cancelled = False

    def cancel(self) -> None:
        self.is_cancelled = True


class Stage:
    """A presenter with everything around it, and what was asked for."""

    def __init__(self) -> None:
        self.state = SessionState()
        self.posted: list[Callable[[], None]] = []
        self.beats: list[Beat] = []
        self.asked: list[tuple[str, ...]] = []
        document = TurnDocument(self.state, agent_name="demo")
        self.view = FakeView()
        self.presenter = TurnPresenter(
            document,
            self,
            post=self.posted.append,
            call_later=self._call_later,
            rate_hz=20.0,
            make_view=lambda: self.view,
        )

    def _call_later(self, delay_s: float, work: Callable[[], None]) -> Beat:
        beat = Beat(delay_s, work)
        self.beats.append(beat)
        return beat

    def answer(self, permission_id: u.PermissionId, option_id: str) -> None:
        self.asked.append(("answer", permission_id, option_id))

    def stop(self) -> None:
        self.asked.append(("stop",))

    def cancel_tool_call(self, tool_call_id: u.ToolCallId) -> None:
        self.asked.append(("cancel_tool_call", tool_call_id))

    def fill(self, elicitation_id: ElicitationId, given: dict[str, Any]) -> None:
        self.asked.append(("fill", elicitation_id, *given))

    def withdraw(self, prompt_id: u.PromptId) -> None:
        self.asked.append(("withdraw", prompt_id))

    def see(self, *updates: u.SessionUpdate) -> None:
        for update in updates:
            self.presenter.changed(apply(self.state, update))

    def beat(self) -> None:
        (beat,) = [beat for beat in self.beats if not beat.is_cancelled]
        self.beats.clear()
        beat.work()

    def handle(self) -> None:
        for work in self.posted:
            work()
        self.posted.clear()


@pytest.fixture
def stage() -> Stage:
    return Stage()


def say(text: str) -> u.MessageChunk:
    return u.MessageChunk("agent", MESSAGE, TextBlock(text))


def test_pages_that_nobody_looks_at_are_told_only_what_is_to_be_said(stage: Stage) -> None:
    for page in ("a", "b"):
        stage.view.press(t="sync", page=page)
        stage.handle()
    stage.view.press(t="hidden", page="a")
    stage.handle()
    sent = stage.view.sent
    sent.clear()
    stage.see(say("one "))
    assert len(sent) == 1  # the other page is looked at
    stage.view.press(t="hidden", page="b")
    stage.handle()
    sent.clear()
    stage.see(say("two "))
    stage.beat()
    assert sent == []
    stage.see(u.PermissionRequested(QUESTION, "May I?", OPTIONS))
    assert [[each["op"] for each in message["ops"]] for message in sent] == [["say"]]
    assert sent[0]["asks"]
    assert not sent[0]["over"]
    sent.clear()
    stage.presenter.finish("end_turn")
    assert [each["op"] for each in sent[0]["ops"]] == ["say"]
    assert sent[0]["over"]
    sent.clear()
    stage.view.press(t="sync", page="a")
    stage.handle()
    assert [message["whole"] for message in sent] == [True]
    assert "one two" in str(sent[0]["ops"])


def test_pages_that_were_loaded_anew_are_forgotten_in_time(stage: Stage) -> None:
    for number in range(200):
        stage.view.press(t="sync", page=str(number))
    stage.handle()
    assert len(stage.presenter._pages) == MAX_PAGES


def test_the_first_words_go_out_at_once_and_later_ones_together(stage: Stage) -> None:
    stage.see(say("one "))
    assert len(stage.view.sent) == 1
    stage.see(say("two "), say("three"))
    assert len(stage.view.sent) == 1
    (beat,) = stage.beats
    assert 0 <= beat.delay_s <= 0.05
    stage.beat()
    assert len(stage.view.sent) == 2
    assert "one two three" in str(stage.view.sent[1]["ops"])


def test_what_one_message_has_no_time_for_follows_at_the_next_beat(stage: Stage) -> None:
    stage.see(say("word\n\n" * 10_000))
    assert len(stage.view.sent) == 1
    while stage.beats:
        stage.beat()
    assert len(stage.view.sent) >= 1 + 60_000 // SLICE_CHARS  # on a slow machine, more
    assert str(stage.view.sent).count("<p>word") >= 10_000


def test_something_urgent_takes_what_waits_along(stage: Stage) -> None:
    stage.see(say("one "), say("two"))
    stage.see(u.PermissionRequested(QUESTION, "May I?", OPTIONS))
    assert [beat.is_cancelled for beat in stage.beats] == [True]
    assert "one two" in str(stage.view.sent[-1]["ops"])
    assert "May I?" in str(stage.view.sent[-1]["ops"])


def test_a_flood_of_questions_goes_out_in_few_messages(stage: Stage) -> None:
    for number in range(1000):
        stage.see(u.PermissionRequested(u.PermissionId(f"{number}"), f"May I {number}?", OPTIONS))
    stage.beat()
    assert "May I 999?" in str(stage.view.sent[-1]["ops"])
    # So many at once in each beat that the machine needed, not one for each question.
    assert len(stage.view.sent) < 500


def test_urgent_changes_that_are_slow_to_draw_wait_for_the_beat(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 1000.0
    ops = stage.presenter._document.ops

    def slow_ops() -> list[Operation]:
        nonlocal now
        now += 0.08
        return ops()

    monkeypatch.setattr(turn_view, "time", SimpleNamespace(monotonic=lambda: now))
    monkeypatch.setattr(stage.presenter._document, "ops", slow_ops)
    for number in range(100):
        stage.see(u.PermissionRequested(u.PermissionId(f"{number}"), f"May I {number}?", OPTIONS))
    assert len(stage.view.sent) == 1
    stage.beat()
    assert "May I 99?" in str(stage.view.sent[-1]["ops"])
    now += 1.0
    stage.see(u.PermissionRequested(QUESTION, "And this?", OPTIONS))
    assert "And this?" in str(stage.view.sent[-1]["ops"])


def test_messages_are_numbered_without_a_gap(stage: Stage) -> None:
    stage.see(say("one "), say("two"))
    stage.beat()
    stage.presenter.finish("end_turn", None, 1.0)
    assert [message["n"] for message in stage.view.sent] == [1, 2, 3]


def test_a_beat_without_news_sends_nothing(stage: Stage) -> None:
    stage.see(say("one"), u.MessageUpdate("agent", MESSAGE, meta={"k": 1}))
    stage.beat()
    assert len(stage.view.sent) == 1


def test_a_page_that_asks_gets_everything_with_the_number_it_is_at(stage: Stage) -> None:
    stage.see(say("one "), say("two"))
    stage.view.press(t="sync")
    stage.handle()
    delta, rest, whole = stage.view.sent
    assert (delta["n"], rest["n"], whole["n"]) == (1, 2, 2)
    assert whole["whole"] is True
    assert whole["ops"][0] == {"op": "clear"}
    assert "one two" in str(whole["ops"])


def test_a_page_that_comes_first_gets_an_empty_turn(stage: Stage) -> None:
    stage.view.press(t="sync")
    stage.handle()
    assert stage.view.sent[-1]["whole"] is True


def test_every_message_says_what_time_it_is_on_the_clock_of_its_spans(stage: Stage) -> None:
    before = time.monotonic()
    stage.see(say("one"))
    assert before - 0.01 <= stage.view.sent[0]["now"] <= time.monotonic() + 0.01


@pytest.mark.requirement("PERM-2")
def test_a_pressed_button_answers_with_the_exact_option(stage: Stage) -> None:
    stage.see(u.PermissionRequested(QUESTION, "May I?", OPTIONS))
    stage.view.press(t="act", act="answer", id="e0", n=1, rev=1)
    assert stage.asked == []
    stage.handle()
    assert stage.asked == [("answer", QUESTION, "no")]


def test_an_answer_counts_for_what_the_page_shows_not_for_what_changed_since(stage: Stage) -> None:
    call = u.ToolCallId("c")
    asked = u.PermissionRequested(QUESTION, "May I?", OPTIONS, subject=u.ToolCallSubject(call))
    stage.see(u.ToolCallUpdate(call, raw_input={"path": "a.txt"}))
    stage.see(asked)
    stage.see(u.ToolCallUpdate(call, raw_input={"path": "/etc/passwd"}))  # sent with the next beat
    assert "/etc/passwd" not in str(stage.view.sent)
    stage.view.press(t="act", act="answer", id="e1", n=0, rev=1)
    stage.handle()
    assert stage.asked == []
    assert "/etc/passwd" in str(stage.view.sent[-1])
    stage.view.press(t="act", act="answer", id="e1", n=0, rev=2)
    stage.handle()
    assert stage.asked == [("answer", QUESTION, "yes")]


@pytest.mark.requirement("PERM-3")
def test_a_second_press_after_the_answer_does_nothing(stage: Stage) -> None:
    stage.see(u.PermissionRequested(QUESTION, "May I?", OPTIONS))
    stage.see(u.PermissionSettled(QUESTION, "no", "you"))
    stage.view.press(t="act", act="answer", id="e0", n=0, rev=2)
    stage.handle()
    assert stage.asked == []


@pytest.mark.requirement("CANCEL-1")
def test_stop_and_withdraw_reach_the_actions(stage: Stage) -> None:
    stage.see(u.PromptQueued(PROMPT, (TextBlock("next"),)))
    stage.view.press(t="act", act="stop")
    stage.view.press(t="act", act="withdraw", id="e0")
    stage.handle()
    assert stage.asked == [("stop",), ("withdraw", PROMPT)]


@pytest.mark.parametrize(
    "content",
    [
        None,
        [],
        "sync",
        {},
        {"t": "act"},
        {"t": "act", "act": "answer", "id": "e0", "n": "1", "rev": 1},
        {"t": "act", "act": "answer", "id": "e0", "n": 99, "rev": 1},
        {"t": "act", "act": "answer", "id": "e0", "n": 0},
        {"t": "act", "act": "answer", "id": "e0", "n": 0, "rev": 0},
        {"t": "act", "act": "answer", "id": None, "n": 0, "rev": 1},
        {"t": "act", "act": "__class__", "id": "e0", "n": 0},
    ],
)
def test_a_message_that_makes_no_sense_does_nothing(stage: Stage, content: object) -> None:
    stage.see(u.PermissionRequested(QUESTION, "May I?", OPTIONS))
    assert stage.view._callback is not None
    stage.view._callback(stage.view, content, None)
    stage.handle()
    assert stage.asked == []


def test_a_message_is_handled_on_the_states_own_thread_only(stage: Stage) -> None:
    stage.see(u.PermissionRequested(QUESTION, "May I?", OPTIONS))
    stranger = threading.Thread(
        target=stage.view.press, kwargs={"t": "act", "act": "answer", "id": "e0", "n": 0, "rev": 1}
    )
    stranger.start()
    stranger.join()
    assert stage.asked == []
    stage.handle()
    assert stage.asked == [("answer", QUESTION, "yes")]


def test_after_close_nothing_goes_out_and_nothing_is_done(stage: Stage) -> None:
    stage.see(say("one "), say("two"))
    stage.presenter.close()
    stage.presenter.close()
    stage.see(say("three"))
    stage.presenter.finish("end_turn")
    stage.view.press(t="sync")
    stage.view.press(t="act", act="stop")
    stage.handle()
    assert stage.view.is_closed
    assert [beat.is_cancelled for beat in stage.beats] == [True]
    assert len(stage.view.sent) == 1
    assert stage.asked == []


def test_the_end_is_shown_at_once(stage: Stage) -> None:
    stage.see(say("one "), say("two"))
    stage.presenter.finish("cancelled", None, 3.0)
    assert "Cancelled" in str(stage.view.sent[-1]["ops"])
    assert "one two" in str(stage.view.sent[-1]["ops"])


def test_an_end_that_takes_several_beats_goes_on_by_itself(stage: Stage) -> None:
    texts = [u.ContentItem(TextBlock("*[" * 1_500))]
    for number in range(30):
        call = u.ToolCallUpdate(u.ToolCallId(str(number)), title="t", content=tuple(texts))
        stage.see(call)
    stage.presenter.finish("end_turn", None, 3.0)
    while any(not beat.is_cancelled for beat in stage.beats):
        stage.beat()
    assert len(stage.view.sent) > 2
    operations = [each for message in stage.view.sent for each in message["ops"]]
    assert sum(each["op"] == "put" for each in operations) == 30
    assert stage.view.sent[-1]["over"]


@pytest.mark.parametrize("fields", [2, 500])
def test_only_a_form_that_is_shown_whole_can_be_sent(stage: Stage, fields: int) -> None:
    form = Form(tuple(FormField(f"n{number}", "text", "F") for number in range(fields)))
    stage.see(ElicitationRequested(ElicitationId("e"), "Details", form))
    ident = next(each["id"] for each in stage.view.sent[-1]["ops"] if each["op"] == "put")
    stage.view.press(t="act", act="submit", id=ident, values={"f0": "x"})
    stage.handle()
    assert stage.asked == ([("fill", "e", "n0")] if fields == 2 else [])


def test_the_widget_is_a_small_module_without_a_build_step() -> None:
    view = TurnView()
    assert len(view._esm.encode()) <= 25_000
    assert "export default" in view._esm
    assert "import " not in view._esm
    assert "application/vnd.jupyter.widget-view+json" in str(view._repr_mimebundle_())
    view.close()


@pytest.mark.process
def test_importing_the_package_imports_no_widget_library() -> None:
    code = (
        "import sys, acp_notebook.widgets, acp_notebook.session.reducer\n"
        "heavy = {'anywidget', 'ipywidgets', 'traitlets', 'pygments', 'markdown_it', 'nh3'}\n"
        "print(sorted(heavy & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.process
def test_rendering_imports_pygments_only_for_code() -> None:
    code = (
        "import sys\n"
        "from acp_notebook.render.parsing.markdown import render_markdown\n"
        "render_markdown('*x*')\n"
        "print('pygments' in sys.modules)\n"
        "render_markdown('```python\\nx\\n```')\n"
        "print('pygments' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "True"]
