"""Resolving a known agent's name, a command or an address to a `Launch`. Starts nothing."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from urllib.parse import urlsplit

from acp_notebook.client.agents.known_agents import KnownAgent, find_agent
from acp_notebook.client.agents.launch import Launch, is_address, public_address
from acp_notebook.errors import UsageError
from acp_notebook.protocol.negotiate import check_version

SERVABLE = ("read", "write", "terminal")


def find_launch(
    name: str | None,
    *,
    command: Sequence[str] | None,
    label: str | None,
    env: Mapping[str, str] | None,
    headers: Mapping[str, str] | None,
    cwd: str | os.PathLike[str],
    protocol: int | None,
    serve: Collection[str],
    directories: Sequence[str | os.PathLike[str]] = (),
) -> Launch:
    """Return how to start or reach an agent; see `acp_notebook.start` for the arguments.

    Raises:
        UsageError: The arguments contradict each other, or an `acp.json` is invalid.
        AgentNotFound: No such agent is known, or it cannot be started here.
    """
    if (name is None) == (command is None):
        raise UsageError("Give either an agent's name or a command.")
    known = _known(name, tuple(command or ()))
    if not known.command and not known.address:
        raise UsageError("The command is empty. Write it behind --, as in: %acp start -- my-agent")
    if known.address and env:
        raise UsageError(
            f"{public_address(known.address)} is an address: the agent there has its own "
            "environment, and none can be given to it from here."
        )
    if headers and not known.address:
        raise UsageError("Headers are for an agent at an address; this one is started here.")
    return Launch(
        label or known.name,
        known.command,
        _absolute(cwd),
        {**known.env, **(env or {})},
        check_version(protocol),
        known.address,
        {**known.headers, **(headers or {})},
        _check_serve(known, serve),
        tuple(_absolute(folder) for folder in directories),
    )


def _absolute(folder: str | os.PathLike[str]) -> str:
    return str(Path(folder).expanduser().resolve())


def _known(name: str | None, command: tuple[str, ...]) -> KnownAgent:
    label = default_label(name, command)
    if name is None:
        return KnownAgent(label, label, command, "yours")
    if is_address(name):
        if not label:
            raise UsageError(f"{name!r} names no host. An address looks like wss://host/acp.")
        return KnownAgent(label, label, (), "yours", address=name)
    return find_agent(name)


def default_label(name: str | None, command: Sequence[str] | None) -> str:
    """Return the label of an agent without one: its name, its program, or its host and port."""
    if name is None:
        return Path(command[0]).name if command else ""
    if is_address(name):
        # The user part and the query of the address may hold a secret.
        return urlsplit(name).netloc.rpartition("@")[2]
    return name


def _check_serve(known: KnownAgent, serve: Collection[str]) -> frozenset[str]:
    served = _check_names(serve)
    harmful = sorted(served & known.never_serve)
    if harmful:
        raise UsageError(
            f"{known.title} must not be served {', '.join(harmful)}: {known.note} Start it without."
        )
    return served


def _check_names(names: Collection[str]) -> frozenset[str]:
    """Return the names as a set.

    Raises:
        UsageError: A name is unknown.
    """
    given = frozenset([names] if isinstance(names, str) else names)
    unknown = sorted(given.difference(SERVABLE))
    if unknown:
        raise UsageError(
            f"An agent cannot be served {', '.join(map(repr, unknown))}. "
            f"Choose from {', '.join(SERVABLE)}."
        )
    return given
