"""A tool call of a turn, and a terminal in it: what an author drives. Knows no version."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from acp_notebook.agent_kit import updates
from acp_notebook.agent_kit.file_change import FileChange
from acp_notebook.agent_kit.updates import Block

if TYPE_CHECKING:
    from acp_notebook.agent_kit.session_client import SessionClient

ENDED: Final = frozenset({"completed", "failed", "cancelled"})


class Tool:
    """One use of a tool, from its announcement to its end.

    The first output starts it; whatever is still open when the turn ends is ended with it.
    """

    def __init__(self, client: SessionClient, fields: dict[str, Any]) -> None:
        self.id = client.session.new_id("call")
        self._client = client
        self._fields: dict[str, Any] = {"status": "pending", **fields, "content": []}

    @property
    def title(self) -> str:
        """What the tool does, as shown."""
        return str(self._fields["title"])

    @property
    def status(self) -> str:
        """Where it stands: pending, in_progress, completed, failed or cancelled."""
        return str(self._fields["status"])

    @property
    def ended(self) -> bool:
        """Whether nothing more will come of it."""
        return self.status in ENDED

    def snapshot(self) -> dict[str, Any]:
        """All members as they are now, for a permission request about it."""
        return {"toolCallId": self.id, **self._fields, "content": list(self._fields["content"])}

    async def announce(self) -> None:
        """Show it for the first time."""
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
        """Change what is given and leave the rest.

        Args:
            title: What it does, as shown.
            status: pending, in_progress, completed, failed or cancelled.
            kind: read, edit, delete, move, search, execute, think, fetch or other.
            input: What the tool was given, as data.
            output: What it gave back, as data.
            locations: Absolute paths, or pairs of path and line, that it works on.
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
        """Say that it runs now."""
        if self.status == "pending":
            await self._change({"status": "in_progress"})

    async def output(self, content: str | Block) -> None:
        """Show one more piece of its output: text (Markdown) or a content block."""
        await self._append(updates.content_item(content))

    async def diff(self, path: str, old: str | None, new: str | None) -> None:
        """Show a change of a file: its texts before and after, `None` where there is no file."""
        await self._append(FileChange(path, old, new))

    async def terminal(self, command: str, *, cwd: str | None = None) -> Terminal:
        """Show a terminal in it, to be written to."""
        terminal = Terminal(self._client)
        where = cwd or self._client.session.cwd
        await self._client.emit(updates.terminal(terminal.id, command=command, cwd=where))
        await self._append({"type": "terminal", "terminalId": terminal.id})
        return terminal

    async def complete(self, text: str | None = None, *, output: object = None) -> None:
        """End it well, with a last text or with data as its result."""
        await self._end("completed", text, output)

    async def fail(self, text: str | None = None, *, output: object = None) -> None:
        """End it as failed, saying why."""
        await self._end("failed", text, output)

    async def cancel(self, text: str | None = None) -> None:
        """End it as cancelled: it was refused, or is not needed any more."""
        await self._end("cancelled", text, None)

    def settle(self, status: str) -> None:
        """End it at once, if it is still open: its turn is over."""
        if not self.ended:
            self._fields["status"] = status
            self._client.send(updates.tool_call(self.id, status=status))

    async def _end(self, status: str, text: str | None, output: object) -> None:
        changes: dict[str, Any] = {"status": status}
        if output is not None:
            changes["rawOutput"] = output
        if text is not None:
            # With the content as a whole, which takes the place of what was sent piece by piece.
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
    """A terminal that the user sees in a tool call. It shows; it runs nothing."""

    def __init__(self, client: SessionClient) -> None:
        self.id = client.session.new_id("terminal")
        self._client = client

    async def write(self, output: str | bytes) -> None:
        """Show what the command printed; bytes may end in the middle of a character."""
        data = output.encode() if isinstance(output, str) else output
        await self._client.emit(updates.terminal_output(self.id, data))

    async def exit(self, code: int | None = 0, *, signal: str | None = None) -> None:
        """Say that the command has ended, and how."""
        status = {"exitCode": code, "signal": signal}
        known = {name: value for name, value in status.items() if value is not None}
        await self._client.emit(updates.terminal(self.id, exitStatus=known))


def described_locations(locations: Sequence[str | tuple[str, int]]) -> list[dict[str, Any]]:
    """Locations in the protocol's form."""
    return [
        {"path": place} if isinstance(place, str) else {"path": place[0], "line": place[1]}
        for place in locations
    ]
