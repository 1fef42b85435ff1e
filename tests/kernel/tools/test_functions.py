"""`@acp.tool`: signatures become schemas, calls run on the main thread, failures are told."""

from __future__ import annotations

import threading
from typing import Literal

import pandas as pd
import pytest
from tools_bench import text_of

import acp_notebook as acp
from acp_notebook.errors import UsageError


@pytest.fixture(autouse=True)
def _no_tools_left(space):
    return space


def schema_of(hands, name):
    return next(tool for tool in hands.tools() if tool.name == name)


def test_signature_types_and_docstring_become_the_schema(hands):
    @acp.tool
    def sales(region: Literal["north", "south"], year: int = 2024, schema: str = "x") -> str:
        """Sales of a region.

        Args:
            region: Which region,
                in the country.
            year (int): The year.
        """
        return f"{region} {year} {schema}"

    tool = schema_of(hands, "sales")
    assert tool.description.startswith("Sales of a region.")
    properties = tool.input_schema["properties"]
    assert tool.input_schema["required"] == ["region"]
    assert properties["region"]["enum"] == ["north", "south"]
    assert properties["region"]["description"] == "Which region, in the country."
    assert properties["year"]["type"] == "integer"
    assert properties["year"]["default"] == 2024
    assert hands.text("sales", region="north", year="2025") == "north 2025 x"
    assert sales("south") == "south 2024 x"


def test_a_call_runs_on_the_main_thread_and_has_a_card(hands, session):
    seen = []

    @acp.tool
    def where() -> None:
        print("looking")
        seen.append(threading.current_thread())

    text = hands.text("where")
    assert text.startswith("Done. It returned nothing.")
    assert "looking" in text
    assert seen == [threading.main_thread()]
    (card,) = session.live.state.tool_calls.values()
    assert (card.name, card.status) == ("where", "completed")
    assert "where()" in card.content[0].block.text


def test_an_async_function_is_awaited(hands):
    @acp.tool
    async def later(n: int) -> int:
        import asyncio

        await asyncio.sleep(0)
        return n + 1

    assert hands.text("later", n=1) == "2"


def test_frames_and_figures_are_described_and_shown(hands):
    @acp.tool
    def frame() -> pd.DataFrame:
        return pd.DataFrame({"price": [1.0, 2.0]})

    @acp.tool
    def figure():
        import matplotlib.pyplot as plt

        figure, axes = plt.subplots()
        axes.plot([1, 2])
        plt.close(figure)
        return figure

    assert hands.text("frame").startswith("pandas DataFrame, ")
    kinds = [block.type for block in hands.call("figure").content]
    assert "image" in kinds


def test_a_figure_is_a_picture_whatever_backend_draws(hands, shell):
    from matplotlib.figure import Figure

    @acp.tool
    def figure():
        figure = Figure()
        figure.subplots().plot([1, 2])
        return figure

    png = shell.display_formatter.formatters["image/png"]
    drawn_inline = png.pop(Figure)
    try:
        images = [block for block in hands.call("figure").content if block.type == "image"]
    finally:
        png.for_type(Figure, drawn_inline)
    assert [image.mime_type for image in images] == ["image/png"]


def test_a_result_that_json_cannot_say_is_described(hands):
    circle: list = []
    circle.append(circle)

    @acp.tool
    def odd() -> dict:
        return {"lock": threading.Lock()}

    @acp.tool
    def circular() -> list:
        return circle

    assert "lock" in hands.text("odd")
    result = hands.call("circular")
    assert not result.is_error
    assert "list" in text_of(result)


def test_a_tool_that_raises_tells_the_agent_how(hands, session):
    @acp.tool
    def fails(n: int) -> int:
        raise LookupError(f"no {n} here")

    result = hands.call("fails", n=3)
    assert result.is_error
    assert "LookupError: no 3 here" in text_of(result)
    assert "toolbox.py" not in text_of(result)
    (card,) = session.live.state.tool_calls.values()
    assert card.status == "failed"


def test_a_tool_that_never_returns_is_interrupted(hands):
    @acp.tool(time_limit=1)
    def forever() -> None:
        while True:
            pass

    assert "longer than its limit of 1 seconds" in hands.text("forever")
    assert hands.text("run_code", code="'free'") == "'free'"


def test_arguments_of_another_kind_never_reach_the_function(hands):
    calls = []

    @acp.tool
    def count(n: int) -> None:
        calls.append(n)

    assert "n: Input should be a valid integer" in hands.text("count", n="many")
    assert "Field required" in hands.text("count")
    assert "takes no m" in hands.text("count", n=1, m=2)
    assert calls == []


def test_a_new_tool_is_there_in_a_session_that_is_open(hands):
    assert "late" not in hands.names()

    @acp.tool
    def late() -> None: ...

    assert "late" in hands.names()


def test_the_same_function_defined_anew_takes_the_place_of_the_old(hands):
    for answer in (1, 2):

        @acp.tool
        def again(answer=answer) -> int:
            return answer

    assert hands.names().count("again") == 1
    assert hands.text("again") == "2"


def test_two_tools_of_one_name_are_an_error_that_names_both():
    @acp.tool(name="twice")
    def first() -> None: ...

    with pytest.raises(UsageError, match=r"'twice' already, made of .*first"):

        @acp.tool(name="twice")
        def second() -> None: ...

    with pytest.raises(UsageError, match="built-in tool 'run_code'"):

        @acp.tool
        def run_code() -> None: ...


def test_a_parameter_that_json_cannot_carry_is_refused_at_once():
    with pytest.raises(UsageError, match="takes frame: DataFrame, which an agent cannot send"):

        @acp.tool
        def bad(frame: pd.DataFrame) -> None: ...

    with pytest.raises(UsageError, match="write the parameters out"):

        @acp.tool
        def worse(*names) -> None: ...

    with pytest.raises(UsageError, match="no name for a tool"):
        acp.tool(lambda: None)


def test_confirm_asks_with_the_call_in_it(hands, session):
    @acp.tool(confirm=True)
    def drop(table: str) -> str:
        return f"dropped {table}"

    session.permissions = "reject"
    result = hands.call("drop", table="sales")
    assert result.is_error
    assert "Not allowed" in text_of(result)
    (permission,) = session.live.state.permissions.values()
    assert permission.request.subject.code == "drop(table='sales')"
    session.permissions = "allow"
    assert hands.text("drop", table="sales") == "dropped sales"
