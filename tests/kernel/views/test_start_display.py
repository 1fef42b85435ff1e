"""What a cell shows while an agent is slow to start: the head of a turn's view, with its Stop."""

from __future__ import annotations

import concurrent.futures
from types import SimpleNamespace
from typing import Any

import pytest

from acp_notebook.kernel.views import start_display


class View:
    """A view that keeps what it was sent."""

    comm = None

    def __init__(self) -> None:
        self.sent: list[dict[str, Any]] = []
        self.callbacks: list[Any] = []
        self.is_closed = False

    def on_msg(self, callback: Any) -> None:
        self.callbacks.append(callback)

    def hear(self, *message: Any) -> None:
        for callback in self.callbacks:
            callback(*message)

    def send(self, content: dict[str, Any]) -> None:
        self.sent.append(content)

    def close(self) -> None:
        self.is_closed = True

    def _repr_mimebundle_(self) -> dict[str, Any]:
        return {"view": "model"}


class Thread:
    """The agent thread, at rest: what is due later is kept."""

    def __init__(self) -> None:
        self.later: list[Any] = []
        self.loop = SimpleNamespace(
            call_soon_threadsafe=lambda work: work(),
            call_later=lambda _, work, **__: self.later.append(work),
        )

    def post(self, work: Any) -> None:
        work()

    def beat(self) -> None:
        due, self.later = self.later, []
        for work in due:
            work()


@pytest.fixture
def stage(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    """A front end, an agent that starts, and what was displayed."""
    shown: list[dict[str, Any]] = []
    handle = SimpleNamespace(update=lambda bundle, **_: shown.append(bundle))

    def display(bundle: dict[str, Any], **_: Any) -> Any:
        shown.append(bundle)
        return handle

    monkeypatch.setattr("IPython.display.display", display)
    monkeypatch.setattr("acp_notebook.widgets.turn_view.TurnView", View)
    monkeypatch.setattr(start_display, "present_front_end", lambda: "notebook")
    agent = SimpleNamespace(label="slow <b>", stderr="one\n", thread=Thread())
    return SimpleNamespace(shown=shown, agent=agent, start=concurrent.futures.Future())


def display_of(stage: SimpleNamespace) -> tuple[start_display.StartDisplay, View]:
    display = start_display.StartDisplay(stage.agent, stage.start, waited_s=2.0)
    return display, display._view


def test_a_page_gets_the_head_of_a_turn_with_its_stop_and_its_clock(stage: SimpleNamespace) -> None:
    _, view = display_of(stage)
    assert stage.shown[0]["view"] == "model"
    view.hear(view, {"t": "sync"}, [])
    (message,) = view.sent
    assert message["whole"] is True
    html = {op.get("slot", op.get("id")): op.get("html") for op in message["ops"]}
    assert "Starting slow &lt;b&gt; … " in html["head"]
    assert "data-since" in html["head"]
    assert 'class="acp-button acp-stop"' in html["now"]
    assert ">one</pre>" in html["stderr"]


def test_only_new_words_of_the_agent_are_sent(stage: SimpleNamespace) -> None:
    _, view = display_of(stage)
    view.hear(view, {"t": "sync"}, [])
    stage.agent.thread.beat()
    assert len(view.sent) == 1
    stage.agent.stderr += "two\n"
    stage.agent.thread.beat()
    assert [message["n"] for message in view.sent] == [0, 1]
    assert "one\ntwo" in view.sent[-1]["ops"][0]["html"]


def test_stop_gives_the_start_up(stage: SimpleNamespace) -> None:
    _, view = display_of(stage)
    view.hear(view, {"t": "act", "act": "stop"}, [])
    assert stage.start.cancelled()


def test_at_the_end_one_line_stays_without_a_model(stage: SimpleNamespace) -> None:
    display, view = display_of(stage)
    display.close()
    assert not view.is_closed  # a page may still be loading it
    assert set(stage.shown[-1]) == {"text/html", "text/plain"}
    assert stage.shown[-1]["text/plain"].startswith("Starting slow <b> took ")
    assert "&lt;b&gt;" in stage.shown[-1]["text/html"]
    stage.agent.thread.beat()
    assert view.sent == []
    assert view.is_closed


def test_a_view_that_a_page_has_loaded_is_closed_at_once(stage: SimpleNamespace) -> None:
    display, view = display_of(stage)
    view.hear(view, {"t": "loaded"}, [])
    display.close()
    assert view.is_closed


def test_other_front_ends_get_a_line_that_is_renewed(
    stage: SimpleNamespace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(start_display, "present_front_end", lambda: "terminal")
    display_of(stage)
    stage.agent.stderr += "two\n"
    stage.agent.thread.beat()
    assert set(stage.shown[-1]) == {"text/plain"}
    assert stage.shown[-1]["text/plain"].endswith("one\ntwo")
