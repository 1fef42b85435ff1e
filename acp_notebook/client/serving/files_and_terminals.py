"""This machine, as far as an agent of version 1 may use it: files and terminals, by choice.

Nothing is offered unless it was asked for. An agent has its own way to the disk and to a shell, and
its own rules for them; a client's way is worth having where an editor holds unsaved text, which a
kernel does not. Some agents fail with it (see the catalogue), and version 2 dropped it. What is
advertised and what is served come from the same names (INIT-5). Knows no file and no process.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from acp_notebook.client.live.live_session import LiveSession
from acp_notebook.client.serving.client_methods import ClientMethod, ClientMethods
from acp_notebook.client.serving.files import FileSystem, IsOpenNotebook, is_notebook
from acp_notebook.client.serving.roots import Roots
from acp_notebook.client.serving.terminals import Terminals
from acp_notebook.errors import UsageError
from acp_notebook.jsonrpc import METHOD_NOT_FOUND, IncomingRequest
from acp_notebook.protocol.dialect import ClientCapabilities

SERVABLE = ("read", "write", "terminal")


class FilesAndTerminals:
    """Serves what `names` say: `read` and `write` text files, `terminal` commands."""

    def __init__(
        self, names: Collection[str], roots: Roots, is_open_notebook: IsOpenNotebook = is_notebook
    ) -> None:
        self._names = check_served(names)
        self._files = FileSystem(roots, is_open_notebook)
        self._terminals = Terminals(roots)

    def join(self, methods: ClientMethods) -> None:
        """Offer and serve it there."""
        methods.capabilities = self._offered(methods.capabilities)
        methods.requests |= {name: _in_v1(serve) for name, serve in self._served().items()}
        methods.on_closed.append(self._terminals.end_soon)

    def _offered(self, offer: ClientCapabilities) -> ClientCapabilities:
        return replace(
            offer,
            read_files="read" in self._names,
            write_files="write" in self._names,
            terminals="terminal" in self._names,
        )

    def _served(self) -> dict[str, ClientMethod]:
        found: dict[str, ClientMethod] = {}
        if "read" in self._names:
            found["fs/read_text_file"] = self._files.read
        if "write" in self._names:
            found["fs/write_text_file"] = self._files.write
        if "terminal" in self._names:
            found |= {
                "terminal/create": self._terminals.create,
                "terminal/output": self._terminals.output,
                "terminal/wait_for_exit": self._terminals.wait_for_exit,
                "terminal/kill": self._terminals.kill,
                "terminal/release": self._terminals.release,
            }
        return found

    async def end(self) -> None:
        """End all commands; on the agent thread."""
        await self._terminals.end()

    def kill_now(self) -> None:
        """Kill every command; for the end of this process, on any thread."""
        self._terminals.kill_now()


def check_served(names: Collection[str]) -> frozenset[str]:
    """The names of what shall be served.

    Raises:
        UsageError: One of them is unknown.
    """
    given = frozenset([names] if isinstance(names, str) else names)
    unknown = sorted(given.difference(SERVABLE))
    if unknown:
        raise UsageError(
            f"An agent cannot be served {', '.join(map(repr, unknown))}. "
            f"Choose from {', '.join(SERVABLE)}."
        )
    return given


def _in_v1(serve: ClientMethod) -> ClientMethod:
    """The service, for agents that were offered it: version 2 has no such methods."""

    def serve_if_offered(
        incoming: IncomingRequest, session: LiveSession, params: dict[str, object]
    ) -> None:
        facts = session.connection.negotiated
        if facts is not None and facts.dialect.may_use_client:
            serve(incoming, session, params)
        else:
            message = f"{incoming.method} was not offered to this agent."
            incoming.fail(METHOD_NOT_FOUND, message)

    return serve_if_offered
