"""The client of one session: what it is sent, and what it is asked.

Knows one session, one connection and the version spoken there; knows no turn.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import Any

from acp_notebook.agent_kit import updates
from acp_notebook.agent_kit.session import Session
from acp_notebook.agent_kit.updates import Update
from acp_notebook.agent_kit.wire.seam import Json, Wire
from acp_notebook.jsonrpc import Connection, Response


class SessionClient:
    """The client as one session sees it."""

    def __init__(
        self, session: Session, connection: Connection, wire: Wire, *, has_forms: bool
    ) -> None:
        self.session = session
        self.wire = wire
        self.has_forms = has_forms
        self._connection = connection
        self._write = wire.writer()
        self._questions = 0

    def send(self, update: Update) -> None:
        """Send an update at once; keep it for replay, unless it is a state, which soon changes."""
        if update["sessionUpdate"] != updates.STATE_UPDATE:
            self.session.history.append(update)
        self.notify(self._write(update))

    def replay(self) -> None:
        """Send the session's history, from which the client can rebuild the session."""
        write = self.wire.writer(replays=True)
        for update in self.session.history:
            self.notify(write(update))

    def notify(self, written: Iterable[Json]) -> None:
        """Send updates that have the form of the wire."""
        for update in written:
            params = {"sessionId": self.session.id, "update": update}
            self._connection.notify("session/update", params)

    async def emit(self, update: Update) -> None:
        """Send an update, and let what has arrived meanwhile be read: a stop, above all."""
        self.send(update)
        await self._connection.drain()
        await asyncio.sleep(0)

    async def ask(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        """Ask the client something that its user must answer, showing that the work waits.

        Raises:
            RpcError: The client answered with an error.
        """
        answer: asyncio.Future[Response] = asyncio.get_running_loop().create_future()

        def settle(response: Response) -> None:
            if not answer.done():
                answer.set_result(response)

        request_id = self._connection.send_request(method, params, settle)
        self._questions += 1
        if self._questions == 1:
            self.send(updates.state("requires_action"))
        try:
            response = await answer
        except asyncio.CancelledError:
            self._connection.cancel_request(request_id)
            raise
        finally:
            self._questions -= 1
        if not self._questions:
            self.send(updates.state("running"))
        if response.error is not None:
            raise response.error
        return response.result if isinstance(response.result, dict) else {}
