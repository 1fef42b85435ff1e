"""What a turn costs in a real page: traffic, frames, processor time, delays.

Each function measures in a page whose kernel runs `stage_agent.py`, and gives rows of ratios from
that one run. Knows the product only as its user does, but for the renderer, whose HTML is what the
traffic is compared with.
"""

from __future__ import annotations

import json
import shlex
import statistics
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

from prompting import AGENTS, LOAD
from rows import Row
from scenes import reply_text

from acp_notebook.render.parsing.markdown import render_markdown

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from notebook_page import NotebookPage
    from page_record import Measurement

CHUNKS_PER_S: Final = 400
CHUNK_CHARS: Final = 50
FRAMES_PER_S: Final = 25
REPEATS: Final = 15
KB: Final = 1_000

# The naive view: all of it, rendered, in an `ipywidgets.HTML`, as often as ours is renewed.
NAIVE: Final = f"""
import sys, time
sys.path.insert(0, {str(AGENTS)!r})
import ipywidgets
from IPython.display import display
from scenes import reply_text
from acp_notebook.render.parsing.markdown import render_markdown

def naive(size, seconds):
    text, view = reply_text(size), ipywidgets.HTML()
    steps = int(seconds * {FRAMES_PER_S})
    pages = [str(render_markdown(text[: size * n // steps])) for n in range(1, steps + 1)]
    display(view)
    due = time.monotonic()
    for page in pages:
        view.value = page
        due += 1 / {FRAMES_PER_S}
        time.sleep(max(0, due - time.monotonic()))
"""
ECHO: Final = """
def _echo(comm, _):
    comm.on_msg(lambda message: comm.send(message["content"]["data"]))

get_ipython().kernel.comm_manager.register_target("bench.echo", _echo)
"""
ROUND_TRIPS: Final = """async ([path, repeats]) => {
  const comm = testPage.kernel(path).createComm("bench.echo");
  await comm.open({}).done;
  const times = [];
  for (let number = 0; number < repeats; number++) {
    const began = performance.now();
    await new Promise((resolve) => {
      comm.onMsg = () => { requestAnimationFrame(() => resolve()); };
      comm.send({ number });
    });
    times.push(performance.now() - began);
  }
  return times;
}"""
# When a text is first in a view's slot and drawn, in milliseconds since 1970. A page that is behind
# may come to the record before it has drawn the view's last message.
WATCH: Final = """([slot, text]) => {
  window.drawn = null;
  const old = new Set(document.querySelectorAll(".acp, .jp-RenderedHTML"));
  const look = () => {
    const views = [...document.querySelectorAll(".acp")].filter((view) => !old.has(view));
    const places = views.map((view) => view.querySelector(slot)).filter(Boolean);
    const isOver = [...document.querySelectorAll(".jp-RenderedHTML")].some((e) => !old.has(e));
    if (!isOver && !places.some((place) => place.textContent.includes(text))) return;
    observer.disconnect();
    requestAnimationFrame(() => { window.drawn = performance.timeOrigin + performance.now(); });
  };
  const observer = new MutationObserver(look);
  observer.observe(document.body, { childList: true, characterData: true, subtree: true });
}"""
PRESS: Final = """button => {
  button.click();
  return performance.timeOrigin + performance.now();
}"""


def start_cell(log: Path, pause_s: float, label: str) -> str:
    """The cell that starts the measured agent."""
    command = shlex.join([sys.executable, str(AGENTS / "stage_agent.py"), str(pause_s)])
    return f"{LOAD}\n%acp start --as {label} --env STAGE_LOG={log} -- {command}"


class Bench:
    """A page with its cells, and what the agent noted."""

    def __init__(self, page: NotebookPage, log: Path) -> None:
        self.page = page
        self._log = log
        self.ended_ms = 0.0
        """When the page showed the end of the last reply."""
        self._session = page.tab.context.new_cdp_session(page.tab)
        self._session.send("Performance.enable")

    def prompt(self, cell: int, text: str, label: str = "fast") -> None:
        self.page.edit(cell, f"%%acp --to {label}\n{text}")
        self.page.start(cell)

    def logged(self, event: str) -> float:
        """When the agent noted an event last, in milliseconds since 1970."""
        lines = [json.loads(line) for line in self._log.read_text().splitlines()]
        return max(float(line["ms"]) for line in lines if line["event"] == event)

    def watch(self, slot: str, text: str) -> None:
        """Looks out for a text in a slot of the next view."""
        self.page.tab.evaluate(WATCH, [slot, text])

    def drawn(self, seconds: float = 60) -> float:
        """When it was drawn, in milliseconds since 1970."""
        self.page.wait_for("the text is drawn", "window.drawn !== null", seconds=seconds)
        return float(self.page.tab.evaluate("window.drawn"))

    @contextmanager
    def measured(self) -> Iterator[tuple[Measurement, dict[str, float]]]:
        """Traffic and frames, and the page's processor time."""
        spent: dict[str, float] = {}
        before = self._task_seconds()
        with self.page.measured() as counted:
            yield counted, spent
        spent["cpu"] = self._task_seconds() - before

    def _task_seconds(self) -> float:
        metrics = self._session.send("Performance.getMetrics")["metrics"]
        return float(next(m["value"] for m in metrics if m["name"] == "TaskDuration"))

    def reply(self, cell: int, size: int) -> tuple[Measurement, float]:
        """A reply of this many characters at the set pace: what it cost the page."""
        self.watch("[data-slot=now]", "Finished")
        with self.measured() as (counted, spent):
            self.prompt(cell, f"reply {size} {size // CHUNK_CHARS}", "paced")
            self.ended_ms = self.drawn(120)
        self.page.wait_done(cell)
        return counted, spent["cpu"]


