"""The terminal's presenter: what goes to the page, what comes back, what is told of a failure."""

from __future__ import annotations

import pytest

from acp_notebook.widgets.terminal_view import TerminalPresenter


class View:
    """A page that keeps what it gets."""

    comm = None

    def __init__(self):
        self.sent = []
        self.is_closed = False

    def send(self, content):
        self.sent.append(content)

    def on_msg(self, callback):
        self.receive = lambda content: callback(self, content, [])

    def close(self):
        self.is_closed = True


class Timer:
    def cancel(self):
        self.is_cancelled = True


class Terminal:
    """A presenter with everything around it."""

    def __init__(self):
        self.typed = []
        self.due = []
        self.hides = False
        self.view = View()
        self.presenter = TerminalPresenter(
            "agent: log in",
            (40, 6),
            write=self.typed.append,
            hides_typing=lambda: self.hides,
            post=lambda work: work(),
            call_later=self.later,
            make_view=lambda: self.view,
        )

    def later(self, _delay, work):
        self.due.append(work)
        return Timer()

    def beat(self):
        due, self.due = self.due, []
        for work in due:
            work()


@pytest.fixture
def terminal():
    return Terminal()


def test_output_is_sent_once_per_beat_and_everything_on_demand(terminal):
    terminal.presenter.fed(b"Your ")
    terminal.presenter.fed(b"name: ")
    assert terminal.view.sent == []
    terminal.beat()
    (message,) = terminal.view.sent
    assert message["screen"].startswith("Your name:")
    assert (message["title"], message["hidden"]) == ("agent: log in", False)
    terminal.hides = True
    terminal.view.receive({"t": "sync"})
    assert terminal.view.sent[-1]["hidden"] is True


def test_keys_go_to_the_program(terminal):
    for keys in ("Ann\r", "\x03", "\x1b[A", "ü"):
        terminal.view.receive({"t": "type", "keys": keys})
    for other in ({"t": "type"}, {"t": "type", "keys": 7}, {"t": "act"}, "type", None):
        terminal.view.receive(other)
    assert terminal.typed == [b"Ann\r", b"\x03", b"\x1b[A", "ü".encode()]


def test_what_was_typed_is_not_told_of_a_failure(terminal):
    terminal.view.receive({"t": "type", "keys": "sesame\r"})
    terminal.presenter.fed(b"code sesame is wrong\r\nno luck\r\n")
    assert terminal.presenter.last_words == "code •••• is wrong\nno luck"


def test_after_the_end_nothing_is_sent_or_typed(terminal):
    terminal.presenter.fed(b"x")
    terminal.presenter.detach()
    terminal.presenter.detach()
    terminal.beat()
    terminal.presenter.fed(b"y")
    terminal.view.receive({"t": "sync"})
    terminal.view.receive({"t": "type", "keys": "z"})
    assert not terminal.view.is_closed
    assert terminal.view.sent == []
    assert terminal.typed == []
