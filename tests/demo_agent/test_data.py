"""The demo agent as a data explorer, at the tools of a notebook that is none.

The stand-in notebook runs the agent's code for real, in a namespace of its own, so that the numbers
are those of the data. What a real notebook does with it is told in tests/kernel/tools.
"""

from __future__ import annotations

import contextlib
import io

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from wire_client import BOUND_S

from acp_notebook.demo_agent.data import asked_about
from acp_notebook.demo_agent.findings import report
from acp_notebook.kernel.tools.results import text_result
from acp_notebook.kernel.tools.server.tool_server import ToolServer, http_entry

INSPECT = {"name": "inspect", "inputSchema": {"type": "object"}}
RUN = {"name": "run_code", "inputSchema": {"type": "object"}}


class StandIn:
    """A notebook's tools: `space` is its namespace, `refuses` the codes that it does not allow."""

    def __init__(self, space):
        self.space = space
        self.refuses = ()
        self.codes = []

    def listed(self):
        return [INSPECT, RUN]

    async def call(self, _caller, name, arguments):
        if name == "inspect":
            value = self.space.get(arguments["name"])
            if value is None:
                return text_result("There is no such variable.", is_error=True)
            is_frame = isinstance(value, pd.DataFrame)
            return text_result("pandas DataFrame, a few rows" if is_frame else "list, 2 items")
        code = arguments["code"]
        self.codes.append(code)
        if any(word in code for word in self.refuses):
            return text_result("Not allowed (you). Nothing was run.", is_error=True)
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(code, self.space)
        return text_result(printed.getvalue())


@pytest.fixture
def frame():
    rng = np.random.default_rng(7)
    frame = pd.DataFrame({"price": rng.normal(10, 1, 200), "kind": "book", "note": ["x"] * 200})
    frame.loc[3, "price"] = 99.0
    frame.loc[5, "note"] = None
    frame.loc[7] = frame.loc[8]
    return frame


@pytest.fixture
def notebook(frame, monkeypatch):
    monkeypatch.setenv("MPLBACKEND", "agg")
    mpl.use("agg")
    return StandIn({"df": frame, "words": ["a", "b"]})


@pytest.fixture
async def client(connect, notebook):
    server = ToolServer(notebook)
    client = await connect()
    await client.new_session(servers=[http_entry(server.url, server.register("demo"))])
    yield client
    server.close().result(BOUND_S)


async def test_a_frame_is_looked_at_computed_drawn_and_reported(client, notebook):
    reply = await client.prompt("What is odd about @df? Plot the outliers.")
    assert reply.error is None
    assert reply.tool("call_1")["title"] == "Inspect df"
    facts, figure = notebook.codes
    assert "quantile" in facts
    assert "boxplot" in figure
    assert "**200 rows** and **3 columns**" in reply.text
    assert "**3 outliers** in `price`" in reply.text
    assert "as far as 99" in reply.text
    assert "**1 missing** in `note`" in reply.text
    assert "**1 row** like an earlier one" in reply.text
    assert "`kind` has one value only" in reply.text


async def test_the_command_does_the_same(client, notebook):
    reply = await client.prompt("/describe df")
    assert "**200 rows**" in reply.text
    assert "Which variable?" in (await client.prompt("/describe")).text


async def test_what_is_no_frame_is_shown_and_left_alone(client, notebook):
    reply = await client.prompt("describe @words")
    assert "no pandas DataFrame" in reply.text
    assert notebook.codes == []


async def test_a_name_that_is_not_there_is_said_to_be_so(client):
    reply = await client.prompt("describe @nothing")
    assert "I cannot look at `nothing`" in reply.text
    assert reply.tool("call_1")["status"] == "failed"


async def test_without_leave_there_are_no_numbers(client, notebook):
    notebook.refuses = ("quantile",)
    reply = await client.prompt("describe @df")
    assert "I have no numbers" in reply.text
    assert "Not allowed" in reply.text
    assert len(notebook.codes) == 1


async def test_without_a_figure_there_are_still_numbers(client, notebook):
    notebook.refuses = ("boxplot",)
    reply = await client.prompt("describe @df")
    assert "There is no figure" in reply.text
    assert "**200 rows**" in reply.text


async def test_without_tools_it_says_so(connect):
    reply = await (await connect()).prompt("describe @df")
    assert "this session has none" in reply.text
    assert "--no-tools" in reply.text


@pytest.mark.parametrize(
    ("prompt", "name"),
    [
        ("describe @df", "df"),
        ("What is odd about @df?", "df"),
        ("Any outliers in @data.prices, please?", "data.prices"),
        ("Say hello to @df", None),
        ("That is odd.", None),
    ],
)
def test_which_prompts_ask_for_a_description(prompt, name):
    assert asked_about(prompt) == name


def test_a_frame_without_oddities_is_reported_as_such():
    facts = {"rows": 1, "columns": 1, "duplicates": 0, "missing": {}, "constant": [], "numbers": []}
    words = report("df", facts, drawn=False)
    assert "**1 row** and **1 column**" in words
    assert "nothing odd" in words
