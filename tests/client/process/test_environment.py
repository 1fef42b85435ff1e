"""An agent's environment: what was there, what the user gave, and no proxy before local tools."""

from __future__ import annotations

import pytest

from acp_notebook.client.process.environment import agent_environment

BOTH = ("no_proxy", "NO_PROXY")


def exempt(own, **given):
    environment = agent_environment(own, given)
    return [environment[name] for name in BOTH]


def test_what_the_user_gives_comes_before_what_is_there():
    found = agent_environment({"A": "1", "B": "1"}, {"B": "2"})
    assert (found["A"], found["B"]) == ("1", "2")


@pytest.mark.parametrize(
    ("own", "given", "expected"),
    [
        ({}, {}, ["127.0.0.1,localhost"] * 2),
        ({"NO_PROXY": ""}, {}, ["127.0.0.1,localhost"] * 2),
        ({"NO_PROXY": "a.org,.b"}, {}, ["a.org,.b,127.0.0.1,localhost"] * 2),
        ({"no_proxy": "localhost, c"}, {}, ["localhost, c,127.0.0.1"] * 2),
        ({"no_proxy": "a"}, {"NO_PROXY": "b"}, [f"{h},127.0.0.1,localhost" for h in "ab"]),
        ({"NO_PROXY": "a"}, {"NO_PROXY": "b"}, ["b,127.0.0.1,localhost"] * 2),
        ({"NO_PROXY": "*"}, {}, ["*"] * 2),
        ({"no_proxy": "a,*"}, {"NO_PROXY": "b"}, ["a,*", "b,127.0.0.1,localhost"]),
        ({"NO_PROXY": "localhost,127.0.0.1"}, {}, ["localhost,127.0.0.1"] * 2),
    ],
)
def test_local_addresses_are_added_to_those_that_no_proxy_serves(own, given, expected):
    assert exempt(own, **given) == expected


def test_an_http_client_that_obeys_the_environment_reaches_the_tools_without_a_proxy(monkeypatch):
    from urllib.request import proxy_bypass_environment

    for name, value in agent_environment({"http_proxy": "http://proxy:1"}, {}).items():
        monkeypatch.setenv(name, value)
    assert proxy_bypass_environment("127.0.0.1:8888")
    assert not proxy_bypass_environment("example.org")
