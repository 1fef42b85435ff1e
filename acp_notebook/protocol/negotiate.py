"""`initialize`: offer version 2 and accept 1, in one request that carries both shapes.

A v1 agent reads `clientInfo` and `clientCapabilities`, a v2 agent `info` and `capabilities`; both
schemas leave the request open. Version 2 is believed only if the answer has v2's members, because
several agents echo the number and speak v1. Knows no process: the retry with a fresh one, for an
agent that chokes on the two shapes, is the caller's.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from acp_notebook.errors import UnsupportedProtocolVersion
from acp_notebook.protocol import fields
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

LATEST = 2
OLDEST = 1
UNSUPPORTED_VERSION_CODE = -32022
NOTHING = ClientCapabilities()


@dataclass(frozen=True, slots=True)
class Negotiated:
    """What an agent answered to `initialize`."""

    dialect: Dialect
    info: Implementation
    capabilities: Capabilities
    auth_methods: tuple[AuthMethod, ...]


def initialize(
    client: Implementation,
    *,
    version: int = LATEST,
    served: ClientCapabilities = NOTHING,
) -> Call:
    """The `initialize` call: both shapes for version 2, v1's alone for version 1.

    Capabilities name exactly what this client serves (INIT-5).
    """
    info = {"name": client.name, "title": client.label, "version": client.version}
    params: dict[str, Any] = {
        "protocolVersion": version,
        "clientInfo": info,
        "clientCapabilities": v1.write_capabilities(served),
    }
    if version >= LATEST:
        params |= {"info": info, "capabilities": v2.write_capabilities(served)}
    return Call("initialize", params)


def read_answer(answer: Any, *, asked: int) -> Negotiated:
    """Choose the dialect from the agent's answer (INIT-3).

    Raises:
        UnsupportedProtocolVersion: The agent wants another version; the connection must close.
    """
    raw = answer if isinstance(answer, dict) else {}
    chosen = fields.optional_int(raw, "protocolVersion")
    speaks_v2 = isinstance(raw.get("info"), dict) and isinstance(raw.get("capabilities"), dict)
    if chosen == LATEST and asked == LATEST and speaks_v2:
        return Negotiated(
            v2.V2Dialect(),
            v2.read_info(raw),
            v2.read_capabilities(raw),
            fields.valid_items(fields.optional_array(raw, "authMethods"), v2.read_auth_method),
        )
    if chosen in (OLDEST, LATEST):
        return Negotiated(
            v1.V1Dialect(),
            v1.read_info(raw),
            v1.read_capabilities(raw),
            fields.valid_items(fields.optional_array(raw, "authMethods"), v1.read_auth_method),
        )
    spoken = "no protocol version" if chosen is None else f"protocol version {chosen}"
    raise UnsupportedProtocolVersion(
        f"The agent answered with {spoken}; this client speaks {OLDEST} and {LATEST}. "
        "Update the agent, or this package, so that they share one."
    )


def read_refusal(code: int, data: Any, *, asked: int) -> UnsupportedProtocolVersion | None:
    """The error for -32022, which names the versions that the agent does speak."""
    if code != UNSUPPORTED_VERSION_CODE:
        return None
    supported = fields.optional_array(data, "supported") if isinstance(data, dict) else []
    known = ", ".join(str(version) for version in supported) or "others"
    return UnsupportedProtocolVersion(
        f"The agent does not speak protocol version {asked}, only {known}. "
        f"Start it without --protocol {asked}."
    )
