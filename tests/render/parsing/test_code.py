"""Highlighting has a budget, and no lexer of the list takes long between two looks at it."""

from __future__ import annotations

import time
from contextlib import suppress

import pytest
from pygments.lexers import get_lexer_by_name

from acp_notebook.budget import Budget, TooCostly
from acp_notebook.render.parsing.code import (
    HIGHLIGHT_LIMIT_CHARS,
    LANGUAGES,
    SHORT_LINED,
    code_block,
    highlight,
)
from acp_notebook.render.parsing.markdown import render_markdown

# What lexers have been seen to repeat their work over; `scripts/fuzz_renderers.py` has many more.
UNITS = (
    *(" ", "\n", " \n", "\\", '"', "'", "`", "/", "#", "-", "$", "(", "[", "{", "<", "=", ":", "a"),
    *("0", "/*", "<!--", '"""', "a.", "a ", "a,", "a\n", "\\\n", '\\"', "0_", "enum ", "<style>"),
    *("<?php ", "<script>", "{{"),
)  # fmt: skip
# Far more than the slowest step of a lexer here, far less than a step that goes over the whole text
# again and again.
STEP_SECONDS = 0.15


class Spent(Budget):
    """Is spent after a few looks, so that few steps run."""

    def __init__(self) -> None:
        super().__init__(1e9)
        self.looks = 0

    @property
    def is_spent(self) -> bool:
        self.looks += 1
        return self.looks > 8

    def part(self, seconds: float) -> Budget:
        return self


@pytest.mark.parametrize("language", sorted(LANGUAGES | SHORT_LINED))
def test_no_step_of_a_lexer_takes_long(language: str) -> None:
    assert get_lexer_by_name(language).aliases[0] == language
    for unit in UNITS:
        code = (unit * HIGHLIGHT_LIMIT_CHARS)[: HIGHLIGHT_LIMIT_CHARS // 2]
        began = time.thread_time()
        with suppress(TooCostly):
            highlight(code, language, Spent())
        assert time.thread_time() - began < STEP_SECONDS, unit


@pytest.mark.parametrize(
    ("language", "unit"), [("c", "\n"), ("java", "a b "), ("csharp", "\n"), ("typescript", "a.")]
)
def test_costly_code_stays_plain_with_the_reason(language: str, unit: str) -> None:
    code = unit * (39_000 // len(unit))
    began = time.thread_time()
    html = code_block(code, language)
    assert time.thread_time() - began < 1.0
    assert "<span" not in html
    assert html.endswith('<div class="acp-left-out">not highlighted: too costly</div>\n')


def test_a_spent_budget_leaves_code_plain() -> None:
    assert "too costly" in code_block("x = 1", "python", Budget(0))
    assert "too costly" not in code_block("x = 1", "python")


def test_code_beyond_the_limit_says_so() -> None:
    assert "not highlighted: too long" in code_block("x\n" * HIGHLIGHT_LIMIT_CHARS, "python")


def test_other_languages_stay_plain_without_a_remark() -> None:
    for language in ("adl", "autoit", "ng2", "ocaml", "no-such-language"):
        assert code_block("x = 1", language) == code_block("x = 1", "")


def test_a_session_with_a_very_long_line_stays_plain() -> None:
    assert '<span class="gp">' in code_block("$ ls\n", "console")
    assert "<span" not in code_block("$ ls\n" + "a" * 5_000, "console")


def test_code_in_markdown_in_a_fence_has_no_lexer_of_its_own() -> None:
    inner = "```autoit\n" + " " * 3_000 + "x\n```\n"
    assert '<span class="w">' not in render_markdown(f"````markdown\n{inner}````")


@pytest.mark.parametrize("language", ["python", "", "nothing-known"])
def test_what_hides_in_code_to_read_is_marked(language: str) -> None:
    html = str(code_block("x = '\u202e' # \u0455um ⚠\ufe0f", language))
    assert "[U+202E]" in html
    assert "[U+0455]" in html
    assert "⚠\ufe0f" in html
