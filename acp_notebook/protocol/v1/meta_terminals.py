"""An agent's own terminals in `_meta`, a convention beside version 1. Knows no process.

Version 1 has no terminals of the agent. Several agents give a tool call the content
`{"type": "terminal"}` with an id that this client never made, and send the output in the `_meta` of
the call's updates: `terminal_info`, `terminal_output` or `terminal_output_delta`, and
`terminal_exit`. Both kinds of output append, unless an agent uses both: then `terminal_output` is
the whole output so far. As an extension, unreadable members are ignored, never a violation.
"""

from __future__ import annotations

import shlex
from typing import Any

from acp_notebook.protocol import fields
from acp_notebook.protocol.dialect import Updates
from acp_notebook.protocol.fields import Json, optional_text
from acp_notebook.session import updates as u

_DELTA = "terminal_output_delta"
_OUTPUT_KEYS = ("terminal_output", _DELTA)


class MetaTerminals:
    """The terminals in `_meta` of one session; keeps which ones a tool call shows."""

    def __init__(self) -> None:
        self._shown: set[str] = set()
        self._with_deltas: set[str] = set()

    def read(self, raw: Json, update: u.ToolCallUpdate) -> Updates:
        """Return the terminal updates in the `_meta` of a tool call update."""
        if not isinstance(update.content, u.Unset):
            self._shown.update(
                item.terminal_id
                for item in update.content or ()
                if isinstance(item, u.TerminalItem)
            )
        meta = fields.optional_object(raw, "_meta")
        if meta is None:
            return []
        found: Updates = []
        info = fields.optional_object(meta, "terminal_info")
        if info is not None:
            found.append(_opened(_terminal_id(info, update), info, update.raw_input))
        for key in _OUTPUT_KEYS:
            output = fields.optional_object(meta, key)
            data = optional_text(output, "data") if output is not None else None
            if output is not None and data is not None:
                terminal_id = _terminal_id(output, update)
                found += self._show(terminal_id, update.tool_call_id)
                found.append(self._output(key, terminal_id, data))
        ended = fields.optional_object(meta, "terminal_exit")
        if ended is not None:
            found.append(_ended(_terminal_id(ended, update), ended))
        return found

    def _output(
        self, key: str, terminal_id: u.TerminalId, text: str
    ) -> u.TerminalChunk | u.TerminalUpdate:
        # JSON may hold a lone surrogate, which UTF-8 cannot.
        data = text.encode(errors="replace")
        if key == _DELTA:
            self._with_deltas.add(terminal_id)
        elif terminal_id in self._with_deltas:
            return u.TerminalUpdate(terminal_id, output=data)
        return u.TerminalChunk(terminal_id, data)

    def _show(self, terminal_id: u.TerminalId, tool_call_id: u.ToolCallId) -> Updates:
        # Some agents send a call's output without adding the terminal to the call.
        if terminal_id in self._shown:
            return []
        self._shown.add(terminal_id)
        return [u.ToolCallChunk(tool_call_id, u.TerminalItem(terminal_id))]


def _terminal_id(raw: Json, update: u.ToolCallUpdate) -> u.TerminalId:
    return u.TerminalId(optional_text(raw, "terminal_id") or update.tool_call_id)


def _opened(terminal_id: u.TerminalId, info: Json, raw_input: Any) -> u.TerminalUpdate:
    command = _command(raw_input)
    cwd = optional_text(info, "cwd")
    return u.TerminalUpdate(
        terminal_id,
        command=command if command is not None else u.UNSET,
        cwd=cwd if cwd is not None else u.UNSET,
    )


def _command(raw_input: Any) -> str | None:
    command = raw_input.get("command") if isinstance(raw_input, dict) else None
    if isinstance(command, list) and all(isinstance(word, str) for word in command):
        return shlex.join(command)
    return command if isinstance(command, str) else None


def _ended(terminal_id: u.TerminalId, raw: Json) -> u.TerminalUpdate:
    status = u.ExitStatus(fields.optional_int(raw, "exit_code"), optional_text(raw, "signal"))
    return u.TerminalUpdate(terminal_id, exit_status=status)
