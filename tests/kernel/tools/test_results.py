"""What a tool gives back, as a client of the server reads it."""

from __future__ import annotations

import pytest

from acp_notebook.kernel.tools.results import ToolResult
from acp_notebook.kernel.tools.server.tool_server import mcp_result
from acp_notebook.session.content import TextBlock


def texts(*given):
    result = mcp_result(ToolResult(tuple(TextBlock(text) for text in given)))
    return [block.text for block in result.content]


@pytest.mark.parametrize("text", ["6", "6\n", "[1, 2]", '"a word"', "null", "true"])
def test_a_bare_json_value_is_named_so_that_nobody_takes_it_for_structured_content(text):
    assert texts(text) == [f"Output:\n{text}"]


@pytest.mark.parametrize("text", ['{"a": 1}', "a word", "", "6 rows", "[" * 100_000])
def test_any_other_text_is_as_it_was(text):
    assert texts(text, "more") == [text, "more"]
