"""`start`: from a name, a command or an address to a running agent. Knows no notebook."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping, Sequence

from acp_notebook.client.agent import Agent
from acp_notebook.client.agents.launching import find_launch
from acp_notebook.client.live.audience import ElicitFunction
from acp_notebook.client.live.policies import Policy


def start(
    name: str | None = None,
    *,
    command: Sequence[str] | None = None,
    label: str | None = None,
    env: Mapping[str, str] | None = None,
    cwd: str | os.PathLike[str] = ".",
    protocol: int | None = None,
    permissions: Policy = "ask",
    elicit: ElicitFunction | None = None,
    serve: Collection[str] = (),
    headers: Mapping[str, str] | None = None,
    tools: bool = True,
    directories: Sequence[str | os.PathLike[str]] = (),
) -> Agent:
    """Start an agent, initialize it and open a session.

    Args:
        name: A known agent, such as `demo`, or an address: `ws`, `wss`, `http`, `https`.
        command: The program and arguments of any other agent.
        label: The agent's label here; by default its name.
        env: Additions to the inherited environment.
        cwd: The folder the agent works in.
        protocol: The latest protocol version to offer; the agent may choose an older one. By
            default the latest that this client speaks; 1 forces version 1.
        permissions: `ask`, `reads`, `allow`, `reject`, or a function from a
            `PermissionQuestion` to an option id or None (ask).
        elicit: A function that answers forms and urls: from an `ElicitationRequested` to the
            values by name (for a url: an empty dict), or None (ask).
        serve: What this client serves inside the agent's folder: `read` and `write` of text
            files, `terminal` commands. By default nothing: agents have their own tools for all
            three, some fail with a client's, and only protocol version 1 has these calls.
        headers: HTTP headers for an address, such as `{"Authorization": "Bearer ..."}`.
        tools: Whether sessions may use the tools of this kernel, in a notebook: read variables,
            and run code that the user allows.
        directories: Further folders for the sessions, if the agent supports that.

    Raises:
        UsageError: Neither or both of name and command are given.
        AgentError: The agent cannot be started; the message gives the reason and a remedy.
    """
    launch = find_launch(
        name,
        command=command,
        label=label,
        env=env,
        headers=headers,
        cwd=cwd,
        protocol=protocol,
        serve=serve,
        directories=directories,
    )
    return Agent(
        launch, label=launch.name, permissions=permissions, elicit=elicit, tools=tools
    ).start()
