"""The environment of an agent's process. Knows no agent and starts nothing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

# Where this kernel serves its tools. Not `::1`, on which older HTTP clients fail.
_LOCAL: Final = ("127.0.0.1", "localhost")
_NAMES: Final = ("no_proxy", "NO_PROXY")


def agent_environment(own: Mapping[str, str], given: Mapping[str, str]) -> dict[str, str]:
    """Return this process's environment, extended by what the user gave and by local addresses.

    The calls to the kernel's tools carry a token, which a proxy must not see. Programs read either
    spelling of the variable, so both are set; hosts that are in them stay.
    """
    environment = {**own, **given}
    set_values = [environment[name] for name in _NAMES if environment.get(name)]
    for name in _NAMES:
        hosts = environment.get(name) or next(iter(set_values), "")
        environment[name] = _with_local(hosts)
    return environment


def _with_local(hosts: str) -> str:
    known = {host.strip() for host in hosts.split(",")}
    if "*" in known:
        return hosts
    return ",".join([*filter(None, [hosts]), *(host for host in _LOCAL if host not in known)])
