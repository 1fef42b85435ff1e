"""Each promise of SECURITY.md names its tests, and they exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

pytestmark = pytest.mark.pure

ROOT = Path(__file__).resolve().parents[1]
WORDS = (ROOT / "SECURITY.md").read_text(encoding="utf-8")
NAMED = re.compile(r"`(tests/[\w/]+\.(?:test\.js|py))`")


def promises() -> list[str]:
    _, _, rest = WORDS.partition("## What a question promises")
    return re.findall(r"(?ms)^- \*\*.*?(?=^- |^$)", rest)


def test_every_promise_names_a_test_that_exists() -> None:
    assert len(promises()) > 10
    for promise in promises():
        named = NAMED.findall(promise)
        assert named, promise
        assert [name for name in named if not (ROOT / name).is_file()] == []
