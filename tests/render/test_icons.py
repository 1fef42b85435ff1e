"""The record's icons are the live view's."""

from __future__ import annotations

import re
from importlib.resources import files
from urllib.parse import unquote

import pytest

from acp_notebook.render.icons import SHAPES, icon_address
from acp_notebook.render.labels import KINDS

CSS = (files("acp_notebook.widgets") / "static" / "turn_view.css").read_text(encoding="utf-8")


@pytest.mark.parametrize("kind", KINDS)
def test_the_style_sheet_has_the_same_shape(kind: str) -> None:
    name = "" if kind == "other" else rf"-{kind}"
    rule = re.search(rf"\.acp-icon{name} \{{[^}}]*--acp-shape: url\(\"([^\"]*)\"\)", CSS)
    assert rule is not None
    assert SHAPES[kind] in unquote(rule[1])
    assert SHAPES[kind] in unquote(icon_address(kind))


def test_an_unknown_kind_has_the_icon_of_other_tools() -> None:
    assert icon_address("_dream") == icon_address("other")
    assert not set(icon_address("fetch")) & set('<>#"')
