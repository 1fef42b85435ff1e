"""The page's modules as one: what a widget sends does what the modules do."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

from acp_notebook.widgets.static_files import STATIC, join_modules

PAGE_TESTS = Path(__file__).parent / "page"
ENTRIES = ("turn_view.js", "terminal_view.js")


@pytest.mark.parametrize("entry", ENTRIES)
def test_a_joined_module_passes_the_tests_of_its_view(entry: str, tmp_path: Path) -> None:
    joined = tmp_path / "joined.mjs"
    joined.write_text(join_modules(entry), encoding="utf-8")
    test = PAGE_TESTS / entry.replace(".js", ".test.js")
    done = subprocess.run(
        ["node", "--test", test],
        env={**os.environ, "PAGE_MODULE": joined.as_uri()},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(r"(?m)^. pass [1-9]", done.stdout), done.stdout


@pytest.mark.parametrize("entry", ENTRIES)
def test_a_joined_module_stands_alone_and_takes_no_reasons_along(entry: str) -> None:
    joined = join_modules(entry)
    assert not re.search(r"(?m)^import |/\*|^ *//", joined)
    assert re.findall(r"(?m)^export .*", joined) == ["export default {"]


def test_every_module_belongs_to_a_view() -> None:
    joined = [join_modules(entry) for entry in ENTRIES]
    for path in STATIC.glob("*.js"):
        names = re.findall(r"(?m)^export (?:function|class) (\w+)", path.read_text("utf-8"))
        assert path.name in ENTRIES or names
        for name in names:
            declared = re.compile(rf"(?m)^(?:function|class) {name}\b")
            assert any(len(declared.findall(text)) == 1 for text in joined), name
