"""Agents that can be started by name: the bundled one, the user's own, the catalogue.

The user's own are read from `acp.json` on the Jupyter config path, in the form of other clients:
`{"agent_servers": {"name": {"command": "...", "args": [...], "env": {...}}}}`, or with an address:
`{"url": "wss://...", "headers": {...}}`. They override the catalogue. Starts nothing.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from acp_notebook.client.agents.catalogue import CATALOGUE, LAUNCHER_HINTS, CatalogueEntry
from acp_notebook.client.agents.launch import is_address
from acp_notebook.errors import AgentNotFound, UsageError, suggestion

CONFIG_NAME = "acp.json"
Source = Literal["bundled", "yours", "catalogue"]


@dataclass(frozen=True, slots=True)
class KnownAgent:
    """An agent with a name. `missing` says what prevents its start here, or is empty."""

    name: str
    title: str
    command: tuple[str, ...]
    source: Source
    env: dict[str, str] = field(default_factory=dict)
    note: str = ""
    missing: str = ""
    address: str = ""
    headers: dict[str, str] = field(default_factory=dict, repr=False)
    never_serve: frozenset[str] = frozenset()


def known_agents() -> dict[str, KnownAgent]:
    """Return all known agents by name: the bundled one, the user's own, then the catalogue.

    Raises:
        UsageError: An `acp.json` is invalid; the message names the file and the place in it.
    """
    command = (sys.executable, "-m", "acp_notebook.demo_agent")
    note = "needs no account and has no model"
    found = {"demo": KnownAgent("demo", "Demo agent", command, "bundled", note=note)}
    found |= {name: agent for name, agent in configured_agents().items() if name not in found}
    for name, entry in CATALOGUE.items():
        found.setdefault(name, _from_catalogue(entry))
    return found


def find_agent(name: str) -> KnownAgent:
    """Return the agent of a name, if it can be started here.

    Raises:
        AgentNotFound: No such agent is known, or its launcher or program is missing.
        UsageError: An `acp.json` is invalid.
    """
    known = known_agents()
    agent = known.get(name)
    if agent is None:
        raise AgentNotFound(
            f"No agent named {name!r} is known.{suggestion(name, known)} "
            "%acp agents lists those that are. "
            f"Any other agent starts by its command: %acp start -- {name} ..."
        )
    if agent.missing:
        raise AgentNotFound(f"{agent.title} cannot start here: {agent.missing}.")
    return agent


def _from_catalogue(entry: CatalogueEntry) -> KnownAgent:
    missing = ""
    if shutil.which(entry.command[0]) is None:
        hint = LAUNCHER_HINTS.get(entry.launcher, "install the agent by its own instructions")
        missing = f"there is no {entry.command[0]} on the PATH of this kernel; {hint}"
    return KnownAgent(
        entry.name,
        entry.title,
        entry.command,
        "catalogue",
        dict(entry.env),
        entry.note,
        missing,
        never_serve=entry.never_serve,
    )


def configured_agents() -> dict[str, KnownAgent]:
    """Return the agents of every `acp.json` on the Jupyter config path; earlier folders win.

    Raises:
        UsageError: A file is invalid.
    """
    from jupyter_core.paths import jupyter_config_path

    found: dict[str, KnownAgent] = {}
    for folder in jupyter_config_path():
        path = Path(folder, CONFIG_NAME)
        if path.is_file():
            for name, agent in _read_config(path).items():
                found.setdefault(name, agent)
    return found


def _read_config(path: Path) -> dict[str, KnownAgent]:
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise UsageError(f"{path} cannot be read: {error}. Mend or remove it.") from None
    servers = content.get("agent_servers") if isinstance(content, dict) else None
    if not isinstance(servers, Mapping):
        raise UsageError(
            f'{path} must look like {{"agent_servers": {{"NAME": {{"command": "..."}}}}}}.'
        )
    return {str(name): _read_server(path, str(name), raw) for name, raw in servers.items()}


def _read_server(path: Path, name: str, raw: Any) -> KnownAgent:
    where = f"{path}, agent {name!r}"
    if isinstance(raw, Mapping) and "url" in raw:
        return _read_address(where, name, raw)
    if not isinstance(raw, Mapping) or not isinstance(raw.get("command"), str):
        raise UsageError(f"{where}: `command` must be a string.")
    args = raw.get("args") or []
    if not isinstance(args, list) or not all(isinstance(arg, str) for arg in args):
        raise UsageError(f"{where}: `args` must be a list of strings.")
    env = _read_strings(where, raw, "env")
    command = (os.path.expanduser(raw["command"]), *args)  # noqa: PTH111 - may be a bare name
    missing = "" if shutil.which(command[0]) else f"there is no {command[0]}; see {path}"
    return KnownAgent(name, name, command, "yours", env, missing=missing)


def _read_address(where: str, name: str, raw: Mapping[str, Any]) -> KnownAgent:
    url = raw["url"]
    if not isinstance(url, str) or not is_address(url):
        raise UsageError(f"{where}: `url` must be an address: ws, wss, http or https.")
    headers = _read_strings(where, raw, "headers")
    return KnownAgent(name, name, (), "yours", address=url, headers=headers)


def _read_strings(where: str, raw: Mapping[str, Any], member: str) -> dict[str, str]:
    values = raw.get(member) or {}
    if not isinstance(values, Mapping) or not all(isinstance(v, str) for v in values.values()):
        raise UsageError(f"{where}: `{member}` must map names to strings.")
    return dict(values)
