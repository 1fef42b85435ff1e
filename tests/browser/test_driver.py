"""The browser suite's own tools, tried with plain cells and a plain anywidget button."""

from __future__ import annotations

from typing import TYPE_CHECKING

import psutil
import pytest
from jupyter_app import THEME_SETTINGS, JupyterApp, KernelSpec

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import OpenNotebook

BUTTON = """
import anywidget, traitlets

class Press(anywidget.AnyWidget):
    _esm = '''
    export default { render({ model, el }) {
      const button = document.createElement("button");
      const draw = () => { button.textContent = `Pressed ${model.get("count")}`; };
      button.setAttribute("aria-label", "Press me");
      button.addEventListener("click", () => model.send({ kind: "press" }));
      model.on("change:count", draw);
      draw();
      el.append(button);
    } };
    '''
    count = traitlets.Int(0).tag(sync=True)

    def __init__(self):
        super().__init__()
        self.on_msg(self.pressed)

    def pressed(self, widget, content, buffers):
        self.count += 1

Press()
"""

only_lab = pytest.mark.parametrize("app", ["lab"], indirect=True)

WAIT_FOR_INTERRUPT = """
import threading
print("waiting", flush=True)
threading.Event().wait()
"""


def test_run_waits_for_the_cell_and_shows_its_output(open_notebook: OpenNotebook) -> None:
    page = open_notebook(["print('one')\n1 + 1"])
    page.run(0)
    page.wait_for_text(0, "2")
    assert page.seen(0) == "one\n2"
    assert [output["output_type"] for output in page.outputs(0)] == ["stream", "execute_result"]
    assert page.mime_types(0) == [{"text/plain"}]
    assert page.record.problems == []


@only_lab
def test_second_run_is_not_taken_for_the_first(open_notebook: OpenNotebook) -> None:
    page = open_notebook(["n = 0", "n += 1\nn"])
    page.run(0)
    for expected in ("1", "2", "3"):
        page.run(1)
        page.wait_for_text(1, expected)


def test_run_all_goes_past_markdown_and_stops_at_an_error(open_notebook: OpenNotebook) -> None:
    page = open_notebook(["1", "%%markdown\n# Title", "1 / 0", "'never'"])
    page.run_all()
    page.wait_idle()
    assert "ZeroDivisionError" in page.seen(2)
    assert page.outputs(3) == []


@pytest.mark.parametrize(
    ("kernel", "version"), [("current", "7."), ("6.31", "6.31")], indirect=["kernel"]
)
def test_kernel_is_the_one_asked_for(open_notebook: OpenNotebook, version: str) -> None:
    page = open_notebook(["import acp_notebook, ipykernel\nprint(ipykernel.__version__)"])
    page.run(0)
    page.wait_for_text(0, version)


@pytest.mark.parametrize(
    ("kernel", "comms"),
    [("current", "perCommTarget"), ("current", "disabled"), ("6.31", "perCommTarget")],
    indirect=True,
)
def test_click_reaches_the_kernel_and_comes_back(open_notebook: OpenNotebook) -> None:
    page = open_notebook([BUTTON])
    page.run(0)
    page.click(0, "Press me")
    page.wait_for_text(0, "Pressed 1")
    page.click(0, "Press me")
    page.wait_for_text(0, "Pressed 2")
    assert page.record.problems == []


@only_lab
def test_click_on_a_missing_button_names_those_there(open_notebook: OpenNotebook) -> None:
    page = open_notebook([BUTTON])
    page.run(0)
    page.wait_for_text(0, "Pressed 0")
    with pytest.raises(AssertionError, match=r"Buttons there: \['Pressed 0'\]"):
        page.click(0, "Allow", seconds=0.5)


@only_lab
def test_wait_that_ends_in_vain_says_what_was_there(open_notebook: OpenNotebook) -> None:
    page = open_notebook(["print('alpha')"])
    page.run(0)
    with pytest.raises(AssertionError, match=r"cell 0 shows 'beta'(.|\n)*shows 'alpha'"):
        page.wait_for_text(0, "beta", seconds=0.5)


@pytest.mark.parametrize("kernel", ["current", "6.31"], indirect=True)
def test_interrupt_ends_a_waiting_cell(open_notebook: OpenNotebook) -> None:
    page = open_notebook([WAIT_FOR_INTERRUPT, "'alive'"])
    page.start(0)
    page.wait_for_text(0, "waiting")
    page.interrupt()
    page.wait_done(0)
    assert "KeyboardInterrupt" in page.seen(0)
    page.run(1)
    page.wait_for_text(1, "alive")


@only_lab
def test_restarted_kernel_has_forgotten(open_notebook: OpenNotebook) -> None:
    page = open_notebook(["x = 1", "x"])
    page.run(0)
    page.restart_kernel()
    page.run(1)
    assert "NameError" in page.seen(1)


