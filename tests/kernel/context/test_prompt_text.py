"""Braces and backslashes: what is filled in, and what must survive."""

from __future__ import annotations

import contextlib
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acp_notebook.errors import UsageError
from acp_notebook.kernel.context.prompt_text import fill_line, read_prompt

NAMES = {"n": 3, "x": 2.5, "name": "sales", "rows": [1, 2, 3], "list": "mine", "a": 1, "b": 2}


def text_of(prompt, names=NAMES):
    return read_prompt(prompt, names).text


@pytest.mark.parametrize(
    ("prompt", "sent"),
    [
        ("of {n} rows", "of 3 rows"),
        ("{x:.2f} and {x:>6}", "2.50 and    2.5"),
        ("{name!r} {name!r:>8}", "'sales'  'sales'"),
        (
            "{len(rows)} {rows[0]} {rows[-1] + n} {[r for r in rows]!s}",
            "3 1 6 {[r for r in rows]!s}",
        ),
        ("{sum(r for r in rows)}", "6"),
        ("{n if x else name}", "3"),
        ("{rows}", "[1, 2, 3]"),
        ("file_{n}.csv", "file_3.csv"),
        ("{list}", "mine"),
        ("{{n}} stays", "{n} stays"),
        (r"\@df and \@file:x", "@df and @file:x"),
    ],
)
def test_an_expression_of_the_users_names_is_filled_in(prompt, sent):
    assert text_of(prompt) == sent


@pytest.mark.parametrize(
    "prompt",
    [
        "nothing {} here",
        "{unknown} and {n + unknown}",
        '{"n": 1, "x": {"y": 2}}',
        '{"n":1}',
        "{n, x}",
        "{1}",
        "{'n'}",
        "{ n }",
        "{n: 1}",
        "{n:value}",
        "{print}",
        "function f() { return n; }",
        "`{n}`",
        "```js\nconst y = {n};\n```",
        "```\n{n} in a fence that is never closed",
        r"\frac{a}{b} and \sqrt[3]{n} and e^{n}",
        "$x_{n}$ and $$\\sum_{n} a$$",
        r"\({n}\) \[{n}\]",
        "https://example.org/{n}/x",
        "{\nn\n}",
        "{(n := 5)}",
        r"\{n\}",
        "{{unknown}}",
        '{"a": {"b": {"n": 1}}}',
    ],
)
def test_other_braces_are_sent_as_they_stand(prompt):
    assert text_of(prompt) == prompt


def test_a_price_is_no_formula():
    assert text_of("costs $5 for {n} or $6") == "costs $5 for 3 or $6"


def test_a_failing_expression_is_an_error_that_says_how_to_keep_the_braces():
    with pytest.raises(UsageError, match=r"\{rows\[9\]\} .*IndexError.*\{\{rows\[9\]\}\}"):
        text_of("the {rows[9]} row")


def test_what_is_filled_in_is_not_read_again():
    read = read_prompt("{quote}", {"quote": r"ask @df or {n} or \@x", "n": 3})
    assert read.text == r"ask @df or {n} or \@x"
    assert read.mentions == ()


def test_mentions_are_found_beside_what_is_filled_in():
    read = read_prompt("{n} of @df, `{n}` and {words['@n']}", {"n": 3, "df": 0, "words": {"@n": 1}})
    assert [mention.text for mention in read.mentions] == ["@df"]


def test_a_backslash_in_code_stays():
    assert text_of(r"`\@x` \@x") == r"`\@x` @x"


def test_the_users_namespace_is_not_changed():
    names = {**NAMES, "rows": []}
    read_prompt("{n} {rows.append(4) or n}", names)
    assert names.keys() == NAMES.keys()


@given(st.text("{}n@`$\\ :!\"'.[]\n1", max_size=60))
def test_any_text_is_read_or_is_a_usage_error(prompt):
    with contextlib.suppress(UsageError):
        read_prompt(prompt, {"n": 3})


def test_long_text_is_read_in_linear_time_or_so():
    # An exponential or cubic pattern would run into the time limit of the tests.
    read_prompt(
        "{" * 20_000
        + "`" * 20_000
        + "$" * 20_000
        + "\\a{b}" * 5_000
        + "\\(" * 9_000
        + "a." * 9_000,
        NAMES,
    )


# lines of magics


@pytest.mark.parametrize(
    ("line", "filled"),
    [
        ("--cwd {folder} $who", "--cwd /data me"),
        ("--env K={folder + '/x'} {who!r}", "--env K=/data/x 'me'"),
        ("{{who}} $$who", "{who} $who"),
        ("{unknown} $unknown {} { who } $", "{unknown} $unknown {} { who } $"),
        ("-- node -e 'f({a: 1})'", "-- node -e 'f({a: 1})'"),
    ],
)
def test_the_users_variables_are_filled_into_a_line(line, filled):
    assert fill_line(line, {"folder": "/data", "who": "me"}) == filled


@pytest.mark.parametrize(
    "piece", ["{", "}", "{x}", "$x ", "{x", "{{", "{:%a", "$", "{x!", "{x:%a "]
)
def test_a_long_line_is_filled_in_linear_time(piece):
    """80,000 characters take IPython's own expansion a minute."""
    before = time.process_time()
    fill_line(piece * (80_000 // len(piece)), {"x": 1})
    assert time.process_time() - before < 10
