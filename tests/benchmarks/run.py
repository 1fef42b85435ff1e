"""Measures everything in one run and prints one table of ratios; fails if a limit is not reached.

python tests/benchmarks/run.py [--only traffic|against_naive|delays|sizes]
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests" / name) for name in ("browser", "agents")]

import page_measures  # noqa: E402
from conftest import CHROMIUM, CHROMIUM_ARGS, _kernels  # noqa: E402
from jupyter_app import KERNEL_SETTINGS, JupyterApp  # noqa: E402
from notebook_page import NotebookPage  # noqa: E402
from playwright.sync_api import sync_playwright  # noqa: E402
from rows import table  # noqa: E402

MEASURES = (
    page_measures.traffic,
    page_measures.against_naive,
    page_measures.delays,
    page_measures.sizes,
)


def measure(app: JupyterApp, only: str) -> bool:
    """Opens a notebook, measures, prints; whether all limits are reached."""
    log = app.root / "stage.log"
    log.touch()
    pause_s = 1 / page_measures.CHUNKS_PER_S
    starts = [
        page_measures.start_cell(log, pause, label)
        for pause, label in ((0, "fast"), (pause_s, "paced"))
    ]
    app.use_settings({KERNEL_SETTINGS: {"commsOverSubshells": "perCommTarget"}})
    app.write_notebook("bench.ipynb", ["\n".join(starts), "", ""], kernel="current")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=CHROMIUM_ARGS)
        page = NotebookPage(app, browser.new_context(), "bench.ipynb", 1200)
        page.open()
        page.run(0)
        page.wait_for_text(0, "paced is ready")
        bench = page_measures.Bench(page, log)
        rows = [row for each in MEASURES if only in each.__name__ for row in each(bench)]
        browser.close()
    print(table(rows))
    return all(row.holds for row in rows)


def main() -> None:
    parser = argparse.ArgumentParser(description="Prints one table of ratios.")
    parser.add_argument("--only", default="", help="a part of the names of measures")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        app = JupyterApp("lab", Path(folder) / "app", _kernels())
        with app:
            sys.exit(not measure(app, args.only))


if __name__ == "__main__":
    main()