def test_saved_notebook_is_read_from_disk(open_notebook: OpenNotebook) -> None:
    page = open_notebook(["1 + 1"])
    page.run(0)
    page.edit(0, "2 + 2")
    saved = page.save()
    assert saved.cells[0].source == "2 + 2"
    assert saved.cells[0].outputs[0].data["text/plain"] == "2"


def test_reloaded_page_keeps_the_kernel(open_notebook: OpenNotebook) -> None:
    page = open_notebook(["x = 41", "x + 1"])
    page.run(0)
    page.save()
    page.reload()
    page.run(1)
    page.wait_for_text(1, "42")


def test_page_reloads_while_a_cell_waits(open_notebook: OpenNotebook) -> None:
    page = open_notebook([WAIT_FOR_INTERRUPT, "'alive'"])
    page.start(0)
    page.wait_for_text(0, "waiting")
    page.save()
    page.reload()
    page.wait_for_text(0, "waiting")
    page.interrupt()
    page.wait_idle()
    page.run(1)
    page.wait_for_text(1, "alive")


def test_reopened_without_a_kernel_shows_what_was_saved(open_notebook: OpenNotebook) -> None:
    page = open_notebook(
        ["from IPython.display import HTML\nHTML('<b style=\"color: red\">x</b>')"]
    )
    page.run(0)
    page.save()
    page.reopen(kernel=False)
    page.wait_for_text(0, "x")
    assert page.kernel_status() == "none"
    assert page.output(0).locator("b").get_attribute("style") == "color: red"


def test_untrusted_notebook_is_sanitised(open_notebook: OpenNotebook) -> None:
    source = "from IPython.display import HTML\nHTML('<style>p {color: red}</style><p>text</p>')"
    page = open_notebook([source])
    page.run(0)
    page.save()
    page.reopen()
    assert page.output(0).locator("style").count() == 1
    page.reopen(trusted=False)
    page.wait_for_text(0, "text")
    assert page.output(0).locator("style").count() == 0


def test_completions_are_those_of_the_kernel(open_notebook: OpenNotebook) -> None:
    page = open_notebook(["alpha_one = alpha_two = 1", ""])
    page.run(0)
    assert {"alpha_one", "alpha_two"} <= set(page.completions(1, "alpha_"))


def test_screenshot_shows_theme_and_width(open_notebook: OpenNotebook) -> None:
    page = open_notebook(["1 + 1"], width=800)
    page.run(0)
    page.use_theme("dark")
    dark = page.screenshot("driver-dark").read_bytes()
    page.use_theme("light")
    light = page.screenshot("driver-light").read_bytes()
    assert dark != light
    assert int.from_bytes(light[16:20], "big") == 800
    page.resize(500)
    assert page.tab.evaluate("innerWidth") == 500
    assert page.screenshot("driver-cell", cell=0).stat().st_size > 0


@only_lab
def test_settings_hold_for_the_page(open_notebook: OpenNotebook) -> None:
    page = open_notebook(["1"], settings={THEME_SETTINGS: {"theme": "JupyterLab Dark"}})
    page.wait_for("the theme is dark", "document.body.dataset.jpThemeLight === 'false'")


@only_lab
def test_complaints_of_the_page_are_collected(open_notebook: OpenNotebook) -> None:
    page = open_notebook(["1"])
    page.tab.evaluate(
        """() => {
          console.error("a console error");
          alert("an alert");
          setTimeout(() => { throw new Error("a page error"); });
          fetch("https://example.org/x").catch(() => {});
          const image = document.createElement("img");
          image.setAttribute("onerror", "window.wasRun = true");
          image.src = "data:image/png;base64,none";
          document.body.append(image);
        }"""
    )
    page.wait_for("the script has run", "window.wasRun === true")
    record = page.record
    assert "a console error" in record.console_errors
    assert record.dialogs == ["alert: an alert"]
    assert any("a page error" in text for text in record.page_errors)
    assert record.foreign_requests == ["https://example.org/x"]
    assert any("script-src-attr" in text for text in record.violations)


@only_lab
def test_measurement_counts_messages_and_frames(open_notebook: OpenNotebook) -> None:
    page = open_notebook(["print('x' * 10_000)"])
    with page.measured() as counted:
        page.run(0)
    assert counted.received["stream"].size > 10_000
    assert counted.received["execute_reply"].messages == 1
    assert counted.sent["execute_request"].messages == 1
    assert counted.total_received.size > counted.received["stream"].size
    assert counted.frames
    assert counted.frame_percentile(50) <= counted.frame_percentile(95)


def test_stopped_application_leaves_no_process(tmp_path: Path) -> None:
    with JupyterApp("lab", tmp_path / "root", [KernelSpec("current")]) as app:
        server = [process.pid for process in app.processes()]
        assert server
    assert app.processes() == []
    assert not any(psutil.pid_exists(pid) for pid in server)


def test_failed_start_shows_the_log(tmp_path: Path) -> None:
    app = JupyterApp("lab", tmp_path / "root", [], server_args=["--no-such-option=1"])
    with pytest.raises(RuntimeError, match=r"(?i)log ends:(.|\n)*no-such-option"), app:
        pass
