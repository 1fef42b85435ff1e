"""The table of protocol versions, and `initialize`, which offers the latest and accepts the others.

One request carries the members of every version up to the offered one: a v1 agent reads
`clientInfo` and `clientCapabilities`, a v2 agent `info` and `capabilities`, and both schemas leave
the request open. A version is accepted only if the answer has its members, because several agents
echo the number and speak v1. A further version is a package and a row of `VERSIONS`. Knows no
process: the caller retries with a new one if an agent refuses the combined request.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from acp_notebook.errors import UNSUPPORTED_VERSION_CODE, UnsupportedProtocolVersion, UsageError
from acp_notebook.protocol import fields
from acp_notebook.protocol.client_calls import ClientCalls
from acp_notebook.protocol.dialect import (
    AuthMethod,
    Call,
    Capabilities,
    ClientCapabilities,
    Dialect,
    Implementation,
)
from acp_notebook.protocol.v1 import dialect as v1
from acp_notebook.protocol.v2 import dialect as v2

VERSIONS: Final = {row.dialect.version: row for row in (v1.VERSION, v2.VERSION)}
LATEST: Final = max(VERSIONS)
OLDEST: Final = min(VERSIONS)
NOTHING: Final = ClientCapabilities()


@dataclass(frozen=True, slots=True)
class Negotiated:
    """An agent's answer to `initialize`."""

    dialect: Dialect
    info: Implementation
    capabilities: Capabilities
    auth_methods: tuple[AuthMethod, ...]


def check_version(version: int | None) -> int:
    """Return the version, or the latest for None.

    Raises:
        UsageError: This client does not speak the version.
    """
    if version is None or version in VERSIONS:
        return version or LATEST
    known = " or ".join(map(str, VERSIONS))
    raise UsageError(f"There is no ACP protocol version {version}; use {known}.")


def version_words(version: int) -> str:
    """Return the effect of asking for a version, in words."""
    older = [str(each) for each in VERSIONS if each < version]
    if not older:
        return f"force version {version}"
    return f"offer version {version}, accept {' and '.join(older)}"


def version_to_retry(asked: int) -> int | None:
    """Return the version to offer alone after a refusal of several; None if there is none."""
    return None if asked == OLDEST else OLDEST


def all_client_calls() -> list[ClientCalls]:
    """Return the calls of this client's files and terminals, of every version that has them."""
    found = (row.dialect.client_calls for row in VERSIONS.values())
    return [calls for calls in found if calls is not None]


def initialize(
    client: Implementation, *, version: int = LATEST, served: ClientCapabilities = NOTHING
) -> Call:
    """Return the `initialize` call in the shapes of the version and all older ones (INIT-5)."""
    info = {"name": client.name, "title": client.label, "version": client.version}
    params: dict[str, Any] = {"protocolVersion": version}
    for offered, row in VERSIONS.items():
        if offered <= version:
            params |= row.write_offer(info, served)
    return Call("initialize", params)


def read_answer(answer: Any, *, asked: int) -> Negotiated:
    """Choose the dialect from the agent's answer (INIT-3).

    Raises:
        UnsupportedProtocolVersion: There is no common version; the connection must close.
    """
    raw = answer if isinstance(answer, dict) else {}
    chosen = fields.optional_int(raw, "protocolVersion")
    if chosen in VERSIONS:
        highest = min(chosen, asked)
        row = VERSIONS[
            max(each for each in VERSIONS if each <= highest and VERSIONS[each].is_spoken_in(raw))
        ]
        methods = fields.optional_array(raw, "authMethods")
        return Negotiated(
            row.dialect,
            row.read_info(raw),
            row.read_capabilities(raw),
            fields.valid_items(methods, row.read_auth_method),
        )
    spoken = "no protocol version" if chosen is None else f"protocol version {chosen}"
    known = " and ".join(map(str, VERSIONS))
    raise UnsupportedProtocolVersion(
        f"The agent answered with {spoken}; this client speaks {known}. "
        "Update the agent, or this package, so that they share one."
    )


def read_refusal(code: int, data: Any, *, asked: int) -> UnsupportedProtocolVersion | None:
    """Return the error for -32022, which has the agent's versions; None for other codes."""
    if code != UNSUPPORTED_VERSION_CODE:
        return None
    supported = fields.optional_array(data, "supported") if isinstance(data, dict) else []
    known = ", ".join(str(version) for version in supported) or "others"
    return UnsupportedProtocolVersion(
        f"The agent does not speak protocol version {asked}, only {known}. "
        f"Start it without --protocol {asked}."
    )