def view_bytes(counted: Measurement) -> int:
    """What was sent to the view; the record in its place is no part of the stream."""
    return sum(traffic.size for kind, traffic in counted.received.items() if kind == "comm_msg")


def traffic(bench: Bench) -> list[Row]:
    """Bytes of a streamed reply, against what it renders to and against four times as much."""
    small, _ = bench.reply(1, 100 * KB)
    large, _ = bench.reply(1, 400 * KB)
    text = reply_text(100 * KB)
    whole = len(str(render_markdown(text)).encode()) + len(text.encode())
    ratio, growth = view_bytes(small) / whole, view_bytes(large) / view_bytes(small)
    return [
        Row(
            "Bytes of a reply of 100 kB in 2,000 chunks, against its HTML and its text", ratio, 1.3
        ),
        Row("Bytes of 400 kB against 100 kB", growth, 4.2),
    ]


def against_naive(bench: Bench) -> list[Row]:
    """Bytes and processor time, against `ipywidgets.HTML` with the whole text at the same rate."""
    page, size = bench.page, 200 * KB
    page.edit(2, NAIVE)
    page.run(2)
    seconds = size / CHUNK_CHARS / CHUNKS_PER_S
    page.edit(2, f"naive({size}, {seconds})")
    with bench.measured() as (naive, spent):
        page.run(2, 240)
    naive_cpu = spent["cpu"]
    page.edit(2, "pass")
    page.run(2)
    ours, cpu = bench.reply(1, size)
    late_ms = bench.ended_ms - bench.logged("done")
    return [
        Row(
            "ipywidgets.HTML with the whole text at the same rate, 200 kB: its bytes against ours",
            view_bytes(naive) / view_bytes(ours), 20, is_floor=True,
        ),
        Row("… its processor time in the page against ours", naive_cpu / cpu, 3, is_floor=True),
        Row("Frames per second, 400 chunks/s", ours.frames_per_second, 55, "", is_floor=True),
        Row("… frame time, 95th percentile", ours.frame_percentile(95), 50, "ms"),
        Row("… from the agent's end to the page's", late_ms, 100, "ms"),
    ]  # fmt: skip


def delays(bench: Bench) -> list[Row]:
    """The first chunk's way to the eye and a click's way to the agent, over a bare round trip."""
    page = bench.page
    page.edit(2, ECHO)
    page.run(2)
    bare = statistics.median(page.tab.evaluate(ROUND_TRIPS, [page.name, REPEATS]))
    chunks, clicks = [], []
    for number in range(REPEATS):
        sign = f"sign{number}sign"
        bench.watch(".acp-entries", sign.upper())
        bench.prompt(1, f"tell {sign}")
        chunks.append(bench.drawn() - bench.logged("first"))
        page.wait_done(1)
        bench.prompt(1, "question")
        button = page.button(1, "Allow", exact=False).first
        button.wait_for()
        clicked = float(button.evaluate(PRESS))
        page.wait_done(1)
        clicks.append(bench.logged("answered") - clicked)
    return [
        Row(
            "First chunk to pixels, median, over a bare comm round trip",
            statistics.median(chunks) - bare, 60, "ms",
        ),
        Row("Click to the agent's receipt, the same", statistics.median(clicks) - bare, 60, "ms"),
    ]  # fmt: skip


def sizes(bench: Bench) -> list[Row]:
    """Ten thousand tool calls, and an output of ten megabytes."""
    rows = []
    for words, scene in (
        ("10,000 tool calls", "many 10000"),
        ("a tool output of 10 MB", "huge 10"),
    ):
        with bench.measured() as (counted, _):
            bench.prompt(1, scene)
            bench.page.wait_done(1, 240)
        bench.page.wait_for_text(1, "Finished")
        rows += [
            Row(
                f"With {words}: longest task in the page",
                max(counted.long_tasks, default=0),
                500,
                "ms",
            ),
            Row("… size of the record", _record_size(bench.page) / 1e6, 4, "MB"),
        ]
    return rows


def _record_size(page: NotebookPage) -> int:
    outputs: list[dict[str, Any]] = page.outputs(1)
    return len(json.dumps([output["data"] for output in outputs if "data" in output]))
