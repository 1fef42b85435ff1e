"""The demo agent's command line."""

from __future__ import annotations

import pytest

from acp_notebook.demo_agent import DEFAULT_PACE_S
from acp_notebook.demo_agent.__main__ import parse_arguments


def test_by_default_the_client_chooses_the_version_and_the_pace_is_gentle():
    options = parse_arguments([])
    assert (options.protocol, options.pace) == (None, DEFAULT_PACE_S)


def test_version_and_pace_can_be_set():
    options = parse_arguments(["--protocol", "1", "--pace", "0"])
    assert (options.protocol, options.pace) == (1, 0.0)


@pytest.mark.parametrize(
    "arguments", [["--protocol", "3"], ["--pace", "-1"], ["--pace", "nan"], ["--pace", "fast"]]
)
def test_nonsense_is_refused(arguments, capsys):
    with pytest.raises(SystemExit):
        parse_arguments(arguments)
    assert arguments[0] in capsys.readouterr().err
