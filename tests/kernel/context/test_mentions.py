r"""What is a mention and what is not."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acp_notebook.kernel.context.mentions import find_mentions, steps_of


def found(prompt):
    return [(mention.kind, mention.value) for mention in find_mentions(prompt)]


@pytest.mark.parametrize(
    ("prompt", "kind", "value"),
    [
        ("What is odd about @df?", "variable", "df"),
        ("(@df)", "variable", "df"),
        ("**@df**", "variable", "df"),
        ("'@df'", "variable", "df"),
        ("@größe.", "variable", "größe"),
        ("mean of @df.price.", "variable", "df.price"),
        ('mean of @df["unit price"].', "variable", 'df["unit price"]'),
        ("the @models[0].coef_,", "variable", "models[0].coef_"),
        ("@error: why?", "error", ""),
        ("see @cell[12]!", "cell", "12"),
        ("see @cell[-1]", "cell", "-1"),
        ("see @out[3]", "out", "3"),
        ("compare @cells:3.", "cells", "3"),
        ("read @file:data/a.csv.", "file", "data/a.csv"),
        ("(see @file:~/notes.md)", "file", "~/notes.md"),
        ('read @file:"my data.csv" now', "file", "my data.csv"),
    ],
)
def test_a_mention_is_found_and_its_punctuation_left_out(prompt, kind, value):
    assert found(prompt) == [(kind, value)]


def test_the_whole_of_a_frame_is_asked_for_by_csv():
    first, second = find_mentions("@df:csv and @df: csv is fine")
    assert (first.value, first.form) == ("df", "csv")
    assert (second.value, second.form) == ("df", "")


@pytest.mark.parametrize(
    "prompt",
    [
        "mail me@example.org",
        "a lone @ and @ 5 pm, 3@4",
        r"write \@df",
        "`@df`",
        "``a ` @df``",
        "like ```\n@df``` or so",
        "```\n@df\n```",
        "~~~python\n@df\n~~~\n",
        "- a list\n  ```\n  @df\n  ```",
        "```\n@df, and the fence is never closed",
        "@cached\ndef load():\n    pass",
        "    @app.get('/x')\n    @cached\n    async def load(): ...",
        "see https://example.org/@user and ssh://git@host/x",
        "foo.@bar",
    ],
)
def test_no_mention_is_found_in_code_addresses_and_behind_a_backslash(prompt):
    assert found(prompt) == []


def test_text_around_code_is_read():
    assert found("`x` @df ```y``` @fig\n```\n@no\n```\n@model") == [
        ("variable", "df"),
        ("variable", "fig"),
        ("variable", "model"),
    ]


def test_a_mention_is_listed_once_and_in_order():
    assert found("@b @a @b") == [("variable", "b"), ("variable", "a")]


def test_a_path_is_taken_apart_into_attributes_and_keys():
    assert steps_of("""a.b[0]["c d"][-1]['e'].f""") == (
        "a",
        [".b", 0, "c d", -1, "e", ".f"],
    )
    assert steps_of("a") == ("a", [])


@given(st.text("@ab`~\n .:[]\"'\\{}1$", max_size=80))
def test_any_text_can_be_read_and_each_mention_stands_where_it_says(prompt):
    for mention in find_mentions(prompt):
        assert prompt[mention.start :].startswith(mention.text)
        assert prompt[mention.start] == "@"
