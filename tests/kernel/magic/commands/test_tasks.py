"""What an inserted block is said to be."""

from __future__ import annotations

import pytest

from acp_notebook.client.code_blocks import CodeBlock
from acp_notebook.kernel.magic.commands.tasks import inserted_words

WARNING = "It holds characters that hide or mislead; the reply shows where."


@pytest.mark.parametrize(("code", "warns"), [("x = 1", False), ("x = '\u202e'", True)])
def test_code_that_hides_something_is_told_when_it_is_inserted(code: str, warns: bool) -> None:
    words = inserted_words(2, CodeBlock("python", code), 3)
    assert words.startswith("Code block 2 (python) of 3")
    assert words.endswith(WARNING) == warns
