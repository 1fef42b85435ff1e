"""What an inserted block is said to be."""

from __future__ import annotations

import pytest

from acp_notebook.client.code_blocks import CodeBlock
from acp_notebook.kernel.magic.commands.tasks import inserted_words


@pytest.mark.parametrize(
    ("code", "told"),
    [
        ("x = 'é, 中'", None),
        ("x = '[U+202E]'", None),
        ("x = '\u202e'", "1 character that can hide or mislead (U+202E: 1)"),
        (
            "".join(map(chr, (0xE0159, 0x202E, 0x430, 0xE0159, 0x3164, 0x61))),
            "5 characters that can hide or mislead (U+E0159: 2, U+202E: 1, ",
        ),
        ("".join(map(chr, range(0x200B, 0x2010))) * 2, "(U+200B: 2, U+200C: 2, "),
        ("".join(map(chr, range(0xE0100, 0xE0110))), " and 11 other kinds)"),
    ],
)
def test_which_hidden_characters_an_inserted_block_holds_is_told(
    code: str, told: str | None
) -> None:
    words = inserted_words(2, CodeBlock("python", code), 3)
    assert words.startswith("Code block 2 (python) of 3")
    assert ("Look before you run it" in words) == (told is not None)
    assert (told or "") in words
    assert words.isprintable()
