"""A tool call of a turn, and a terminal in it, for the author. Knows no protocol version."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from acp_notebook.agent_kit import updates
from acp_notebook.agent_kit.file_change import FileChange
from acp_notebook.agent_kit.updates import Block

if TYPE_CHECKING:
    from acp_notebook.agent_kit.session_client import SessionClient


class Tool:
    """One tool call, from its announcement to its end.

    The first output starts the call. A call still open at the end of the turn ends with the turn.
    """

    def __init__(self, client: SessionClient, fields: dict[str, Any]) -> None:
        self.id = client.session.new_id("call")
        self._client = client
        self._fields: dict[str, Any] = {"status": "pending", **fields, "content": []}

    @property
    def title(self) -> str:
        """What the tool does, as the user sees it."""
        return str(self._fields["title"])

    @property
    def status(self) -> str:
        """The status: pending, in_progress, completed, failed or cancelled."""
        return str(self._fields["status"])

    @property
    def ended(self) -> bool:
        """Whether the call is completed, failed or cancelled."""
        return self.status in {"completed", "failed", "cancelled"}

    def snapshot(self) -> dict[str, Any]:
        """Return all current members, for a permission request about this call."""
        return {"toolCallId": self.id, **self._fields, "content": list(self._fields["content"])}

    async def announce(self) -> None:
        """Send the call to the client for the first time."""
        fields = {name: value for name, value in self._fields.items() if value != []}
        await self._client.emit(updates.tool_call(self.id, **fields))

    async def update(
        self,
        *,
        title: str | None = None,
        status: str | None = None,
        kind: str | None = None,
        input: object = None,  # noqa: A002 - the word that authors and the protocol use
        output: object = None,
        locations: Sequence[str | tuple[str, int]] | None = None,
    ) -> None:
        """Change the given members and leave the others.

        Args:
            title: What the tool does, as the user sees it.
            status: pending, in_progress, completed, failed or cancelled.
            kind: read, edit, delete, move, search, execute, think, fetch or other.
            input: The tool's input, as data.
            output: The tool's result, as data.
            locations: The absolute paths, or pairs of path and line, that the tool works on.
        """
        changes = {
            "title": title,
            "status": status,
            "kind": kind,
            "rawInput": input,
            "rawOutput": output,
            "locations": None if locations is None else described_locations(locations),
        }
        await self._change({name: value for name, value in changes.items() if value is not None})

    async def start(self) -> None:
        """Set a pending call to in_progress."""
        if self.status == "pending":
            await self._change({"status": "in_progress"})

    async def output(self, content: str | Block) -> None:
        """Append to the output: text (Markdown) or a content block."""
        await self._append(updates.content_item(content))

    async def diff(self, path: str, old: str | None, new: str | None) -> None:
        """Append a change of a file.

        Args:
            path: The file's absolute path.
            old: The text before; `None` for a new file.
            new: The text after; `None` for a deleted file.
        """
        await self._append(FileChange(path, old, new))

    async def terminal(self, command: str, *, cwd: str | None = None) -> Terminal:
        """Append a terminal, whose output the author writes; no command is run.

        Args:
            command: The command line to show.
            cwd: The directory to show; by default the session's.
        """
        terminal = Terminal(self._client)
        where = cwd or self._client.session.cwd
        await self._client.emit(updates.terminal(terminal.id, command=command, cwd=where))
        await self._append({"type": "terminal", "terminalId": terminal.id})
        return terminal

    async def complete(self, text: str | None = None, *, output: object = None) -> None:
        """End the call as completed, with a last text or with data as its result."""
        await self._end("completed", text, output)

    async def fail(self, text: str | None = None, *, output: object = None) -> None:
        """End the call as failed, with the reason as text or data."""
        await self._end("failed", text, output)

    async def cancel(self, text: str | None = None) -> None:
        """End the call as cancelled, for example after a refused permission."""
        await self._end("cancelled", text, None)

    def settle(self, status: str) -> None:
        """End the call without awaiting, if it is still open at the end of its turn."""
        if not self.ended:
            self._fields["status"] = status
            self._client.send(updates.tool_call(self.id, status=status))

    async def _end(self, status: str, text: str | None, output: object) -> None:
        changes: dict[str, Any] = {"status": status}
        if output is not None:
            changes["rawOutput"] = output
        if text is not None:
            # The whole content: in an update it replaces the pieces that were sent before.
            changes["content"] = [*self._fields["content"], updates.content_item(text)]
        await self._change(changes)

    async def _change(self, changes: dict[str, Any]) -> None:
        self._fields.update(changes)
        await self._client.emit(updates.tool_call(self.id, **changes))

    async def _append(self, item: updates.ContentItem) -> None:
        await self.start()
        self._fields["content"] = [*self._fields["content"], item]
        await self._client.emit(updates.tool_content(self.id, item))


class Terminal:
    """A terminal that the user sees in a tool call. It only displays; it runs no command."""

    def __init__(self, client: SessionClient) -> None:
        self.id = client.session.new_id("terminal")
        self._client = client

    async def write(self, output: str | bytes) -> None:
        """Append output; bytes may end in the middle of a character."""
        data = output.encode() if isinstance(output, str) else output
        await self._client.emit(updates.terminal_output(self.id, data))

    async def exit(self, code: int | None = 0, *, signal: str | None = None) -> None:
        """Report the end of the command.

        Args:
            code: The exit code; `None` if a signal ended the command.
            signal: The name of the signal that ended the command.
        """
        status = {"exitCode": code, "signal": signal}
        known = {name: value for name, value in status.items() if value is not None}
        await self._client.emit(updates.terminal(self.id, exitStatus=known))


def described_locations(locations: Sequence[str | tuple[str, int]]) -> list[dict[str, Any]]:
    """Return locations in the protocol's form."""
    return [
        {"path": place} if isinstance(place, str) else {"path": place[0], "line": place[1]}
        for place in locations
    ]
