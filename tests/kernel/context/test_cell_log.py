"""What is remembered of cells: sources, outputs, the last error; within bounds."""

from __future__ import annotations

import re
import types

import pytest

from acp_notebook.kernel.context import cell_log
from acp_notebook.kernel.context.cell_log import CellLog, Output


class Publisher:
    """A display publisher with hooks, as a kernel has it."""

    def __init__(self):
        self.hooks = []

    def register_hook(self, hook):
        self.hooks.append(hook)

    def unregister_hook(self, hook):
        self.hooks.remove(hook)

    def publish(self, kind="display_data", display_id=None, **bundle):
        data = {name.replace("_", "/"): value for name, value in bundle.items()}
        transient = {"display_id": display_id} if display_id else {}
        message = {
            "header": {"msg_type": kind},
            "content": {"data": data, "transient": transient},
        }
        for hook in self.hooks:
            assert hook(message) is message
        return message


@pytest.fixture
def hooked(shell):
    """A log whose displays come through a hook, in the middle of cell 1."""
    publisher = Publisher()
    watched = types.SimpleNamespace(
        execution_count=2,
        events=shell.events,
        display_pub=publisher,
        history_manager=types.SimpleNamespace(outputs={}, input_hist_raw=["", "cell one"]),
        compile=shell.compile,
    )
    log = CellLog(watched)
    log.install()
    yield log, publisher
    log.remove()
    assert publisher.hooks == []


def texts(log, count=1):
    return [output.bundle for output in log.outputs_of(count)]


def test_sources_are_kept_without_the_cell_that_runs(shell, log, run):
    run("first = 1")
    run("second = 2")
    run("seen = log_sources()")
    assert log.sources == {1: "first = 1", 2: "second = 2", 3: "seen = log_sources()"}
    shell.user_ns["log_sources"] = lambda: dict(log.sources)
    run("seen = log_sources()")
    assert list(shell.user_ns["seen"]) == [1, 2, 3]
    assert log.running is None


def test_printed_text_and_values_are_outputs(log, run):
    run("print('hello')\n40 + 2")
    assert [(each.kind, each.bundle) for each in log.outputs_of(1)] == [
        ("stream", {"text/plain": "hello\n"}),
        ("result", {"text/plain": "42"}),
    ]
    assert log.outputs_of(99) == []


def test_the_last_error_keeps_its_cell_and_a_plain_traceback(log, run):
    run("def inner():\n    return 1 / 0")
    run("x = 1\ninner()")
    run("y = 2")
    error = log.last_error
    assert (error.count, error.source, error.name) == (2, "x = 1\ninner()", "ZeroDivisionError")
    assert "\x1b" not in error.traceback
    assert error.traceback.startswith("Traceback (most recent call last):\n  Cell In[2], line 2")
    assert "Cell In[1], line 2, in inner" in error.traceback
    assert "return 1 / 0" in error.traceback
    assert "interactiveshell" not in error.traceback
    assert log.error_of(2) is error
    assert log.error_of(3) is None


def test_a_syntax_error_is_an_error(log, run):
    run("for x in\n")
    assert log.last_error.name == "SyntaxError"
    assert "for x in" in log.last_error.traceback


def test_an_error_that_cannot_be_told_is_named(log, monkeypatch):
    class Odd(Exception):
        def __str__(self):
            raise ValueError

    def ended_by(error):
        info = types.SimpleNamespace(raw_cell="raise Odd")
        return types.SimpleNamespace(
            error_before_exec=None, error_in_exec=error, info=info, execution_count=1
        )

    log._cell_ends(ended_by(Odd()))
    assert (log.last_error.name, "Odd: <exception str() failed>" in log.last_error.traceback) == (
        "Odd",
        True,
    )
    monkeypatch.setattr(cell_log, "_drop_machinery", None)
    log._cell_ends(ended_by(Odd()))
    assert log.last_error.traceback == "Odd (its own text cannot be shown)"


def test_a_long_chain_of_calls_is_bounded(log):
    def deeper(depth):
        return 1 / 0 if depth == 300 else [deeper(depth + 1) for _ in range(1)]

    with pytest.raises(ZeroDivisionError) as caught:
        deeper(0)
    told = log._traceback(caught.value)
    assert told.endswith("ZeroDivisionError: division by zero")
    # Newer interpreters tell frames that are alike once, with their number.
    alike = re.search(r"Previous line repeated (\d+) more times", told)
    frames = told.count("File ") + (int(alike[1]) if alike else 0)
    assert frames == cell_log.TRACEBACK_FRAMES


@pytest.mark.parametrize(
    "cell",
    ["%acp nonsense", "%%acp\n@nothing", "raise KeyboardInterrupt", "%no_such_magic"],
)
def test_our_own_complaints_and_interrupts_are_no_errors_to_mend(log, run, cell):
    run("1/0")
    run(cell)
    assert log.last_error.name == "ZeroDivisionError"


def test_the_last_cell_is_the_users(log, run):
    run("a = 1")
    run("%acp")
    run("%load_ext nothing_of_this_name")
    assert log.last_cell == 1


def test_displays_are_kept_as_what_an_agent_can_be_told(hooked):
    log, publisher = hooked
    publisher.publish(text_html="<b>x</b>", text_plain="x", application_json={"a": 1})
    publisher.publish(text_html="<b>only</b>")
    publisher.publish(image_png=b"\x89PNG", text_plain="<Figure>")
    assert texts(log) == [
        {"text/plain": "x"},
        {"text/html": "<b>only</b>"},
        {"image/png": "iVBORw==", "text/plain": "<Figure>"},
    ]


def test_an_update_replaces_and_a_clear_removes(hooked):
    log, publisher = hooked
    publisher.publish(display_id="d", text_plain="first")
    publisher.publish(kind="update_display_data", display_id="d", text_plain="second")
    assert texts(log) == [{"text/plain": "second"}]
    publisher.publish(kind="clear_output")
    assert texts(log) == []
    assert log._chars == 0


def test_what_is_kept_is_bounded(hooked, monkeypatch):
    log, publisher = hooked
    monkeypatch.setattr(cell_log, "KEPT_CHARS", 1_000)
    for _ in range(100):
        publisher.publish(text_plain="x" * 10)
    assert len(texts(log)) == cell_log.KEPT_OUTPUTS
    for count in range(2, 100):
        log._running[:] = [count]
        publisher.publish(text_plain="y" * 100)
    assert log._chars <= 1_000
    assert texts(log, 1) == []
    assert texts(log, 99) == [{"text/plain": "y" * 100}]


def test_an_image_beyond_the_bound_is_not_kept(hooked, monkeypatch):
    log, publisher = hooked
    monkeypatch.setattr(cell_log, "OUTPUT_CHARS", 10)
    publisher.publish(image_png="A" * 11, text_plain="a figure, drawn")
    assert texts(log) == [{"text/plain": "a figure, "}]


def test_a_message_of_another_shape_goes_on_and_is_not_kept(hooked):
    log, publisher = hooked
    for hook in publisher.hooks:
        assert hook({"strange": 1}) == {"strange": 1}
    assert texts(log) == []


def test_without_a_history_of_outputs_the_value_is_known(hooked):
    log, _ = hooked
    log._shell.history_manager = types.SimpleNamespace(output_hist_reprs={1: "42"})
    assert log.outputs_of(1) == [Output("result", {"text/plain": "42"})]
    assert not log.keeps_printed_text


def test_a_removed_log_hears_nothing(shell, log, run):
    log.remove()
    run("1/0")
    assert log.last_error is None
    log.remove()
