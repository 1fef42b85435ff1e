"""What is started or reached for what a user names: names, commands, addresses, `acp.json`."""

from __future__ import annotations

import json

import pytest

from acp_notebook.client.agents import known_agents
from acp_notebook.client.agents.launching import default_label, find_launch
from acp_notebook.errors import UsageError


def find(name=None, **more):
    given = {"command": None, "label": None, "env": None, "headers": None, "cwd": "."}
    return find_launch(name, **{**given, "protocol": 2, "serve": (), **more})


@pytest.fixture
def configured(tmp_path, monkeypatch):
    """Writes an `acp.json` that is found."""
    monkeypatch.setattr("jupyter_core.paths.jupyter_config_path", lambda: [str(tmp_path)])

    def configure(**servers):
        (tmp_path / "acp.json").write_text(json.dumps({"agent_servers": servers}))

    return configure


def test_an_address_in_the_configuration_has_a_name_and_headers(configured):
    configured(far={"url": "wss://host/acp", "headers": {"Authorization": "Bearer x"}})
    launch = find("far", headers={"Extra": "y"})
    assert (launch.name, launch.address, launch.command) == ("far", "wss://host/acp", ())
    assert launch.headers == {"Authorization": "Bearer x", "Extra": "y"}
    assert "Bearer" not in repr(launch)


@pytest.mark.parametrize(
    ("server", "words"),
    [
        ({"url": "host/acp"}, "`url` must be an address"),
        ({"url": 3}, "`url` must be an address"),
        ({"url": "ws://host", "headers": ["a"]}, "`headers` must map names to strings"),
        ({"url": "ws://host", "headers": {"a": 1}}, "`headers` must map names to strings"),
    ],
)
def test_a_wrong_address_in_the_configuration_names_its_place(configured, server, words):
    configured(far=server)
    with pytest.raises(UsageError, match=words) as caught:
        find("far")
    assert "acp.json, agent 'far'" in str(caught.value)


def test_what_an_agent_fails_with_is_not_served_to_it(monkeypatch):
    monkeypatch.setattr(known_agents.shutil, "which", lambda _: "/bin/npx")
    with pytest.raises(UsageError, match=r"Gemini CLI must not be served read: It fails to create"):
        find("gemini", serve=["read", "write"])
    assert find("gemini", serve=["write"]).serve == {"write"}


def test_nothing_is_served_by_default():
    assert find(command=["true"]).serve == frozenset()


@pytest.mark.parametrize(
    ("name", "command", "label"),
    [
        ("demo", None, "demo"),
        (None, ["/opt/my-agent", "--acp"], "my-agent"),
        ("https://user:secret@host:99/acp?token=x", None, "host:99"),
    ],
)
def test_an_agent_without_a_label_is_called_by_what_it_is(name, command, label):
    assert default_label(name, command) == label


def test_the_next_step_fits_the_way_it_was_reached():
    local, far = find(command=["my agent", "x"]), find("ws://host/acp")
    assert "run it in a terminal: 'my agent' x" in local.advice
    assert "ws://host/acp" in far.advice
    assert local.comeback == "Your next prompt starts it again."
    assert far.comeback == "Your next prompt connects again."
