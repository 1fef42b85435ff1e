"""`start`: the way in. Turns names, commands and addresses into a running agent.

Knows no notebook.
"""

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
        name: A known agent, such as `demo`, or the address of one: `ws`, `wss`, `http`, `https`.
        command: Program and arguments of any other agent.
        label: What to call it; by default its name.
        env: Additions to the environment that it inherits.
        cwd: The folder it works in.
        protocol: The latest protocol version to offer; the agent may choose an older one. By
            default the latest that this client speaks; 1 forces version 1.
        permissions: `ask`, `reads`, `allow`, `reject`, or a function from a
            `PermissionQuestion` to an option id or None (ask).
        elicit: Answers what the agent asks for by forms and pages: a function from an
            `ElicitationRequested` to the values by name (for a page: an empty dict), or None
            (ask).
        serve: What of this machine an agent is offered, inside its folder: `read` and `write`
            text files, `terminal` commands. By default nothing: agents have their own way to all
            three, some fail with a client's, and only protocol version 1 has it.
        headers: Sent to an address, such as `{"Authorization": "Bearer ..."}`.
        tools: Whether its sessions may use the tools of this kernel, in a notebook: look at
            variables, and run code that the user allows.
        directories: Further folders that its sessions work in, if it offers that.

    Raises:
        UsageError: Neither or both of name and command were given.
        AgentError: The agent cannot be started; the message says why and what to do.
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
