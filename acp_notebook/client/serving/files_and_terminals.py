"""Files and terminals of this machine, served to an agent only at the user's request.

An agent has its own access to the disk and to a shell, with its own rules; a client's access helps
where an editor holds unsaved text, which a kernel does not. Some agents fail with it (see the
catalogue), and not every protocol version has it. The same names decide what is advertised and what
is served (INIT-5). Knows no file, no process and no version.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import Any

from acp_notebook.client.live.live_session import LiveSession
from acp_notebook.client.serving.client_methods import ClientMethod, ClientMethods, serve_async
from acp_notebook.client.serving.files import FileSystem, IsOpenNotebook, is_notebook
from acp_notebook.client.serving.roots import Roots
from acp_notebook.client.serving.terminals import Terminals
from acp_notebook.jsonrpc import METHOD_NOT_FOUND, IncomingRequest
from acp_notebook.protocol.client_calls import ClientCall, ClientCalls
from acp_notebook.protocol.dialect import ClientCapabilities
from acp_notebook.protocol.negotiate import all_client_calls


class FilesAndTerminals:
    """Serves the named methods: `read` and `write` text files, `terminal` commands."""

    def __init__(
        self, names: Collection[str], roots: Roots, is_open_notebook: IsOpenNotebook = is_notebook
    ) -> None:
        self._names = frozenset(names)
        self._files = FileSystem(roots, is_open_notebook)
        self._terminals = Terminals(roots)

    def join(self, methods: ClientMethods) -> None:
        """Add the methods and their capabilities to a table."""
        methods.capabilities = self._offered(methods.capabilities)
        for calls in all_client_calls():
            methods.requests |= {
                call.method: _where_offered(calls, serve_async(call, work))
                for call, work in self._served(calls)
            }
        methods.on_closed.append(self._terminals.end_soon)

    def _offered(self, offer: ClientCapabilities) -> ClientCapabilities:
        return replace(
            offer,
            read_files="read" in self._names,
            write_files="write" in self._names,
            terminals="terminal" in self._names,
        )

    def _served(self, calls: ClientCalls) -> list[tuple[ClientCall[Any, Any], Any]]:
        found: list[tuple[ClientCall[Any, Any], Any]] = []
        if "read" in self._names:
            found.append((calls.read_file, self._files.read))
        if "write" in self._names:
            found.append((calls.write_file, self._files.write))
        if "terminal" in self._names:
            found += [
                (calls.start_command, self._terminals.create),
                (calls.command_output, self._terminals.output),
                (calls.wait_for_exit, self._terminals.wait_for_exit),
                (calls.kill_command, self._terminals.kill),
                (calls.release_terminal, self._terminals.release),
            ]
        return found

    async def end(self) -> None:
        """End all commands; on the agent thread."""
        await self._terminals.end()

    def kill_now(self) -> None:
        """Kill every command, for the exit of this process; on any thread."""
        self._terminals.kill_now()


def _where_offered(calls: ClientCalls, serve: ClientMethod) -> ClientMethod:
    """Serve a method only to agents whose protocol version has these calls."""

    def serve_if_offered(
        incoming: IncomingRequest, session: LiveSession, params: dict[str, object]
    ) -> None:
        if session.dialect.client_calls is calls:
            serve(incoming, session, params)
        else:
            message = f"{incoming.method} was not offered to this agent."
            incoming.fail(METHOD_NOT_FOUND, message)

    return serve_if_offered
