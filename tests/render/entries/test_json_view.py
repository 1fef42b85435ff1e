from __future__ import annotations

import pytest
from html_facts import HtmlFacts

from acp_notebook.render.entries.json_view import fields_part, json_part
from acp_notebook.render.markup import Theme, live_theme, record_theme


@pytest.fixture(params=[live_theme, record_theme], ids=["live", "record"])
def theme(request: pytest.FixtureRequest) -> Theme:
    made: Theme = request.param()
    return made


def test_something_small_is_json(theme: Theme) -> None:
    assert "&#34;a&#34;" in json_part(theme, {"a": [1, 2]}, "k").replace("&quot;", "&#34;")


def test_alike_objects_are_a_table(theme: Theme) -> None:
    facts = HtmlFacts(json_part(theme, [{"a": 1, "b": "x"}, {"a": 2, "c": None}], "k"))
    assert facts.tags.count("tr") == 3
    assert [text for text in facts.texts if text.strip()] == ["a", "b", "c", "1", "x", "2"]


def test_a_long_table_says_what_is_not_shown(theme: Theme) -> None:
    html = json_part(theme, [{"a": n} for n in range(1_000)], "k")
    assert "980 more rows not shown" in html
    assert "980 rows" in theme.left_out[0]


def test_something_large_is_a_tree_whose_branches_unfold(theme: Theme) -> None:
    value = {"first": {"inner": [{"deep": n, "x": {}} for n in range(50)]}, "second": "text"}
    facts = HtmlFacts(json_part(theme, value, "k"))
    assert facts.tags.count("details") > 2
    assert {"first", "inner", "second", "text"} <= {text.strip() for text in facts.texts}
    assert facts.dangers == []


@pytest.mark.parametrize(
    "value",
    [
        {"text": "word " * 3_000_000},
        {str(n): {"x": [n]} for n in range(100_000)},
        [[n] for n in range(100_000)],
        {"a": [{"x" * 1_000_000: "y" * 1_000_000}] * 50},
    ],
    ids=["long text", "many names", "many items", "long names"],
)
def test_what_is_huge_is_cut_and_said(theme: Theme, value: object) -> None:
    html = json_part(theme, value, "k")
    assert len(html) < 400_000
    assert "not shown" in html
    assert theme.left_out


def test_a_value_that_holds_itself_deeply_ends(theme: Theme) -> None:
    value: dict[str, object] = {"pad": "x" * 1_000}
    for _ in range(200):
        value = {"inner": value}
    assert "pad" not in json_part(theme, value, "k") or len(json_part(theme, value, "k")) < 50_000


def test_a_flat_input_is_named_values(theme: Theme) -> None:
    html = fields_part(theme, {"path": "a.py", "code": "x\ny", "n": 1, "ok": True}, "k")
    facts = HtmlFacts(html)
    assert facts.tags.count("pre") == 1
    assert "true" in facts.texts
