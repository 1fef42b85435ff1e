"""Reading `%acp` lines: options, their values, and where the text begins."""

from __future__ import annotations

import pytest

from acp_notebook.errors import UsageError
from acp_notebook.kernel.magic.commands.prompts import CELL
from acp_notebook.kernel.magic.subcommands import SUBCOMMANDS


@pytest.mark.parametrize(
    ("line", "attached", "text"),
    [
        ("--attach df what is it?", ["df"], "what is it?"),
        ('--attach df["unit price"] why', ['df["unit price"]'], "why"),
        ("--attach df[df.x > 3].head(2) why", ["df[df.x > 3].head(2)"], "why"),
        ('--attach "df.x + 1" why "so"', ["df.x + 1"], 'why "so"'),
        ("--attach a --attach 'b c'", ["a", "b c"], ""),
        ("--attach=f('a b') x", ["f('a b')"], "x"),
        ("--attach df] it's", ["df]"], "it's"),
        ("--attach", None, None),
    ],
)
def test_an_expression_is_one_value_with_its_quotes_and_brackets(line, attached, text):
    if attached is None:
        with pytest.raises(UsageError, match="--attach"):
            CELL.parse(line)
        return
    given = CELL.parse(line)
    assert (given.attach, given.text) == (attached, text)


def test_text_is_left_as_it_was_written():
    given = SUBCOMMANDS["prompt"].parse("--to me  say  'a  b' -- and --more")
    assert (given.to, given.text) == ("me", "say  'a  b' -- and --more")


@pytest.mark.parametrize("text", ["- a list's item", "-- a dash", "-1 is less than 0"])
def test_a_dash_that_is_no_option_begins_the_text(text):
    assert SUBCOMMANDS["prompt"].parse(text).text == text


def test_an_unknown_option_is_an_error_with_the_usage():
    with pytest.raises(UsageError, match=r"--nothing.*Usage"):
        CELL.parse("--nothing more")
